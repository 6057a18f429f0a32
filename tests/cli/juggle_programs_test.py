# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise juggle with programs that leave children behind, call exec, change their user, or run in a container or
under a quota. Also tests what the balancer shows on a terminal."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time
import unittest

from juggle_test import BUSY, CPUS, QUICK, WAIT_S, JuggleTest, affinity, children, end_all, eventually
from juggle_refused_test import line_of
from run_poise import POISE

QUOTAS = pathlib.Path("/sys/fs/cgroup/cpu")
NOBODY = 65534
# A program that computes until the balancer has pinned it to a cpu.
UNTIL_KEPT = ("import os, threading, time\n"
              "def compute_until_kept():\n"
              "    end = time.monotonic() + 10\n"
              "    while len(os.sched_getaffinity(threading.get_native_id())) > 1:\n"
              "        if time.monotonic() > end: os._exit(9)\n")


def descendants(pid):
    found = children(pid)
    return found + [below for child in found for below in descendants(child)]


def all_of(terminal):
    """Returns everything that is written to this terminal until all programs have closed it."""
    text = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:
            return text
        if not more:
            return text
        text += more


@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Programs(JuggleTest):
    def start_with(self, script, num_busy=1):
        """Runs busy shells and a Python script under the balancer; returns the first output of the script."""
        (self.folder / "script.py").write_text(UNTIL_KEPT + script)
        process = self.start(*QUICK, "--", "sh", "-c",
                             num_busy * "while :; do :; done & " + "python3 script.py; wait")
        self.addCleanup(lambda: end_all(descendants(process.pid)))
        said = process.stdout.readline()
        self.assertTrue(said, "the script failed")
        return process, int(said)

    def assert_freed(self, pid):
        def stays_free():
            if affinity(pid) != CPUS:
                return False
            time.sleep(0.5)
            return affinity(pid) == CPUS

        self.assertTrue(eventually(stays_free), affinity(pid))

    def test_a_child_process_that_outlives_its_parent_is_not_left_pinned_to_the_cpu_of_the_parent(self):
        _, child = self.start_with("compute_until_kept()\n"
                                   "child = os.fork()\n"
                                   "if child == 0: time.sleep(60)\n"
                                   "print(child, flush=True)\n"
                                   "os._exit(0)\n")
        self.assert_freed(child)

    def test_a_program_started_by_exec_is_not_left_pinned_to_the_cpu_of_the_thread_that_called_exec(self):
        _, program = self.start_with(
            "def become():\n"
            "    compute_until_kept()\n"
            "    print(os.getpid(), flush=True)\n"
            "    os.execvp('sleep', ['sleep', '60'])\n"
            "threading.Thread(target=become).start()\n"
            "time.sleep(60)\n")
        self.assert_freed(program)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_threads_of_another_user_are_never_moved(self):
        # There are two cases. In the first, a child process changes its user and continues the same program, so most of
        # its files in /proc belong to root. In the second, the child also starts another program by exec.
        for become in ("while True: pass\n",
                       "os.execvp('sh', ['sh', '-c', 'while :; do :; done'])\n"):
            process, other = self.start_with("time.sleep(0.5)\n"
                                             "if os.fork() == 0:\n"
                                             f"    os.setuid({NOBODY})\n"
                                             "    print(os.getpid())\n"
                                             "    print(*os.sched_getaffinity(0), flush=True)\n"
                                             f"    {become}"
                                             "os.wait()\n", num_busy=2)
            # The affinity that the child inherited: all cpus, or the cpu to which its parent was pinned at the fork.
            inherited = {int(cpu) for cpu in process.stdout.readline().split()}
            seen = set()
            for _ in range(50):
                self.assertEqual(affinity(other), inherited)
                seen |= {pid for pid in descendants(process.pid) if len(affinity(pid) or ()) == 1}
                time.sleep(0.02)
            self.assertGreaterEqual(len(seen), 2, "others are kept meanwhile")

    @unittest.skipUnless(shutil.which("unshare"), "no unshare")
    def test_processes_in_a_container_are_found_and_balanced(self):
        apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*apart, "true"], check=False, capture_output=True, timeout=WAIT_S).returncode:
            self.skipTest("no name spaces here")
        process = self.start(*QUICK, "--", *apart, "sh", "-c", BUSY)
        self.addCleanup(lambda: end_all(descendants(process.pid)))
        self.assertTrue(eventually(lambda: sum(
            len(affinity(pid) or ()) == 1 for pid in descendants(process.pid)) == 3))

    def test_threads_are_balanced_even_if_their_instructions_cannot_be_counted(self):
        process = self.start(*QUICK, "--progress", "instructions", "--", "sh", "-c", BUSY)
        self.addCleanup(lambda: end_all(descendants(process.pid)))
        self.assertTrue(eventually(lambda: sum(
            len(affinity(pid) or ()) == 1 for pid in descendants(process.pid)) == 3))
        end_all(descendants(process.pid))
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertRegex(errors, r"^(poise juggle: instructions cannot be counted .*, so progress is measured as"
                                 r" cpu time\n)?$")

    def cgroup_with_half_a_cpu(self):
        group = QUOTAS / f"poise_test_{os.getpid()}"
        try:
            group.mkdir()
            self.addCleanup(group.rmdir)
            self.addCleanup(lambda: end_all(map(int, (group / "tasks").read_text().split())))
            (group / "cpu.cfs_quota_us").write_text("50000")
        except OSError as error:
            self.skipTest(f"no quota can be set here: {error}")
        return group

    def test_the_balancer_reports_the_cpu_quota_of_a_cgroup_that_only_the_program_has_joined(self):
        group = self.cgroup_with_half_a_cpu()
        process = self.start("--", "sh", "-c", f"echo $$ > {group}/tasks; while :; do :; done")
        self.assertIn("pays for 0.5 cpus", line_of(process.stderr))
        process.terminate()
        process.communicate(timeout=WAIT_S)
        program = self.start_alone("sh", "-c", f"echo $$ > {group}/tasks; while :; do :; done")
        self.assertTrue(eventually(lambda: str(program.pid) in (group / "tasks").read_text().split()))
        attached = self.start("--attach", str(program.pid))
        self.assertIn("pays for 0.5 cpus", line_of(attached.stderr))
        program.kill()
        program.wait(WAIT_S)

    def test_the_balancer_reports_the_cpu_quota_of_its_cgroup(self):
        group = self.cgroup_with_half_a_cpu()
        done = self.run_poise("juggle", "--", "sh", "-c", "sleep 0.1", preexec_fn=lambda: (
            group / "tasks").write_text(str(os.getpid())))
        self.assertEqual(done.returncode, 0)
        self.assertIn("pays for 0.5 cpus", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)


