# SPDX-License-Identifier: BSD-3-Clause

"""Tests the benchmark that validates the cost model (bench/trust_bench.py) against times computed by hand and brute
force. Also tests the programs that replay its workloads.

The variables REPLAY and SIMGRID hold the paths of the programs that replay the workloads on MPI and in SimGrid. Tests
of a program that is not built are skipped."""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "trust")]
import intervals  # noqa: E402
import native_trace  # noqa: E402
import programs  # noqa: E402
import trust_bench  # noqa: E402

POISE = os.environ["POISE"]
HARNESSES = {name: os.environ.get(name, "") for name in ("SIMGRID", "REPLAY")}
# Places 0 and 1 form a node, and places 0 to 3 a rack. Bandwidths are round numbers, for calculations by hand.
COSTS = {"card_out_bytes_per_s": 1000, "card_in_bytes_per_s": 500, "uplink_bytes_per_s": 800,
         "bus_bytes_per_s": 10000, "near_s": 0.25, "far_s": 0.5, "message_s": 0, "eager_bytes": 1000}
CLUSTER = {"shape": (2, 2, 2), "near": "250ms", "far": "500ms"}


def described(messages, loads=(0,) * 8, overlap=False, places=range(8), **costs):
    return {"name": "case", "machine": "rack:2 node:2 core:2", "costs": {**COSTS, **costs},
            "tasks": [{"load_s": load} for load in loads], "messages": messages, "map": list(places),
            "overlap": overlap}


# Programs whose iteration time was computed by hand.
CLOSED_FORMS = {
    "work alone": (described([], loads=(1, 2, 3, 0, 0, 0, 0, 0)), 3),
    "two tasks on one place": (described([[0, 1, 1, 5000]], loads=(1, 2, 0, 0, 0, 0, 0, 0),
                                         places=[0, 0, 1, 2, 3, 4, 5, 6]), 3),
    "inside a node: the bus": (described([[0, 1, 1, 5000]]), 0.5),
    "inside a rack: the card in, and the delay": (described([[0, 2, 1, 1000]]), 2 + 0.25),
    "between racks: the longer delay": (described([[0, 4, 1, 1000]]), 2 + 0.5),
    "two to one share the card in": (described([[0, 2, 1, 1000], [4, 2, 1, 1000]], far_s=0.25), 4 + 0.25),
    "one to two share the card out": (described([[0, 2, 1, 1000], [0, 4, 1, 1000]], far_s=0.25,
                                                card_in_bytes_per_s=1000), 2 + 0.25),
    "two pairs share the uplink": (described([[0, 4, 1, 800], [2, 6, 1, 800]]), 2 + 0.5),
    "the uplink's ways are apart": (described([[0, 4, 1, 400], [4, 0, 1, 400]]), 0.8 + 0.5),
    "work, then the message": (described([[0, 2, 1, 1000]], loads=[1] * 8), 1 + 2 + 0.25),
    "work beside the message": (described([[0, 2, 1, 1000]], loads=[1] * 8, overlap=True), 2 + 0.25),
    "work hides the message": (described([[0, 2, 1, 1000]], loads=[4] * 8, overlap=True), 4),
}


# Places 0 to 3, 4 to 7 and 8 to 11 form three racks. Two racks send to the third.
THREE_RACKS = {**described([[0, 8, 1, 800], [4, 10, 1, 800]], loads=[0] * 12, places=range(12), far_s=0),
               "machine": "rack:3 node:2 core:2"}
# Each row has a workload, in which place 0 sends a message to place 2, and the expected time in seconds. A message
# above 1,000 bytes waits until place 2 has worked for 5 s.
WAITING = [(described([[0, 2, 1, size]], loads=[0, 0, 5, 0, 0, 0, 0, 0]), expected_s)
           for size, expected_s in ((1000, 5), (1001, 5 + 2.002 + 0.25))]


