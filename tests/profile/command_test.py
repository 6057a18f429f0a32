#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests `poise profile` as users run it: the trace, the program's status and streams, errors, and what remains after
a program has died."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

from reader import ENVIRONMENT, LIBRARY, POISE, CommandTest, compile_c, installations, launcher

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import BROWSER, clicked  # noqa: E402


def remove_group(group):
    """Removes a cgroup as soon as its last process has ended: a launcher may end before its helpers."""
    for _ in range(600):
        try:
            return group.rmdir()
        except OSError:
            time.sleep(0.1)
    return group.rmdir()


class Command(CommandTest):
    def profile(self, mpi, what, ranks=3):
        program = compile_c(mpi, "late.c")
        return self.poise("profile", "-o", "run.poise", "--", *launcher(mpi, "-np", ranks), program, what)

    def said(self, done):
        return [line for line in done.stderr.splitlines() if line.startswith("poise profile: ")]

    def check_trace(self, ranks=3):
        """Checks that other commands can read the trace."""
        done = self.poise("compare", "run.poise", "--strategies", "keep", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)["results"][0]
        self.assertEqual(result["tasks"], ranks)
        self.assertGreater(result["messages"], 0)
        self.assertGreater(result["makespan_s"], 0)

    def assert_only(self, *names):
        self.assertEqual({path.name for path in self.folder.iterdir()}, set(names))

    def test_the_profiler_does_not_use_a_communicator_after_an_attribute_callback_has_freed_it(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "attribute.c")
                done = self.poise("profile", "-o", "run.poise", "--", *launcher(mpi, "-np", 2), program)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_trace(ranks=2)

    def test_poise_profile_writes_a_trace_and_exits_with_the_status_of_the_program(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(mpi, "status")
                self.assertEqual((done.returncode, done.stdout), (5, "before the end\n"), done.stderr)
                self.assertEqual(len(self.said(done)), 1, done.stderr)
                self.assertIn("3 ranks", done.stderr)
                self.assert_only("run.poise")
                self.check_trace()
                (self.folder / "run.poise").unlink()

    def test_poise_profile_and_poise_diagnose_print_the_same_diagnosis(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "late.c")
                done = self.poise("profile", "-o", "run.poise", "--json", "run.json",
                                  "--html", "run.html", "--", *launcher(mpi, "-np", 3), program)
                self.assertEqual(done.returncode, 0, done.stderr)
                again = self.poise("diagnose", "run.poise", "--html", "again.html")
                self.assertEqual((again.returncode, again.stderr), (0, ""))
                page = (self.folder / "run.html").read_text()
                self.assertEqual((self.folder / "again.html").read_text(), page)
                for part in ("What would help", "Efficiencies along the run", "rank 0 waited", "Save the data as JSON"):
                    self.assertIn(part, page)
                self.assertIn(again.stdout, done.stderr)
                self.assertLessEqual(max(map(len, again.stdout.splitlines())), 80)
                self.assertRegex(again.stdout, r"Rank 1 made 2 others wait [\d.]+ m?s in total\.")
                json_again = self.poise("diagnose", "run.poise", "--json").stdout
                self.assertEqual(json.loads((self.folder / "run.json").read_text()), json.loads(json_again))
                self.assertEqual(json.loads(json_again)["late"][0]["rank"], 1)
                again = self.poise("diagnose", "--json=again.json", "run.poise")
                self.assertIn(again.stdout, done.stderr)
                self.assertEqual((self.folder / "again.json").read_text(), json_again)
                both = self.poise("diagnose", "run.poise", "run.poise")
                self.assertIn("the same work", both.stdout)
                for name in ("run.poise", "run.json"):
                    (self.folder / name).unlink()

    def test_the_diagnosis_as_json_follows_the_output_of_the_program_on_stdout(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "late.c")
                done = self.poise("profile", "--json", "--", *launcher(mpi, "-np", 3), program)
                before, diagnosis = done.stdout.split("before the end\n")
                self.assertEqual((done.returncode, before), (0, ""), done.stderr)
                self.assertEqual(diagnosis, self.poise("diagnose", "run.poise", "--json").stdout)

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_the_html_page_of_a_profile_exports_json_and_csv_and_fits_narrow_windows(self):
        for mpi in installations()[:1]:
            program = compile_c(mpi, "late.c")
            done = self.poise("profile", "--json", "run.json", "--html", "run.html", "--", *launcher(mpi, "-np", 3), program, "pcontrol")
            self.assertEqual(done.returncode, 0, done.stderr)
            for size in "1280,900", "400,800":
                with self.subTest(size):
                    result = clicked(self.folder / "run.html", "time", size)
                    saved_json, saved_csv = result["saved"]
                    self.assertEqual(json.loads(saved_json), json.loads((self.folder / "run.json").read_text()))
                    self.assertEqual(saved_csv.splitlines()[0].split(",")[:3], ["table", "phases", "time"])
                    self.assertEqual(result["down"], result["up"][::-1])
                    self.assertTrue(result["width"], "the page is wider than the window")

    def group_with_quota(self):
        """Returns the file through which a process joins a new cgroup with a quota of 0.1 cpus."""
        for root, quota, text, members in (("cpu", "cpu.cfs_quota_us", "10000", "tasks"), ("", "cpu.max", "10000 100000", "cgroup.procs")):
            group = pathlib.Path("/sys/fs/cgroup") / root / f"poise_profile_{os.getpid()}"
            try:
                group.mkdir()
                self.addCleanup(remove_group, group)
                (group / quota).write_text(text)
                return group / members
            except OSError as error:
                reason = error
        return self.skipTest(f"no quota can be set here: {reason}")

    def test_the_diagnosis_reports_a_cpu_quota_and_how_long_it_stopped_the_ranks(self):
        members = self.group_with_quota()
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "threads.c", "-pthread")
                for _ in range(20):  # on a busy machine, the program may not reach the quota and so is not stopped
                    done = self.poise("profile", "--json", "run.json", "--", *launcher(mpi, "-np", 1), program,
                                      preexec_fn=lambda: members.write_text(str(os.getpid())))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    [quota] = json.loads((self.folder / "run.json").read_text())["quotas"]
                    self.assertAlmostEqual(quota["cpus"], 0.1)
                    if quota["stopped_s"] > 0.1:
                        break
                self.assertIn("The CPU quota of the cgroup pays for 0.1 cpus. Because of it, the kernel stopped the ranks for",
                              " ".join(done.stderr.split()))

    def test_only_the_profile_of_the_last_mpi_program_is_kept_and_one_line_says_so(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "late.c")
                script = "".join(" ".join(map(str, [*launcher(mpi, "-np", ranks), program, "bcast0", "\n"])) for ranks in (1, 2, 3))
                done = self.poise("profile", "-o", "run.poise", "--", "sh", "-c", script)
                self.assertEqual((done.returncode, len(self.said(done))), (0, 2), done.stderr)
                self.assertIn("runs several MPI programs", self.said(done)[0])
                self.assertIn("3 ranks", self.said(done)[1])
                self.assert_only("run.poise")
                self.check_trace()

    def test_one_line_says_that_mpi_pcontrol_is_ignored_if_the_number_of_its_calls_differs_between_ranks(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                done = self.profile(mpi, "uneven")
                self.assertEqual((done.returncode, len(self.said(done))), (0, 2), done.stderr)
                self.assertIn("MPI_Pcontrol marks no phases", done.stderr)

    def test_the_option_period_sets_the_length_of_the_recorded_phases(self):
        for mpi in installations():
            with self.subTest(mpi=mpi):
                program = compile_c(mpi, "late.c")
                done = self.poise("profile", "--period", "50ms", "--json", "run.json", "--", *launcher(mpi, "-np", 2), program,
                                  "pcontrol")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertGreaterEqual(json.loads((self.folder / "run.json").read_text())["phases"], 8)  # of 400 ms

    def test_the_trace_of_a_program_that_dies_has_the_phases_that_were_finished(self):
        for mpi in installations():
            for what, status in (("abort", 7), ("exit", 3), ("_exit", 3), ("kill", None)):
                with self.subTest(mpi=mpi, what=what):
                    done = self.profile(mpi, what)
                    if status is not None and mpi == "openmpi":
                        self.assertEqual(done.returncode, status, done.stderr)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("not all ranks came to MPI_Finalize", done.stderr)
                    self.assert_only("run.poise")
                    self.check_trace()
                    self.assertNotIn("others_s", json.loads(self.poise("diagnose", "run.poise", "--json").stdout))
                    (self.folder / "run.poise").unlink()

    def test_poise_profile_keeps_the_output_and_the_exit_status_of_programs_that_do_not_use_mpi(self):
        for words in (["sh", "-c", "echo hello; exit 4"], [*launcher(installations()[0], "-np", 2), "sh", "-c", "echo hello; exit 4"]):
            done = self.poise("profile", "--", *words)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(set(done.stdout.splitlines()), {"hello"})
            self.assertIn("no rank called MPI_Init with Poise's library loaded", done.stderr)
            self.assertEqual(len(self.said(done)), 1)
            self.assert_only()

    def test_a_script_that_replaces_the_preloaded_library_is_named_as_a_possible_cause(self):
        done = self.poise("profile", "--", "sh", "-c", "LD_PRELOAD= exec true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("do all scripts leave LD_PRELOAD as it is?", done.stderr)

    def test_a_profiling_library_that_cannot_be_preloaded_is_reported_in_one_line_and_the_program_runs(self):
        (self.folder / "two words").mkdir()
        shutil.copy(LIBRARY, self.folder / "two words" / "lib.so")
        for library, why in ("", "is missing"), (self.folder / "two words" / "lib.so", "contains a blank"):
            done = subprocess.run([POISE, "profile", "--", "echo", "hello"], capture_output=True, text=True, timeout=300,
                                  cwd=self.folder, env=ENVIRONMENT | {"POISE_PROFILE_LIBRARY": str(library)})
            self.assertEqual((done.returncode, done.stdout), (0, "hello\n"))
            self.assertIn(why, done.stderr)
            self.assertIn("running the command unchanged", done.stderr)
            self.assertEqual(len(self.said(done)), 1)
            self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_invalid_arguments_of_poise_profile_and_poise_diagnose_are_refused(self):
        for words, says in ((["profile"], "COMMAND is missing"),
                            (["profile", "-o", "no/such/folder/x.poise", "--", "true"], "no/such/folder")):
            done = self.poise(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)
        for words, says in ((["profile", "--period", "soon", "--", "true"], "--period takes auto or a time from 10ms to 24h, such as 2s, not soon"),
                            (["diagnose", "no.poise"], "no.poise"), (["diagnose"], "RUN is missing"),
                            (["diagnose", "a", "b", "c"], "RUN is given more than 2 times"),
                            (["diagnose", "plain.poise"], "plain.poise: the trace has no profile")):
            self.poise("generate", "stencil2d", "--tasks", "16", "-o", "plain.poise")
            done = self.poise(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(says, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            (self.folder / "plain.poise").unlink()
        done = self.poise("profile", "--", "no-such-program")
        self.assertEqual(done.returncode, 127)
        self.assertIn("no-such-program", done.stderr)
        self.assert_only()

    def test_poise_profile_passes_signals_on_to_the_program(self):
        script = 'trap "echo caught; exit 9" TERM; echo ready; while :; do sleep 0.05; done'
        running = subprocess.Popen([POISE, "profile", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.DEVNULL, cwd=self.folder, env=ENVIRONMENT)
        self.addCleanup(running.kill)
        self.assertEqual(running.stdout.readline(), "ready\n")
        running.send_signal(signal.SIGTERM)
        rest, _ = running.communicate(timeout=300)
        self.assertEqual((rest, running.returncode), ("caught\n", 9))


if __name__ == "__main__":
    if not LIBRARY or not POISE or not installations():
        print("no MPI to test with")
        sys.exit(77)
    unittest.main()
