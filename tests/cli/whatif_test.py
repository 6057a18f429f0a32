# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise simulate and poise theory as users run them."""

import json
import unittest

import files
from run_poise import CliTest

# Two ranks and three phases: rank 0 has three times the load of rank 1, and all loads double in the last phase.
RANKS = [[[3, 3], [3, 3], [6, 6]], [[1, 1], [1, 1], [2, 2]]]


class Simulate(CliTest):
    def setUp(self):
        super().setUp()
        files.write_vt(self.folder, "run", RANKS)
        self.command = "simulate", "run", "-m", "core:2", "--decision-time", "0.25s"

    def test_the_total_time_of_a_simulation_is_the_sum_over_its_steps_and_decisions(self):
        answer = self.json_of(*self.command, "-s", "greedy,rotate", "--steps", 9, "--every", 2,
                              "--json")
        self.assertEqual(answer["bound_s"], [4, 4] + 7 * [8])
        for result in answer["results"]:
            series = result["series"]
            self.assertEqual(len(series["iteration_s"]), 9)
            self.assertAlmostEqual(
                sum(series["iteration_s"]) + sum(d["migration_s"] + d["decision_s"]
                                                 for d in series["decisions"]), result["total_s"])
            self.assertEqual(sum(d["migrations"] for d in series["decisions"]), result["migrations"])
            self.assertAlmostEqual(result["efficiency"],
                                   answer["total_average_s"] / result["total_s"])

    def test_simulated_steps_take_less_time_after_a_strategy_has_balanced_the_loads(self):
        answer = self.json_of(*self.command, "-s", "greedy", "--steps", 4, "--every", 2, "--json")
        none, greedy = answer["results"]
        self.assertIsNone(none["strategy"])
        self.assertEqual(none["series"]["iteration_s"], [6, 6, 12, 12])
        self.assertEqual(greedy["series"]["iteration_s"], [6, 6, 8, 8])
        self.assertTrue(greedy["best"])

    def test_with_the_option_beyond_set_to_cycle_a_trace_shorter_than_the_simulation_is_repeated(self):
        answer = self.json_of(*self.command, "-s", "keep", "--steps", 5, "--beyond", "cycle", "--json")
        self.assertEqual(answer["results"][0]["series"]["iteration_s"], [6, 6, 12, 6, 6])

    def test_a_note_says_that_the_run_ends_before_the_first_decision(self):
        for steps in 9, 10, 11:
            done = self.run_poise(*self.command, "-s", "greedy", "--steps", steps, "--every", 10)
            self.assertEqual("no strategy decides anything" in done.stderr, steps <= 10, done.stderr)

    def test_a_simulation_can_start_at_a_later_phase_of_the_trace(self):
        answer = self.json_of(*self.command, "-s", "keep", "--steps", 2, "--phase", 2, "--json")
        self.assertEqual(answer["results"][0]["series"]["iteration_s"], [12, 12])

    def test_two_runs_of_one_simulation_give_the_same_output_and_the_same_html_page(self):
        first, second = (self.run_poise(*self.command, "--overlap", "--html", f"{i}.html")
                         for i in (1, 2))
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(first.stdout, second.stdout)
        page = (self.folder / "1.html").read_text()
        self.assertEqual(page, (self.folder / "2.html").read_text())
        self.assertIn("<svg", page)

    def test_the_axis_of_steps_in_the_html_page_has_whole_numbers(self):
        self.run_poise(*self.command, "--steps", 3, "--html", "short.html")
        page = (self.folder / "short.html").read_text(encoding="utf-8")
        self.assertIn(">1</text>", page)
        self.assertNotIn(">1.5</text>", page)

    def test_a_note_about_an_assumed_machine_is_printed_on_stderr_only(self):
        done = self.run_poise("simulate", "run", "-s", "greedy", "--json")
        self.assertRegex(done.stderr, r"^poise: run records no machine: taking 2 .*--machine\)\n$")
        json.loads(done.stdout)

    def test_invalid_options_of_poise_simulate_are_refused(self):
        self.assert_refused(*self.command, "--steps", 0, says="--steps")
        self.assert_refused(*self.command, "--steps", 10 ** 12, says=["--steps", "1000000"])
        self.assert_refused(*self.command, "--every", "x", says="--every")
        self.assert_refused(*self.command, "--beyond", "cycel", says='did you mean "cycle"?')
        self.assert_refused(*self.command[:-1], "3", says=["--decision-time", "2ms"])
        self.assert_refused(*self.command, "-s", "gredy", says='did you mean "greedy"?')
        self.assert_refused(*self.command, "--html", "no/page.html", says="no/page.html")
        self.assert_refused("simulate", "run", "-m", "core:1", says="--start")