def run_harness(name, descriptions, *launcher):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "replays")
        trust_bench.write_lines(path, descriptions)
        flag = ["--replays"] if name == "REPLAY" else []
        rounds = ["--rounds", "3", "--timeout-s", "60"] if name == "REPLAY" else []
        return subprocess.run([*launcher, HARNESSES[name], *flag, path, *rounds], capture_output=True, text=True,
                              timeout=300, check=False)


class Judge(unittest.TestCase):
    def row(self, program, measured, predicted):
        return {"cluster": "c", "program": program, "measured_s": measured, "predicted": predicted}

    def tau_of(self, rows):
        return trust_bench.tau(rows, lambda row: row["predicted"], lambda row: row["measured_s"][0],
                               lambda a, b: intervals.are_apart(a["measured_s"], b["measured_s"]))

    def test_kendalls_tau_omits_pairs_of_different_programs_and_pairs_with_overlapping_confidence_intervals(self):
        rows = [self.row("a", [1, 0.9, 1.1], 10), self.row("a", [2, 1.9, 2.1], 20), self.row("a", [2, 1.8, 2.2], 5),
                self.row("b", [9, 8, 10], 1)]
        self.assertEqual(self.tau_of(rows), (0, 2))  # of the three pairs in "a", one is right, one wrong, one overlaps

    def test_kendalls_tau_is_1_for_the_true_order_and_minus_1_for_the_reverse_and_0_for_constant_predictions(self):
        truth = [[value, value, value] for value in (3, 1, 4, 1.5, 9)]
        for predict, tau in ((lambda v: 2 * v, 1), (lambda v: -v, -1), (lambda v: 7, 0)):
            self.assertEqual(self.tau_of([self.row("a", t, predict(t[0])) for t in truth]), (tau, 10))

    def test_confidence_intervals_that_share_an_endpoint_count_as_overlapping(self):
        for one, other, apart in (([1, 1, 2], [3, 2, 4], False), ([1, 1, 1.9], [3, 2, 4], True)):
            self.assertEqual([intervals.are_apart(one, other), intervals.are_apart(other, one)], [apart, apart])

    def test_the_confidence_interval_of_the_median_follows_from_the_binomial_distribution(self):
        for count in range(1, 16):
            heads = [sum(bits) for bits in itertools.product((0, 1), repeat=count)]
            rank = intervals.rank_of_interval(count, 0.95)
            outside = 2 * sum(h < rank for h in heads) / len(heads)
            wider = 2 * sum(h < rank + 1 for h in heads) / len(heads)
            self.assertTrue(outside <= 0.05 or rank == 1, count)
            self.assertGreater(wider, 0.05, count)

    def test_a_prediction_is_near_if_its_error_is_within_the_interval_width_or_within_a_tenth_of_the_median(self):
        for predicted, interval, near in ((1.09, [1, 0.99, 1.01], True), (0.89, [1, 0.99, 1.01], False),
                                          (1.29, [1, 0.9, 1.2], True), (1.31, [1, 0.9, 1.2], False)):
            self.assertEqual(intervals.is_near(predicted, interval), near, predicted)

    def test_a_predicted_gain_is_judged_wrong_only_if_no_gain_in_the_measured_interval_is_close_to_it(self):
        for predicted, interval, verdict in ((0.45, [0.4, 0.39, 0.41], "right"), (0.06, [0.04, 0.04, 0.04], "right"),
                                             (0.3, [0.14, 0.12, 0.2], "other gain"), (0.3, [0.14, 0.12, 0.25], "undecided"),
                                             (0.02, [0.2, -0.1, 0.3], "undecided"), (0.02, [-0.02, -0.04, -0.015], "other gain"),
                                             (0.1, [0.2, 0.15, 0.3], "other gain"), (0.1, [0.2, 0.12, 0.3], "undecided")):
            self.assertEqual(intervals.verdict_of_gain(predicted, interval), verdict, (predicted, interval))

    def test_the_confidence_interval_contains_the_median_at_least_as_often_as_stated(self):
        numbers = random.Random(1)
        covered = 0
        for _ in range(2000):
            _, low, high = intervals.median_interval([numbers.random() for _ in range(9)])
            covered += low <= 0.5 <= high
        self.assertGreater(covered, 0.95 * 2000)

    def test_the_confidence_interval_of_a_quantile_contains_the_quantile_about_as_often_as_stated(self):
        numbers = random.Random(1)
        covered = 0
        for _ in range(500):
            _, low, high = intervals.quantile_interval([numbers.random() for _ in range(400)], 0.9)
            covered += low <= 0.9 <= high
        self.assertTrue(0.93 * 500 < covered < 0.98 * 500, covered)

    def test_both_network_models_predict_the_iteration_times_computed_by_hand(self):
        for predict in (trust_bench.bottleneck, trust_bench.queued):
            for name, (description, expected_s) in CLOSED_FORMS.items():
                self.assertAlmostEqual(predict(CLUSTER, description), expected_s, msg=f"{predict.__name__}, {name}")

    def test_the_event_engine_predicts_the_iteration_times_computed_by_hand(self):
        machine = "rack:2 node:2 core:2 factors:500,250,1 latency:1e-3 bandwidth:500 overhead:0 copy:0 gap:0 bus:0"
        predict = trust_bench.replayed(lambda _: machine, "--eager", "1000")
        for name in ("work alone", "two tasks on one place", "inside a rack: the card in, and the delay",
                     "between racks: the longer delay", "work, then the message", "work beside the message", "work hides the message"):
            description, expected_s = CLOSED_FORMS[name]
            self.assertAlmostEqual(predict(CLUSTER, description), expected_s, 2, msg=name)

    def test_in_both_network_models_a_rack_receives_no_faster_than_its_uplink_allows(self):
        for predict in (trust_bench.bottleneck, trust_bench.queued):
            self.assertAlmostEqual(predict({**CLUSTER, "shape": (3, 2, 2)}, THREE_RACKS), 2)

    def test_in_the_queue_model_only_large_messages_wait_until_the_receiver_is_ready(self):
        for description, expected_s in WAITING:
            self.assertAlmostEqual(trust_bench.queued(CLUSTER, description), expected_s)

    def test_a_message_waits_only_for_its_sender_in_the_queue_model_but_for_all_places_in_the_bottleneck_model(self):
        # Place 0 works for 1 s, and its message takes 4 s to enter node 1. Place 4 works for 3 s, and its message takes
        # 1 s to enter node 1.
        description = described([[0, 2, 1, 2000], [4, 2, 1, 500]], loads=[1, 0, 0, 0, 3, 0, 0, 0], near_s=0, far_s=0,
                                eager_bytes=10000)
        self.assertAlmostEqual(trust_bench.queued(CLUSTER, description), 1 + 4 + 1)
        self.assertAlmostEqual(trust_bench.bottleneck(CLUSTER, description), 3 + 5)