@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Watching(JuggleTest):
    COMMAND = ("--live", "--", "timeout", "3", "sh", "-c", "exec 2> /dev/null; " + BUSY)

    def test_the_option_live_redraws_the_view_of_threads_in_place_on_a_terminal(self):
        leader, follower = pty.openpty()
        with os.fdopen(leader, "rb") as terminal:
            process = subprocess.Popen([POISE, "juggle", *QUICK, *self.COMMAND],
                                       stderr=follower, stdout=subprocess.DEVNULL)
            os.close(follower)
            text = all_of(terminal.fileno()).decode()
            self.assertEqual(process.wait(WAIT_S), 124)
        self.assertIn("balancing", text)
        self.assertRegex(text, r"\x1b\[\d+A\x1b\[J")
        self.assertRegex(text, r"\d+\.\d% +-?\d+ ms +\d+ +\d+")

    def test_the_option_live_redraws_in_place_even_lines_that_are_wider_than_the_terminal(self):
        columns = 40
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
        with os.fdopen(leader, "rb") as terminal:
            process = subprocess.Popen([POISE, "juggle", "--live", "--", "sleep", "1"], stderr=follower,
                                       stdout=subprocess.DEVNULL)
            os.close(follower)
            text = all_of(terminal.fileno()).decode()
            self.assertEqual(process.wait(WAIT_S), 0)
        pictures = re.split(r"\x1b\[(\d+)A\x1b\[J", text.replace("\r\n", "\n"))
        self.assertGreater(len(pictures), 2)
        for picture, lines_up in zip(pictures[::2], pictures[1::2]):
            wrapped = [max(0, len(line) - 1) // columns for line in picture.splitlines()]
            self.assertGreater(sum(wrapped), 0)
            self.assertEqual(int(lines_up), len(wrapped) + sum(wrapped), picture)

    def test_the_option_live_prints_plain_lines_if_stderr_is_not_a_terminal(self):
        done = self.run_poise("juggle", *QUICK, *self.COMMAND)
        self.assertEqual(done.returncode, 124)
        self.assertNotIn("\x1b", done.stderr)
        self.assertRegex(done.stderr, r"\n[1-9]\.\d s, balancing, \d threads with")

    def test_the_option_diagnose_reports_a_cause_of_imbalance_and_its_remedy_but_moves_no_thread(self):
        one = min(CPUS)
        done = self.run_poise("juggle", "--diagnose", "--json", "s.json", "--", "timeout", "3", "taskset", "-c", str(one),
                              "sh", "-c", "exec 2> /dev/null; " + BUSY)
        self.assertEqual(done.returncode, 124)
        self.assertIn(f"poise juggle: all 3 threads are bound to cpu {one}", done.stderr)
        self.assertIn("remove the binding", done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^poise juggle: \w")
        summary = json.loads((self.folder / "s.json").read_text())
        self.assertEqual(summary["migrations"], 0)
        self.assertIn("one_cpu", [cause["kind"] for cause in summary["causes"]])

    def test_terminal_settings_are_unchanged_and_control_c_on_the_keyboard_interrupts_the_program(self):
        script = "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.05; done"
        leader, follower = pty.openpty()
        before = termios.tcgetattr(follower)
        with os.fdopen(leader, "r+b", buffering=0) as terminal:
            process = subprocess.Popen(
                ["setsid", "--ctty", POISE, "juggle", *QUICK, "--", "sh", "-c", script],
                stdin=follower, stdout=follower, stderr=follower)
            self.addCleanup(process.kill)
            said = b""
            while b"up" not in said:
                said += terminal.read(4096)
            terminal.write(b"\x03")
            self.assertEqual(process.wait(WAIT_S), 5)
            self.assertEqual(termios.tcgetattr(follower), before)
            os.close(follower)
            self.assertEqual(all_of(terminal.fileno()).split(), [b"^Ccaught"])

    def said_in_shell(self, command, keys=()):
        """Runs this command in a shell with job control: when the command ends or stops, the shell prints its status,
        creates the file "go" and continues the command. Types the keys after the command has written "up". Returns
        what was written to the shell's terminal."""
        script = f"rm -f go; set -m; {command}; echo status $?; touch go; fg; echo then $?; kill -KILL %1; wait"
        leader, follower = pty.openpty()
        with os.fdopen(leader, "r+b", buffering=0) as terminal:
            process = subprocess.Popen(["setsid", "--ctty", "bash", "-c", script], cwd=self.folder,
                                       stdin=follower, stdout=follower, stderr=follower)
            os.close(follower)
            self.addCleanup(lambda: end_all(descendants(process.pid)))
            said = b""
            while not re.search(rb"then \d+\r?\n", said) and select.select([terminal], [], [], WAIT_S)[0]:
                said += terminal.read(4096)
                if b"up" in said:
                    for key in keys:
                        time.sleep(0.1)
                        terminal.write(key)
                    keys = ()
            end_all(descendants(process.pid))
            process.wait(WAIT_S)
        return said.decode()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_control_z_has_the_same_effect_on_a_program_with_and_without_poise(self):
        commands = ("", f"{POISE} juggle -- ", f"{POISE} profile -- ", f"{POISE} run --history h.json -- ")
        until_go = "sh -c 'echo up; until [ -e go ]; do sleep 0.05; done; exit 7'"
        ignoring = "sh -c 'trap \"\" TSTP; echo up; read line; exit 7'"
        for command in commands:
            said = self.said_in_shell(command + until_go, (b"\x1a",))
            self.assertIn(f"status {128 + signal.SIGTSTP}", said, command)
            self.assertIn("then 7", said, command)
            said = self.said_in_shell(command + ignoring, (b"\x1a", b"\n"))
            self.assertIn("status 7", said, command)

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_a_shell_notices_when_a_program_that_poise_runs_stops_itself(self):
        for command in ("", f"{POISE} juggle -- ", f"{POISE} run --history h.json -- "):
            said = self.said_in_shell(command + "sh -c 'kill -STOP $$; exit 7'")
            self.assertRegex(said, "status 14[78]", command)
            self.assertIn("then 7", said, command)

    def test_without_job_control_poise_stays_running_while_its_program_is_stopped_for_a_while(self):
        process = self.start(*QUICK, "--", "sh", "-c", "echo $$; kill -STOP $$; exit 7")
        pid = int(process.stdout.readline())
        is_stopped = lambda: "State:\tT" in pathlib.Path(f"/proc/{pid}/status").read_text()
        self.assertTrue(eventually(is_stopped))
        os.kill(pid, signal.SIGCONT)
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 7)


if __name__ == "__main__":
    unittest.main()
