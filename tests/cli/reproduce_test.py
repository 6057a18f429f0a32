# SPDX-License-Identifier: BSD-3-Clause

"""Tests ./dev reproduce: how it reaches its verdicts, its sections, the two pages that it writes (HTML and Markdown),
and its error messages about broken inputs. The tests compute one quick section, and check the stored results of the
others."""

import html.parser
import importlib.util
import json
import os
import pathlib
import re
import sys
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "reproduce")]

import lab as labs  # noqa: E402
import report  # noqa: E402
import sections  # noqa: E402
import verdicts  # noqa: E402
from verdicts import CONFIRMED, CONTRADICTED, REFINED, UNDECIDED, about, above, below, verdict  # noqa: E402

spec = importlib.util.spec_from_file_location("reproduce", ROOT / "bench" / "reproduce" / "__main__.py")
reproduce = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reproduce)

STAMP = {"date": "2026-01-02", "commit": "abc", "machine": "a <machine>", "load_average": 1.0}
POISE = os.environ.get("POISE", str(ROOT / "build" / "bin" / "poise"))


class Verdicts(unittest.TestCase):
    def test_a_published_value_is_confirmed_if_the_reproduced_value_differs_from_it_by_at_most_10_percent(self):
        self.assertEqual(verdict([about("f", 10, 11)]), CONFIRMED)
        self.assertEqual(verdict([about("f", 10, 11.1)]), REFINED)
        self.assertEqual(verdict([about("f", 10, 20.1)]), CONTRADICTED)
        self.assertEqual(verdict([about("f", 10, 4.9)]), CONTRADICTED)

    def test_a_paper_is_contradicted_if_its_conclusion_does_not_hold_even_if_its_numbers_are_reproduced(self):
        self.assertEqual(verdict([about("f", 10, 10), above("c", 1, 0.9)]), CONTRADICTED)
        self.assertEqual(verdict([about("f", 10, 50), below("c", 1, 0.9)]), REFINED)
        self.assertEqual(verdict([about("f", 10, 10), below("c", 1, 0.9)]), CONFIRMED)

    def test_a_conclusion_is_undecided_if_the_confidence_interval_of_the_measurement_contains_the_threshold(self):
        self.assertEqual(verdict([above("c", 1, [0.9, 1.2, 1.0])]), UNDECIDED)
        self.assertEqual(verdict([above("c", 1, [0.9, 1.2, 1.0]), above("d", 1, [1.1, 1.1])]), REFINED)
        self.assertEqual(verdict([above("c", 1, [0.9, 1.2, 1.0]), above("d", 1, [0.5, 0.5])]), CONTRADICTED)

    def test_a_paper_is_confirmed_only_if_its_conclusion_holds_for_every_tried_value_of_its_assumed_inputs(self):
        base = [above("c", 1, 1.5)]
        self.assertEqual(verdict(base, [[above("c", 1, 1.2)]]), CONFIRMED)
        self.assertEqual(verdict(base, [[above("c", 1, 0.8)]]), UNDECIDED)
        self.assertEqual(verdict([above("c", 1, 0.8)], [base]), UNDECIDED)
        self.assertEqual(verdict([about("f", 1, 1)], [[about("f", 1, 1.3)]]), REFINED)
        with self.assertRaises(ValueError):
            verdict(base, [[above("other", 1, 1)]])

    def test_a_published_value_does_not_count_as_evidence_if_an_input_was_calibrated_with_the_value(self):
        self.assertEqual(verdict([about("f", 1, 1, is_used=True)]), UNDECIDED)
        self.assertEqual(verdict([above("f", 1, 0, is_used=True), about("g", 1, 1)]), CONFIRMED)
        self.assertEqual(verdict([]), UNDECIDED)

    def test_confidence_intervals_are_computed_from_students_t_distribution(self):
        found = verdicts.Estimate.of([1, 2, 3])
        self.assertAlmostEqual(found.high - found.mean, 4.303 / 3**0.5)
        self.assertEqual(verdicts.Estimate.of(2.5), verdicts.Estimate(2.5, 2.5, 2.5))
        with self.assertRaises(ValueError):
            verdicts.Estimate.of([1, float("nan")])


    def test_a_published_gain_is_confirmed_or_refined_or_contradicted_by_the_measured_gain(self):
        def claim(low, high):
            return verdicts.claim(verdicts.Estimate((low + high) / 2, low, high), 0.2)
        self.assertEqual([claim(0.18, 0.19), claim(0.21, 0.22)], [CONFIRMED, CONFIRMED])
        self.assertEqual([claim(0.1, 0.11), claim(0.5, 0.6)], [f"{REFINED} (less)", f"{REFINED} (more)"])
        self.assertRegex(claim(-0.1, -0.05), CONTRADICTED)
        self.assertRegex(claim(-0.1, 0.1), UNDECIDED)