class Programs(unittest.TestCase):
    def test_about_half_of_the_generated_programs_are_held_out_for_validation(self):
        made = programs.programs("/nonexistent", 32, 0.04, 1e7)
        known = programs.HELD_OUT & set(made)
        self.assertGreaterEqual(len(made), 10)
        self.assertTrue(0.4 < len(known) / len(made) < 0.6, f"{len(known)} of {len(made)}")

    def test_generated_programs_have_the_requested_work_and_traffic(self):
        for name, (load_s, messages) in programs.programs("/nonexistent", 32, 0.04, 1e7).items():
            work, traffic = programs.EMPHASIS.get(name, (1, 1))
            self.assertAlmostEqual(sum(load_s), 32 * 0.04 * work, msg=name)
            self.assertAlmostEqual(sum(row[3] for row in messages) / (1e7 * traffic), 1, 3, msg=name)
            self.assertTrue(all(a != b and 0 <= min(a, b) and max(a, b) < len(load_s) for a, b, _, _ in messages))

    def test_the_trace_written_for_a_program_contains_its_loads_and_messages(self):
        load_s, messages = [0.5, 0.25, 1.0], [[0, 2, 3, 999], [2, 0, 1, 7], [1, 2, 200, 300000]]
        with tempfile.TemporaryDirectory() as folder:
            trace, places = pathlib.Path(folder, "t.poise"), pathlib.Path(folder, "places")
            native_trace.write(trace, load_s, messages, [0, 1, 2], 4)
            places.write_text("0\n1\n2\n")
            done = subprocess.run([POISE, "evaluate", trace, "-m", "node:4", "-p", places, "--json"],
                                  capture_output=True, text=True, timeout=300, check=True)
        found = json.loads(done.stdout)
        self.assertEqual((found["tasks"], found["messages"], found["places"]), (3, 3 + 1 + 200, 4))
        self.assertEqual(found["internode_bytes"], 999 + 7 + 300000)
        self.assertEqual((found["makespan_s"], found["migrations"]), (1.0, 0))


