# SPDX-License-Identifier: BSD-3-Clause

"""Particles in slabs, one slab per rank, with mpi4py. Usage: particles.py PARTICLES STEPS even|by_count|repeated
[PERIODS [EVERY]]

The particles are denser at small x. `even` cuts the box into slabs of the same width; `by_count` cuts it so that all
slabs hold about the same number of particles; `repeated` cuts it as `by_count` does, and again every EVERY steps
(default: 10). With PERIODS, the particles begin as a cloud at x = 0.2 and swing PERIODS times to x = 0.8 and back."""

import bisect
import math
import random
import sys
import time

from mpi4py import MPI

STEP = 1e-4


def moved(particles, step, middle):
    """Returns the particles after one step in which a spring pulls them towards x = middle."""
    return [(x + step * v, v - step * (x - middle)) for x, v in particles]


def cuts_by_count(world, own):
    """Returns the borders of slabs that hold about the same number of particles, estimated from one particle in 20."""
    sample = sorted(x for of_rank in world.allgather([x for x, _ in own[::20]]) for x in of_rank)
    return [sample[len(sample) * k // world.size] for k in range(1, world.size)]


def main():
    world = MPI.COMM_WORLD
    count, steps, rule = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    periods = float(sys.argv[4]) if len(sys.argv) > 4 else 0
    every = int(sys.argv[5]) if len(sys.argv) > 5 else 10
    random.seed(1)
    if periods:
        step, middle = 2 * math.pi * periods / steps, 0.5
        everything = [(random.gauss(0.2, 0.05), random.gauss(0, 0.05)) for _ in range(count)]
    else:
        step, middle = STEP, 0.2
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
    for i in range(steps):
        if rule == "repeated" and i % every == 0:
            cuts = cuts_by_count(world, own)
        staying, to_left, to_right = [], [], []
        for particle in moved(own, step, middle):
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
