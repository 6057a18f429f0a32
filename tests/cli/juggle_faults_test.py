# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise juggle under faults and load: the balancer is killed at random, programs have thousands of threads, and
cpus are taken away. Also tests the recipes of docs/juggle.md with real launchers and OpenMP runtimes."""

import contextlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

from juggle_test import BUSY, CPUS, QUICK, WAIT_S, JuggleTest, affinity, children, end_all, eventually
from run_poise import POISE

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "support"))
from guide_blocks import blocks_of  # noqa: E402

ROOT_MAY_LAUNCH = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
BIN = pathlib.Path(POISE).parent
CPUSETS = pathlib.Path("/sys/fs/cgroup/cpuset")


def members_of(group):
    """Returns the ids of all processes in a process group."""
    members = []
    for name in os.listdir("/proc"):
        with contextlib.suppress(ProcessLookupError, ValueError):
            if os.getpgid(int(name)) == group:
                members.append(int(name))
    return members


def is_kept(thread):
    return len(affinity(thread) or ()) == 1


def status_mib(pid, field):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    return 0


@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Faults(JuggleTest):
    def test_the_cpu_affinities_of_threads_are_restored_if_the_balancer_is_killed_at_any_time(self):
        seed = int(os.environ.get("POISE_SEED", random.randrange(10**9)))
        kills = int(os.environ.get("POISE_KILLS", "10"))
        chance = random.Random(seed)
        was_kept = 0
        for kill in range(kills):
            with self.subTest(seed=seed, kill=kill):
                process = subprocess.Popen([POISE, "juggle", *QUICK, "--", "sh", "-c", BUSY],
                                           start_new_session=True)
                try:
                    time.sleep(chance.uniform(0, 0.5))
                    was_kept += any(map(is_kept, members_of(process.pid)))
                    process.kill()
                    process.wait(WAIT_S)
                    # Affinities are checked a little later, because the program is still running and may just be
                    # starting a process.
                    time.sleep(0.02)
                    self.assertTrue(eventually(lambda: all(
                        affinity(pid) in (None, CPUS) for pid in members_of(process.pid))))
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
        print(f"{kills} kills with seed {seed}, {was_kept} of them seen amid balancing")

    def test_a_program_with_thousands_of_short_lived_threads_runs_normally(self):
        script = ("import threading, time\n"
                  "end, born = time.monotonic() + 2, 0\n"
                  "while time.monotonic() < end:\n"
                  "    threads = [threading.Thread(target=sum, args=(range(2000),)) for _ in range(20)]\n"
                  "    for thread in threads: thread.start()\n"
                  "    for thread in threads: thread.join()\n"
                  "    born += len(threads)\n"
                  "    time.sleep(0.01)\n"
                  "print(born, flush=True)\n")
        process = self.start(*QUICK, "--", "sh", "-c",
                             f"while :; do :; done & other=$!; python3 -c '{script}'; kill $other")
        most_files = 0
        while process.poll() is None:
            try:
                most_files = max(most_files, len(os.listdir(f"/proc/{process.pid}/fd")))
            except OSError:
                break
            time.sleep(0.05)
        born, errors = process.communicate(timeout=WAIT_S)
        self.assertEqual((process.returncode, errors), (0, ""))
        print(f"{int(born)} threads in 2 s")
        self.assertGreater(int(born), 200)
        self.assertLess(most_files, 200, "descriptors of the dead are kept")

    def test_a_program_with_five_hundred_threads_ends_normally(self):
        done = self.run_poise("juggle", *QUICK, "--json", "s.json", "--", BIN / "phases", "--threads",
                              "500", "--phase", "5ms", timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(json.loads(done.stdout)["cpu_s"], 2.5)
        summary = json.loads((self.folder / "s.json").read_text())
        self.assertEqual(summary["refusals"], 0)

    def test_the_memory_use_of_the_balancer_stays_bounded_if_the_program_is_a_fork_bomb(self):
        (self.folder / "bomb").write_text(
            '[ "$1" -eq 0 ] && exec sleep 2\nsh bomb $(($1 - 1)) & sh bomb $(($1 - 1)) & wait\n')
        process = self.start(*QUICK, "--", "sh", "bomb", "7")
        most_mib = 0
        while process.poll() is None:
            try:
                most_mib = max(most_mib, status_mib(process.pid, "VmRSS"))
            except OSError:
                break
            time.sleep(0.05)
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 0)
        self.assertLess(most_mib, 64)

    def test_the_balancer_exits_with_the_status_of_a_program_that_ends_immediately(self):
        for policy in ("auto", "proactive", "reactive", "hybrid", "off"):
            for status in (0, 1, 77):
                done = self.run_poise("juggle", "--policy", policy, "--period", "20ms", "--", "sh",
                                      "-c", f"exit {status}")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (status, "", ""))

    def guard_of(self, balancer):
        """Returns the guard process of a balancer, or None if there is none at the moment."""
        for pid in children(balancer):
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/comm").read_text() == "poise-guard\n":
                    return pid
        return None

    def assert_all_freed(self, workers):
        self.assertTrue(eventually(lambda: all(affinity(pid) == CPUS for pid in workers)),
                        [affinity(pid) for pid in workers])

    def test_a_killed_guard_process_is_replaced_and_the_new_guard_restores_affinities_if_the_balancer_is_killed(self):
        process, shell, workers = self.start_busy()
        for _ in range(2):
            first = self.guard_of(process.pid)
            self.assertIsNotNone(first)
            os.kill(first, signal.SIGKILL)
            self.assertTrue(eventually(lambda: self.guard_of(process.pid) not in (first, None)),
                            "no new guard was started")
        self.assertTrue(all(map(is_kept, workers)))
        process.kill()
        self.assert_all_freed(workers)
        end_all([*workers, shell])
        process.communicate(timeout=WAIT_S)

    def test_threads_are_unpinned_while_the_balancer_is_suspended_and_pinned_again_when_it_continues(self):
        process, _, workers = self.start_busy()
        for _ in range(2):
            process.send_signal(signal.SIGSTOP)
            self.assert_all_freed(workers)
            process.send_signal(signal.SIGCONT)
            self.assertTrue(eventually(lambda: all(map(is_kept, workers))))
        end_all(workers)
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertEqual((process.returncode, errors), (0, ""))

    def test_suspending_the_balancer_returns_threads_to_the_cpu_to_which_the_user_bound_them(self):
        one = min(CPUS)
        process = self.start(*QUICK, "--", "taskset", "-c", str(one), "sh", "-c", BUSY)
        workers = []

        def are_spread():
            workers[:] = [w for pid in children(process.pid) for w in children(pid)]
            return len(set().union(*(affinity(pid) or () for pid in workers))) > 1

        self.addCleanup(lambda: end_all(workers))
        self.assertTrue(eventually(are_spread))
        process.send_signal(signal.SIGSTOP)
        self.assertTrue(eventually(lambda: all(affinity(pid) == {one} for pid in workers)))
        process.send_signal(signal.SIGCONT)
        self.assertTrue(eventually(are_spread))
        end_all(workers)
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertEqual((process.returncode, errors), (0, ""))

    def cpuset(self, cpus):
        """Creates a cpuset with these cpus and returns its folder."""
        folder = CPUSETS / f"poise_test_{os.getpid()}"
        try:
            folder.mkdir()
            self.addCleanup(folder.rmdir)
            (folder / "cpuset.mems").write_text((CPUSETS / "cpuset.mems").read_text())
            (folder / "cpuset.cpus").write_text(",".join(map(str, sorted(cpus))))
        except OSError as error:
            self.skipTest(f"no cpuset can be made here: {error}")
        return folder

    def test_threads_that_a_cpuset_confines_to_one_cpu_are_left_alone(self):
        folder = self.cpuset({min(CPUS)})
        program = f"echo $$ > {folder}/tasks; timeout 4 sh -c '{BUSY}'"
        done = self.run_poise("juggle", *QUICK, "--json", "s.json", "--", "sh", "-c", program)
        self.assertTrue(eventually(lambda: not (folder / "tasks").read_text()))
        self.assertEqual((done.returncode, done.stderr), (124, ""))
        summary = json.loads((self.folder / "s.json").read_text())
        self.assertGreater(summary["refusals"], 0)

    def test_the_balancer_follows_a_cpuset_that_shrinks_and_grows_under_load(self):
        folder = self.cpuset(CPUS)
        first = {min(CPUS)}
        join = f"echo $$ > {folder}/tasks; exec \"$0\" \"$@\""
        process = subprocess.Popen(["sh", "-c", join, POISE, "juggle", *QUICK, "--", "sh", "-c", BUSY],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        workers = []

        def are_there():
            workers[:] = [w for pid in children(process.pid) for w in children(pid)]
            return len(workers) == 3 and all(map(is_kept, workers))

        def used():
            return set().union(*(affinity(worker) or () for worker in workers))

        try:
            self.assertTrue(eventually(are_there))
            for cpus in (first, CPUS, first, CPUS):
                (folder / "cpuset.cpus").write_text(",".join(map(str, sorted(cpus))))
                wanted = set(sorted(cpus)[:2]) if len(cpus) > 1 else cpus
                self.assertTrue(eventually(
                    lambda: all(map(is_kept, workers)) and wanted <= used() <= cpus), (cpus, used()))
        finally:
            end_all(workers)
            _, errors = process.communicate(timeout=WAIT_S)
            self.assertTrue(eventually(lambda: not (folder / "tasks").read_text()))
        self.assertEqual((process.returncode, errors), (0, ""))


@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Recipes(JuggleTest):
    """Tests what the recipes of docs/juggle.md do. The commands are read from the page."""

    def run_recipe(self, words, programs, options=("--json", "s.json"), environment=None):
        """Runs the command of docs/juggle.md that contains these words, after three changes: names of programs in the
        command are replaced as the dictionary `programs` says; the number 8 becomes the number of cpus plus one; `poise
        juggle` gets more options. Returns the finished process."""
        commands = "".join(block.body for block in blocks_of(ROOT / "docs" / "juggle.md") if block.language == "sh")
        line, = (line for line in commands.splitlines() if words in line and not line.startswith("#"))
        line = re.sub(r"\b8\b", str(len(CPUS) + 1), line)
        for name, program in programs.items():
            line = line.replace(name, str(program))
        line = line.replace(f" {shlex.join(QUICK[:2])} ", " ")  # QUICK has this option, which may be given only once
        line = line.replace("poise juggle", shlex.join([POISE, "juggle", *QUICK, *options]))
        done = subprocess.run(["sh", "-c", line], cwd=self.folder, env=os.environ | ROOT_MAY_LAUNCH | (environment or {}),
                              capture_output=True, encoding="utf-8", timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stderr}")
        return done

    def summary(self):
        return json.loads((self.folder / "s.json").read_text())

    def test_openmp_programs_are_balanced_with_the_default_openmp_runtime_and_with_that_of_llvm(self):
        if not (BIN / "ep").exists():
            self.skipTest("the compiler has no OpenMP")
        libraries = [str(path) for path in pathlib.Path("/usr/lib").glob("llvm-*/lib/libomp.so.5")]
        rings = set()
        for library in ["", *libraries[:1]]:
            for bound in "true", "false":
                program = f"env {f'LD_PRELOAD={library}' if library else ''} {BIN}/ep --points 40000000"
                done = self.run_recipe("OMP_NUM_THREADS", {"./program": program}, environment={"OMP_PROC_BIND": bound})
                rings.add(tuple(json.loads(done.stdout)["rings"]))
                self.assertGreater(self.summary()["migrations"], 0)
                self.assertGreaterEqual(self.summary()["num_threads"], len(CPUS) + 1)
        self.assertEqual(len(rings), 1, "balancing has changed a result")

    def test_mpi_ranks_started_by_mpirun_are_found_and_balanced(self):
        mpirun = shutil.which("mpirun.openmpi")
        if not mpirun:
            self.skipTest("no mpirun")
        self.run_recipe("mpirun --bind-to none", {"mpirun": f"{mpirun} --oversubscribe",
                                                  "./program": f"{BIN}/phases --threads 1 --phase 1s"})
        self.assertGreater(self.summary()["migrations"], 0)
        self.assertGreaterEqual(len({thread["process"] for thread in self.summary()["threads"]}), len(CPUS) + 1)

    def test_mpirun_can_start_one_balancer_per_node(self):
        mpirun = shutil.which("mpirun.openmpi")
        if not mpirun:
            self.skipTest("no mpirun")
        program = f"{BIN}/phases --threads {len(CPUS) + 1} --phase 500ms"
        done = self.run_recipe("--map-by node", {"mpirun -np 2": f"{mpirun} --bind-to none -np 1", "./threaded_program": program},
                               ["--summary"])
        self.assertIn("elapsed_s", done.stdout)
        self.assertIn("migrations", done.stderr)

    def test_one_balancer_gives_all_threads_of_two_programs_equal_shares_of_the_cpus(self):
        cpus = len(CPUS)
        programs = {"./first": f"{BIN}/phases --threads {cpus} --phase 2s", "./second": f"{BIN}/phases --phase 2s --threads 1"}
        for tries_left in (2, 1, 0):  # repeats a run that other programs may have disturbed
            self.run_recipe("./first & ./second", programs)
            threads = [thread for thread in self.summary()["threads"] if thread["run_s"] > 1]
            # There is one thread more than cpus: the first program has a thread for each cpu, and the second program
            # has one thread. Without balancing, that thread would share a cpu with a thread of the first program all
            # the time, and each of the two would get only half of this cpu.
            runs = [thread["run_s"] for thread in threads]
            if tries_left == 0 or len(runs) == cpus + 1 and max(runs) - min(runs) < 0.5:
                break
        self.assertEqual(len({thread["process"] for thread in threads}), 2)
        self.assertEqual(len(runs), cpus + 1)
        self.assertLess(max(runs) - min(runs), 0.5)


if __name__ == "__main__":
    unittest.main()
