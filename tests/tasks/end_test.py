# SPDX-License-Identifier: BSD-3-Clause

"""A job in which a rank is killed inside a task, receives a longer message than it expects, or has no memory for a lent
task, ends soon and with a status other than 0. The error is not checked, because launchers sometimes lose output."""

import os
import subprocess
import unittest

LAUNCH = os.environ["LAUNCH"].split()
MOST_S = 300  # time-out of a job in seconds; a job whose killed rank goes unnoticed would never end


class EndTest(unittest.TestCase):
    def ends_soon_after(self, line, trouble):
        done = subprocess.run([*LAUNCH, os.environ["PROGRAM"], f"--trouble={trouble}"], timeout=MOST_S,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertIn(line, done.stdout, "it has ended before that")
        self.assertNotEqual(done.returncode, 0, "the job ended well")
        return done.returncode

    def test_the_job_ends_if_a_rank_is_killed(self):
        self.ends_soon_after("rank 2 is inside its last task", "killed")

    def test_the_job_ends_if_a_message_is_longer_than_expected(self):
        self.ends_soon_after("rank 0 expects half a message", "truncated")

    def test_the_job_ends_with_status_2_if_memory_runs_out(self):
        status = self.ends_soon_after("rank 1 borrows too much", "memory")
        self.assertIn(status, (1, 2))  # 1: the address sanitizer has ended the program


if __name__ == "__main__":
    unittest.main()
