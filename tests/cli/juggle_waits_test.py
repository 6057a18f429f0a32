# SPDX-License-Identifier: BSD-3-Clause

"""Tests the policies of poise juggle that react to waits, with programs that report their waits through the preloaded
library and with programs that cannot."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from juggle_test import CPUS, JuggleTest
from run_poise import POISE

BIN = pathlib.Path(POISE).parent
THREADS = str(len(CPUS) + 1)
PHASES = [BIN / "phases", "--threads", THREADS, "--phases", "10", "--phase", "100ms"]
PYTHON = f"""
import threading
barrier = threading.Barrier({THREADS})
def work():
    for _ in range(20):
        sum(range(300000))
        barrier.wait()
threads = [threading.Thread(target=work) for _ in range({THREADS})]
for thread in threads: thread.start()
for thread in threads: thread.join()
raise SystemExit(7)
"""


@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Waits(JuggleTest):
    def summary_of(self, *command, status=0, says="", **options):
        done = self.run_poise("juggle", "--policy", "reactive", "--json", "s.json", "--", *command, timeout=300, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        if says:
            self.assertIn(says, done.stderr)
        else:
            self.assertNotIn("report", done.stderr)
        return json.loads((self.folder / "s.json").read_text())

    def test_the_balancer_moves_threads_when_other_threads_sleep_or_yield_at_barriers(self):
        for wait in "sleep", "yield":
            with self.subTest(wait):
                summary = self.summary_of(*PHASES, "--wait", wait)
                self.assertGreater(summary["reactions"], 0)
                self.assertGreater(summary["migrations"], 0)

    def test_threads_that_wait_at_the_end_of_an_openmp_parallel_region_are_reported_to_the_balancer(self):
        if not (BIN / "ep").exists():
            self.skipTest("the compiler has no OpenMP")
        libraries = [str(path) for path in pathlib.Path("/usr/lib").glob("llvm-*/lib/libomp.so.5")]
        results = set()
        for library in ["", *libraries[:1]]:
            summary = self.summary_of("sh", "-c", 'LD_PRELOAD="$1:$LD_PRELOAD" OMP_NUM_THREADS="$2" exec "$3" --points '
                                      '40000000 > result', "sh", library, THREADS, BIN / "ep")
            self.assertGreater(summary["reactions"], 0, library)
            results.add(tuple(json.loads((self.folder / "result").read_text())["rings"]))
        self.assertEqual(len(results), 1, "the preloaded library has changed a result")

    def test_preloading_the_library_that_reports_waits_does_not_change_the_exit_status_of_a_script(self):
        for command in (["python3", "-c", PYTHON], ["sh", "-c", "(exit 3); python3 -c \"$0\" | cat; exit 7", PYTHON]):
            self.summary_of(*command, status=7)

    def test_a_program_that_unsets_ld_preload_runs_and_one_line_says_that_the_program_reports_no_waits(self):
        summary = self.summary_of("env", "-u", "LD_PRELOAD", *PHASES[:3], "--phases", "4", "--phase", "500ms",
                                  says="does not report when its threads wait")
        self.assertEqual(summary["reactions"], 0)

    @unittest.skipUnless(shutil.which("nm"), "nm is not installed")
    def test_a_program_with_another_c_library_can_load_the_library_that_reports_waits(self):
        library = BIN.parent / "lib/libpoise_juggle_waits.so"
        listed = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True,
                                timeout=60).stdout
        needed = {line.split()[1].split("@")[0] for line in listed.splitlines() if line.split()[0] == "U"}
        self.assertIn("dlsym", needed)
        self.assertFalse(needed & {"dlvsym", "__register_atfork"}, "only glibc has these functions")

    def test_a_program_runs_although_the_library_that_reports_its_waiting_threads_is_not_installed(self):
        alone = self.folder / "poise"
        shutil.copy(POISE, alone)
        done = subprocess.run([alone, "juggle", "--policy", "hybrid", "--", "sh", "-c", "exit 7"], check=False,
                              capture_output=True, encoding="utf-8", timeout=300)
        self.assertEqual(done.returncode, 7)
        self.assertIn("cannot report when its threads wait: cannot read libpoise_juggle_waits.so", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_balancing_policies_that_ignore_waits_preload_no_library_into_the_program(self):
        done = self.run_poise("juggle", "--policy", "proactive", "--", "sh", "-c", "echo $LD_PRELOAD $POISE_JUGGLE_WAITS",
                              env={key: value for key, value in os.environ.items() if key != "LD_PRELOAD"})
        self.assertEqual((done.stdout, done.returncode), ("\n", 0))


if __name__ == "__main__":
    unittest.main()
