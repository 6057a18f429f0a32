# SPDX-License-Identifier: BSD-3-Clause

"""Tests that vt traces written by Poise fulfil the schema that vt publishes."""

import copy
import json
import os
import pathlib
import sys
import unittest

import files
from run_poise import CliTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import vt_schema  # pylint: disable=wrong-import-position


class VtSchema(CliTest):
    def written(self, source, *options):
        """Returns the files of all ranks that `poise convert SOURCE` writes."""
        for old in self.folder.glob("out.*.json"):
            old.unlink()
        done = self.run_poise("convert", source, "out.json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        paths = sorted(self.folder.glob("out.*.json"), key=lambda path: int(path.name.split(".")[1]))
        return [json.loads(path.read_text()) for path in paths]

    def assert_valid(self, ranks):
        self.assertGreater(len(ranks), 0)
        for number, rank in enumerate(ranks):
            self.assertEqual(list(vt_schema.troubles(rank, where=f"rank {number}")), [])
        self.assertEqual(list(vt_schema.missing_tasks(ranks)), [])

    def test_generated_traces_follow_the_vt_schema(self):
        for kind in self.json_of("generate", "--list", "--json")["kinds"]:
            with self.subTest(kind["name"]):
                done = self.run_poise("generate", kind["name"], "--tasks", 500, "--phases", 2, "-m", "node:2 core:2",
                                      "--placement", "blocked", "-o", "t.poise")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assert_valid(self.written("t.poise"))

    def test_traces_converted_from_other_formats_follow_the_vt_schema(self):
        (self.folder / "g.graph").write_text(files.GRAPH)
        (self.folder / "m.csv").write_text("from,to,bytes\n0,1,800\n1,2,400\n")
        (self.folder / "places").write_text("0\n0\n1\n1\n")
        self.assert_valid(self.written("g.graph", "--placement", "places"))
        (self.folder / "three").write_text("0\n0\n1\n")
        self.assert_valid(self.written("m.csv", "--placement", "three"))
        files.write_vt(self.folder, "vt", [[[1, 2.5], [3]], [[2], [0]]])
        self.assert_valid(self.written("vt"))

    def test_poise_convert_turns_traces_of_the_vt_runtime_into_files_that_follow_the_vt_schema(self):
        traces = pathlib.Path(os.environ.get("POISE_TEST_DATA", "/nowhere")) / "traces"
        stems = {str(path).partition(".0.json")[0] for path in traces.rglob("*.0.json*")}
        if not stems:
            self.skipTest(f"no {traces}")
        for stem in sorted(stems):
            with self.subTest(stem):
                ranks = self.written(stem)
                for number, rank in enumerate(ranks):
                    self.assertEqual(list(vt_schema.troubles(rank, where=f"rank {number}"))[:3], [])

    def test_the_check_against_the_vt_schema_reports_violations(self):
        files.write_vt(self.folder, "vt", [[[1, 2.5]]])
        good = self.written("vt")[0]
        self.assert_valid([good])

        def broken(change):
            bad = copy.deepcopy(good)
            change(bad["phases"][0]["tasks"][0], bad["phases"][0])
            return [*vt_schema.troubles(bad), *vt_schema.missing_tasks([bad])]
        task = {"type": "object", "id": 99, "home": 0, "migratable": True}
        message = {"type": "SendRecv", "from": task, "to": task, "messages": 1, "bytes": 8.0}
        for change in (lambda task, phase: task.update(time=1), lambda task, phase: task.pop("node"),
                       lambda task, phase: task.update(colour="red"), lambda task, phase: task["entity"].pop("id"),
                       lambda task, phase: task["entity"].update(migratable=1), lambda task, phase: phase.update(tasks={}),
                       lambda task, phase: task.update(user_defined=[]), lambda task, phase: task["entity"].update(seq_id=1),
                       lambda task, phase: phase.update(communications=[message])):
            with self.subTest(change):
                self.assertNotEqual(broken(change), [])


if __name__ == "__main__":
    unittest.main()
