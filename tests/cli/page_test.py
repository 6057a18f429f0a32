# SPDX-License-Identifier: BSD-3-Clause

"""Opens reports in headless Chromium, clicks, and checks what the page then shows and saves."""

import json
import pathlib
import re
import sys
import unittest

from run_poise import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/support", "bench", "bench/reproduce")]
import report  # noqa: E402
from browser import BROWSER, clicked  # noqa: E402

# A trace of two ranks with tasks: rank 0 runs one task, and rank 1 runs another task of rank 0.
TASKS = json.dumps({"otherData": {"title": "tasks"}, "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "rank 0"}},
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "rank 1"}},
    {"ph": "X", "name": "multiply", "cat": "work", "pid": 0, "tid": 0, "ts": 0, "dur": 2e6},
    {"ph": "X", "name": "to rank 1", "cat": "loan", "pid": 0, "tid": -1, "ts": 1.4e6, "dur": 1},
    {"ph": "X", "name": "multiply of rank 0", "cat": "work", "pid": 1, "tid": 0, "ts": 1.5e6, "dur": 5e5},
    {"ph": "X", "name": "idle", "cat": "wait", "pid": 1, "tid": 0, "ts": 0, "dur": 1.5e6}]})


@unittest.skipUnless(BROWSER, "no Chromium")
class Pages(CliTest):
    def in_browser(self, page, *arguments):
        return clicked(self.folder / page, *arguments)

    def test_in_a_browser_the_compare_report_sorts_and_saves_its_table_and_shows_values_of_plots_under_the_pointer(self):
        self.run_poise("generate", "stencil2d", "--tasks", "64", "--phases", "3", "--machine", "node:2 core:2",
                       "-o", "t.poise")
        got = self.json_of("compare", "t.poise", "-s", "keep,greedy,poise", "--json",
                           "--html", "page.html")
        for size in "1280,900", "400,800":
            with self.subTest(size):
                result = self.in_browser("page.html", "iteration", size)
                iteration = {row["strategy"]: row["iteration_s"] for row in got["results"]}
                self.assertEqual(result["start"], sorted(iteration, key=iteration.get), "the best is not first")
                self.assertEqual([iteration[name] for name in result["up"]], sorted(iteration.values()))
                self.assertEqual([iteration[name] for name in result["down"]],
                                 sorted(iteration.values(), reverse=True))
                saved_json, saved_csv = result["saved"]
                self.assertEqual(json.loads(saved_json), got)
                lines = [line.split(",") for line in saved_csv.splitlines()]
                self.assertEqual(lines[0][:3], ["table", "strategy", "iteration"])
                self.assertEqual({line[1]: float(line[2]) for line in lines[1:]}, iteration)
                self.assertRegex(result["heat"], r"^core 1 to core 3: [0-9.]+ k?B$")
                self.assertRegex(result["bar"], r"^place 0: .* of work, .* of messages$")
                self.assertTrue(result["width"], "the page is wider than the window")
        page = (self.folder / "page.html").read_text()
        self.assertEqual(re.findall(r'data-note="phase (\d+)', page), ["0", "1", "2"])

    def test_with_the_option_curve_the_page_of_compare_has_a_table_with_the_points_of_the_curve(self):
        self.run_poise("generate", "stencil3d:hot=3", "--tasks", "512", "--machine", "node:4 core:8", "-o", "t.poise")
        got = self.json_of("compare", "t.poise", "-s", "keep,poise", "--curve", "--json", "--html", "page.html")
        curve = next(row["curve"] for row in got["results"] if row["best"])
        table = re.search(r'data-name="curve".*?</table>', (self.folder / "page.html").read_text(), re.S)[0]
        moved = [int(text.replace(",", "")) for text in re.findall(r'<th scope="row">([0-9,]+)<', table)]
        self.assertEqual(moved, [point["migrations"] for point in curve])

    def test_the_page_of_compare_draws_at_most_24_phases_of_a_long_trace(self):
        for phases, shown in ("1", 0), ("2", 2), ("100", 24):
            with self.subTest(phases):
                self.run_poise("generate", "ring", "--tasks", "8", "--phases", phases, "--machine", "core:2", "-o", "t.poise")
                self.run_poise("compare", "t.poise", "-s", "keep", "--html", "page.html")
                found = re.findall(r'data-note="phase (\d+)', (self.folder / "page.html").read_text())
                self.assertEqual(len(found), shown)
                self.assertEqual(found[-1:], [str(int(phases) - 1)] if shown else [], "the last phase is shown")

    def test_buttons_of_the_simulate_report_sort_its_table_by_total_time_and_save_it_as_json_and_csv(self):
        self.run_poise("generate", "stencil2d", "--tasks", "64", "--machine", "node:2 core:2", "-o", "t.poise")
        self.run_poise("simulate", "t.poise", "-s", "greedy,poise", "--steps", "20", "--every", "5",
                       "--html", "page.html", "--json")
        result = self.in_browser("page.html", "total")
        saved_json, saved_csv = result["saved"]
        rows = json.loads(saved_json)["results"]
        self.assertEqual([row["strategy"] for row in rows], [None, "greedy", "poise"])
        total_s = {line.split(",")[1]: float(line.split(",")[2]) for line in saved_csv.splitlines()[1:]}
        for row in rows:
            self.assertAlmostEqual(total_s[row["strategy"] or "no balancing"] / row["total_s"], 1)
        self.assertEqual(result["up"], sorted(total_s, key=total_s.get))
        self.assertEqual(result["up"][::-1], result["down"])

    def test_buttons_of_the_reproduction_report_sort_the_results_by_their_ratio_to_the_paper_and_save_them(self):
        kept = json.loads((ROOT / "bench" / "results" / "reproduce.json").read_text())
        text = report.page(kept["sections"], kept["headlines"], kept["measured"])
        (self.folder / "page.html").write_text(text)
        ratios = {row["title"]: row["ratio"] for row in kept["sections"] if row["ratio"] is not None}
        for size in "1280,900", "400,800":
            with self.subTest(size):
                result = self.in_browser("page.html", "ratio", size)
                self.assertEqual(result["start"], [row["title"] for row in kept["sections"]])
                sorted_ratios = [ratios[title] for title in result["up"] if title in ratios]
                self.assertEqual(sorted_ratios, sorted(ratios.values()))
                saved_json, saved_csv = result["saved"]
                self.assertEqual(json.loads(saved_json)["sections"], kept["sections"])
                self.assertIn("nucolb-figure-2,iterations become shorter,> 1,", saved_csv)
                self.assertTrue(result["width"], "the page is wider than the window")

    def test_one_page_can_show_the_timelines_of_objects_and_of_tasks_and_of_threads(self):
        self.run_poise("generate", "ring", "--tasks", "8", "--machine", "core:2", "-o", "t.poise")
        self.run_poise("simulate", "t.poise", "-s", "greedy", "--steps", "4", "--engine", "events", "--timeline", "objects.json")
        done = self.run_poise("juggle", "--trace", "threads.json", "--", "sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "tasks.json").write_text(TASKS)
        done = self.run_poise("timeline", "objects.json", "tasks.json", "threads.json", "--html", "page.html", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        of_objects, of_tasks, of_threads = json.loads(done.stdout)["timelines"]
        self.assertEqual([place["place"] for place in of_objects["places"]], ["place 0", "place 1"])
        self.assertEqual(of_tasks["places"][1], {"place": "rank 1", "work_s": 0.5, "wait_s": 1.5, "balance_s": 0.0})
        self.assertRegex(of_threads["places"][0]["place"], "^cpu ")
        for size in "1280,900", "400,800":
            with self.subTest(size):
                result = self.in_browser("page.html", "worked", size)
                self.assertEqual(json.loads(result["saved"][0]), json.loads(done.stdout))
                self.assertTrue(result["width"], "the page is wider than the window")
        page = (self.folder / "page.html").read_text()
        self.assertEqual(page.count('aria-label="What every place did over time'), 3)
        self.assertIn(">rank 1</text>", page)


if __name__ == "__main__":
    unittest.main()
