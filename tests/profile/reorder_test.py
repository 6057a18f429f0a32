#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests POISE_REORDER with both MPIs, in C and Fortran. Every node of a reordered topology must have the same
neighbours as without POISE_REORDER, on a possibly different process. The total cost of the edges must be the smallest
that any assignment of nodes to processes can give."""
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from reader import ENVIRONMENT, LIBRARY, PROGRAMS, compile_c, installations, launch, read_profile

POISE = os.environ.get("POISE", "")
MACHINE = "node:2 core:4"
SIZE = 8


def hops(a, b):
    """Returns the number of links between two places of MACHINE, a tree of two nodes with four cores each."""
    return 0 if a == b else 2 if a // 4 == b // 4 else 4


def topologies(stdout):
    """Reads the output of topologies.c. Returns {topology: {rank in the topology: (rank in MPI_COMM_WORLD, the rest of
    the line)}}, and {topology: ranks of MPI_COMM_WORLD that are not in the topology}."""
    found, null = {}, {}
    for line in stdout.splitlines():
        if match := re.match(r"(\w+) rank=(\d+) world=(\d+) (.*)", line):
            found.setdefault(match[1], {})[int(match[2])] = int(match[3]), match[4]
        elif match := re.match(r"(\w+) null world=(\d+)", line):
            null.setdefault(match[1], set()).add(int(match[2]))
    return found, null


def numbers(said, name):
    return [int(text) for text in re.findall(rf"\b{name}=([-\d,]+)", said) for text in text.split(",")]


def edges_of(ranks):
    """Returns the edges (rank, neighbour, weight) that the ranks of a topology print. Edges without a weight get 1."""
    edges = []
    for rank, (_, said) in ranks.items():
        weights = [] if "weighted=F" in said else numbers(said, "out_weights")
        ends = numbers(said, "out") or numbers(said, "neighbours") or numbers(said, "shift")
        edges += [(rank, end, weights[i] if i < len(weights) else 1) for i, end in enumerate(ends) if end >= 0]
    return edges


def cost(edges, world_of):
    return sum(weight * hops(world_of[a], world_of[b]) for a, b, weight in edges)


def best_cost(edges, places, num_ranks):
    """Returns the smallest cost that these edges can have if each rank is put on a different one of the places."""
    return min(cost(edges, order) for order in itertools.permutations(places, num_ranks))


class Reorder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def program(self, mpi):
        return compile_c(mpi, "topologies.c")

    def run_one(self, mpi, command, variables, size=SIZE):
        done = launch(mpi, size, command, variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def reordered(self, mpi, command, size=SIZE, **more):
        return self.run_one(mpi, command, {"LD_PRELOAD": LIBRARY, "POISE_REORDER": "verbose",
                                           "POISE_REORDER_MACHINE": MACHINE} | more, size)

    def check_same_nodes(self, plain, changed):
        """Checks that every node of a topology has the same neighbours with and without reordering, and that all nodes
        are on different processes."""
        self.assertEqual(set(plain[0]), set(changed[0]))
        for name, ranks in plain[0].items():
            self.assertEqual({r: said for r, (_, said) in ranks.items()},
                             {r: said for r, (_, said) in changed[0][name].items()}, name)
            worlds = [world for world, _ in changed[0][name].values()]
            self.assertEqual(len(set(worlds)), len(worlds), name)
            self.assertEqual(set(worlds) & changed[1].get(name, set()), set(), name)
            self.assertEqual(len(changed[1].get(name, ())), len(plain[1].get(name, ())), name)

    def check_shortest(self, plain, changed, name):
        edges = edges_of(plain[0][name])
        world_of = lambda run: {rank: world for rank, (world, _) in run[0][name].items()}
        before, after = cost(edges, world_of(plain)), cost(edges, world_of(changed))
        processes = set(world_of(plain).values()) | plain[1].get(name, set())
        self.assertEqual(after, best_cost(edges, processes, len(plain[0][name])), name)
        self.assertLessEqual(after, before, name)
        return after < before

    def test_mpi_process_topologies_of_c_programs_are_reordered(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = self.program(mpi)
                plain_run = self.run_one(mpi, [program, "1"], {})
                plain = topologies(plain_run.stdout)
                for name, ranks in plain[0].items():  # without Poise, neither Open MPI nor MPICH reorders ranks here
                    if name not in ("odd", "even"):
                        self.assertEqual([world for world, _ in ranks.values()], list(ranks), name)
                changed_run = self.reordered(mpi, [program, "1"])
                changed = topologies(changed_run.stdout)
                self.check_same_nodes(plain, changed)
                self.assertEqual(len(plain[0]), 10)
                better = [name for name in plain[0] if self.check_shortest(plain, changed, name)]
                self.assertIn("grid", better)
                self.assertIn("adjacent", better)
                said = [line for line in changed_run.stderr.splitlines() if line.startswith("poise reorder:")]
                self.assertEqual(len([line for line in said if "->" in line]), len(better), changed_run.stderr)
                refused = lambda run: sorted(line for line in run.stdout.splitlines() if "refused" in line)
                self.assertEqual(refused(plain_run), refused(changed_run))
                self.assertGreaterEqual(len(refused(plain_run)), SIZE)

    def test_mpi_process_topologies_are_not_reordered_if_reorder_is_false_or_POISE_REORDER_is_0(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = self.program(mpi)
                plain = self.run_one(mpi, [program, "0"], {}).stdout
                same = self.reordered(mpi, [program, "0"])
                self.assertEqual(sorted(same.stdout.splitlines()), sorted(plain.splitlines()))
                self.assertNotIn("poise reorder", same.stderr)
                off = self.reordered(mpi, [program, "1"], POISE_REORDER="0")
                asked = self.run_one(mpi, [program, "1"], {})
                self.assertEqual(sorted(off.stdout.splitlines()), sorted(asked.stdout.splitlines()))

    def test_mpi_ranks_keep_their_order_if_the_reorder_library_is_missing_or_the_machine_is_unknown_or_too_small(self):
        lonely = self.folder / "libpoise_profile.so"
        shutil.copy(LIBRARY, lonely)
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = self.program(mpi)
                plain = sorted(self.run_one(mpi, [program, "1"], {}).stdout.splitlines())
                for variables, reason in (({"LD_PRELOAD": str(lonely)}, "libpoise_reorder.so"),
                                          ({"POISE_REORDER_MACHINE": "node:2 core:3"}, "fewer places (6) than the job has ranks (8)"),
                                          ({"POISE_REORDER_MACHINE": "nowhere"}, "nowhere")):
                    done = self.reordered(mpi, [program, "1"], **variables)
                    self.assertEqual(sorted(done.stdout.splitlines()), plain)
                    self.assertIn(reason, done.stderr)

    def test_mpi_process_topologies_of_fortran_programs_are_reordered(self):
        heads = {"mpif.h": ("implicit none\ninclude 'mpif.h'", "integer :: comm"),
                 "mpi": ("use mpi\nimplicit none", "integer :: comm"),
                 "mpi_f08": ("use mpi_f08\nimplicit none", "type(MPI_Comm) :: comm")}
        variables = ("logical :: reorder, periods(2), weighted\ninteger :: world, nranks, rank, ierror, num_in, num_out\n"
                     "integer, dimension(1) :: in, out, w_in, w_out, own, one, r_in, r_out, r_win, r_wout\n"
                     "integer :: dims(2), coords(2)\n")
        for mpi in installations():
            if not shutil.which(f"mpifort.{mpi}") or not shutil.which("gfortran"):
                self.skipTest("no Fortran compiler")
            for head, (opening, handle) in heads.items():
                with self.subTest(mpi=mpi, head=head):
                    source, program = self.folder / f"{head}.f90", self.folder / f"{head}.{mpi}"
                    body = (PROGRAMS / "topologies.body").read_text()
                    source.write_text(f"program topologies\n{opening}\n{handle}\n{variables}{body}end program\n")
                    subprocess.run([f"mpifort.{mpi}", "-w", "-fallow-argument-mismatch", source, "-o", program],
                                   check=True, timeout=300)
                    plain = topologies(self.run_one(mpi, [program], {}).stdout)
                    run = self.reordered(mpi, [program])
                    changed = topologies(run.stdout)
                    self.assertEqual(len(plain[0]), 4)
                    self.check_same_nodes(plain, changed)
                    self.assertEqual(run.stderr.count(" -> "), 4, run.stderr)
                    for name in ("ring", "weighted_ring", "dist_ring"):
                        self.assertTrue(self.check_shortest(plain, changed, name))

    def test_the_profile_counts_the_mpi_process_topologies_that_were_reordered(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                output = self.folder / "profile"
                self.reordered(mpi, [self.program(mpi), "1"], POISE_PROFILE=str(output), POISE_REORDER="1")
                ranks = read_profile(output)
                # All calls with reorder = true are counted, also those that MPI refuses.
                self.assertEqual({rank["reorderings"]["calls"] for rank in ranks}, {11})
                self.assertGreaterEqual(min(rank["reorderings"]["reordered"] for rank in ranks), 2)
                self.assertGreater(ranks[0]["reorderings"]["before"], ranks[0]["reorderings"]["after"])
                self.assertEqual(ranks[1]["reorderings"]["before"], 0)  # it never decides
                self.assertGreater(min(rank["reorderings"]["deciding_ns"] for rank in ranks), 0)
                # Messages on the new communicators are attributed to ranks of MPI_COMM_WORLD.
                self.assertEqual(sum(phase["outside"] for rank in ranks for phase in rank["phases"]), 0)
                done = subprocess.run(
                    [POISE, "profile", "-o", self.folder / "run.poise", "--", f"mpirun.{mpi}", "-np", str(SIZE),
                     *(["--oversubscribe", "--bind-to", "none"] if mpi == "openmpi" else []), self.program(mpi), "1"],
                    capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL,
                    env=ENVIRONMENT | {"POISE_PROFILE_LIBRARY": LIBRARY, "POISE_REORDER": "1", "POISE_REORDER_MACHINE": MACHINE})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, r"POISE_REORDER: \d+ of 11 process topologies reordered; weight x hops fell by")


if __name__ == "__main__":
    if not LIBRARY or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