def paper_of(*members):
    return sections.Paper("Example", "Somebody 2026", members, lambda lab: "a sentence")


class Sections(unittest.TestCase):
    def test_the_report_has_one_section_for_each_table_and_plot_of_the_papers(self):
        ids = [section.id for paper in reproduce.PAPERS for section in paper.sections]
        self.assertEqual(len(set(ids)), len(ids))
        self.assertEqual([len(paper.sections) for paper in reproduce.PAPERS], reproduce.EXPECTED)

    def test_each_section_of_the_report_is_computed_or_states_why_it_cannot_be_computed(self):
        for paper in reproduce.PAPERS:
            for section in paper.sections:
                with self.subTest(section.id):
                    self.assertNotEqual(section.compute is None, section.why_not == "")

    def test_every_assumed_input_is_also_tried_at_half_and_twice_its_value_but_not_above_its_upper_bound(self):
        seen = []

        def compute(_, inputs):
            seen.append(inputs["x"])
            return [above("c", 3, inputs["x"])]
        section = sections.Section("s", "S", compute, assumed=(sections.Assumed("x", 4, "s", "because", most=6),))
        row = sections.row_of(section, paper_of(section), None)
        self.assertEqual(seen, [4, 2, 6])
        self.assertEqual(row["verdict"], UNDECIDED)
        self.assertEqual([item["verdict"] for item in row["sensitivity"]], [CONTRADICTED, CONFIRMED])

    def test_a_section_whose_input_cannot_be_read_is_marked_undecided_with_the_reason(self):
        section = sections.Section("s", "S", lambda lab, _: [about("f", 1, lab.figure("unknown")[0]["x"])])
        lab = labs.Lab(POISE)
        self.addCleanup(lab.close)
        row = sections.row_of(section, paper_of(section), lab)
        self.assertEqual(row["verdict"], UNDECIDED)
        self.assertRegex(row["sentence"], "^Broken input: .*unknown")

    def test_the_error_for_a_missing_poise_program_names_the_path_where_it_was_expected(self):
        lab = labs.Lab("/nowhere/poise")
        self.addCleanup(lab.close)
        with self.assertRaisesRegex(labs.Trouble, "nowhere"):
            lab.run("theory")


