# SPDX-License-Identifier: BSD-3-Clause

"""Particles in slabs, one slab per rank, with mpi4py. Usage: particles.py PARTICLES STEPS even|by_count

The particles are denser at small x. `even` cuts the box into slabs of the same width; `by_count` cuts it so that all
slabs hold about the same number of particles. Particles that leave a slab are sent to the neighbour."""

import bisect
import random
import sys
import time

from mpi4py import MPI

STEP = 1e-4


def moved(particles):
    """Returns the particles after one step in the force of a spring around x = 0.2."""
    return [(x + STEP * v, v - STEP * (x - 0.2)) for x, v in particles]


def main():
    world = MPI.COMM_WORLD
    count, steps, rule = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    random.seed(1)
    everything = [(random.random() ** 2, random.uniform(-1, 1)) for _ in range(count)]
    if rule == "even":
        cuts = [k / world.size for k in range(1, world.size)]
    else:
        in_order = sorted(x for x, _ in everything)
        cuts = [in_order[count * k // world.size] for k in range(1, world.size)]
    rank = world.rank  # stored, because each access to world.rank calls MPI_Comm_rank
    own = [particle for particle in everything if bisect.bisect(cuts, particle[0]) == rank]
    del everything
    left = rank - 1 if rank > 0 else MPI.PROC_NULL
    right = rank + 1 if rank + 1 < world.size else MPI.PROC_NULL
    world.Barrier()
    start = time.perf_counter()
    for _ in range(steps):
        staying, to_left, to_right = [], [], []
        for particle in moved(own):
            slab = bisect.bisect(cuts, particle[0])
            (staying if slab == rank else to_left if slab < rank else to_right).append(particle)
        from_right = world.sendrecv(to_left, dest=left, source=right)
        from_left = world.sendrecv(to_right, dest=right, source=left)
        own = staying + (from_right or []) + (from_left or [])
        total = world.allreduce(len(own))
        assert total == count, "a particle was lost"
    if rank == 0:
        print(f"Time of the steps: {time.perf_counter() - start:.6f} s")


main()
