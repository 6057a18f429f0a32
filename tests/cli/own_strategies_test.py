# SPDX-License-Identifier: BSD-3-Clause

"""Tests strategies that users add to the built-in ones: programs, shared libraries and placement files."""

import json
import pathlib
import shutil
import subprocess
import time
import unittest

import files
from run_poise import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = """#!/usr/bin/env python3
import json, sys
problem = json.load(sys.stdin)
open("asked.json", "w").write(json.dumps(problem))
print(json.dumps({"placement": [t % problem["machine"]["num_places"] for t in range(problem["num_tasks"])]}))
"""
PLUGIN = """
#include "poise/plugin.h"
static const char *why = "";
const char *poise_strategy_error(void) { return why; }
int poise_strategy(const struct poise_problem *p, uint32_t *place_of_task) {
  uint64_t bytes = 0;
  uint32_t t, from_first = 0;
  if (p->version < 1 || p->num_places < 2) return why = "it needs two places", 1;
  for (t = 0; t < p->indptr[p->num_tasks]; ++t) bytes += p->bytes[t];
  for (t = 0; t < p->num_tasks; ++t) from_first += p->current[t] == place_of_task[t];
  if (bytes == 0 || from_first != p->num_tasks) return why = "the problem lies", 2;
  for (t = 0; t < p->num_tasks; ++t) place_of_task[t] = t % p->num_places;
  return 0;
}
"""


