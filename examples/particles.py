#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""usage: mpiexec -n RANKS python3 particles.py keep|bisection|poise

A particle code on mpi4py. Particles lie in the cells of a grid; each rank owns some cells and their particles. A cloud
of particles drifts across the grid, so every ten steps the ranks decide anew who owns which cell: by recursive
bisection of the grid or by Poise. With keep, cells never change their owner. Prints the work of the busiest rank
divided by that of an average rank, and how many particles moved because their cell changed its owner."""

import sys

import numpy as np
from mpi4py import MPI

import poise

SIDE, STEPS, EVERY = 48, 200, 10
PARTICLES = 40_000
SECONDS, BYTES = 2e-6, 48  # seconds of work per particle and step; bytes of a particle
comm = MPI.COMM_WORLD


def cell_of(x):
    column, row = np.minimum((x * SIDE).astype(int), SIDE - 1).T
    return row * SIDE + column


def exchanged(x, v, to):
    """Sends particle i of this rank to rank to[i], for all i. Returns the particles that this rank then has."""
    parts = comm.alltoall([(x[to == rank], v[to == rank]) for rank in range(comm.size)])
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def bisection(count, ranks):
    """Returns the owner of each cell. Cuts the longer side of the grid into two parts, each for half of the ranks, so
    that the particles of a part are in proportion to its ranks. Then cuts each part in the same way."""
    owner = np.empty((SIDE, SIDE), dtype=np.uint32)

    def divide(rows, columns, first, number):
        if number == 1:
            owner[rows, columns] = first
            return
        axis = 0 if rows.stop - rows.start >= columns.stop - columns.start else 1
        side = (rows, columns)[axis]
        line = count.reshape(SIDE, SIDE)[rows, columns].sum(axis=1 - axis).cumsum()
        half = number // 2
        cut = side.start + min(max(int(np.searchsorted(line, line[-1] * half / number)), 1), side.stop - side.start - 1)
        low, high = slice(side.start, cut), slice(cut, side.stop)
        divide(low if axis == 0 else rows, columns if axis == 0 else low, first, half)
        divide(high if axis == 0 else rows, columns if axis == 0 else high, first + half, number - half)
    divide(slice(0, SIDE), slice(0, SIDE), 0, ranks)
    return owner.reshape(-1)


def neighbours_of(cells):
    """Returns the graph of the cells in CSR form: each cell sends to its neighbours, the two to four cells that share a
    side with it."""
    row, column = np.divmod(cells, SIDE)
    sides = np.stack([cells - SIDE, cells - 1, cells + 1, cells + SIDE], axis=1)
    exists = np.stack([row > 0, column > 0, column < SIDE - 1, row < SIDE - 1], axis=1)
    return np.concatenate([[0], exists.sum(axis=1).cumsum()]), sides[exists]


def by_poise(count, owner):
    """All ranks call this together. Each rank passes its own cells to Poise and learns their new owners. Returns the new
    owner of every cell."""
    own = np.flatnonzero(owner == comm.rank)
    indptr, neighbours = neighbours_of(own)
    crossing = BYTES * np.repeat(count[own], np.diff(indptr)) // 20  # assumes that 1/20 of them cross a side
    plan = poise.plan_distributed(comm, f"core:{comm.size}", own, SECONDS * count[own], (indptr, neighbours, crossing),
                                  f"poise:steps={EVERY}", size_bytes=BYTES * count[own])
    after = np.zeros_like(owner)
    after[own] = plan.rank_of_task
    comm.Allreduce(MPI.IN_PLACE, after)  # all ranks must know the owners, to send particles to them
    return after


def decided(how, cell, owner):
    count = np.bincount(cell, minlength=SIDE * SIDE)
    if how == "poise":
        return by_poise(count, owner)
    comm.Allreduce(MPI.IN_PLACE, count)
    return bisection(count, comm.size) if how == "bisection" else owner


def particles():
    """A quarter of the particles is spread over the whole grid. The others form a cloud that drifts from left to right."""
    random = np.random.default_rng(1)
    x = np.concatenate([random.random((PARTICLES // 4, 2)), random.normal((0.15, 0.5), 0.07, (PARTICLES * 3 // 4, 2))])
    v = np.zeros_like(x)
    v[PARTICLES // 4:, 0] = 0.7 / STEPS
    return np.clip(x, 0, 1 - 1e-9), v


def main(how):
    x, v = particles()
    owner = bisection(np.bincount(cell_of(x), minlength=SIDE * SIDE), comm.size)
    here = owner[cell_of(x)] == comm.rank
    x, v = x[here], v[here]
    busiest = moved = 0
    for step in range(STEPS):
        x = np.clip(x + v, 0, 1 - 1e-9)
        x, v = exchanged(x, v, owner[cell_of(x)])
        busiest += comm.allreduce(len(x), MPI.MAX)
        if step % EVERY == EVERY - 1:
            owner = decided(how, cell_of(x), owner)
            moved += comm.allreduce(int((owner[cell_of(x)] != comm.rank).sum()))
            x, v = exchanged(x, v, owner[cell_of(x)])
    total = comm.allreduce(len(x))
    assert total == PARTICLES, f"{total} particles are left of {PARTICLES}"
    if comm.rank == 0:
        print(f"{how}: the busiest rank works {busiest * comm.size / STEPS / PARTICLES:.2f} times the average, "
              f"{moved} particles moved with their cells")


if __name__ == "__main__":
    if sys.argv[1:] not in (["keep"], ["bisection"], ["poise"]):
        sys.exit(__doc__)
    main(sys.argv[1])
