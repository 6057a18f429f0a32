# SPDX-License-Identifier: BSD-3-Clause

"""Tests what tests/tidy.py rejects, such as bad commit messages, includes of higher layers, tests that read a wall
clock, and too many static_casts."""

import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import tidy  # noqa: E402

LONG = "\n".join(str(i) for i in range(tidy.MIN_LINES_WITHOUT_BODY + 1)) + "\n"


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "repository"
        self.folder.mkdir()
        self.git("init", "-q")
        for patch in mock.patch.object(tidy, "ROOT", self.folder), mock.patch.object(tidy, "troubles", []):
            patch.start()
            self.addCleanup(patch.stop)
        base = mock.patch.object(tidy, "FIRST_BASE", self.commit("Start"))
        base.start()
        self.addCleanup(base.stop)

    def git(self, *words):
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=self.folder, check=True,
                              capture_output=True, text=True, timeout=300).stdout.strip()

    def commit(self, message, text="a line\n"):
        name = f"file{len(list(self.folder.iterdir()))}"
        (self.folder / name).write_text(text)
        self.git("add", name)
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def troubles(self):
        tidy.check_commits(tidy.FIRST_BASE)
        return [trouble.split(": ", 1)[1] for trouble in tidy.troubles]

    def test_code_in_runtimes_that_compares_the_name_of_a_policy_is_rejected(self):
        line = 'if (settings.choice("policy") == "none") return;'
        tidy.check_runtimes(pathlib.Path("runtimes/tasks/a.cc"), ["", line])
        tidy.check_runtimes(pathlib.Path("runtimes/tasks/a_test.cc"), [line])
        self.assertEqual([trouble.split(": ", 1)[0] for trouble in tidy.troubles], ["runtimes/tasks/a.cc:2"])

    def test_a_test_that_uses_a_fixed_temporary_file_name_is_rejected(self):
        for name in ("a_test.cc", "a.cc"):
            tidy.check_files_of_tests(pathlib.Path(name), ["", 'const auto path = testing::TempDir() + "a";'])
        self.assertEqual([trouble.split(": ", 1)[0] for trouble in tidy.troubles], ["a_test.cc:2"])

    def test_text_in_markdown_after_a_comment_that_begins_the_line_is_rejected(self):
        tidy.check_markdown(pathlib.Path("a.md"), ["a", "<!-- given: b --> c", "<!-- d -->", "e <!-- f --> g", "```", "<!-- h --> i"])
        self.assertEqual([trouble.split(": ", 1)[0] for trouble in tidy.troubles], ["a.md:2"])

    def test_a_header_whose_licence_shares_a_line_with_other_text_is_rejected(self):
        for end, count in (("", 0), (" Sorts tasks.", 1)):
            tidy.troubles.clear()
            tidy.check_licence(pathlib.Path("poise/base/a.h"), [f"// {tidy.LICENCE}{end}"])
            self.assertEqual(len(tidy.troubles), count)

    def test_includes_of_a_higher_layer_are_rejected(self):
        for name, included, is_allowed in (("poise/trace/a.cc", "runtimes/tasks/context.h", False),
                                           ("poise/trace/a.cc", "poise/simulate/replay.h", False),
                                           ("poise/trace/a.cc", "poise/base/error.h", True),
                                           ("poise/trace/a_test.cc", "tests/support/seeds.h", True),
                                           ("runtimes/juggle/a.cc", "apps/text/format.h", False),
                                           ("runtimes/juggle/a.cc", "runtimes/tasks/context.h", False),
                                           ("runtimes/tasks/a.cc", "tests/support/seeds.h", False),
                                           ("apps/report/a.cc", "faces/library/handles.h", False),
                                           ("faces/library/a.cc", "apps/analysis/inputs.h", True)):
            tidy.troubles.clear()
            tidy.check_include(pathlib.PurePosixPath(name), 1, included)
            self.assertEqual(not tidy.troubles, is_allowed, (name, included))

    def test_too_many_casts_per_thousand_lines_are_rejected_in_all_code_except_tests(self):
        lines = ["return static_cast<int>(static_cast<char>(c));", ""]
        self.assertEqual(tidy.num_casts(pathlib.PurePosixPath("poise/base/a.cc"), lines), (2, 2))
        self.assertEqual(tidy.num_casts(pathlib.PurePosixPath("poise/base/a_test.cc"), lines), (0, 0))
        tidy.check_casts(int(tidy.MAX_CASTS), 1000)
        self.assertEqual(tidy.troubles, [])
        tidy.check_casts(int(tidy.MAX_CASTS) + 1, 1000)
        self.assertEqual(len(tidy.troubles), 1)

    def test_short_commit_subjects_are_accepted_and_only_large_commits_need_a_body(self):
        self.commit("x" * tidy.MAX_SUBJECT)
        self.commit("Change much\n\nThis is why.", LONG)
        self.assertEqual(self.troubles(), [])

    def test_commits_with_a_long_subject_or_a_full_stop_or_a_missing_body_are_rejected(self):
        self.commit("x" * (tidy.MAX_SUBJECT + 1))
        self.commit("Change a line.")
        self.commit("Change much", LONG)
        self.assertEqual(self.troubles(), ["11 lines changed and no body that says why", "a subject does not end with a full stop",
                                           "a subject of 61 characters; at most 60"])

    def test_merge_commits_and_excepted_commits_and_commits_before_the_base_are_not_checked(self):
        self.git("checkout", "-q", "-b", "side")
        listed = self.commit("Listed.")
        self.git("checkout", "-q", "-")
        self.commit("Other")
        self.git("merge", "-q", "--no-ff", "-m", "Merge. " + "x" * tidy.MAX_SUBJECT, "side")
        with mock.patch.object(tidy, "MERGED_COMMITS", (listed,)):
            self.assertEqual(self.troubles(), [])
        self.assertEqual(len(self.troubles()), 1)

    def test_commit_messages_are_not_checked_if_the_git_history_is_missing(self):
        self.commit("Later")
        self.assertTrue(tidy.has_history())
        self.git("clone", "-q", "--depth", "1", f"file://{self.folder}", "shallow")
        with mock.patch.object(tidy, "ROOT", self.folder / "shallow"):
            self.assertFalse(tidy.has_history())
        with mock.patch.object(tidy, "FIRST_BASE", "0" * 40):
            self.assertFalse(tidy.has_history())

    def test_tests_that_read_a_wall_clock_are_rejected_unless_they_are_listed(self):
        for line, is_clock in (("EXPECT_LT(wall_now_s() - begin_s, 1);", True), ("auto t = std::chrono::steady_clock::now();", True),
                               ("end = time.monotonic() + 1", True), ("thread_cpu_now_s(); // not wall_now_s()", False),
                               ("time.process_time()", False)):
            self.assertEqual(bool(tidy.reads_wall_clock([line])), is_clock, line)
        path = pathlib.PurePosixPath("poise/base/new_test.cc")
        tidy.check_clocks_in_tests(path, ["wall_now_s();"])
        tidy.check_clocks_in_tests(path.with_name("new.cc"), ["wall_now_s();"])
        self.assertEqual(len(tidy.troubles), 1)
        tidy.check_clocks_in_tests(pathlib.PurePosixPath(next(iter(tidy.CLOCKS_IN_TESTS))), ["no clock"])
        self.assertEqual(len(tidy.troubles), 2)

    def test_only_the_clock_header_and_miniapps_may_call_functions_that_read_a_clock(self):
        for name, is_allowed in ((tidy.CLOCK_HEADER, True), ("miniapps/cg/main.cc", True), ("bench/decide_bench.cc", False),
                                 ("runtimes/tasks/new.h", False)):
            tidy.troubles.clear()
            tidy.check_one_clock(pathlib.PurePosixPath(name), ["::clock_gettime(CLOCK_MONOTONIC, &now);", "wall_now_s()"])
            self.assertEqual(len(tidy.troubles), 0 if is_allowed else 1, name)

    def test_tuning_constants_are_rejected_unless_they_are_in_the_file_tuning_h_of_their_folder(self):
        for name, line, is_allowed in (("poise/search/a.cc", "constexpr double kShare = 0.5;", False),
                                       ("poise/search/a.cc", "constexpr auto kShare = 0.5;", False),
                                       ("poise/search/a.cc", "const float kShare{.5F};", False),
                                       ("poise/search/a.cc", "constexpr std::array<long, 2> kSteps = {1, 2};", False),
                                       ("poise/search/a.cc", "constexpr long kSteps[] = {-1, 2};", False),
                                       ("poise/search/a.cc", "constexpr std::string_view kSteps[] = {\"1\"};", True),
                                       ("poise/search/a.cc", "constexpr double kRounding = 1e-9;", True),
                                       ("poise/search/tuning.h", "inline constexpr double kShare = 0.5;", True),
                                       ("poise/search/a_test.cc", "constexpr double kShare = 0.5;", True)):
            tidy.troubles.clear()
            tidy.check_numbers(pathlib.PurePosixPath(name), [line])
            self.assertEqual(len(tidy.troubles), 0 if is_allowed else 1, (name, line))

    def test_each_type_and_function_of_a_public_header_has_a_comment_above(self):
        for text, is_allowed in (("/// Why.\nint f(int a);\nint g();", True), ("int f(int a);", False),
                                 ("/* Why. */\ntypedef struct a a;\n\nstruct b {", False), ("  int member(int a);", True)):
            tidy.troubles.clear()
            tidy.check_documented(pathlib.PurePosixPath("poise/poise.h"), text.splitlines())
            self.assertEqual(not tidy.troubles, is_allowed, text)


if __name__ == "__main__":
    unittest.main()
