# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise juggle on a system that refuses what the balancer needs: the program must still run and end as it does
without the balancer, and one line must say what is not balanced and why."""

import errno
import os
import pathlib
import resource
import select
import shutil
import signal
import subprocess
import unittest

import refusing_kernel
from juggle_test import (BUSY, CPUS, QUICK, WAIT_S, JuggleTest, affinity, children, end_all, eventually)
from refusing_kernel import refusing
from run_poise import POISE

EXIT_7 = ("--", "sh", "-c", "sleep 0.5; exit 7")
SMALL_MASK_BYTES = 128  # size of a cpu_set_t, for 1,024 cpus


def line_of(stream):
    """Returns the next line of a pipe, or an empty text if none arrives in time."""
    text = ""
    while not text.endswith("\n") and select.select([stream], [], [], WAIT_S)[0]:
        more = os.read(stream.fileno(), 1).decode()
        if not more:
            break
        text += more
    return text


@unittest.skipUnless(refusing_kernel.can_refuse(), "no seccomp filter can be installed")
@unittest.skipUnless(len(CPUS) > 1, "one cpu has nothing to balance")
class Refused(JuggleTest):
    def assert_ends_like_the_program(self, refused, says=None):
        """Checks that the program ended with status 7, and that stderr is empty or has a single line with these
        words."""
        done = self.run_poise("juggle", *QUICK, *EXIT_7, preexec_fn=refused)
        self.assertEqual(done.returncode, 7, done.stderr)
        if says is None:
            self.assertEqual(done.stderr, "")
        else:
            self.assert_one_line(done.stderr, says)

    def workers_of(self, balancer):
        return [worker for pid in children(balancer.pid) for worker in children(pid)]

    def assert_one_line(self, text, says):
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("poise juggle: "), text)
        self.assertIn(says, text)

    def assert_balances(self, refused):
        """Checks that the three children of the program are pinned, that a signal reaches the program, and that the
        children's affinities are restored when it has ended."""
        process, _, workers = self.start_busy(preexec_fn=refused)
        process.terminate()
        self.assertEqual(process.wait(WAIT_S), -signal.SIGTERM)
        self.assertEqual([affinity(pid) for pid in workers], [CPUS] * 3)
        end_all(workers)
        self.assertEqual(process.communicate(timeout=WAIT_S)[1], "")

    def test_a_program_is_balanced_and_its_end_is_noticed_even_if_the_kernel_lacks_pidfd_open(self):
        for error in (errno.ENOSYS, errno.EPERM):
            with self.subTest(error=errno.errorcode[error]):
                self.assert_ends_like_the_program(refusing("pidfd_open", error))
                self.assert_balances(refusing("pidfd_open", error))

    def test_the_guard_process_closes_inherited_files_even_if_the_kernel_lacks_close_range(self):
        def refused():
            os.dup2(1, 200)
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))  # file descriptor 200 stays open despite this limit
            refusing("close_range", errno.ENOSYS)()

        process, _, workers = self.start_busy(preexec_fn=refused, close_fds=False)
        guard, = [pid for pid in children(process.pid)
                  if pathlib.Path(f"/proc/{pid}/comm").read_text() == "poise-guard\n"]
        self.assertEqual(len(os.listdir(f"/proc/{guard}/fd")), 1)
        process.terminate()
        self.assertEqual(process.wait(WAIT_S), -signal.SIGTERM)
        end_all(workers)
        process.communicate(timeout=WAIT_S)

    def test_a_balancer_attached_to_a_program_ends_when_the_program_ends_even_if_the_kernel_lacks_pidfd_open(self):
        program, workers = self.start_busy_alone()
        process = self.start(*QUICK, "--attach", str(program.pid),
                             preexec_fn=refusing("pidfd_open", errno.ENOSYS))
        self.assertTrue(eventually(lambda: all(len(affinity(pid)) == 1 for pid in workers)))
        end_all(workers)
        program.wait(WAIT_S)
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertEqual((process.returncode, errors), (0, ""))

    def test_attaching_is_refused_with_the_reason_if_the_system_does_not_allow_inspecting_the_process(self):
        program, _ = self.start_busy_alone()
        process = self.start("--attach", str(program.pid), preexec_fn=refusing("readlink", errno.EACCES))
        _, errors = process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 2)
        self.assertIn("the system does not allow", errors)

    def test_a_kernel_with_more_than_1024_cpus_is_queried_with_a_larger_mask(self):
        refused = refusing("sched_getaffinity", errno.EINVAL, second_argument_below=2 * SMALL_MASK_BYTES)
        self.assert_ends_like_the_program(refused)
        self.assert_balances(refused)

    def test_a_program_whose_cpus_cannot_be_queried_runs_without_balancing(self):
        self.assert_ends_like_the_program(refusing("sched_getaffinity", errno.EPERM), "not balanced")

    def test_a_program_runs_without_balancing_and_one_line_says_why_if_affinities_cannot_be_set(self):
        process = self.start(*QUICK, "--", "sh", "-c", BUSY + "; exit 7",
                             preexec_fn=refusing("sched_setaffinity", errno.EPERM))
        self.addCleanup(lambda: end_all(self.workers_of(process)))
        self.assert_one_line(line_of(process.stderr), "not balanced")
        self.assertTrue(eventually(lambda: len(self.workers_of(process)) == 3))
        end_all(self.workers_of(process))
        _, more = process.communicate(timeout=WAIT_S)
        self.assertEqual((process.returncode, more), (7, ""))

    def test_a_program_runs_without_balancing_if_the_kernel_lacks_signalfd(self):
        self.assert_ends_like_the_program(refusing("signalfd4", errno.ENOSYS), "not balanced")

    def test_a_program_runs_unbalanced_and_one_line_says_so_if_the_balancer_has_no_free_file_descriptor(self):
        # Limits the balancer to 14 open files. The balancer opens most of these files before it looks for threads.
        def few_files():
            resource.setrlimit(resource.RLIMIT_NOFILE, (14, 14))

        process = self.start(*QUICK, "--", "sh", "-c", BUSY + "; exit 7", preexec_fn=few_files)
        self.addCleanup(lambda: end_all(self.workers_of(process)))
        self.assert_one_line(line_of(process.stderr), "not balanced")
        self.assertTrue(eventually(lambda: len(self.workers_of(process)) == 3))
        end_all(self.workers_of(process))
        process.communicate(timeout=WAIT_S)
        self.assertEqual(process.returncode, 7)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become a user without processes")
    def test_a_program_runs_unbalanced_and_one_line_says_so_if_the_guard_uses_up_the_process_limit(self):
        def two_processes():
            resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
            os.setuid(1_000_000 + os.getpid())

        self.assert_ends_like_the_program(two_processes, "not balanced: cannot start a process")

    @unittest.skipUnless(shutil.which("unshare"), "no unshare")
    def test_a_program_runs_unbalanced_and_one_line_says_so_if_proc_is_not_mounted(self):
        apart = ["unshare", "--user", "--map-root-user", "--mount"]
        hide = 'mount -t tmpfs none /proc && exec "$0" "$@"'
        if subprocess.run([*apart, "sh", "-c", hide, "true"], check=False, capture_output=True,
                          timeout=WAIT_S).returncode:
            self.skipTest("/proc cannot be hidden here")
        done = subprocess.run([*apart, "sh", "-c", hide, POISE, "juggle", *QUICK, *EXIT_7],
                              check=False, capture_output=True, encoding="utf-8", timeout=WAIT_S)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assert_one_line(done.stderr, "not balanced")

    def test_the_balancer_exits_with_the_status_of_the_program_even_if_its_own_parent_ignores_SIGCHLD(self):
        self.assert_ends_like_the_program(lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))


if __name__ == "__main__":
    unittest.main()
