# SPDX-License-Identifier: BSD-3-Clause

"""Compares docs/results.md with the stored results."""

import collections
import pathlib
import re
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import results  # noqa: E402
import results_tables  # noqa: E402


class Results(unittest.TestCase):
    def test_the_page_of_results_is_generated_from_the_stored_results(self):
        def without_marks(text):
            return " ".join(text.split()).replace(results.STALE, "")
        page = results.PAGE.read_text(encoding="utf-8")
        self.assertEqual(without_marks(page), without_marks(results.page()), "write it again: ./dev docs")

    def test_the_page_of_results_marks_figures_as_stale_if_they_exceed_the_age_limit_plus_a_grace_period(self):
        def marked(text):
            items = (" ".join(item.split()) for item in re.split(r"\n(?=\n|- )", text))
            return collections.Counter(item for item in items if item.endswith(results.STALE))
        if results.commits_since("HEAD", "2026-01-01") is None:
            self.skipTest("without a history, commits cannot be counted")
        page = marked(results.PAGE.read_text(encoding="utf-8"))
        self.assertLessEqual(page, marked(results.page()), "a figure is marked too early; write it again: ./dev docs")
        with mock.patch.object(results, "MAX_COMMITS", results.MAX_COMMITS + results.GRACE):
            self.assertGreaterEqual(page, marked(results.page()), "a mark is missing; write it again: ./dev docs")

    def test_measurements_that_are_old_or_have_no_commit_are_marked_as_stale(self):
        counted = {"git rev-parse": "false", "git merge-base": "abcdef", "git rev-list": "7"}
        stamp = {"date": "2026-01-02", "commit": "abc", "machine": "a machine", "load_average": 1.0}
        with mock.patch.object(results, "git", side_effect=lambda *words: counted[f"git {words[0]}"]):
            for commits, said in ("7", ""), (str(results.MAX_COMMITS + 1), results.STALE):
                counted["git rev-list"] = commits
                results.commits_since.cache_clear()
                self.assertEqual(results.stamp_text([stamp]),
                                 f"Measured on 2026-01-02 at commit abc, on a machine; the load average was 1.0.{said}")
            self.assertTrue(results.stamp_text([{**stamp, "commit": None}]).endswith(results.STALE))
            counted["git rev-parse"] = "true"  # a shallow clone: the number of later commits is unknown
            results.commits_since.cache_clear()
            self.assertIsNone(results.commits_since("abc", "2026-01-02"))
        results.commits_since.cache_clear()

    def test_rows_that_differ_only_in_load_average_share_one_remark_with_the_range_of_load_averages(self):
        stamps = [{"date": "2026-01-02", "commit": None, "machine": "m", "load_average": load} for load in (10.0, 2.0, 2.5)]
        table = results_tables.Table("T", "Text.", lambda whole: whole["results"], {"x": "{x}"})
        text = "\n".join(results.table_text(table, {"results": [{"x": 1, "measured": stamp} for stamp in stamps]}))
        self.assertIn("the load average was 2.0 to 10.0.", text)
        self.assertNotIn("Rows marked", text)

    def test_a_missing_value_is_shown_as_a_dash(self):
        stamp = {"date": "2026-01-02", "commit": None, "machine": "m", "load_average": None}
        table = results_tables.Table("T", "Text.", lambda whole: whole["results"], {"x": "{x}", "y": "`{y}`"})
        text = results.table_text(table, {"results": [{"x": None, "y": 0, "measured": stamp}]})
        self.assertIn("| - | `0` |", text)

    def test_commits_since_a_measurement_are_counted_by_date_if_the_history_lacks_the_measured_commit(self):
        counts = {("merge-base", "abc", "HEAD"): "",
                  ("rev-parse", "--is-shallow-repository"): "false",
                  ("rev-list", "--count", "--since=2026-01-02T00:00:00Z", "HEAD"): "12"}
        results.commits_since.cache_clear()
        with mock.patch.object(results, "git", side_effect=lambda *words: counts[words]):
            self.assertEqual(results.commits_since("abc+", "2026-01-02"), 12)
        results.commits_since.cache_clear()

    def test_each_row_of_a_table_states_its_benchmark_run_if_the_table_combines_several_runs(self):
        stamps = [{"date": f"2026-01-0{day}", "commit": None, "machine": "m", "load_average": None} for day in (1, 2)]
        table = results_tables.Table("T", "Text.", results_tables.where(part="a"), {"x": "{x:.1f}"})
        whole = {"results": [{"part": "a", "x": 1, "measured": stamps[0]}, {"part": "b", "x": 2, "measured": stamps[0]},
                             {"part": "a", "x": 3, "measured": stamps[1]}]}
        text = results.table_text(table, whole)
        self.assertIn("| 1.0 | a |", text)
        self.assertIn("| 3.0 | b |", text)
        self.assertNotIn("2.0", "".join(text))

    def test_a_summary_of_ratios_contains_the_geometric_and_the_arithmetic_mean(self):
        spread = results_tables.spread([0.5, 1.0, 2.0])
        self.assertEqual((spread["median"], spread["worst"], spread["lost"], spread["cases"]), (1.0, 2.0, 1, 3))
        self.assertAlmostEqual(spread["geometric"], 1.0)
        self.assertAlmostEqual(spread["arithmetic"], 3.5 / 3)

    def test_the_page_of_results_states_whether_measured_speedups_confirm_a_published_result(self):
        def rows(*pairs):
            return [{"ranks": 2, "paired gain": ours, "lightest gain": theirs} for ours, theirs in pairs]
        self.assertIn("**do not confirm**", results_tables.sorted_victims(rows((1.57, 1.58), (2.79, 2.78))))
        self.assertIn(" confirm this", results_tables.sorted_victims(rows((1.8, 1.2), (2.0, 1.9))))
        self.assertIn(" contradict this", results_tables.sorted_victims(rows((1.0, 1.2), (2.0, 1.9))))

    def test_the_page_of_results_shows_every_stored_benchmark(self):
        kept = {path.stem for path in results.RESULTS.glob("*.json")}
        self.assertEqual(kept, set(results_tables.PAGES), "add a row to PAGES in docs/results_tables.py")


if __name__ == "__main__":
    unittest.main()
