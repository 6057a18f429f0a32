# SPDX-License-Identifier: BSD-3-Clause

"""Compares every metric that `poise` prints with the value that model.py computes from the definition of the metric."""

import itertools
import unittest

import model
from run_poise import CliTest


class Metrics(CliTest):
    def write_case(self, seed):
        rng = model.generator(seed)
        machine = model.drawn_machine(rng)
        tasks = rng.randint(2, 60)
        graph = model.Graph.drawn(rng, tasks, rng.randint(0, min(100, tasks * (tasks - 1) // 2)))
        before, after = (model.drawn_placement(rng, machine, graph) for _ in range(2))
        (self.folder / "g.graph").write_text(graph.metis())
        for name, placement in ("before", before), ("after", after):
            (self.folder / name).write_text("".join(f"{place}\n" for place in placement))
        return machine, graph, before, after

    def assert_metrics(self, got, wanted):
        for name, value in wanted.items():
            self.assertIn(name, got)
            if isinstance(value, int):
                self.assertEqual(got[name], value, name)
            else:
                self.assertAlmostEqual(got[name], value, delta=1e-9 * max(1e-3, abs(value)),
                                       msg=name)

    def test_evaluate_prints_the_values_that_follow_from_the_definitions_of_the_metrics(self):
        for seed in range(40):
            with self.subTest(seed=seed):
                machine, graph, before, after = self.write_case(seed)
                got = self.json_of("evaluate", "g.graph", "--placement", "after", "--from", "before",
                                   "--machine", machine.text, "--model", "nuco", "--json")
                self.assert_metrics(got, model.metrics(machine, graph, before, after))
                self.assertNotIn("decision_s", got)

    def test_evaluate_counts_no_task_as_moved_if_the_previous_placement_is_not_given(self):
        machine, graph, _, after = self.write_case(1)
        got = self.json_of("evaluate", "g.graph", "--placement", "after", "--machine", machine.text, "--model", "nuco",
                           "--json")
        self.assert_metrics(got, model.metrics(machine, graph, after, after))

    def test_plan_reports_the_metrics_of_the_placement_it_wrote(self):
        for seed in range(100, 110):
            for strategy in "greedy", "refine", "nuco", "random":
                with self.subTest(seed=seed, strategy=strategy):
                    machine, graph, before, _ = self.write_case(seed)
                    got = self.json_of("plan", "g.graph", "--strategy", strategy, "--machine",
                                       machine.text, "--model", "nuco", "--placement", "before", "-o", "planned",
                                       "--every", "7", "--json")
                    planned = [int(line) for line in
                               (self.folder / "planned").read_text().splitlines()]
                    self.assert_metrics(got, model.metrics(machine, graph, before, planned))
                    self.assertAlmostEqual(
                        got["amortised_s"],
                        7 * got["iteration_s"] + got["migration_s"] + got["decision_s"])
                    self.assertEqual(got["makespan_bound_s"], max(got["bounds"].values()))

    def test_compare_reports_the_same_metrics_as_plan(self):
        machine, graph, before, _ = self.write_case(200)
        rows = self.json_of("compare", "g.graph", "--machine", machine.text, "--model", "nuco", "--placement", "before",
                            "--strategies", "keep,greedy,nuco:alpha=1e-4", "--json")["results"]
        self.assertEqual([row["strategy"] for row in rows], ["keep", "greedy", "nuco:alpha=0.0001"])
        self.assert_metrics(rows[0], model.metrics(machine, graph, before, before))
        for row in rows[1:]:
            planned = self.json_of("plan", "g.graph", "--strategy", row["strategy"], "--machine",
                                   machine.text, "--model", "nuco", "--placement", "before", "--json")
            for name in planned.keys() - {"decision_s", "decision_wall_s", "amortised_s"}:
                self.assertEqual(row[name], planned[name], name)
        best = min(rows, key=lambda row: (row["iteration_s"], row["migrated_bytes"]))
        self.assertEqual([row["strategy"] for row in rows if row["best"]], [best["strategy"]])

    def test_no_placement_of_a_tiny_graph_is_better_than_the_lower_bound(self):
        for seed in range(300, 312):
            with self.subTest(seed=seed):
                rng = model.generator(seed)
                machine = model.Machine(f"core:{rng.randint(2, 3)} factors:1 speeds:1,0.5")
                graph = model.Graph.drawn(rng, rng.randint(2, 6), 1)
                (self.folder / "g.graph").write_text(graph.metis())
                got = self.json_of("plan", "g.graph", "--strategy", "keep", "--machine",
                                   machine.text, "--model", "nuco", "--json")
                every = itertools.product(range(machine.num_places), repeat=len(graph.loads_us))
                optimum = min(model.metrics(machine, graph, at, at)["makespan_s"] for at in every)
                self.assertLessEqual(got["makespan_bound_s"], optimum * (1 + 1e-12))


if __name__ == "__main__":
    unittest.main()
