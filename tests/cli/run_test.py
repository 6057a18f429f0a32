#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Tests `poise run`: the steps from the first, profiled run to the verdict whether the map is kept; how launchers apply
a map; and errors. The test writes run times into the history, so it does not depend on the machine's speed."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

from run_poise import POISE, CliTest

PROGRAM = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int rank, size, value = 1, sum;
  cpu_set_t cpus;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < 100; ++i) MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  sched_getaffinity(0, sizeof cpus, &cpus);
  const int count = CPU_COUNT(&cpus);
  int first = 0;
  while (!CPU_ISSET(first, &cpus)) ++first;
  char name[4096];
  snprintf(name, sizeof name, "%s/rank%d", getenv("RANKS"), rank);
  FILE* const file = fopen(name, "w");  // Open MPI's launcher sometimes loses a rank's output
  fprintf(file, "%d %d\n", count, first);
  fclose(file);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
SECONDS = {"profiled": 10.0, "own order": 10.0, "mapped": 8.0}


class RunTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                         "OMPI_MCA_mpi_yield_when_idle": "1", "XDG_DATA_HOME": str(self.folder / "data"),
                                         "RANKS": str(self.folder),
                                         "OMPI_MCA_rmaps_base_mapping_policy": "core"}  # a default that the map replaces
        if not os.environ.get("POISE_PROFILE_LIBRARY"):
            library = pathlib.Path(POISE).resolve().parents[1] / "lib" / "libpoise_profile.so"
            self.environment["POISE_PROFILE_LIBRARY"] = str(library)

    def launcher(self, mpi):
        if not shutil.which(f"mpicc.{mpi}") or not shutil.which(f"mpirun.{mpi}"):
            self.skipTest(f"no {mpi}")
        program = self.folder / f"program.{mpi}"
        if not program.exists():
            (self.folder / "program.c").write_text(PROGRAM)
            subprocess.run([f"mpicc.{mpi}", "-O1", self.folder / "program.c", "-o", program], check=True, timeout=300)
        return [f"mpirun.{mpi}", "-np", "2", str(program)]

    def run_once(self, command, *options, history="h.json"):
        for file in self.folder.glob("rank?"):
            file.unlink()
        return self.run_poise("run", "--history", history, *options, "--", *command, env=self.environment,
                              stdin=subprocess.DEVNULL)

    def history(self, name="h.json"):
        return json.loads((self.folder / name).read_text())

    def change(self, name="h.json", **entries):
        (self.folder / name).write_text(json.dumps(self.history(name) | entries))

    def plant_times(self, seconds):
        """Replaces the measured time of each run in the history by the entry of `seconds` for the kind of run:
        "profiled", "own order" or "mapped"."""
        runs = self.history()["runs"]
        self.change(runs=[{"how": run["how"], "seconds": seconds[run["how"]]} for run in runs])

    def said(self, done):
        lines = [line for line in done.stderr.splitlines() if line.startswith("poise run: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        return lines[0]

    def cpus(self):
        """Returns {rank: cpu} of the last run, for those ranks that were bound to a single cpu."""
        counts = {rank: [int(word) for word in (self.folder / f"rank{rank}").read_text().split()] for rank in (0, 1)}
        return {rank: first for rank, (count, first) in counts.items() if count == 1}

    def begin_trial(self, command, options=()):
        """Makes a profiled run, then stores a map in the history that puts rank 0 on core 1 and rank 1 on core 0."""
        done = self.run_once(command, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([run["how"] for run in self.history()["runs"]], ["profiled"])
        self.assertTrue((self.folder / "h.poise").exists())
        self.change(map=[1, 0], predicted=0.2)
        self.plant_times(SECONDS)

    def carry_out(self, command, seconds, most=30):
        """Repeats the run until `poise run` prints a verdict. Returns a list that tells how each run placed its ranks
        ("mapped" or "own order"), and the finished process of the last run."""
        kinds = []
        for _ in range(most):
            done = self.run_once(command)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = self.history()["runs"][-1]
            kinds.append(run["how"])
            if run["how"] == "mapped":
                self.assertEqual(self.cpus(), {0: 1, 1: 0}, done.stderr)
            self.plant_times(seconds)
            if "map is" in self.said(done):
                return kinds, done
        self.fail(f"no verdict after {kinds}")

    def test_ranks_keep_their_order_if_no_rank_map_promises_a_gain(self):
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi=mpi):
                command = self.launcher(mpi)
                name = f"{mpi}.json"
                for _ in range(2):
                    done = self.run_once(command, history=name)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("no map of the ranks promises a gain", self.said(done))
                self.assertEqual([run["how"] for run in self.history(name)["runs"]], ["profiled", "own order"])

    def test_a_rank_map_is_kept_if_it_makes_the_program_faster(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        for mpi in ("openmpi", "mpich"):
            with self.subTest(mpi=mpi):
                command = self.launcher(mpi)
                (self.folder / "h.json").unlink(missing_ok=True)
                self.begin_trial(command)
                kinds, last = self.carry_out(command, SECONDS)
                # `poise run` prints its verdict once the history has three pairs of runs. A pair is a run with the map
                # and a run without it.
                self.assertEqual(kinds[:6], ["own order", "mapped", "mapped", "own order", "own order", "mapped"])
                self.assertIn("the map is kept: it saves 20.0 % (20.0 % to 20.0 %, 3 pairs of runs)", self.said(last))
                done = self.run_once(command)
                self.assertEqual(self.history()["runs"][-1]["how"], "mapped", done.stderr)
                self.assertEqual(self.cpus(), {0: 1, 1: 0}, done.stderr)

    def test_ranks_of_several_nodes_are_bound_as_the_map_says_even_if_nodes_need_different_bindings(self):
        cpus = sorted(os.sched_getaffinity(0))[:2]
        if cpus != [0, 1]:
            self.skipTest("cores 0 and 1 are not available")
        # This stand-in for srun runs the ranks one after another on this host. Each rank runs the command after the
        # options.
        srun = self.folder / "srun"
        srun.write_text("#!/bin/sh\necho \"$@\" > words\ncat \"$SLURM_HOSTFILE\" > hosts\n"
                        "while [ \"$1\" != \"${1#-}\" ]; do shift; done\n"
                        "for SLURM_PROCID in 0 1 2 3; do export SLURM_PROCID; \"$@\"; done\n")
        srun.chmod(0o755)
        program = self.folder / "program"
        program.write_text("#!/bin/sh\ntaskset -cp $$ | sed 's/.*: //' > rank$SLURM_PROCID\n")
        program.chmod(0o755)
        self.assertEqual(self.run_poise("generate", "ring", "--tasks", "4", "--machine", "node:2 core:2", "-o", "h.poise").returncode, 0)
        # The map puts ranks 1 and 2 on cores 0 and 1 of the second node, and ranks 3 and 0 on cores 0 and 1 of the
        # first node.
        for program_name, expected in (("./program", ["1", "0", "1", "0"]), ("./none", None)):
            with self.subTest(program=program_name):
                command = [str(srun), "-n4", program_name]
                history = {"poise_run": 1, "command": command, "hosts": ["one", "two"], "map": [1, 2, 3, 0], "map_failed": False,
                           "predicted": 0.2, "runs": [{"how": "profiled", "seconds": 10}, {"how": "own order", "seconds": 10}]}
                (self.folder / "h.json").write_text(json.dumps(history))
                done = self.run_once(command)
                if expected is None:
                    self.assertIn("cannot tell which word of the command is the program, so its ranks cannot be bound; "
                                  "running the command unchanged", done.stderr)
                    self.assertEqual((self.folder / "words").read_text(), "-n4 ./none\n")
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.history()["runs"][-1]["how"], "mapped", done.stderr)
                self.assertTrue((self.folder / "words").read_text().startswith("--distribution=arbitrary --cpu-bind=none -n4 sh -c "))
                self.assertEqual((self.folder / "hosts").read_text().split(), ["one", "two", "two", "one"])
                self.assertEqual([(self.folder / f"rank{rank}").read_text().strip() for rank in range(4)], expected)

    def test_a_rank_map_is_dropped_if_it_makes_the_program_slower(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        command = self.launcher("openmpi")
        self.begin_trial(command)
        _, last = self.carry_out(command, SECONDS | {"mapped": 11.0})
        self.assertIn("the map is dropped: it saves -10.0 %", self.said(last))
        self.run_once(command)
        self.assertEqual(self.history()["runs"][-1]["how"], "own order")

    def test_the_exit_status_of_a_failing_program_is_passed_on_and_its_run_time_is_not_recorded(self):
        command = self.launcher("openmpi") + ["5"]
        done = self.run_once(command)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(self.history()["runs"], [])
        self.assertIn("nothing is known yet, as a run that ends with an error does not count; the next run is profiled",
                      self.said(done))

    def test_no_rank_map_is_used_if_the_launch_command_already_binds_ranks(self):
        command = self.launcher("openmpi")
        command = command[:1] + ["--bind-to", "none"] + command[1:]
        self.begin_trial(command)
        self.change(runs=self.history()["runs"] + [{"how": "own order", "seconds": 10}])
        done = self.run_once(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the option --bind-to of the command already places the ranks; remove it to use a map; "
                      "running the command unchanged", done.stderr)
        self.assertEqual(self.history()["runs"][-1]["how"], "own order")

    def test_options_of_the_program_are_not_taken_for_options_of_the_launcher(self):
        command = self.launcher("openmpi") + ["-m", "--bind-to"]
        self.begin_trial(command)
        self.change(runs=self.history()["runs"] + [{"how": "own order", "seconds": 10}])
        done = self.run_once(command)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.history()["runs"][-1]["how"], "mapped", done.stderr)

    def begin_mapped_run(self, script):
        """Begins a mapped run of a shell script on two ranks. Returns once a rank has printed a line."""
        self.begin_trial(self.launcher("openmpi"))
        command = ["mpirun.openmpi", "-np", "2", "sh", "-c", "echo up; " + script]
        self.change(command=command, runs=self.history()["runs"] + [{"how": "own order", "seconds": 10}])
        process = subprocess.Popen([POISE, "run", "--history", "h.json", "--", *command], cwd=self.folder, text=True,
                                   env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "up\n")
        return command, process

    def test_the_rank_map_is_not_dropped_if_the_user_interrupts_a_mapped_run(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        _, process = self.begin_mapped_run("sleep 100")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse(self.history()["map_failed"])

    def test_two_simultaneous_mapped_runs_use_different_launcher_files(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one core")
        os.mkfifo(self.folder / "go")
        command, process = self.begin_mapped_run("if mkdir first; then cat go; else sleep 0; fi")
        before = {path: path.read_text() for path in self.folder.glob("*.map")}
        self.assertEqual(len(before), 1)
        second = self.run_once(command)
        self.assertEqual(second.returncode, 0, second.stderr)
        self.assertEqual({path: path.read_text() for path in self.folder.glob("*.map")}, before)
        (self.folder / "go").write_text("")
        process.communicate(timeout=300)
        self.assertEqual(list(self.folder.glob("*.map")), [], "launcher files are left")
        self.assertEqual([run["how"] for run in self.history()["runs"][2:]], ["mapped"] * 2)

    def test_a_history_file_with_the_suffix_poise_is_not_overwritten_by_the_profile(self):
        command = self.launcher("openmpi")
        for count in (1, 2):
            done = self.run_once(command, history="h.poise")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(len(self.history("h.poise")["runs"]), count)
            self.assertEqual(self.run_poise("diagnose", "h.poise.poise").returncode, 0)

    def test_the_command_runs_unchanged_if_the_history_of_its_earlier_runs_is_invalid(self):
        for path, text, says in (("broken.json", "{", "this file is not a history that poise run can read (it is not JSON)"),
                                 ("empty.json", "{}", "can read (an entry is missing or has the wrong type)"),
                                 ("other.json", json.dumps({"poise_run": 1, "command": ["x"], "hosts": [], "map": [],
                                                            "map_failed": False, "predicted": 0, "runs": []}), "of another command, x"),
                                 ("zero.json", json.dumps({"poise_run": 1, "command": ["sh", "-c", "exit 7"], "hosts": [], "map": [],
                                                           "map_failed": False, "predicted": 0,
                                                           "runs": [{"how": "mapped", "seconds": 0}]}),
                                  "it must be above 0 and below 1e9")):
            (self.folder / path).write_text(text)
            done = self.run_once(["sh", "-c", "exit 7"], history=path)
            self.assertEqual(done.returncode, 7)
            self.assertIn(says, self.said(done))
            self.assertEqual((self.folder / path).read_text(), text)
        for path in "/proc/none/h.json", "absent/folder/h.json":
            done = self.run_once(["sh", "-c", "exit 7"], history=path)
            self.assertEqual(done.returncode, 7)
            self.assertIn(f"cannot write {path}: No such file or directory; running the command unchanged", self.said(done))
        self.assertFalse((self.folder / "absent").exists())
        self.assertEqual(self.run_once(["./none"]).returncode, 127)

    def test_a_command_with_bytes_that_are_not_utf8_runs_unchanged(self):
        done = self.run_once(["sh", "-c", "exit 7", os.fsdecode(b"\xe9t\xe9.txt")])
        self.assertEqual(done.returncode, 7)
        self.assertIn("not text in UTF-8; running the command unchanged", self.said(done))

    def test_the_exit_status_of_the_program_is_passed_on_even_if_reports_cannot_be_written_to_stderr(self):
        reader, broken = os.pipe()
        os.close(reader)
        with open("/dev/full", "w", encoding="utf-8") as full, os.fdopen(broken, "w", encoding="utf-8") as pipe:
            for stderr in full, pipe:
                for command in ["run", "--history", "h.json"], ["profile"]:
                    done = self.run_poise(*command, "--", "sh", "-c", "exit 7", env=self.environment,
                                          capture_output=False, stderr=stderr)
                    self.assertEqual(done.returncode, 7, command)

    def test_two_runs_of_a_command_at_the_same_time_are_both_recorded(self):
        os.mkfifo(self.folder / "go")
        command = ["sh", "-c", "if mkdir first; then echo up; cat go; fi"]
        begun = {"poise_run": 1, "command": command, "hosts": [], "map": [], "map_failed": False, "predicted": 0,
                 "runs": [{"how": "profiled", "seconds": 10}]}
        (self.folder / "h.json").write_text(json.dumps(begun))
        first = subprocess.Popen([POISE, "run", "--history", "h.json", "--", *command], cwd=self.folder, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(first.kill)
        self.assertEqual(first.stdout.readline(), "up\n")
        self.run_once(command)
        (self.folder / "go").write_text("")
        first.communicate(timeout=300)
        self.assertEqual([run["how"] for run in self.history()["runs"]], ["profiled", "own order", "own order"])

    def test_a_run_is_not_recorded_if_the_size_of_its_batch_job_differs_from_that_of_the_profiled_run(self):
        command = ["sh", "-c", "true"]
        begun = {"poise_run": 1, "command": command, "hosts": ["n1", "n2"], "map": [0, 1], "map_failed": False,
                 "predicted": 0.2, "runs": [{"how": "profiled", "seconds": 10}]}
        known = begun | {"job_hosts": 2, "job_ranks": 8}
        for history, nodes, tasks, says in ((begun, "n[1-4]", "4(x4)", "job has 4 hosts, but the profiled run had 2"),
                                            (begun, "n[1-2]", "8(x2)", ""),
                                            (known, "n[1-4]", "2(x4)", "job has 4 hosts, but the profiled run had 2"),
                                            (known, "n[3-4]", "8(x2)", "but the batch job of the profiled run had 8"),
                                            (known, "", "", "the profiled run was in a batch job with 2 hosts"),
                                            (known, "n[3-4]", "4(x2)", "")):
            with self.subTest(nodes=nodes, tasks=tasks):
                (self.folder / "h.json").write_text(json.dumps(history))
                self.environment |= {"SLURM_JOB_NODELIST": nodes, "SLURM_JOB_CPUS_PER_NODE": "", "SLURM_TASKS_PER_NODE": tasks}
                done = self.run_once(command)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertEqual("batch job" in done.stderr, bool(says), done.stderr)
                self.assertEqual(len(self.history()["runs"]), 1 if says else 2)

    def test_by_default_poise_run_keeps_one_history_of_runs_per_command_and_folder(self):
        for words in (["sh", "-c", "true"], ["sh", "-c", "true"], ["true"]):
            done = self.run_poise("run", "--", *words, env=self.environment)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(list((self.folder / "data/poise/runs").glob("*.json"))), 2)

    def test_poise_run_without_a_command_to_run_is_refused(self):
        self.assert_refused("run", says="COMMAND is missing")


if __name__ == "__main__":
    unittest.main()
