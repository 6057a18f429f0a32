#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise juggle on an emulated machine with four memory domains: what it discovers, where it keeps
threads, how it reacts when cpus disappear, and its gain compared with the theory.

The emulator has 8 or 12 cpus, more than the host. Programs do a given amount of work, measured in cpu time by the
emulated machine's clock, so ratios of run times do not depend on the host's speed. A busy host delays the balancer
by tenths of a second or more. Therefore phases last much longer than that, and run times are compared with the
theory only if the emulator had the host to itself."""

import json
import os
import pathlib
import re
import statistics
import sys
import time
import unittest

import guest

PROGRAMS = [guest.BIN / "poise", guest.BIN / "phases"]
ALL = "0-7"
PHASE_S = 12
RUNS = 3
# If other programs use more than this fraction of the host's cpus, times are printed but not checked.
QUIET_SHARE = 0.1
KILLS = int(os.environ.get("POISE_KILLS", "3"))
TIMEOUT_S = 400

PRELUDE = """
affinities() { grep -H Cpus_allowed_list /proc/$(pidof phases)/task/*/status | tr -d '\\t'; }
num_kept() { affinities 2> /dev/null | grep -vc '[-,]$\\|:.*:.*[-,]'; }
# Prints the affinities of all threads at one moment: reads them until two readings in a row are equal, because then no
# thread was moved in between. On a busy host a reading takes up to a second. Therefore the period of balancing must be
# much longer; otherwise two readings would hardly ever be equal.
snapshot() {
  before=
  for i in $(seq 20); do
    now=$(affinities)
    [ "$now" = "$before" ] && break
    before=$now
  done
  echo "$now"
}
samples() { for j in $(seq $1); do echo sample; snapshot; usleep 500000; done; }
wait_until_kept() { for i in $(seq 100); do [ "$(num_kept)" -ge "$1" ] && return; usleep 50000; done; }
settle() { usleep 4700000; wait_until_kept 9; }
juggled() { poise juggle --policy proactive --period 4s "$@" & balancer=$!; }
stop() { kill -9 $(pidof phases); wait $balancer; }
"""

EIGHT = PRELUDE + f"""
echo '>>> topo'
poise topo --json
echo '>>> within'
juggled --numa within -- phases --threads 13 --phase 3000s
wait_until_kept 13
samples 12
stop
echo '>>> killed'
for i in $(seq {KILLS}); do
  juggled --skip-thread 0 -- phases --threads 9 --phase 3000s
  wait_until_kept 9
  num_kept
  kill -9 $balancer
  for i in $(seq 100); do [ "$(num_kept)" -eq 0 ] && break; usleep 50000; done
  affinities
  stop
done
echo '>>> offline'
juggled -- phases --threads 9 --phase 3000s
wait_until_kept 9
echo 0 > /sys/devices/system/cpu/cpu6/online
settle
samples 5
echo '>>> online'
echo 1 > /sys/devices/system/cpu/cpu6/online
settle
samples 5
stop
echo '>>> cpuset shrunk'
echo +cpuset > /sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/job
echo 0-7 > /sys/fs/cgroup/job/cpuset.cpus
echo $$ > /sys/fs/cgroup/job/cgroup.procs
juggled -- phases --threads 9 --phase 3000s
wait_until_kept 9
echo 2-5 > /sys/fs/cgroup/job/cpuset.cpus
settle
samples 5
echo '>>> cpuset widened'
echo 0-7 > /sys/fs/cgroup/job/cpuset.cpus
settle
samples 5
stop
echo $$ > /sys/fs/cgroup/cgroup.procs
echo '>>> static'
taskset 7f phases --threads 8 --phase 3s --bound
echo '>>> balanced'
for i in $(seq $runs); do
  poise juggle --policy proactive --period 200ms --skip-thread 0 --cpus 0-6 -- \\
    taskset 7f phases --threads 8 --phase {PHASE_S}s --bound
done
"""

TWELVE = f"""
echo '>>> static'
phases --threads 16 --phase 3s --bound
balanced() {{
  poise juggle --policy proactive --period 200ms --skip-thread 0 --numa $1 -- \\
    phases --threads 16 --phase {PHASE_S}s --bound
}}
echo ">>> across"
for i in $(seq $runs); do balanced across; done
echo ">>> within"
balanced within
"""


def domain_of(cpu):
    return cpu // 2


def samples_in(text):
    """Returns, for each sample in the text, a table {thread: cpu to which it is pinned}. The first thread of a process
    is left out, because it only waits."""
    found = []
    for part in text.split("sample\n")[1:]:
        threads = re.findall(r"^/proc/(\d+)/task/(\d+)/status:Cpus_allowed_list:(\S+)$", part, re.M)
        found.append({int(thread): int(cpus) for process, thread, cpus in threads
                      if process != thread and cpus.isdigit()})
    return found


def busy_s():
    """Returns the cpu time that all programs on the host have used, in seconds since it started."""
    times = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


def elapsed_s(text):
    return [json.loads(line)["elapsed_s"] for line in re.findall(r"^\{.*\}$", text, re.M)]


class MachineTest(unittest.TestCase):
    @classmethod
    def boot(cls, cpus_per_domain, script):
        before = busy_s()
        time.sleep(1)
        is_quiet = busy_s() - before < QUIET_SHARE * os.cpu_count()
        script = f"runs={RUNS if is_quiet else 1}\n{script}"  # one run suffices if times are not judged
        before, own, start_s = busy_s(), os.times(), time.monotonic()
        cls.said = guest.boot(cpus_per_domain, PROGRAMS, script, TIMEOUT_S)
        after = os.times()
        own_s = (after.children_user - own.children_user
                 + after.children_system - own.children_system)
        cpus_s = (time.monotonic() - start_s) * os.cpu_count()
        cls.others = max(0.0, busy_s() - before - own_s) / cpus_s

    def assert_near(self, times_s, theory_s):
        median_s = statistics.median(times_s)
        print(f"{self.id().rsplit('.', 1)[1]}: {median_s:.2f} s of "
              f"{', '.join(f'{time_s:.2f}' for time_s in times_s)}; theory {theory_s:.2f} s, ratio "
              f"{median_s / theory_s:.3f}; others had {100 * self.others:.0f}% of the host", flush=True)
        self.assertGreater(median_s, 0.97 * theory_s)
        if self.others > QUIET_SHARE or len(times_s) < RUNS:
            self.skipTest("the host was too busy to judge times")
        self.assertLess(median_s, 1.1 * theory_s)

    def assert_static(self):
        """Checks that without balancing, each of the slowest threads gets only half a cpu, even if the host is busy."""
        (took_s,) = elapsed_s(self.said["static"])
        self.assertGreater(took_s, 2 * 3 * 0.95)


class EightCpus(MachineTest):
    @classmethod
    def setUpClass(cls):
        cls.boot(2, EIGHT)

    def samples(self, section, least, num_threads=9):
        """Returns those samples of a section of the output that contain all threads. Fails if there are fewer than
        `least`."""
        samples = samples_in(self.said[section])
        whole = [sample for sample in samples if len(sample) == num_threads]
        self.assertGreaterEqual(len(whole), least, self.said[section])
        return whole

    def assert_even(self, sample_s, cpus):
        """Checks that in at least half of the samples the numbers of threads per cpu differ by at most 1. The other
        samples may have been taken while threads were being moved."""
        even = 0
        for sample in sample_s:
            counts = [sum(at == cpu for at in sample.values()) for cpu in cpus]
            self.assertEqual(sum(counts), len(sample), f"{sample}: cpus beyond {cpus}")
            even += max(counts) - min(counts) <= 1
        self.assertGreaterEqual(2 * even, len(sample_s), sample_s)

    def test_poise_topo_finds_the_numa_domains_and_their_distances(self):
        machine = json.loads(self.said["topo"])
        self.assertEqual(machine["summary"], {"nodes": 1, "domains": 4, "places": 8})
        self.assertEqual(machine["numa"]["latency_factor"],
                         [[value / 10 for value in row] for row in guest.DISTANCES])

    def test_threads_are_spread_evenly_over_numa_domains_and_stay_in_them(self):
        samples = self.samples("within", 6, num_threads=13)
        homes = {}
        for sample in samples:
            for thread, cpu in sample.items():
                self.assertEqual(homes.setdefault(thread, domain_of(cpu)), domain_of(cpu))
        counts = [list(homes.values()).count(domain) for domain in range(4)]
        self.assertEqual(sorted(counts), [3, 3, 3, 4])
        self.assertGreater(len({tuple(sorted(sample.items())) for sample in samples}), 1,
                           "no thread moved")

    def test_affinities_are_restored_when_the_balancer_is_killed(self):
        lines = self.said["killed"].splitlines()
        self.assertEqual([line for line in lines if line.isdigit()], ["9"] * KILLS)
        lists = [line.rsplit(":", 1)[1] for line in lines if "Cpus_allowed_list" in line]
        self.assertEqual(lists, [ALL] * (10 * KILLS))

    def test_the_balancer_leaves_a_cpu_that_goes_offline_and_uses_the_cpu_again_once_it_is_back_online(self):
        self.assert_even(self.samples("offline", 3), [0, 1, 2, 3, 4, 5, 7])
        self.assert_even(self.samples("online", 3), range(8))
        self.assertNotIn("affinities of some threads itself", self.said["offline"] + self.said["online"])

    def test_the_balancer_adapts_to_a_cpuset_that_shrinks_and_grows(self):
        self.assert_even(self.samples("cpuset shrunk", 3), range(2, 6))
        self.assert_even(self.samples("cpuset widened", 3), range(8))
        self.assertNotIn("affinities of some threads itself", self.said["cpuset shrunk"] + self.said["cpuset widened"])

    def test_eight_threads_balanced_over_seven_cpus_take_eight_sevenths_of_the_time_of_one_thread(self):
        self.assert_static()
        self.assert_near(elapsed_s(self.said["balanced"]), PHASE_S * 8 / 7)


class TwelveCpus(MachineTest):
    @classmethod
    def setUpClass(cls):
        cls.boot(3, TWELVE)

    def test_sixteen_threads_balanced_over_twelve_cpus_take_four_thirds_of_the_time_of_one_thread(self):
        self.assert_static()
        self.assert_near(elapsed_s(self.said["across"]), PHASE_S * 16 / 12)

    def test_sixteen_threads_balanced_within_four_numa_domains_take_four_thirds_of_the_time_of_one_thread(self):
        self.assert_near(elapsed_s(self.said["within"]), PHASE_S * 4 / 3)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    # Exits with status 77 (skipped) if the emulator or its kernel is missing.
    sys.exit(77 if not result.testsRun and result.skipped else not result.wasSuccessful())
