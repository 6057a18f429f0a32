# SPDX-License-Identifier: BSD-3-Clause

"""Tests `poise convert --to csv` and `--to json`: the table of tasks has one row per line of a placement file."""

import csv
import json
import os
import pathlib
import unittest

from run_poise import CliTest

TRACES = pathlib.Path(os.environ.get("POISE_TEST_DATA", "")) / "traces"


class TaskTable(CliTest):
    def table_of(self, trace, *arguments):
        done = self.run_poise("convert", trace, "tasks.csv", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / "tasks.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def test_poise_convert_writes_a_table_with_one_row_per_task_of_the_trace(self):
        self.run_poise("generate", "leanmd", "--tasks", "405", "-o", "t.poise")
        rows = self.table_of("t.poise")
        self.assertEqual(list(rows[0]), ["phase", "task", "name", "load_s", "place", "bytes", "movable"])
        self.assertEqual([int(row["task"]) for row in rows], list(range(405)))
        (self.folder / "places").write_text("".join(row["place"] + "\n" for row in rows))
        done = self.json_of("evaluate", "t.poise", "--placement", "places", "--json")
        self.assertEqual((done["tasks"], done["migrations"]), (405, 0))
        self.assertEqual({row["bytes"] for row in rows} - {""}, {row["bytes"] for row in rows}, "sizes are known")
        self.run_poise("convert", "t.poise", "tasks.json", "--to", "json")
        tasks = json.loads((self.folder / "tasks.json").read_text())["phases"][0]["tasks"]
        self.assertEqual([(task["name"], task["load_s"], task["place"]) for task in tasks],
                         [(row["name"], float(row["load_s"]), int(row["place"])) for row in rows])

    def test_unknown_values_are_empty_cells_of_the_task_table(self):
        (self.folder / "g.graph").write_text("3 2\n2\n1 3\n2\n")
        rows = self.table_of("g.graph")
        self.assertEqual([(row["name"], row["place"], row["bytes"]) for row in rows],
                         [(f"task {t}", "", "") for t in range(3)])

    @unittest.skipUnless((TRACES / "nolb-8color-16nodes-11firstphases").is_dir(), "there are no traces")
    def test_the_task_table_has_a_row_for_each_rank_that_sends_or_receives_messages_outside_its_tasks(self):
        # The trace has 480 tasks. In addition, 32 ranks send or receive messages outside of tasks, and each of these
        # ranks gets a row of its own.
        folder = TRACES / "nolb-8color-16nodes-11firstphases"
        rows = self.table_of(folder, "--phase", "0")
        self.assertEqual(len(rows), 480 + 32)
        self.assertEqual(len({row["name"] for row in rows}), len(rows), "every name is there once")
        ends = [row for row in rows if row["name"].startswith("rank ")]
        self.assertEqual([(row["name"], row["place"], row["load_s"], row["movable"]) for row in ends],
                         [(f"rank {r}", str(r), "0.0", "false") for r in range(32)])
        (self.folder / "places").write_text("".join(row["place"] + "\n" for row in rows))
        done = self.json_of("evaluate", folder, "--phase", "0", "--placement", "places", "--json")
        self.assertEqual((done["tasks"], done["migrations"]), (len(rows), 0))


if __name__ == "__main__":
    unittest.main()