class OwnStrategies(CliTest):
    def setUp(self):
        super().setUp()
        self.run_poise("generate", "ring", "--tasks", "12", "--places", "4", "-o", "t.poise")
        (self.folder / "mine.py").write_text(PROGRAM)
        (self.folder / "places").write_text("".join(f"{t % 4}\n" for t in range(12)))

    def rows(self, *arguments):
        return {row["strategy"]: row for row in
                self.json_of("compare", "t.poise", "-m", "node:2 core:2", "--json", *arguments)["results"]}

    def test_compare_accepts_a_strategy_program_and_a_placement_file_beside_built_in_strategies(self):
        rows = self.rows("-s", "nuco:alpha=1e-4,exec:python3 mine.py,greedy", "--also", "also=places")
        self.assertEqual(list(rows), ["nuco:alpha=0.0001", "exec:python3 mine.py", "greedy", "also"])
        own, also = rows["exec:python3 mine.py"], rows["also"]
        self.assertEqual(own["iteration_s"], also["iteration_s"])
        self.assertEqual(own["nuco_messages"], also["nuco_messages"])
        self.assertGreater(own["decision_s"], 1e-3, "the program's own time counts")

    def test_a_placement_that_moves_a_pinned_task_is_refused_and_the_error_names_the_task(self):
        for rank in range(4):
            tasks = files.vt_rank(rank, [[1, 1, 1]])
            tasks["phases"][0]["tasks"][0]["entity"]["migratable"] = False
            (self.folder / f"pinned.{rank}.json").write_text(json.dumps(tasks))
        (self.folder / "t.poise").unlink()
        self.run_poise("convert", "pinned", "t.poise")
        moved = [1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0]  # 11 tasks, because in vt a pinned entity with id 0 is not a task
        (self.folder / "places").write_text("".join(f"{p}\n" for p in moved))
        (self.folder / "mine.py").write_text(f'print("""{json.dumps({"placement": moved})}""")\n')
        self.assertEqual(self.rows()["keep"].get("error"), None)
        rows = self.rows("-s", "keep,exec:python3 mine.py", "--also", "also=places")
        words = "task 2 is pinned to place 1, but the new placement has it at place 2"
        self.assertIn(words, rows["exec:python3 mine.py"]["error"])
        self.assertIn(words, rows["also"]["error"])
        self.assertTrue(rows["keep"]["best"])
        machine = "-m", "node:2 core:2"
        self.assert_refused("evaluate", "t.poise", *machine, "-p", "places", says="places: " + words)
        self.assert_refused("plan", "t.poise", *machine, "-s", "exec:python3 mine.py", "-o", "p", says=words)
        self.assert_refused("simulate", "t.poise", *machine, "-s", "exec:python3 mine.py", "--steps", "20", says=words,
                            status=1)

    def test_a_strategy_program_reads_the_problem_from_stdin(self):
        self.rows("-s", "exec:python3 mine.py")
        asked = json.loads((self.folder / "asked.json").read_text())
        self.assertEqual((asked["poise_problem"], asked["num_tasks"]), (2, 12))
        messages, machine = asked["messages"], asked["machine"]
        self.assertEqual(len(messages["indptr"]), 13)
        self.assertEqual(messages["indptr"][-1], len(messages["indices"]))
        for task in range(12):  # a ring
            receivers = messages["indices"][messages["indptr"][task]:messages["indptr"][task + 1]]
            self.assertIn((task + 1) % 12, receivers)
            self.assertLessEqual(set(receivers), {(task + 1) % 12, (task - 1) % 12})
        self.assertEqual((machine["num_places"], machine["num_nodes"], machine["node"]), (4, 2, [0, 0, 1, 1]))
        self.assertEqual(machine["levels"][0], {"name": "node", "group": [0, 0, 1, 1]})
        for column in "load_s", "movable", "current":
            self.assertEqual(len(asked[column]), 12)

    def test_plan_accepts_a_program_as_its_strategy(self):
        done = self.run_poise("plan", "t.poise", "-s", "exec:python3 mine.py", "-o", "-")
        self.assertEqual((done.returncode, done.stdout), (0, (self.folder / "places").read_text()), done.stderr)
        self.assert_refused("plan", "t.poise", "-s", "exec:true,greedy", says="is a list")

    def test_simulate_runs_the_strategy_program_at_every_decision(self):
        count = "import sys; sys.stdin.read(); open('calls', 'a').write('.'); [print(t % 4) for t in range(12)]"
        (self.folder / "count.py").write_text(count)
        result = self.json_of("simulate", "t.poise", "-m", "node:2 core:2", "-s", "greedy,exec:python3 count.py", "--steps", "20",
                              "--every", "5", "--json")
        rows = {row["strategy"]: row for row in result["results"]}
        self.assertEqual(len((self.folder / "calls").read_text()), rows["exec:python3 count.py"]["decisions"])
        self.assertEqual(rows["exec:python3 count.py"]["decisions"], rows["greedy"]["decisions"])

    def test_compare_refuses_a_placement_file_that_has_the_name_of_a_strategy_or_of_another_file(self):
        self.assert_refused("compare", "t.poise", "-s", "greedy", "--also", "greedy=places", says="greedy")
        self.assert_refused("compare", "t.poise", "-s", "keep", "--also", "a=places", "--also", "a=places", says='"a"')

    def fails(self, strategy, *words, limit="20s"):
        done = self.run_poise("compare", "t.poise", "-s", strategy, "--exec-limit", limit)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_every_command_that_runs_a_strategy_program_limits_the_run_time_of_the_program(self):
        for command, status in (("plan", 2), ("map", 2), ("simulate", 1), ("compare", 1)):
            with self.subTest(command=command):
                done = self.run_poise(command, "t.poise", "-m", "node:2 core:64", "-s", "exec:sleep 1000", "--exec-limit", "10ms")
                self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
                self.assertIn("did not end within 0.01 s", done.stderr)

    def test_the_error_of_a_failing_strategy_program_is_one_line(self):
        script = self.folder / "bad.sh"
        for body, words in (("exit 3", "exited with status 3"), ("kill -9 $$", "ended by signal"), ("exit 0", "wrote nothing"),
                            ("echo hello", "is not a place number"), ("echo 1", "the workload has 12"),
                            ("yes 9 | head -12", "9"), ('echo "{}"', "no list")):
            with self.subTest(body=body):
                script.write_text("#!/bin/sh\ncat > /dev/null\n" + body + "\n")
                script.chmod(0o755)
                self.fails("exec:./bad.sh", words)
        self.fails("exec:./absent", "exec:./absent", "cannot start the command")
        for sweep in (), ("--every", "5,10"), ("--seed", "1,2"):
            with self.subTest(sweep):
                self.assert_refused("simulate", "t.poise", "-m", "core:4", "--start", "blocked", "-s", "exec:./absent", *sweep,
                                    says="every strategy failed on this trace; exec:./absent failed with", status=1)
        row = self.rows("-s", "keep,exec:./absent")["exec:./absent"]
        self.assertIn("cannot start the command", row["error"])

    def test_compare_prints_json_and_csv_even_if_every_strategy_fails_on_every_machine(self):
        words = "compare", "t.poise", "-s", "exec:./absent", "--machine", "core:4", "--machine", "node:2 core:2"
        done = self.run_poise(*words, "--json")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("every strategy failed on", done.stderr)
        rows = json.loads(done.stdout)["results"]
        self.assertEqual(["cannot start the command" in row["error"] for row in rows], [True, True])
        self.assertEqual(self.run_poise(*words, "--csv").stdout.count("cannot start the command"), 2)

    def test_compare_prints_the_table_of_a_machine_although_every_strategy_failed_on_another_one(self):
        script = self.folder / "four.sh"
        script.write_text("#!/bin/sh\ngrep -q '\"num_places\":4' && yes 0 | head -12\n")
        script.chmod(0o755)
        done = self.run_poise("compare", "t.poise", "-s", "exec:./four.sh", "--machine", "core:8", "--machine", "core:4")
        self.assertEqual((done.returncode, done.stdout.count("* best: exec:./four.sh")), (1, 1), done.stderr)
        self.assertIn("every strategy failed on core:8", done.stderr)

    def test_map_and_plan_with_capacities_refuse_invalid_placements_of_a_strategy_program(self):
        for body, words in (("echo 1", "the workload has 12"), ("yes 1000000 | head -12", "at place 1000000")):
            (self.folder / "bad.sh").write_text("#!/bin/sh\ncat > /dev/null\n" + body + "\n")
            (self.folder / "bad.sh").chmod(0o755)
            for command in (["plan", "t.poise", "--capacity", "3"], ["map", "t.poise", "-m", "node:3 core:4"]):
                with self.subTest(body=body, command=command):
                    self.assert_refused(*command, "-s", "exec:./bad.sh", says=words)

    def test_a_strategy_program_that_does_not_end_is_killed_with_its_children(self):
        (self.folder / "slow.sh").write_text("#!/bin/sh\nsleep 600 & echo $! > child\nsleep 600\n")
        (self.folder / "slow.sh").chmod(0o755)
        begin = time.monotonic()
        self.fails("exec:./slow.sh", "did not end within 2 s", limit="2s")
        self.assertLess(time.monotonic() - begin, 500)
        child = int((self.folder / "child").read_text())
        stat, deadline = pathlib.Path(f"/proc/{child}/stat"), time.monotonic() + 200
        try:
            while ") Z " not in stat.read_text():  # Z: a zombie, which its new parent has not reaped yet
                self.assertLess(time.monotonic(), deadline, "what the program started still runs")
                time.sleep(0.05)
        except (FileNotFoundError, ProcessLookupError):
            pass

    def test_a_strategy_program_can_print_its_placement_without_reading_the_problem(self):
        self.run_poise("generate", "ring", "--tasks", "20000", "--places", "4", "-o", "t.poise")
        (self.folder / "deaf.sh").write_text("#!/bin/sh\nexec <&-\nyes 0 | head -20000\n")
        (self.folder / "deaf.sh").chmod(0o755)
        self.assertNotIn("error", self.rows("-s", "exec:./deaf.sh")["exec:./deaf.sh"])

    def test_a_strategy_program_can_print_its_placement_before_it_reads_the_problem(self):
        self.run_poise("generate", "ring", "--tasks", "20000", "--places", "4", "-o", "t.poise")
        (self.folder / "late.sh").write_text("#!/bin/sh\nyes 0 | head -20000\nexec cat > /dev/null\n")
        (self.folder / "late.sh").chmod(0o755)
        self.assertNotIn("error", self.rows("-s", "exec:./late.sh", "--exec-limit", "20s")["exec:./late.sh"])

    @unittest.skipUnless(shutil.which("cc"), "there is no C compiler")
    def test_a_strategy_can_be_loaded_from_a_shared_library(self):
        (self.folder / "mine.c").write_text(PLUGIN)
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC", "-I", ROOT, "mine.c", "-o",
                        "libmine.so"], cwd=self.folder, check=True, timeout=300)
        rows = self.rows("-s", "plugin:./libmine.so,plugin:libmine.so,keep", "--also", "also=places")
        for name in "plugin:./libmine.so", "plugin:libmine.so":
            self.assertEqual(rows[name]["iteration_s"], rows["also"]["iteration_s"])
        done = self.run_poise("plan", "t.poise", "-m", "core:1", "--start", "blocked", "-s", "plugin:./libmine.so")
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]),
                         (2, "poise: plugin:./libmine.so: it needs two places"))

    def test_plugins_and_strategy_programs_and_placement_files_are_refused_if_they_are_invalid(self):
        for arguments, words in ((["-s", "plugin:./absent.so"], "cannot load the library"), (["-s", "plugin:"], "the name of a library is missing"),
                                 (["-s", "plugin:./mine.py"], "cannot load the library"), (["-s", "exec:"], "a command is missing"),
                                 (["-s", "exec:true,alpha=3"], "unknown strategy"), (["-s", "exec:true,"], "contains an empty name"),
                                 (["--also", "places"], "NAME=FILE"), (["--also", "x=absent"], "absent"),
                                 (["-s", "exec:true", "--exec-limit", "soon"], "--exec-limit")):
            with self.subTest(arguments=arguments):
                self.assert_refused("compare", "t.poise", *arguments, says=words)
        self.assert_refused("map", "t.poise", "--exec-limit", "soon", says="--exec-limit")


if __name__ == "__main__":
    unittest.main()