@unittest.skipUnless(HARNESSES["SIMGRID"], "SimGrid is not installed")
class SimGrid(unittest.TestCase):
    def test_programs_replayed_in_simgrid_take_the_times_computed_by_hand(self):
        done = run_harness("SIMGRID", [description for description, _ in CLOSED_FORMS.values()])
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(rows), len(CLOSED_FORMS))
        for row, (name, (_, expected_s)) in zip(rows, CLOSED_FORMS.items()):
            self.assertAlmostEqual(row["iteration_s"], expected_s, 6, msg=name)

    def test_in_simgrid_only_large_messages_wait_until_the_receiver_is_ready(self):
        for description, expected_s in WAITING:
            done = run_harness("SIMGRID", [description])
            self.assertAlmostEqual(json.loads(done.stdout)["iteration_s"], expected_s, 6)

    def test_in_simgrid_a_rack_receives_no_faster_than_its_uplink_allows(self):
        done = run_harness("SIMGRID", [THREE_RACKS])
        self.assertAlmostEqual(json.loads(done.stdout)["iteration_s"], 2, 6)

    def test_a_message_to_a_task_that_does_not_exist_is_refused_and_the_error_names_the_line(self):
        done = run_harness("SIMGRID", [described([]), described([[0, 8, 1, 5]])])
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"replays:2: messages: \[0, 8, 1, 5\] with 8 tasks\n$")


@unittest.skipUnless(HARNESSES["REPLAY"], "MPI is not installed")
class Replay(unittest.TestCase):
    LAUNCHER = ("mpiexec", "-n", "8")

    def test_no_iteration_is_shorter_than_the_work_of_its_busiest_rank(self):
        cases = [described([[0, 1, 4, 400000], [3, 7, 1, 5], [7, 3, 1, 0]], loads=[0.01 * place for place in range(8)]),
                 described([[a, b, 1, 10000] for a in range(8) for b in range(8) if a != b], overlap=True,
                           loads=[0.02] * 8, places=[0, 0, 1, 2, 3, 4, 5, 6])]
        done = run_harness("REPLAY", cases, *self.LAUNCHER)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([len(row["iteration_s"]) for row in rows], [3, 3])
        self.assertGreater(min(rows[0]["iteration_s"]), 0.07)
        self.assertGreater(min(rows[1]["iteration_s"]), 0.04)

    def test_a_replay_is_refused_if_its_machine_has_more_places_than_the_job_has_ranks(self):
        done = run_harness("REPLAY", [{**described([]), "machine": "node:4 core:4"}], *self.LAUNCHER)
        self.assertEqual(done.returncode, 2)
        self.assertIn('"case" has 16 places, but 8 ranks were started', done.stderr)


if __name__ == "__main__":
    unittest.main()