class Events(CliTest):
    """Tests three parts of `poise simulate`: the event engine, sweeps over parameters, and models of changing loads."""

    def setUp(self):
        super().setUp()
        files.write_vt(self.folder, "run", RANKS)
        self.run_poise("generate", "stencil2d", "--tasks", 64, "-m", "node:4 core:2", "-o", "grid.poise")
        self.base = ("simulate", "grid.poise", "-m", "node:4 core:2", "-s", "greedy,refine", "--steps", 6,
                     "--decision-time", "0s", "--engine", "events")
        self.command = (*self.base[:-2], "--every", 2, "--engine", "events")

    def test_event_simulation_and_the_cost_formula_give_equal_step_times_if_tasks_send_no_messages(self):
        answer = self.json_of("simulate", "run", "-m", "core:2 migrated_task:0", "--decision-time", "0s", "-s", "greedy",
                              "--steps", 4, "--every", 2, "--engine", "events", "--json")
        self.assertEqual((answer["engine"], answer["sharing"]), ("events", "fluid"))
        for result in answer["results"]:
            self.assertEqual(result["formula_s"], result["iteration_s"])
        self.assertEqual(answer["results"][1]["series"]["iteration_s"], [6, 6, 8, 8])

    def test_step_times_by_event_simulation_and_by_the_cost_formula_are_shown_side_by_side(self):
        done = self.run_poise(*self.command)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("event by event, sharing: fluid", "by formula", "events vs", "idle", "collect-"):
            self.assertIn(words, done.stdout)
        events = self.json_of(*self.command, "--json")["results"]
        formula = self.json_of(*self.command[:-2], "--model", "physical", "--json")["results"]
        for by_events, by_formula in zip(events, formula):
            self.assertAlmostEqual(by_events["formula_s"], by_formula["iteration_s"])
            self.assertNotIn("idle_share", by_formula)
            self.assertTrue(0 <= by_events["idle_share"] < 1)

    def test_total_time_is_the_sum_of_times_for_steps_and_migrations_and_decisions_and_collecting_measurements(self):
        for sharing in ("fluid", "queue"):
            for row in self.json_of(*self.command, "--sharing", sharing, "--json")["results"]:
                self.assertAlmostEqual(row["total_s"], row["iteration_s"] + row["migration_s"] + row["decision_s"]
                                       + row["collection_s"])
                self.assertAlmostEqual(row["iteration_s"], sum(row["series"]["iteration_s"]))
                after = row["series"]["iteration_s"][2 if row["strategy"] else 0:]
                self.assertAlmostEqual(row["balanced_s"], sum(after) / len(after))

    def test_the_listed_decisions_include_decisions_that_take_no_time_and_move_nothing(self):
        answer = self.json_of(*self.command, "--json")
        for row in answer["results"]:
            decisions = row["series"]["decisions"]
            self.assertEqual(len(decisions), row["decisions"])
            for cost in "decision_s", "collection_s", "migration_s":
                self.assertAlmostEqual(sum(decision[cost] for decision in decisions), row[cost], places=12)

    def test_the_timeline_of_the_best_strategy_ends_at_the_total_time_of_that_strategy(self):
        done = self.run_poise(*self.command, "--timeline", "best.json", "--html", "best.html")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads((self.folder / "best.json").read_text())["traceEvents"]
        best = next(row for row in self.json_of(*self.command, "--json")["results"] if row["best"])
        ends = {}
        for event in events:
            if event["ph"] == "X":
                ends[event["pid"]] = (event["ts"] + event["dur"]) / 1e6
        self.assertEqual(len(ends), 8)
        for end_s in ends.values():
            self.assertAlmostEqual(end_s, best["total_s"])
        self.assertIn("Simulated event by event", (self.folder / "best.html").read_text())

    def test_a_sweep_reports_every_combination_of_parameters_and_marks_the_best(self):
        answer = self.json_of(*self.base, "--every", "1,2", "--seed", "1..3", "--places", "4,8", "--start", "blocked",
                              "--loads", "drift:sigma=0.5,steps=2", "--json")
        self.assertEqual(answer["seeds"], [1, 2, 3])
        self.assertEqual(len(answer["sweep"]), 2 * (1 + 2 * 2))
        for places in (4, 8):
            rows = [row for row in answer["sweep"] if row["places"] == places]
            self.assertEqual([len(row["total_s"]) for row in rows], [3] * len(rows))
            self.assertTrue(all(0 < share < 1 for row in rows for share in row["idle_share"]))
            best = [row for row in rows if row["best"]]
            self.assertEqual(len(best), 1)
            self.assertEqual(sorted(best[0]["total_s"])[1], min(sorted(row["total_s"])[1] for row in rows))
        for row in self.json_of(*self.base[:-2], "--every", "1,2", "--json")["sweep"]:  # by the formula
            self.assertEqual(row.keys() & {"idle_share", "formula_s"}, set())
        text = self.run_poise(*self.base, "--every", "auto").stdout
        self.assertRegex(text, r"\* best on 8 places: \w+( every [125])? takes ")

    def test_the_option_juggle_makes_three_equal_threads_share_two_cores_evenly(self):
        self.run_poise("generate", "ring:skew=equal", "--tasks", 3, "-m", "core:2", "--placement", "blocked", "-o",
                       "three.poise")
        base = ("simulate", "three.poise", "-m", "core:2 overhead:0 latency:0 bus:0 copy:0", "-s", "keep", "--steps", 2,
                "--decision-time", "0s", "--engine", "events", "--json")
        apart = self.json_of(*base)["results"][0]["iteration_s"]
        juggled = self.json_of(*base, "--juggle", "10us")["results"][0]["iteration_s"]
        self.assertAlmostEqual(juggled / apart, 0.75, 2)

    def test_the_option_lend_shortens_simulated_runs_both_with_and_without_a_strategy(self):
        self.run_poise("generate", "ring:skew=equal", "--tasks", 80, "-m", "core:4", "-o", "ring.poise")
        (self.folder / "places").write_text("0\n" * 80)
        base = ("simulate", "ring.poise", "-m", "core:4", "--placement", "places", "-s", "greedy", "--steps", 4, "--every", 2,
                "--decision-time", "0s", "--engine", "events", "--json")
        alone, apart = self.json_of(*base)["results"]
        answer = self.json_of(*base, "--lend")
        lent, both = answer["results"]
        self.assertTrue(answer["lend"])
        self.assertLess(lent["iteration_s"], 0.3 * alone["iteration_s"])
        self.assertAlmostEqual(lent["lending_saved_s"], alone["iteration_s"] - lent["iteration_s"])
        self.assertEqual(lent["lent_tasks"], sum(lent["series"]["lent_tasks"]))
        self.assertGreaterEqual(lent["lent_tasks"], 4 * 59)
        self.assertGreaterEqual(lent["lent_bytes"], 64 * lent["lent_tasks"])
        self.assertLess(both["total_s"], apart["total_s"])
        # from the third step on, greedy has balanced the loads, so that no task is lent
        self.assertEqual(both["series"]["lent_tasks"][2:], [0, 0])
        self.assertEqual(self.json_of(*base, "--lend"), answer)

    def test_copying_tasks_saves_more_time_than_lending_tasks_if_messages_about_loads_arrive_late(self):
        machine = "node:4 core:1 speeds:1,1,1,0.4"
        self.run_poise("generate", "random:degree=0,skew=equal,load_s=0.01", "--tasks", 160, "-m", machine, "-o", "slow.poise")
        base = ("simulate", "slow.poise", "-s", "keep", "--steps", 1, "--decision-time", "0s", "--json")
        alone, lent, late, copied = (self.json_of(*base, *words)["results"][0] for words in (
            (), ("--lend",), ("--lend", "--news-delay", "200ms"), ("--replicate", 0.9, "--shared-tokens", "--news-delay", "200ms")))
        self.assertLess(lent["iteration_s"], 0.7 * alone["iteration_s"])
        self.assertLess(lent["iteration_s"], late["iteration_s"])
        self.assertLess(copied["iteration_s"], late["iteration_s"])
        self.assertEqual(copied["lent_tasks"], 0)
        self.assertGreater(copied["copies_run"], 10)
        self.assertEqual(copied["ran_on_other_nodes"], copied["copies_run"])

    def test_lent_tasks_are_shown_in_the_table_and_in_the_html_page_and_in_the_timeline(self):
        command = (*self.command, "--lend", "--timeline", "lent.json", "--html", "lent.html")
        done = self.run_poise(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("places lend tasks within a step", "saved by", "lent"):
            self.assertIn(words, done.stdout)
        copied = self.run_poise(*self.command, "--replicate", 0.5).stdout
        self.assertIn("idle places run copies of tasks", copied)
        self.assertNotIn("places lend tasks", copied)
        page, timeline = ((self.folder / name).read_text() for name in ("lent.html", "lent.json"))
        self.assertIn("saved by lending", page)
        self.assertIn('"borrowed"', timeline)
        self.assertRegex(timeline, r"\d+ tasks lent")

    def test_drifting_loads_are_equal_for_equal_seeds_and_differ_for_different_seeds(self):
        totals = [self.json_of(*self.command, "--loads", "drift", "--seed", seed, "--json")["results"][0]["total_s"]
                  for seed in (1, 1, 2)]
        self.assertEqual(totals[0], totals[1])
        self.assertNotEqual(totals[0], totals[2])

    def test_migrations_to_places_with_too_little_memory_take_longer(self):
        def moving(*options):
            answer = self.json_of(*self.command, *options, "--json")
            return answer["results"][1]["migration_s"]
        pressed = "--pressure", 4, "--place-memory"
        self.assertGreater(moving(), 0)
        self.assertEqual(moving(*pressed, 10**15), moving())
        self.assertGreater(moving(*pressed, 1000), moving(*pressed, 2000))
        self.assertGreater(moving(*pressed, 2000), moving())
        self.assert_refused(*self.command, "--pressure", 4, says="--place-memory")
        self.assert_refused(*self.command, "--place-memory", 4, says="--pressure")
        self.assert_refused(*self.command[:-2], *pressed, 4, says="--engine events")

    def test_the_option_barrier_adds_the_time_of_a_barrier_to_every_step(self):
        plain, with_barrier = (self.json_of(*self.command, *more, "--json")["results"][0]["iteration_s"]
                               for more in ((), ("--barrier",)))
        self.assertGreater(with_barrier, plain)
        self.assertLess(with_barrier, plain + 6 * 1e-3)  # a barrier takes a few microseconds in each of three rounds
        self.assert_refused(*self.command[:-2], "--barrier", says="--engine events")

    def test_messages_on_a_torus_compete_for_links_and_take_longer_with_random_routing(self):
        ring = ("simulate", "grid.poise", "-m", "torus:8 core:1", "-s", "greedy", "--steps", 2, "--engine", "events",
                "--link-bandwidth")

        def iteration_s(*options):
            return self.json_of(*ring, *options, "--json")["results"][0]["iteration_s"]
        self.assertGreater(iteration_s(1e4), 1.5 * iteration_s(2e4, "--routing", "minimal"))
        self.assertEqual(iteration_s(1e4), iteration_s(1e4, "--routing", "minimal"))
        self.assertGreater(iteration_s(1e4, "--routing", "random"), iteration_s(1e4))
        self.assertLess(iteration_s(1e4, "--routing", "adaptive"), iteration_s(1e4, "--routing", "random"))
        answer = self.json_of(*ring, 1e4, "--routing", "random", "--json")
        self.assertEqual((answer["routing"], answer["link_bytes_per_s"]), ("random", 1e4))

    def test_invalid_options_of_the_event_engine_and_of_sweeps_are_refused(self):
        self.assert_refused(*self.command[:-1], "event", says='did you mean "events"?')
        self.assert_refused(*self.command, "--sharing", "fliud", says='did you mean "fluid"?')
        self.assert_refused(*self.command, "--routing", "adaptiv", says='did you mean "adaptive"?')
        self.assert_refused(*self.command, "--routing", "random", says=["node:4 core:2", "torus"])
        self.assert_refused(*self.command, "--link-bandwidth", 1e9, says=["node:4 core:2", "torus"])
        self.assert_refused(*self.command[:-2], "--routing", "random", says="--engine events")
        self.assert_refused(*self.command, "--model", "nuco", says="--model nuco")
        for option in "--precision", "--pressure", "--link-bandwidth", "--replicate":
            self.assert_refused(*self.command, option, "nan", says=[option, "nan"])
        self.assert_refused(*self.command, "--precision", 2, says="--precision")
        self.assert_refused(*self.command, "--eager", -1, says="--eager")
        self.assert_refused(*self.command[:-2], "--sharing", "queue", says="--engine events")
        self.assert_refused(*self.command[:-2], "--timeline", "t.json", says="--engine events")
        self.assert_refused(*self.command, "--juggle", "0s", says=["--juggle", "100ms"])
        self.assert_refused(*self.command[:-2], "--juggle", "1s", says="--engine events")
        self.assert_refused(*self.command, "--juggle", "1s", "--lend", says=["--juggle", "--lend"])
        self.assert_refused(*self.command, "--news-delay", "1ms", says="--lend")
        self.assert_refused(*self.command, "--shared-tokens", says="--replicate")
        self.assert_refused(*self.command, "--lend", "--news-delay", "soon", says="10ms")
        self.assert_refused(*self.command, "--subphases", "weit", says='did you mean "wait"?')
        self.assert_refused(*self.command, "--subphases", "wait", "--lend", says="subphases")
        self.assert_refused(*self.command, "--loads", "jmp", says='did you mean "jump"?')
        self.assert_refused(*self.command, "--loads", "jump:share=3", says="share")
        self.assert_refused(*self.base, "--every", "2,0", says="--every")
        self.assert_refused(*self.command, "--seed", "3..1", says="--seed")
        self.assert_refused(*self.command, "--places", "3", says="--places 3")
        self.assert_refused("simulate", "grid.poise", "--places", "8", says="--machine")
        self.assert_refused(*self.command, "--seed", "1,2", "--html", "a.html", says="--html")
        self.assert_refused(*self.command, "--timeline", "no/t.json", says="no/t.json")


class Theory(CliTest):
    eight_on_seven = "theory", "--threads", 8, "--cpus", 7, "--phase", "30s"

    def test_poise_theory_predicts_the_run_time_of_eight_threads_on_seven_cpus(self):
        answer = self.json_of(*self.eight_on_seven, "--period", "100ms", "--json")
        self.assertEqual(answer["static_s"], 60)
        self.assertEqual(answer["reactive_s"], 45)
        self.assertAlmostEqual(answer["ideal_s"], 240 / 7)
        self.assertAlmostEqual(answer["simulated"]["completion_s"], 240 / 7, delta=0.1)
        self.assertTrue(answer["advice"].startswith("balance proactively"))

    def test_poise_theory_prints_the_data_of_a_figure_of_the_juggle_paper_as_csv_or_json(self):
        table = self.run_poise("theory", "--figure", "6").stdout.splitlines()
        answer = self.json_of("theory", "--figure", "6", "--json")
        self.assertEqual(table[0].split(","), answer["columns"])
        self.assertEqual(len(table), 1 + len(answer["rows"]))

    def test_the_help_of_poise_theory_names_all_figures(self):
        known = self.run_poise("theory", "--figure", "12").stderr.split("known: ")[1].strip()
        self.assertIn(known, " ".join(self.run_poise("theory", "--help").stdout.split()))

    def test_invalid_options_of_poise_theory_are_refused(self):
        self.assert_refused("theory", says="--threads 8")
        self.assert_refused("theory", "--threads", 0, "--cpus", 7, "--phase", "1s", says="threads is 0")
        self.assert_refused(*self.eight_on_seven[:-1], "30", says=["30", "30s"])
        self.assert_refused(*self.eight_on_seven, "--period", "0s", says="period")
        self.assert_refused(*self.eight_on_seven, "--period", "1e-300s", says="too long")
        self.assert_refused(*self.eight_on_seven, "--domains", 8, says="domains is 8")
        self.assert_refused(*self.eight_on_seven, "--jitter", 1, says="jitter")
        self.assert_refused("theory", "--figure", "12", says="table1")
        for option in "--threads", "--period", "--phases", "--domains", "--jitter", "--seed":
            self.assert_refused("theory", "--figure", "6", option, "1", says=["--figure", option])


if __name__ == "__main__":
    unittest.main()