class Tags(html.parser.HTMLParser):
    """Checks that the elements of an HTML page are closed in the right order."""

    def __init__(self):
        super().__init__()
        self.open, self.sections = [], []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)
        if tag == "h3":
            self.sections.append(dict(attrs)["id"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())


class Pages(unittest.TestCase):
    def rows(self):
        members = (sections.Section("s1", "Table <1> | one", lambda lab, _: [about("a | b & <c>", 1, [1, 2])],
                                    assumed=(sections.Assumed("x", 1, "s", "a < b"),)),
                   sections.Section("s2", "Figure 2", why_not="no figures & none to be had"))
        paper = paper_of(*members)
        return [sections.row_of(section, paper, None) for section in members]

    def test_the_html_report_is_well_formed(self):
        text = report.page(self.rows(), {"Example": "1 < 2 & 3"}, STAMP)
        tags = Tags()
        tags.feed(text)
        self.assertEqual(tags.open, [])
        self.assertEqual(tags.sections, ["s1", "s2"])
        self.assertIn("a | b &amp; &lt;c&gt;", text)
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1]
        self.assertEqual([row["title"] for row in json.loads(data)["sections"]], ["Table <1> | one", "Figure 2"])

    def test_the_html_report_draws_the_points_of_a_plot_and_links_to_the_section_with_the_plot(self):
        points = [{"x": x, "c": 2 * x, "our runs": x, "our runs, low": x - 1, "our runs, high": x + 1} for x in (1, 2, 3)]
        section = sections.Section("s3", "Figure 3", lambda lab, _: [about("f", 1, 1)], figure=lambda lab, _: points,
                                   plot=sections.Plot("x", ("c", "our runs"), "y"))
        text = report.page([sections.row_of(section, paper_of(section), None)], {}, STAMP)
        tags = Tags()
        tags.feed(text)
        self.assertEqual(tags.open, [])
        picture = urllib.parse.unquote(re.search(r'src="data:image/svg\+xml,([^"]*)"', text)[1])
        self.assertEqual(picture.count("<polyline "), 1)
        self.assertEqual(picture.count("<circle "), 3 + 1)  # three points, and one in the legend
        self.assertIn('<a href="#s3">', text)

    def test_an_inequality_is_shown_with_enough_digits_to_see_whether_it_holds(self):
        section = sections.Section("s4", "Figure 4", lambda lab, _: [above("c", 1, 1.00004), about("f", 1, 1.00004)])
        cells = report.checks_cells(sections.row_of(section, paper_of(section), None))
        self.assertEqual([line[1:3] for line in cells], [["> 1", "1.00004"], ["≈ 1", "1"]])

    def check_tables(self, text):
        columns = 0
        for line in text.splitlines():
            cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
            self.assertIn(cells, (columns, 0) if columns else range(100), line)
            columns = cells

    def test_all_rows_of_a_markdown_table_have_equally_many_cells(self):
        text = report.markdown(self.rows(), {"Example": "a sentence"}, STAMP)
        self.check_tables(text)
        for heading in "### Table <1> | one", "### Figure 2", "## Does the conclusion hold?":
            self.assertIn(heading, text.splitlines())

    def test_a_plot_of_a_paper_is_recomputed_with_the_poise_program(self):
        lab = labs.Lab(POISE)
        self.addCleanup(lab.close)
        paper = next(paper for paper in reproduce.PAPERS if paper.name == "Juggle")
        section = next(section for section in paper.sections if section.id == "juggle-figure-7")
        row = sections.row_of(section, paper, lab)
        self.assertEqual(row["verdict"], CONFIRMED, row["sentence"])
        self.assertAlmostEqual(row["ours"], 16 / 9)


class Kept(unittest.TestCase):
    def test_the_headlines_quote_exactly_the_gains_that_the_papers_state(self):
        kept = json.loads((ROOT / "bench" / "results" / "reproduce.json").read_text(encoding="utf-8"))
        claims = {name.split()[0]: re.findall(rf"([\d.]+ (?:%|times))[^:]*: (?:{'|'.join(verdicts.VERDICTS)})", text)
                  for name, text in kept["headlines"].items()}
        self.assertEqual(claims, {"NucoLB": ["20 %"], "Juggle": ["80 %"], "NumaLB": ["2.8 times"],
                                  "TreeMatchLB": ["16.6 %", "17 %"], "CHAMELEON": ["1.31 times", "1.20 times"]})

    def test_the_stored_verdicts_on_papers_agree_with_the_stored_checks(self):
        kept = json.loads((ROOT / "bench" / "results" / "reproduce.json").read_text(encoding="utf-8"))
        ids = [section.id for paper in reproduce.PAPERS for section in paper.sections]
        self.assertEqual([row["id"] for row in kept["sections"]], ids, "run again: ./dev reproduce")
        self.assertLessEqual({"date", "commit", "machine", "load_average"}, set(kept["measured"]))
        self.assertGreaterEqual(sum(map(sections.is_decided, kept["sections"])), reproduce.TO_DECIDE)
        for row in kept["sections"]:
            with self.subTest(row["id"]):
                self.assertIn(row["verdict"], verdicts.VERDICTS)
                self.assertNotIn("Broken input", row["sentence"])
                outcomes = [check["outcome"] for check in row["checks"]]
                self.assertEqual(row["verdict"] == CONFIRMED,
                                 bool(outcomes) and set(outcomes) <= {"holds", "agrees", "calibrated an input"}
                                 and set(outcomes) != {"calibrated an input"})


if __name__ == "__main__":
    unittest.main()
