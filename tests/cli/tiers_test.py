# SPDX-License-Identifier: BSD-3-Clause

"""Tests the runner of the test tiers (tests/run.py): which parts it runs and how it stores their results. No part is
run."""

import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "docs")]

import run  # noqa: E402
import results  # noqa: E402
import tiers  # noqa: E402


class Tiers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.commit = "aaa"
        self.ran = []
        self.rounds_left = 10**6  # number of rounds until a part with several rounds is interrupted
        for patch in (mock.patch.object(run.keep, "RESULTS", self.folder), mock.patch.object(run.keep, "commit", lambda: self.commit),
                      mock.patch.object(run, "run", self.pretend), mock.patch.object(run.subprocess, "run")):
            patch.start()
            self.addCleanup(patch.stop)

    def pretend(self, part):
        """Replaces run.run(). A part fails if self.failing names it, and is interrupted if self.interrupted names
        it."""
        self.ran.append(part.word)
        self.rounds_left -= part.rounds > 1
        if part.word == getattr(self, "interrupted", None) or self.rounds_left < 0:
            raise KeyboardInterrupt
        failures = ["a test"] if part.word == getattr(self, "failing", None) else []
        return run.Result(part.word, part.name, passed=3, failed=len(failures), seconds=2, failures=failures)

    def main(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = run.main(list(words))
        return status, out.getvalue(), err.getvalue()

    def stored(self):
        return [(row["part"], row["failed"], row["measured"]["commit"]) for row in run.keep.stored_rows(run.RESULT)]

    def test_each_part_of_a_tier_has_a_unique_one_word_name(self):
        for tier in tiers.TIERS:
            words = [part.word for part in tiers.parts(tier)]
            self.assertEqual(len(words), len(set(words)))
            self.assertFalse([word for word in words if " " in word or word.startswith("-")])

    def test_the_full_tier_runs_all_parts_or_only_the_named_ones_in_a_fixed_order(self):
        self.assertEqual(self.main("full", "fuzzers", "format")[0], 0)
        self.assertEqual(self.ran, ["format", "fuzzers"])
        self.ran.clear()
        self.main("full")
        self.assertEqual(self.ran, [part.word for part in tiers.parts("full") for _ in range(part.rounds)])

    def test_an_unknown_part_of_a_tier_is_refused_in_one_line_before_any_test_runs(self):
        status, out, err = self.main("full", "format", "fuzers")
        self.assertEqual((status, out, err.count("\n"), self.ran), (2, "", 1, []))
        self.assertIn('no part "fuzers"', err)
        self.assertIn("fuzzers", err)
        status, _, err = self.main("usual", "format")
        self.assertEqual((status, err.count("\n"), self.ran), (2, 1, []))

    def test_the_option_list_prints_the_names_of_all_parts_of_a_tier_and_runs_no_test(self):
        status, out, _ = self.main("full", "--list")
        self.assertEqual((status, [line.split()[0] for line in out.splitlines()]), (0, [part.word for part in tiers.parts("full")]))
        self.assertEqual(self.ran, [])

    def test_a_part_of_the_full_tier_that_runs_again_replaces_only_its_own_stored_row(self):
        self.failing = "fuzzers"
        self.assertEqual(self.main("full", "fuzzers", "format")[0], 1)
        self.commit, self.failing = "bbb", None
        self.assertEqual(self.main("full", "fuzzers", "architecture")[0], 0)
        self.assertEqual(self.stored(), [("architecture", 0, "bbb"), ("format", 0, "aaa"), ("fuzzers", 0, "bbb")])

    def test_the_results_of_finished_parts_are_stored_if_a_later_part_is_interrupted(self):
        self.interrupted = "asan"
        with self.assertRaises(KeyboardInterrupt):
            self.main("full", "format", "asan", "fuzzers")
        self.assertEqual(self.stored(), [("format", 0, "aaa")])

    def test_an_interrupted_part_of_the_full_tier_continues_after_its_last_stored_round(self):
        part = next(part for part in tiers.parts("full") if part.rounds > 1)
        self.rounds_left = 3
        with self.assertRaises(KeyboardInterrupt):
            self.main("full", part.word)
        row, = run.keep.stored_rows(run.RESULT)
        self.assertEqual((row["rounds"], row["passed"], row["seconds"]), (3, 3, 6))
        self.assertIn("(3 so far)", results.page(self.folder))
        self.rounds_left = part.rounds
        self.main("full", part.word)
        self.assertEqual(len(self.ran), part.rounds + 1)  # one round was interrupted and repeated
        self.assertEqual(run.keep.stored_rows(run.RESULT)[0]["rounds"], part.rounds)
        self.assertNotIn("so far", results.page(self.folder))

    def test_a_part_of_the_full_tier_starts_again_from_its_first_round_if_a_round_failed(self):
        part = next(part for part in tiers.parts("full") if part.rounds > 1)
        self.failing, self.rounds_left = part.word, 2
        with self.assertRaises(KeyboardInterrupt):
            self.main("full", part.word)
        self.assertEqual(run.keep.stored_rows(run.RESULT)[0]["failures"], ["a test"] * 2)
        self.failing, self.rounds_left = None, 1
        with self.assertRaises(KeyboardInterrupt):
            self.main("full", part.word)
        row, = run.keep.stored_rows(run.RESULT)
        self.assertEqual((row["rounds"], row["failures"]), (1, []))

    def test_only_the_full_tier_stores_results(self):
        self.assertEqual(self.main("quick")[0], 0)
        self.assertEqual(self.stored(), [])

    def test_the_report_and_the_page_of_results_list_parts_of_the_full_tier_that_have_no_stored_result(self):
        _, out, _ = self.main("full", "architecture", "format")
        missing = [part.word for part in tiers.parts("full")][2:]
        self.assertIn(f"parts of the full tier that have no stored result: {', '.join(missing)}\n", out)
        page = results.page(self.folder)
        note = " ".join(page[page.index("Parts without"):].split())
        self.assertEqual([word for word in missing if f"`{word}` (" not in note], [])
        self.assertNotIn("`format`", note)
        self.assertIn("| `format` | format | 3 | 0 |", page)
        self.assertNotIn("no stored result", self.main("full")[1])
        self.assertIn("Every part has a stored result.", results.page(self.folder))

    def test_the_page_of_results_shows_which_tests_of_a_part_failed(self):
        self.failing = "format"
        self.main("full", "format")
        self.assertIn("| `a test` |", results.page(self.folder))

    def test_a_command_that_ends_with_status_77_counts_as_skipped(self):
        for status, counts in (0, (1, 0, [])), (run.SKIPPED, (0, 1, [])), (3, (0, 0, ["status 3"])):
            run.subprocess.run.return_value = subprocess.CompletedProcess([], status)
            result = run.Result("x", "y")
            run.run_command(tiers.Part("x", "y", (), ["true"]), result)
            self.assertEqual((result.passed, result.skipped, result.failures), counts)

    def test_a_test_whose_program_is_not_built_counts_as_failed_and_not_as_skipped(self):
        report = """<testsuite>
            <testcase name="good" time="1" status="run"><system-out>well</system-out></testcase>
            <testcase name="bad" time="1" status="fail"><failure message=""/><system-out>no</system-out></testcase>
            <testcase name="skips" time="0" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>
            <testcase name="unbuilt" time="0" status="notrun"><skipped message="Unable to find executable"/></testcase>
            </testsuite>"""
        result = run.Result("x", "y")
        with mock.patch.object(run, "ctest", lambda *_, **__: run.outcomes(report)), mock.patch.object(run, "timed_tests", lambda _: set()), \
                contextlib.redirect_stderr(io.StringIO()) as err:
            run.run_tests(tiers.Part("x", "y", (), preset="ci"), result)
        self.assertEqual((result.passed, result.skipped, result.failures), (1, 1, ["bad", "unbuilt"]))
        self.assertIn("unbuilt failed:\nits program is not built", err.getvalue())


class DevTest(unittest.TestCase):
    def test_dev_refuses_an_unknown_part_of_a_test_tier_before_it_installs_or_builds_anything(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name in "dev", "tests/run.py", "tests/tiers.py", "bench/keep.py":
                (folder / name).parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
            (folder / "packaging").mkdir()
            (folder / "packaging" / "packages.txt").touch()
            done = subprocess.run(["./dev", "test", "full", "chram"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (2, "", 1))
            self.assertIn('no part "chram"', done.stderr)
            listed = subprocess.run(["./dev", "test", "full", "--list"], cwd=folder, capture_output=True, text=True, timeout=300, check=True)
            self.assertIn("\nfuzzers ", listed.stdout)


if __name__ == "__main__":
    unittest.main()
