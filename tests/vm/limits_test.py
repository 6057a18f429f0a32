#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise juggle on an emulated machine whose kernel limits what the balancer can use or see: a quota of cpu time
(cpu.max of cgroup version 2), and cpus without clock ticks (nohz_full). Checks counts, not times."""

import json
import re
import sys
import unittest

import guest

TIMEOUT_S = 400
SCRIPT = """
echo '>>> tickless'
cat /sys/devices/system/cpu/nohz_full
fresh_times
echo '>>> quota'
echo +cpu > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/paid
echo '250000 100000' > /sys/fs/cgroup/paid/cpu.max
echo $$ > /sys/fs/cgroup/paid/cgroup.procs
poise juggle --json /tmp/summary -- phases --threads 6 --phases 3000 --phase 200ms &
balancer=$!
# On a busy host it takes a long time until the balancer has measured enough to decide.
for i in $(seq 60); do
  affinities=$(grep -h Cpus_allowed_list /proc/$(pidof phases)/task/*/status)
  [ $(echo "$affinities" | sort | uniq -c | sort -n | tail -n 1 | awk '{print $1}') -eq 6 ] && break
  sleep 1
done
echo "$affinities"
kill $(pidof phases)
wait $balancer
echo '>>> summary'
cat /tmp/summary
"""


def num_cpus(text):
    """Returns the number of cpus in a list such as 0-2,5."""
    ends = [list(map(int, part.split("-"))) for part in text.split(",")]
    return sum(last - first + 1 for first, last in ((end[0], end[-1]) for end in ends))


class Limits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.said = guest.boot(2, [guest.BIN / name for name in ("poise", "phases", "fresh_times")], SCRIPT, TIMEOUT_S,
                              "nohz_full=1-7")

    def test_cpu_times_are_up_to_date_on_cpus_without_clock_ticks(self):
        said = self.said["tickless"]
        self.assertIn("1-7", said)
        readings, stale, counted = map(int, re.search(r"of (\d+) .*schedstat (\d+), counter (\d+)", said).groups())
        self.assertLess(stale, readings, "this kernel brings schedstat up to date anyway, so the test shows nothing")
        self.assertEqual(counted, readings)

    def test_threads_that_sleep_at_barriers_are_kept_on_as_many_cpus_as_the_quota_allows(self):
        said = self.said["quota"]
        self.assertIn("pays for 2.5 cpus of 8: 3 threads use it up", said)
        affinities = re.findall(r"Cpus_allowed_list:\s*(\S+)", said)
        kept = [text for text in affinities if num_cpus(text) == 3]
        self.assertEqual(len(kept), 6, said)  # six working threads; the first thread only waits
        self.assertEqual(len(set(kept)), 1, said)
        (cause,) = [cause for cause in json.loads(self.said["summary"])["causes"] if cause["kind"] == "quota"]
        self.assertIn("use 3 threads", cause["text"])


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    # Exits with status 77 (skipped) if the emulator or its kernel is missing.
    sys.exit(77 if not result.testsRun and result.skipped else not result.wasSuccessful())
