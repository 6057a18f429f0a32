#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests what the diagnosis of a profile says about the threads of ranks. The programs' threads work for given times, so
nothing else may run during these tests."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from reader import LIBRARY, POISE, PROGRAMS, CommandTest, compile_c, installations, launcher


class Threads(CommandTest):
    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two cpus")
    def test_the_diagnosis_reports_threads_with_uneven_work_that_are_bound_to_one_cpu(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "threads.c", "-pthread")
                done = self.poise("profile", "-o", "run.poise", "--json", "run.json", "--", *launcher(mpi, "-np", 1), program)
                self.assertEqual(done.returncode, 0, done.stderr)
                said = " ".join(done.stderr.split())
                self.assertIn("Threads, 1 node: all 2 threads are bound to cpu", said)
                result = json.loads((self.folder / "run.json").read_text())
                self.assertEqual(result["thread_causes"][0]["cause"], "one_cpu")
                self.assertAlmostEqual(result["threads"]["even"], 0.75, delta=0.15)  # (150 ms + 300 ms) / 2 / 300 ms

    @unittest.skipUnless(shutil.which("clang-16") and pathlib.Path("/usr/lib/llvm-16/lib/libomp.so").exists(), "no libomp of LLVM 16")
    def test_the_diagnosis_reports_the_load_balance_of_openmp_threads_that_spin_while_they_wait(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = self.folder / f"omp.{mpi}"
                subprocess.run([f"mpicc.{mpi}", "-fopenmp=libomp", "-w", PROGRAMS / "omp.c", "-o", program], check=True, timeout=300,
                               env=os.environ | {"OMPI_CC": "clang-16", "MPICH_CC": "clang-16"})
                done = self.poise("profile", "--json", "run.json", "--", *launcher(mpi, "-np", 1), "env", "KMP_BLOCKTIME=infinite", program)
                self.assertEqual(done.returncode, 0, done.stderr)
                # The threads work for 30 ms and 10 ms, so their mean is 2/3 of their maximum. A sleep that lasts too
                # long changes this ratio.
                self.assertAlmostEqual(json.loads((self.folder / "run.json").read_text())["threads"]["even"], 2 / 3, delta=0.1)
                self.assertIn("Inside ranks, the load balance of the threads", " ".join(done.stderr.split()))


if __name__ == "__main__":
    if not LIBRARY or not POISE or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
