# SPDX-License-Identifier: BSD-3-Clause

"""Tests poise generate: its traces, the options that it refuses, and that two runs with the same seed write the same
bytes."""

import json
import re
import unittest

from run_poise import CliTest


class Generate(CliTest):
    def kinds(self):
        return [kind["name"] for kind in self.json_of("generate", "--list", "--json")["kinds"]]

    def generate(self, *arguments):
        done = self.run_poise("generate", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_every_kind_of_generated_workload_has_about_the_given_number_of_tasks(self):
        self.assertIn("leanmd", self.kinds())
        for kind in self.kinds():
            with self.subTest(kind):
                said = self.generate(kind, "--tasks", 500, "--places", 8, "-o", "t.poise")
                tasks = int(re.search(r"(\d+) tasks", said)[1])
                self.assertTrue(250 <= tasks <= 1000, said)
                found = self.json_of("plan", "t.poise", "--strategy", "keep", "--json")
                self.assertEqual((found["tasks"], found["places"]), (tasks, 8))

    def test_generate_writes_identical_files_for_the_same_seed(self):
        for seed, name in (1, "a.poise"), (1, "b.poise"), (2, "c.poise"):
            self.generate("random", "--tasks", 300, "--phases", 2, "--seed", seed, "-o", name)
        files = self.files()
        self.assertEqual(files["a.poise"], files["b.poise"])
        self.assertNotEqual(files["a.poise"], files["c.poise"])

    def test_the_suffix_of_the_output_file_selects_its_format(self):
        self.generate("ring", "--tasks", 8, "--places", 2, "-o", "t.json")
        self.assertEqual(set(self.files()), {"t.0.json", "t.1.json"})
        self.assertEqual(json.loads(self.files()["t.0.json"])["type"], "LBDatafile")
        self.generate("ring", "--tasks", 8, "--places", 2, "-o", "t.graph")
        self.assertRegex(self.files()["t.graph"].decode(), r"(?m)^8 8 ")

    def test_a_generated_trace_records_the_machine_given_on_the_command_line(self):
        self.generate("ring", "--tasks", 64, "-m", "node:2 numa:2 core:4", "-o", "t.poise")
        self.assertEqual(self.json_of("plan", "t.poise", "--strategy", "keep", "--json")["places"], 16)

    def test_invalid_options_of_generate_are_refused(self):
        good = "generate", "ring", "--tasks", 8, "-o", "t.poise"
        self.assert_refused("generate", "rng", *good[2:], says='did you mean "ring"?')
        self.assert_refused("generate", "ring:kk=3", *good[2:], says='did you mean "k"?')
        self.assert_refused("generate", "ring:k=-1", *good[2:], says="0 to 10000")
        self.assert_refused("generate", "ring:k=2.5", *good[2:], says="k=2.5 is not a whole number")
        self.assert_refused(*good[:2], *good[4:], says="--tasks")
        self.assert_refused(*good[:4], says="-o TRACE")
        self.assert_refused(*good, "--places", 0, says="--places")
        self.assert_refused(*good, "--places", 2, "-m", "core:4", says="--machine and --places exclude each other")
        for places in 2_000_000, 100_000_000:  # too many places for a file of this size
            self.assert_refused(*good, "--places", places, says="may list at most")
        self.assert_refused(*good[:5], "t.txt", says=["t.txt", ".poise", ".graph"])
        self.assert_refused(*good[:5], "no/such/folder/t.poise", says="no/such/folder")


if __name__ == "__main__":
    unittest.main()
