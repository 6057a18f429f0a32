# SPDX-License-Identifier: BSD-3-Clause

"""Tests docs/figures.py, which checks that pages quote only stored results, and runs it on all pages."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import figures  # noqa: E402
import results  # noqa: E402
import results_tables  # noqa: E402

FRESH = {"date": "2026-01-01", "commit": "abc", "machine": "m", "load_average": None}
ROWS = [{"kind": "a b", "gain": 1.316, "deep": {"share": 0.987}, "measured": FRESH},
        {"kind": "c", "gain": 0.56, "measured": FRESH}, {"kind": "old", "gain": 2.0, "measured": {**FRESH, "commit": None}}]
REFERENCE = '<!-- figure: bench "T" gain where kind="a b" -->'


class Figures(unittest.TestCase):
    def setUp(self):
        for target, name, value in [
                (figures, "PAGES", {"bench": ("Heading", [results_tables.Table("T", "", lambda whole: ROWS, {})])}),
                (results, "is_stale", lambda stamp, grace: stamp["commit"] is None), (figures.json, "loads", lambda text: {}),
                (results, "RESULTS", mock.MagicMock())]:
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def troubles(self, text):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            return list(figures.troubles(page))

    def assert_fine(self, text):
        self.assertEqual(self.troubles(text), [])

    def assert_trouble(self, text, says):
        found = self.troubles(text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(says, found[0])

    def test_a_number_in_a_document_must_equal_the_stored_result_in_all_printed_digits(self):
        self.assert_fine(f"It gains x1.32 {REFERENCE}, so.\n")
        self.assert_fine(f"It gains x1.316\n{REFERENCE} so.\n")
        self.assert_fine('Bytes are .56 <!-- figure: bench "T" gain where kind=c --> of it.\n')
        self.assert_trouble(f"It gains x1.31 {REFERENCE}.\n", "the page says 1.31, the kept result 1.3160")
        self.assert_trouble(f"It gains {REFERENCE}.\n", "no number")

    def test_a_document_can_quote_a_nested_key_or_a_value_in_percent_or_the_minimum_or_median_of_several_rows(self):
        self.assert_fine('It reaches 98.7 % <!-- figure: bench "T" deep.share where kind="a b" times 100 -->.\n')
        self.assert_fine('stale: x0.56 <!-- figure: bench "T" min gain --> to x2.0 <!-- figure: bench "T" max gain -->\n')
        self.assert_fine('stale: x1.3 <!-- figure: bench "T" median gain -->\n')

    def test_a_reference_in_a_document_must_match_exactly_one_row_of_the_stored_results(self):
        self.assert_trouble('It gains x1.32 <!-- figure: bench "T" gain -->.\n', "3 rows match")
        self.assert_trouble('It gains x1.32 <!-- figure: bench "T" gain where kind=z -->.\n', "0 rows match")
        self.assert_trouble('It gains x1.32 <!-- figure: bench "U" gain -->.\n', 'no table "U"')
        self.assert_trouble('It gains x1.32 <!-- figure: bench "T" loss where kind=c -->.\n', 'no column "loss"')

    def test_an_outdated_result_can_be_quoted_only_if_its_paragraph_or_an_adjacent_one_contains_the_word_stale(self):
        old = 'It gains x2.0 <!-- figure: bench "T" gain where kind=old -->.\n'
        self.assert_trouble(old, "stale")
        self.assert_fine(f"These figures are stale.\n\n{old}")
        self.assert_fine(f"{old}\nThese figures are stale.\n")
        self.assert_trouble(f"These figures are stale.\n\nA paragraph between.\n\n{old}", "stale")

    def test_measured_numbers_in_a_document_are_reported_if_they_have_no_stored_result(self):
        self.assert_trouble("Balancing makes it 34 % faster.\n", '"34 %" has no kept result')
        self.assert_trouble("Steps took 2.72 s.\n", '"2.72 s"')
        self.assert_trouble("The speedup is x1.5.\n", '"x1.5"')
        self.assert_trouble("| what | gain |\n|---|---|\n| this | x1.5 |\n", '"x1.5"')
        self.assert_trouble(f"It gains x1.32 {REFERENCE}, and x1.5 elsewhere.\n", '"x1.5"')
        self.assert_trouble(f"It gains x1.32, which is much for such a program {REFERENCE}.\n", '"x1.32"')

    def test_a_number_in_a_document_needs_no_stored_result_if_it_was_not_measured(self):
        self.assert_fine("The period is 100 ms. Moves are made faster.\n")
        self.assert_fine("```text\nit took 3 s\n```\n\n    it took 3 s\n\nIt takes `3 s`.\n")
        self.assert_fine("The paper's gain is 12 % <!-- given: table VI -->.\n")
        self.assert_fine("<!-- given: thresholds -->\n| if | gain |\n|---|---|\n| a | 20 % |\n")
        self.assert_trouble("A gain of 12 % <!-- given: table VI -->. A gain of 13 %.\n", '"13 %"')


class Pages(unittest.TestCase):
    def test_every_measured_number_in_the_documents_has_a_stored_result(self):
        self.assertEqual([trouble for page in figures.pages() for trouble in figures.troubles(page)], [])


if __name__ == "__main__":
    unittest.main()
