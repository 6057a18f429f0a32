# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise juggle as users meet it: exit statuses, signals, and affinities that are always restored."""

import contextlib
import functools
import json
import os
import pathlib
import resource
import select
import signal
import subprocess
import time
import unittest

from run_poise import POISE, CliTest

CPUS = os.sched_getaffinity(0)
WAIT_S = 100
# A shell script that starts three child processes, which compute until they are killed, and waits for them.
BUSY = "for i in 1 2 3; do while :; do :; done & done; wait"
QUICK = ("--policy", "proactive", "--period", "20ms")


def children(pid):
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]


def affinity(pid):
    try:
        return os.sched_getaffinity(pid)
    except ProcessLookupError:
        return None


def eventually(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def end_all(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@functools.cache
def note_of_quota():
    """Returns the line in which the balancer reports a quota of cpu time of this process, or an empty text."""
    done = subprocess.run([POISE, "juggle", "--", "true"], check=True, capture_output=True, encoding="utf-8", timeout=WAIT_S)
    return "".join(line for line in done.stderr.splitlines() if "a quota (" in line)


class JuggleTest(CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # With a quota, the balancer keeps some cpus free of threads and prints one more line.
        if note_of_quota():
            raise unittest.SkipTest(f"needs all cpus, but {note_of_quota()}")

    def start(self, *arguments, **options):
        process = subprocess.Popen([POISE, "juggle", *arguments], encoding="utf-8",
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=self.folder, **options)
        self.addCleanup(self.end, process)
        return process

    def start_alone(self, *command):
        """Starts a program without a balancer."""
        program = subprocess.Popen(command, cwd=self.folder)
        self.addCleanup(program.wait, WAIT_S)
        self.addCleanup(program.kill)
        return program

    def start_busy_alone(self):
        """Starts a program with three busy children, without a balancer. Returns the program and its children's process
        ids."""
        program = self.start_alone("sh", "-c", BUSY)
        self.assertTrue(eventually(lambda: len(children(program.pid)) == 3))
        workers = children(program.pid)
        self.addCleanup(end_all, workers)
        return program, workers

    def end(self, process):
        process.kill()
        process.communicate(timeout=WAIT_S)

    def start_busy(self, *options, **popen_options):
        """Starts a balancer with three busy grandchildren, each pinned to a cpu."""
        process = self.start(*options, *QUICK, "--", "sh", "-c", BUSY, **popen_options)
        workers = []

        def are_there():
            shells = [pid for pid in children(process.pid) if len(children(pid)) == 3]
            workers[:] = children(shells[0]) if shells else []
            return len(workers) == 3

        self.assertTrue(eventually(are_there), "the program did not start")
        shell = next(pid for pid in children(process.pid) if children(pid))
        self.addCleanup(end_all, [*workers, shell])
        self.assertTrue(eventually(lambda: all(len(affinity(pid) or ()) == 1 for pid in workers)),
                        "the threads were not placed")
        return process, shell, workers


class Statuses(JuggleTest):
    def status_of(self, *command):
        return self.run_poise("juggle", "--", *command)

    def test_the_balancer_exits_with_the_status_of_the_program_it_runs(self):
        self.assertEqual(self.status_of("true").returncode, 0)
        self.assertEqual(self.status_of("sh", "-c", "exit 7").returncode, 7)

    def test_the_balancer_ends_by_the_same_signal_as_the_program(self):
        self.assertEqual(self.status_of("sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)

    def test_a_signal_to_the_balancer_reaches_the_program(self):
        script = ("import signal, sys\n"
                  "told = set(map(int, sys.argv[1:]))\n"
                  "signal.pthread_sigmask(signal.SIG_BLOCK, told)\n"
                  "print('ready', flush=True)\n"
                  "for _ in told: print(int(signal.sigwait(told)), flush=True)\n")
        signals = [signal.SIGTERM, signal.SIGUSR1, signal.SIGXCPU, signal.SIGURG, signal.SIGPWR, signal.SIGIO, signal.SIGRTMIN + 3,
                   signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS,
                   signal.SIGSTKFLT]
        process = self.start("--", "python3", "-c", script, *(str(int(told)) for told in signals))
        self.assertEqual(process.stdout.readline(), "ready\n")
        for told in signals:
            process.send_signal(told)
            self.assertEqual(process.stdout.readline(), f"{int(told)}\n")
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 0)

    def test_a_program_that_does_not_exist_gives_exit_status_127(self):
        done = self.status_of("no-such-command-here")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("no-such-command-here", done.stderr)
        with_summary = self.run_poise("juggle", "--summary", "--diagnose", "--", "no-such-command-here")
        self.assertEqual(with_summary.stderr, done.stderr)

    def test_a_file_that_cannot_be_executed_gives_exit_status_126(self):
        (self.folder / "text").write_text("no program")
        self.assertEqual(self.status_of("./text").returncode, 126)

    def test_the_message_says_if_a_script_exists_but_its_interpreter_does_not(self):
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        done = self.status_of("./script")
        self.assertEqual(done.returncode, 127)
        self.assertIn('"./script": the file exists, but the interpreter that it needs does not', done.stderr)

    def test_the_program_ends_normally_although_the_balancer_cannot_write_its_messages(self):
        reader, broken = os.pipe()
        os.close(reader)
        with open("/dev/full", "w", encoding="utf-8") as full, os.fdopen(broken, "w", encoding="utf-8") as pipe:
            for stderr in full, pipe:
                # SIGPIPE ends the program, as it does without the balancer.
                for script, status in ("exit 7", 7), ("exec 2>&1; kill -PIPE $$", -signal.SIGPIPE):
                    done = self.run_poise("juggle", "--live", "--summary", "--", "sh", "-c", script, capture_output=False,
                                          stderr=stderr, stdout=subprocess.PIPE)
                    self.assertEqual(done.returncode, status)

    def test_the_program_ends_normally_although_the_limit_of_file_sizes_lets_the_balancer_write_no_file(self):
        def no_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        done = self.run_poise("juggle", "--policy", "reactive", "--json", "s.json", "--", "sh", "-c",
                              "sleep 0.1; echo ended; exit 7", preexec_fn=no_files)
        self.assertEqual((done.returncode, done.stdout), (7, "ended\n"))
        self.assertIn("cannot write s.json: File too large", done.stderr)

    def test_the_balancer_exits_with_the_status_of_the_program_although_the_summary_cannot_be_written(self):
        done = self.run_poise("juggle", "--json", "/dev/full", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertIn("poise juggle: cannot write /dev/full: No space left on device", done.stderr)

    def test_the_balanced_program_inherits_stdin_and_stdout_and_stderr_of_the_balancer(self):
        done = self.run_poise("juggle", "--", "sh", "-c", "cat; echo wrong >&2", input="a\nb\n")
        self.assertEqual((done.stdout, done.stderr), ("a\nb\n", "wrong\n"))

    def test_arguments_after_two_dashes_are_passed_to_the_program(self):
        self.assertEqual(self.status_of("echo", "--policy", "-x").stdout, "--policy -x\n")

    def test_the_balancer_does_not_wait_for_background_children_of_the_program(self):
        done = self.run_poise("juggle", "--", "sh", "-c",
                              "sleep 30 > /dev/null 2>&1 & echo $!; exit 3")
        end_all([int(done.stdout)])
        self.assertEqual(done.returncode, 3)

    def test_unusable_cpus_given_by_the_option_cpus_are_reported_in_one_line(self):
        last = max(os.sched_getaffinity(0))
        done = self.run_poise("juggle", "--cpus", f"0-{last + 50}", "--", "true")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertRegex(done.stderr, rf"--cpus 0-{last + 50}: .*{last + 50}.* cannot be used")
        self.assertEqual(self.run_poise("juggle", "--cpus", str(last), "--", "true").stderr, "")

    def test_invalid_options_of_the_thread_balancer_are_refused(self):
        for words, says in ((("--policy", "proactiv"), "proactive"), (("--period", "5"), "100ms"),
                            (("--cpus", "9-1"), "0-3,8"), (("--cpus", "1023"), "the allowed cpus are"),
                            (("--progress", "speed"), "instructions"),
                            (("--numa", "up"), "within"), (("--jitter", "1"), "--jitter")):
            self.assert_refused("juggle", *words, "--", "true", says=says)
        self.assert_refused("juggle", says="COMMAND")
        self.assert_refused("juggle", "--attach", "999999999", says="no such process")
        if os.geteuid() != 0:
            self.assert_refused("juggle", "--attach", "1", says="another user")
        elif not os.path.exists("/proc/2/exe"):  # in a container, process 2 is an ordinary process
            self.assert_refused("juggle", "--attach", "2", says="the process has ended or is a kernel thread")


@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Affinities(JuggleTest):
    def test_signals_sent_to_the_balancer_reach_the_program(self):
        process = self.start("--", "sh", "-c", "trap 'echo caught; exit 5' TERM; echo up;"
                             " while :; do sleep 0.05; done")
        self.assertEqual(process.stdout.readline(), "up\n")
        process.terminate()
        self.assertEqual(process.communicate(timeout=WAIT_S)[0], "caught\n")
        self.assertEqual(process.returncode, 5)

    def test_the_cpu_affinities_of_threads_are_restored_when_the_balancer_is_killed(self):
        for _ in range(int(os.environ.get("POISE_KILLS", "3"))):
            process, shell, workers = self.start_busy()
            process.kill()
            self.assertTrue(eventually(lambda: all(affinity(pid) == CPUS for pid in workers)),
                            [affinity(pid) for pid in workers])
            end_all([*workers, shell])
            process.communicate(timeout=WAIT_S)

    def test_each_thread_is_pinned_to_one_of_the_given_cpus(self):
        two = sorted(CPUS)[:2]
        _, _, workers = self.start_busy("--cpus", ",".join(map(str, two)))

        def threads_on_cpus():
            places = [affinity(pid) for pid in workers]
            return sorted(sum(place == {cpu} for place in places) for cpu in two)

        for _ in range(20):
            # For a moment, the counts may differ from 1 and 2. Between the two system calls that swap two threads, all
            # three threads are on one cpu. A thread that has inherited its parent's cpu is first allowed all cpus, and
            # then pinned to one.
            self.assertTrue(eventually(lambda: threads_on_cpus() == [1, 2]), threads_on_cpus())
            time.sleep(0.01)

    def test_an_affinity_set_by_the_program_is_respected(self):
        process, _, workers = self.start_busy()
        chosen = {min(CPUS - affinity(workers[0]))}
        os.sched_setaffinity(workers[0], chosen)
        # A balancer that is just carrying out an earlier decision may overwrite the affinity, so the program sets it
        # repeatedly.
        self.assertTrue(eventually(lambda: self.insists_until_noted(process, workers[0], chosen)))
        self.assertEqual(affinity(workers[0]), chosen)
        end_all(workers)
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertNotIn("sets the affinities of some threads itself", errors)

    def insists_until_noted(self, process, pid, chosen):
        if select.select([process.stderr], [], [], 0)[0]:
            said = os.read(process.stderr.fileno(), 4096).decode()
            self.assertEqual(said.count("sets the affinities of some threads itself"), 1, said)
            return True
        if affinity(pid) != chosen:
            os.sched_setaffinity(pid, chosen)
        return False

    def test_the_balancer_can_attach_to_a_running_program_and_detach(self):
        program, workers = self.start_busy_alone()
        for told in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU, signal.SIGABRT):
            process = self.start(*QUICK, "--attach", str(program.pid))
            self.assertTrue(eventually(lambda: all(len(affinity(pid)) == 1 for pid in workers)))
            process.send_signal(told)
            process.communicate(timeout=WAIT_S)
            self.assertEqual(process.returncode, 0)
            self.assertEqual([affinity(pid) for pid in workers], [CPUS] * 3)

    def test_a_second_balancer_cannot_attach_to_a_program_that_is_balanced(self):
        program, workers = self.start_busy_alone()
        first = self.start(*QUICK, "--attach", str(program.pid))
        self.assertTrue(eventually(lambda: all(len(affinity(pid)) == 1 for pid in workers)))
        for pid in (program.pid, workers[0]):
            self.assert_refused("juggle", *QUICK, "--attach", str(pid), says="already balances this process")
        first.send_signal(signal.SIGINT)
        self.assertEqual(first.communicate(timeout=WAIT_S)[1], "")
        self.assertEqual([affinity(pid) for pid in workers], [CPUS] * 3)

    def test_a_balancer_started_by_another_balancer_runs_its_program_without_balancing_it(self):
        done = self.run_poise("juggle", "--", POISE, "juggle", "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)
        self.assertEqual(done.stderr, "poise juggle: another `poise juggle` balances this program already; "
                                      "this one only runs it and reports nothing\n")

    def test_child_processes_of_an_attached_program_get_their_affinities_back_even_if_their_parent_dies(self):
        program = self.start_alone("sh", "-c", f"sh -c '{BUSY}' & wait; exec sleep 60")
        self.assertTrue(eventually(lambda: any(len(children(pid)) == 3 for pid in children(program.pid))))
        middle, = children(program.pid)
        workers = children(middle)
        self.addCleanup(end_all, workers)
        self.start(*QUICK, "--attach", str(program.pid))
        self.assertTrue(eventually(lambda: all(len(affinity(pid)) == 1 for pid in workers)))
        os.kill(middle, signal.SIGKILL)  # its children now have a parent outside the program
        self.assertTrue(eventually(lambda: all(affinity(pid) == CPUS for pid in workers)))

    def test_a_daemon_started_just_before_the_program_ends_gets_the_affinity_it_would_have_without_the_balancer(self):
        script = ("import os, subprocess, sys, time\n"
                  "others = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in 'ab']\n"
                  "end = time.monotonic() + 10\n"
                  "while (len(os.sched_getaffinity(0)) > 1 or time.monotonic() < end - 7) and time.monotonic() < end: pass\n"
                  "for p in others: p.kill()\n"
                  "daemon = subprocess.Popen(['sleep', '20'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
                  "print(len(os.sched_getaffinity(0)), daemon.pid, flush=True)\n"
                  "os._exit(0)\n")
        process = self.start(*QUICK, "--", "python3", "-c", script)
        placed, daemon = map(int, process.communicate(timeout=WAIT_S)[0].split())
        self.addCleanup(end_all, [daemon])
        self.assertEqual(placed, 1)
        self.assertEqual(affinity(daemon), CPUS)

    def test_a_balancer_attached_by_nohup_stays_when_the_terminal_closes(self):
        program = self.start_alone("sleep", "60")
        process = self.start("--live", "--attach", str(program.pid),
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertIn("watching", process.stderr.readline())
        process.send_signal(signal.SIGHUP)
        for _ in range(2):
            self.assertIn("watching", process.stderr.readline())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 0)

    def test_a_stopped_program_continues_under_the_balancer_after_SIGCONT(self):
        process, shell, workers = self.start_busy()
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(0.2)
        for pid in workers:
            os.kill(pid, signal.SIGCONT)
        end_all(workers)
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 0)

    def test_the_summary_and_the_trace_of_the_balancer_contain_every_thread(self):
        process, _, workers = self.start_busy("--summary", "--json", "s.json", "--trace", "t.json")
        end_all(workers)
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertIn("threads on cpus", errors)
        summary = json.loads((self.folder / "s.json").read_text())
        # The summary may contain the shell as well, if the shell itself has computed for long enough.
        self.assertLessEqual(set(workers), {thread["thread"] for thread in summary["threads"]})
        self.assertEqual(len(summary["speeds"]), len(summary["cpus"]))
        self.assertEqual(max(summary["speeds"]), 1)
        self.assertEqual(summary["early_wake_ups"], 0, "woken although no point was due")
        self.assertGreater(min(summary["speeds"]), 0)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        stays = [event for event in events if event["ph"] == "X"]
        self.assertLessEqual(set(workers), {stay["tid"] for stay in stays})
        self.assertTrue(all(stay["pid"] in CPUS and stay["dur"] >= 0 for stay in stays))

    def test_child_processes_do_not_stay_on_the_cpu_to_which_the_balancer_pinned_their_parent(self):
        script = ("import os, subprocess, sys, time\n"
                  "others = [subprocess.Popen(['sh', '-c', 'while :; do :; done']) for _ in 'ab']\n"
                  "end = time.monotonic() + 10\n"
                  "while len(os.sched_getaffinity(0)) > 1 and time.monotonic() < end: pass\n"
                  "child = subprocess.Popen(['sleep', '20'])\n"
                  "print(len(os.sched_getaffinity(0)), child.pid,\n"
                  "      *(p.pid for p in others), flush=True)\n"
                  "while child.poll() is None: pass\n"
                  "for p in others: p.kill()\n")
        process = self.start(*QUICK, "--", "python3", "-c", script)
        placed, child, *others = map(int, process.stdout.readline().split())
        self.addCleanup(end_all, [child, *others])
        self.assertEqual(placed, 1)
        self.assertTrue(eventually(lambda: affinity(child) == CPUS))
        end_all([child])
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main()
