# SPDX-License-Identifier: BSD-3-Clause

"""Tests how failing jobs end: with a line that says why, with a status other than 0, and without hanging. If a rank
is killed, everything that the run recorded before must be readable."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

POISE, PROGRAM = os.environ["POISE"], os.environ["PROGRAM"]
LAUNCH = os.environ["LAUNCH"].split()
DECISIONS = 4  # number of balancing decisions before the rank is killed
OBJECT = 'object 5 of "luck", step {} on rank {}: '
BAD_SETTINGS = {
    "POISE_STRATEGY=gredy": 'unknown strategy "gredy"; did you mean "greedy"',
    "POISE_PERIOD=often": '"often" is not a number of steps',
    "POISE_BUDGET=2": '"2" is not a time',
    "POISE_TRACE=/nowhere/t.poise": "cannot write /nowhere/t.poise",
    "POISE_TIMELINE=/nowhere/t.json": "cannot write /nowhere/t.json",
    "POISE_LOG=/nowhere/log": "cannot write /nowhere/log",
}


class CrashTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trouble_of(self, trouble, **variables):
        """Returns the output of the job without the launcher's messages."""
        done = subprocess.run([*LAUNCH, PROGRAM, trouble], cwd=self.folder, timeout=300,
                              env={**os.environ, **variables}, capture_output=True, text=True,
                              check=False)
        self.assertNotEqual(done.returncode, 0, "the job ended well")
        self.status = done.returncode
        return [line for line in done.stderr.splitlines() if line.startswith("poise: ")]

    def run_until_killed(self, trace):
        self.trouble_of("kill", POISE_TRACE=trace)

    def test_the_error_of_the_job_names_the_object_that_threw_an_exception(self):
        for trouble, step, rank, why in (("step", 2, 1, "out of luck"),
                                         ("silent", 2, 1, "it threw an exception without a text"),
                                         ("serialize", 3, 1, "cannot be packed"),
                                         ("odd", 3, 1, "it threw something that is not a std::exception"),
                                         ("memory", 3, 0, "forgot where")):
            with self.subTest(trouble):
                self.assertEqual(self.trouble_of(trouble), [f"poise: {OBJECT.format(step, rank)}{why}"])

    def test_an_invalid_setting_ends_the_job_with_an_error_that_names_the_setting(self):
        for setting, cure in BAD_SETTINGS.items():
            name, value = setting.split("=")
            with self.subTest(setting):
                line, = self.trouble_of("none", **{name: value})
                self.assertTrue(line.startswith(f"poise: {name}: "), line)
                self.assertIn(cure, line)
                self.assertEqual(self.status, 2)

    def test_the_job_ends_if_ranks_pass_different_numbers_of_objects(self):
        line, = self.trouble_of("count")
        self.assertIn("ranks pass from 8 to 9 objects to a collection", line)
        self.assertEqual(self.status, 2)

    def test_the_job_ends_if_only_some_ranks_define_subphases(self):
        line, = self.trouble_of("some")
        self.assertIn("1 of 2 ranks set subphase_of_step", line)
        self.assertEqual(self.status, 2)

    def test_the_job_ends_if_the_number_of_a_subphase_is_too_large(self):
        line, = self.trouble_of("subphase")
        self.assertIn("subphase_of_step returned 64 for step 0; it must return 0 to 63", line)
        self.assertEqual(self.status, 2)

    def test_if_ranks_measure_different_numbers_of_subphases_the_check_whether_balancing_pays_does_not_hang(self):
        line, = self.trouble_of("unlike")
        self.assertIn("ranks have measured different numbers of subphases", line)

    def phases_recovered(self, recorded):
        subprocess.run([POISE, "convert", "--recover", recorded, "whole.json"], cwd=self.folder,
                       check=True, capture_output=True, timeout=300)
        ranks = sorted(self.folder.glob("whole.*.json"))
        self.assertEqual(len(ranks), 2)
        return {len(json.loads(rank.read_text())["phases"]) for rank in ranks}

    def test_a_native_trace_of_a_killed_job_has_all_finished_phases(self):
        self.run_until_killed("run.poise")
        self.assertEqual(self.phases_recovered("run.poise"), {DECISIONS})

    def test_a_vt_trace_of_a_killed_job_can_be_recovered_with_all_finished_phases(self):
        for ending in ("json", "json.br"):
            self.run_until_killed(f"run.{ending}")
            self.assertEqual(self.phases_recovered(f"run.{ending}.poise"), {DECISIONS})


if __name__ == "__main__":
    unittest.main()
