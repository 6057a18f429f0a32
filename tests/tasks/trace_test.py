#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests that a trace of tasks shows what every rank ran, what was lent to it, and when it was idle."""

import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SIZE, TASKS, STEPS = 120, 40, 3


class TasksTrace(unittest.TestCase):
    def test_a_trace_shows_every_task_once_and_an_arrow_for_each_lent_task(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            subprocess.run([*os.environ["LAUNCH"].split(), os.environ["PROGRAM"], "--size", str(SIZE),
                            "--tasks", f"{TASKS},0", "--steps", str(STEPS)],
                           env={**os.environ, "POISE_TASKS_TRACE": str(path)}, check=True, timeout=300)
            events = json.loads(path.read_text())["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]
        ran = [event for event in slices if event["name"].startswith("multiply")]
        lent = [event for event in ran if event["name"] == "multiply of rank 0"]
        self.assertEqual(len(ran), TASKS * STEPS)
        self.assertTrue(all(event["pid"] == 1 for event in lent))
        loans = [event["args"] for event in slices if event["name"] == "to rank 1"]
        self.assertGreaterEqual(len(loans), len(lent))  # a task may be lent several times before it runs
        for loan in loans:
            self.assertEqual(loan["task"], "multiply of rank 0")
            self.assertEqual(loan["bytes there and back"], str(3 * 8 * SIZE**2 + 4))  # and their size
            self.assertRegex(loan["why"], r"^rank 1 (sent a steal request|would be idle in \d+\.\d+ ms)$")
            if "busy for" not in loan:  # the expected times are stated only for functions whose time is known
                (_, lender_ms), (with_ms, without_ms) = (
                    map(float, re.findall(r"[\d.]+(?= ms)", loan[f"rank {rank} busy for"]))
                    for rank in (0, 1))
                self.assertGreater(lender_ms, 0)  # the lender was busy at least with the task that it lent
                self.assertGreater(with_ms, without_ms)
        arrows = collections.Counter(event["id"] for event in events if event["ph"] in "sf")
        self.assertEqual(len(arrows), len(lent))
        self.assertTrue(all(ends == 2 for ends in arrows.values()))
        at = {phase: {event["id"]: event["ts"] for event in events if event["ph"] == phase}
              for phase in "sf"}
        self.assertEqual(at["s"].keys(), at["f"].keys())
        for arrow, lent_at in at["s"].items():
            self.assertLess(lent_at, at["f"][arrow])  # a task runs only after it was lent
        rows = collections.defaultdict(list)
        for event in slices:
            if event["tid"] >= 0:  # rows of threads; loans have a row of their own
                rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        for spans in rows.values():
            spans.sort()
            for (_, end), (begin, _) in zip(spans, spans[1:]):
                self.assertLessEqual(end, begin + 1)  # a thread does one thing at a time


if __name__ == "__main__":
    unittest.main()
