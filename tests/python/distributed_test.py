#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests balancing decisions that all ranks make together, called from Python. The ranks are threads, or with the
argument `mpi` the ranks of mpi4py under a launcher. Exits with status 77 (skipped) without numpy or mpi4py."""

import importlib.util
import sys
import threading
import unittest

UNDER_MPI = sys.argv[1:2] == ["mpi"]
if any(importlib.util.find_spec(name) is None for name in ["numpy"] + ["mpi4py"] * UNDER_MPI):
    sys.exit(77)
import numpy as np

import poise


class Threads:
    """Acts as an MPI communicator whose ranks are threads of this process."""

    def __init__(self, num_ranks):
        self.num_ranks, self.barrier = num_ranks, threading.Barrier(num_ranks, timeout=300)
        self.inbox, self.values = [{} for _ in range(num_ranks)], [None] * num_ranks

    def run(self, function):
        """Calls the function once for each rank, all at the same time in different threads. Returns a list of what the
        calls return or raise."""
        results = [None] * self.num_ranks

        def body(rank):
            try:
                results[rank] = function(Rank(self, rank))
            except Exception as error:
                results[rank] = error
        threads = [threading.Thread(target=body, args=(rank,)) for rank in range(self.num_ranks)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results


class Rank:
    fails_at = None

    def __init__(self, threads, rank):
        self.threads, self.rank, self.num_ranks, self.calls = threads, rank, threads.num_ranks, 0

    def count(self):
        self.calls += 1
        if self.calls == self.fails_at:
            raise OSError("the network is down")

    def exchange(self, sends):
        for to, data in sends.items():
            self.threads.inbox[to][self.rank] = bytes(data)
        self.threads.barrier.wait()
        received, self.threads.inbox[self.rank] = self.threads.inbox[self.rank], {}
        self.threads.barrier.wait()
        self.count()
        return received

    def reduce(self, values, operation):
        assert memoryview(values).format == np.dtype(np.uint64).char  # mpi4py 3 accepts no other format
        self.threads.values[self.rank] = values
        self.threads.barrier.wait()
        result = [(max if operation == "max" else sum)(map(int, column)) for column in zip(*self.threads.values)]
        self.threads.barrier.wait()
        self.count()
        return np.array(result, dtype=np.uint64)  # refuses sums that need more than 64 bits


def part_of(rank, num_ranks, knows_ranks):
    """Returns the tasks of one rank: 40 tasks of a ring that the tasks of all ranks form. On rank 0, each task has
    three times the load."""
    n, total = 40, 40 * num_ranks
    ids = np.arange(rank * n, (rank + 1) * n)
    neighbours = (ids + 1) % total
    return {"global_ids": ids, "load_s": np.full(n, 3e-3 if rank == 0 else 1e-3), "size_bytes": np.full(n, 10),
            "messages": (np.arange(n + 1), neighbours, np.full(n, 800)),
            "neighbour_ranks": neighbours // n if knows_ranks else None}


def plan(ranks, rank, num_ranks, knows_ranks=True, **changes):
    return poise.plan_distributed(ranks, f"core:{num_ranks}", **(part_of(rank, num_ranks, knows_ranks) | changes))


def moves(plans):
    """Returns two sorted lists of all moves (task, from, to): the moves that the sending ranks list as exports, and
    those that the receiving ranks list as imports."""
    return [sorted(zip(*(np.concatenate([getattr(getattr(plan, which), column) for plan in plans])
                         for column in ("global_id", "from_place", "to_place")))) for which in ("exports", "imports")]


class Distributed(unittest.TestCase):
    def test_plan_distributed_returns_the_same_placement_as_plan_if_there_are_few_tasks(self):
        ids = np.arange(160)
        load_s = np.where(ids < 40, 3e-3, 1e-3)
        workload = poise.Workload(load_s, np.full(160, 10), (ids, (ids + 1) % 160, np.full(160, 800)))
        expected = poise.plan("core:4", workload, ids // 40)
        self.assertFalse(np.array_equal(expected, ids // 40))
        for knows_ranks in True, False:
            plans = Threads(4).run(lambda rank: plan(rank, rank.rank, 4, knows_ranks))
            np.testing.assert_array_equal(np.concatenate([one.rank_of_task for one in plans]), expected)
            exports, imports = moves(plans)
            self.assertEqual(exports, imports)
            self.assertEqual(len(exports), np.count_nonzero(expected != ids // 40))
            self.assertEqual([len(one.imports.task) for one in plans], [0] * 4)

    def test_wrong_arguments_on_one_rank_raise_an_error_on_every_rank(self):
        for changes, text in (({"load_s": np.full(40, -1.0)}, r"load_s\[0\] is -1"), ({"load_s": [1]}, "load_s has shape"),
                              ({"messages": ([0], [1])}, "messages.indptr has shape"), ({"messages": 1}, "a tuple"),
                              ({"messages": ([0] * 40 + [2], [1]), "neighbour_ranks": None}, "last entry of messages.indptr is 2"),
                              ({"strategy": "pose"}, "pose"), ({"seed": 0.5}, "seed is 0.5"), ({"load_s": [[1], [1, 2]]}, "load_s"),
                              ({"background_s": "all"}, "background_s is 'all'")):
            with self.subTest(text):
                found = Threads(3).run(lambda rank: plan(rank, rank.rank, 3, False, **changes if rank.rank == 1 else {}))
                self.assertTrue(all(isinstance(error, poise.Error) for error in found), found)
                self.assertRegex(str(found[1]), text)
                self.assertRegex(str(found[2]), "rank 1 failed")

    def test_if_communication_fails_on_one_rank_the_errors_on_the_other_ranks_name_that_rank(self):
        def body(rank):
            rank.fails_at = 5 if rank.rank == 2 else None
            return plan(rank, rank.rank, 3)
        found = Threads(3).run(body)
        self.assertIsInstance(found[2], OSError)
        self.assertRegex(str(found[0]), "rank 2 failed")


def main_under_mpi():
    """Each rank of mpi4py must get the same plan as the thread with the same rank."""
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    rank, num_ranks = comm.Get_rank(), comm.Get_size()
    for knows_ranks in True, False, True:
        told = plan(comm, rank, num_ranks, knows_ranks)
        expected = Threads(num_ranks).run(lambda own: plan(own, own.rank, num_ranks, knows_ranks))[rank]
        for found, wanted in zip((told.rank_of_task, told.exports.global_id, told.imports.global_id),
                                 (expected.rank_of_task, expected.exports.global_id, expected.imports.global_id)):
            np.testing.assert_array_equal(found, wanted)
        moved = comm.allreduce(len(told.exports))
        assert moved == comm.allreduce(len(told.imports)) and (moved > 0 or num_ranks == 1), moved
    if rank == 0:
        print(f"all is right on {num_ranks} ranks")


if __name__ == "__main__":
    if UNDER_MPI:
        main_under_mpi()
    else:
        unittest.main()
