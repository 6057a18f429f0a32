"""A rank that is killed ends its job, and what the run recorded until then is there to be read."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

POISE, PROGRAM = os.environ["POISE"], os.environ["PROGRAM"]
LAUNCH = os.environ["LAUNCH"].split()
DECISIONS = 4  # before the rank is killed


class CrashTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_until_killed(self, trace):
        done = subprocess.run([*LAUNCH, PROGRAM, "kill"], cwd=self.folder, timeout=60,
                              env={**os.environ, "POISE_TRACE": trace}, capture_output=True,
                              check=False)
        self.assertNotEqual(done.returncode, 0, "the job ended well")

    def phases_recovered(self, recorded):
        subprocess.run([POISE, "convert", "--recover", recorded, "whole.json"], cwd=self.folder,
                       check=True, capture_output=True, timeout=60)
        ranks = sorted(self.folder.glob("whole.*.json"))
        self.assertEqual(len(ranks), 2)
        return {len(json.loads(rank.read_text())["phases"]) for rank in ranks}

    def test_a_native_trace_has_all_finished_phases(self):
        self.run_until_killed("run.poise")
        self.assertEqual(self.phases_recovered("run.poise"), {DECISIONS})

    def test_so_has_what_was_to_become_a_vt_trace(self):
        for ending in ("json", "json.br"):
            self.run_until_killed(f"run.{ending}")
            self.assertEqual(self.phases_recovered(f"run.{ending}.poise"), {DECISIONS})


if __name__ == "__main__":
    unittest.main()
