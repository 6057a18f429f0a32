#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests that the library sees the calls of C, mpif.h, `use mpi`, `use mpi_f08` and mpi4py under every installed MPI.
All must record the same calls and traffic, and print the same results as without the library."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from reader import LIBRARY, PROGRAMS, compile_c, installations, launch, read_profile, traffic_of

SIZE = 3
HEADS = {
    "mpif.h": ("implicit none\ninclude 'mpif.h'", "integer"),
    "mpi": ("use mpi\nimplicit none", "integer"),
    "mpi_f08": ("use mpi_f08\nimplicit none", "f08"),
}


def fortran_source(head):
    opening, kind = HEADS[head]
    if kind == "integer":
        handles = "integer :: requests(2), persistent, reversed, statuses(MPI_STATUS_SIZE, 2)"
    else:
        handles = ("type(MPI_Request) :: requests(2), persistent\ntype(MPI_Comm) :: reversed\n"
                   "type(MPI_Status) :: statuses(2)")
    body = (PROGRAMS / "sequence.body").read_text()
    if kind == "f08":  # in mpi_f08 the argument ierror is optional: leave it out
        body = body.replace(", &\n                    MPI_STATUS_IGNORE, ierror", ", MPI_STATUS_IGNORE")
        body = body.replace(", ierror)", ")").replace("(ierror)", "()")
    integers = "integer :: rank, nranks, right, left, total, i, other, ierror, in(64), out(64), own(1), all(1)"
    return f"program sequence\n{opening}\n{integers}\n{handles}\n{body}end program\n"


def compile_fortran(mpi, head, folder):
    source, program = folder / f"{head}.f90", folder / f"{head}.{mpi}"
    source.write_text(fortran_source(head))
    subprocess.run([f"mpifort.{mpi}", "-w", "-fallow-argument-mismatch", source, "-o", program], check=True, timeout=300)
    return program


def expected_traffic():
    """Returns the traffic of the test program on three ranks, computed by hand. An int has four bytes."""
    matrix = {}

    def add(sender, receiver, messages, ints):
        sums = matrix.setdefault((sender, receiver), [0, 0])
        sums[0] += messages
        sums[1] += 4 * ints

    for rank in range(SIZE):
        right, left = (rank + 1) % SIZE, (rank - 1) % SIZE
        add(rank, right, 10, 250)
        add(rank, left, 1, 7)
        add(rank, left, 1, 3)    # to the next rank on a communicator with reversed ranks
        add(rank, right, 3, 15)  # persistent
        add(rank, right, 1, 0)   # barrier, two rounds
        add(rank, left, 1, 0)
        for other in (right, left):
            add(rank, other, 1, 2)  # alltoall
    for receiver in (0, 2):
        add(1, receiver, 1, 50)     # broadcast from 1
        add(receiver, 0, 1, 1) if receiver != 0 else None
    add(1, 0, 1, 1)                 # reduce to 0
    for sender, receiver in ((2, 0), (0, 1), (1, 0), (0, 2)):
        add(sender, receiver, 1, 8)  # allreduce: rank 2 sends to rank 0, ranks 0 and 1 exchange, rank 0 sends to rank 2
    return matrix


EXPECTED_CALLS = {"point_to_point": 20 + 1 + 2 + 1 + 6 + 1, "collective": 5, "wait": 13, "io": 0}


class Paths(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, mpi, command, launcher=None, tool=None):
        plain = launch(mpi, SIZE, command, {}, launcher=launcher)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        output = self.folder / "profile"
        output.unlink(missing_ok=True)
        preloaded = f"{LIBRARY}:{tool}" if tool else LIBRARY
        profiled = launch(mpi, SIZE, command, {"LD_PRELOAD": preloaded, "POISE_PROFILE": str(output)}, launcher=launcher)
        self.assertEqual((profiled.returncode, profiled.stdout), (0, plain.stdout), profiled.stderr)
        self.assertIn("sum ", plain.stdout)
        ranks = read_profile(output)
        self.assertEqual([rank["rank"] for rank in ranks], list(range(SIZE)))
        for rank in ranks:
            for kind, calls in EXPECTED_CALLS.items():
                self.assertEqual(sum(phase["calls"][kind] for phase in rank["phases"]), calls, kind)
        self.assertEqual(traffic_of(ranks), expected_traffic())
        for rank in ranks:
            self.assertGreater(rank["cpus"]["own_ns"], 0)
            self.assertGreaterEqual(rank["cpus"]["all_ns"], 0)  # -1 if the kernel does not report it
            for phase in rank["phases"]:
                self.assertEqual((phase["not_understood"], phase["outside"]), (0, 0))
        return profiled

    def test_mpi_calls_from_c_are_profiled(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                self.check(mpi, [compile_c(mpi, "sequence.c")])

    def test_another_tool_that_wraps_mpi_sees_the_same_calls_if_it_is_preloaded_after_the_profiler(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                tool = compile_c(mpi, "tool.c", "-shared", "-fPIC")
                done = self.check(mpi, [compile_c(mpi, "sequence.c")], tool=tool)
                self.assertEqual(sorted(line for line in done.stderr.splitlines() if "tool" in line),
                                 [f"the tool saw 10 calls of rank {rank}" for rank in range(SIZE)])

    def test_a_program_that_queries_which_mpi_functions_exist_gets_the_same_answer_with_and_without_the_profiler(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "weak.c")
                plain = launch(mpi, 1, [program], {})
                self.assertIn("MPI_Send 1\n", plain.stdout, plain.stderr)
                self.assertIn(" 0\n", plain.stdout)
                profiled = launch(mpi, 1, [program], {"LD_PRELOAD": LIBRARY})
                self.assertEqual((profiled.returncode, profiled.stdout), (0, plain.stdout), profiled.stderr)

    def test_mpi_calls_from_fortran_are_profiled(self):
        for mpi in installations():
            if not shutil.which(f"mpifort.{mpi}") or not shutil.which("gfortran"):
                self.skipTest("no Fortran compiler")
            for head in HEADS:
                with self.subTest(mpi=mpi, head=head):
                    self.check(mpi, [compile_fortran(mpi, head, self.folder)])

    def test_mpi_calls_from_mpi4py_are_profiled(self):
        python = os.environ.get("POISE_TEST_PYTHON", sys.executable)
        has = subprocess.run([python, "-c", "import mpi4py.MPI as m; print(m.Get_library_version())"],
                             capture_output=True, text=True, timeout=300)
        if has.returncode:
            self.skipTest("mpi4py is not installed (POISE_TEST_PYTHON names a Python that has it)")
        mpi = "openmpi" if "Open MPI" in has.stdout else "mpich"
        own = pathlib.Path(python).with_name("mpiexec")  # exists if MPI was installed from PyPI
        self.check(mpi, [python, PROGRAMS / "sequence.py"], str(own) if own.exists() else None)


if __name__ == "__main__":
    if not LIBRARY or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
