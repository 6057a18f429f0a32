# SPDX-License-Identifier: BSD-3-Clause

"""Tests how jobs with an invalid user setting end: exit status 2 and one line, which names the variable and
comes from rank 0. Arguments: the kind of program and its own arguments."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIMEOUT_S = 300
POLICIES = re.findall(r"(?m)^  X\((\w+),", (ROOT / "poise/base/offload_policies.h").read_text())
# Shell code that gives the rank of a process, from the variable that Open MPI or MPICH sets.
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
# Each rank prints to a file of its own, so that its output is not mixed with the launcher's.
TO_FILES = ["sh", "-c", f'exec "$@" > "$OUTPUT/{RANK}" 2>&1', "sh"]

# Each entry consists of environment variables with wrong values, and of texts that the printed error line contains.
NUMBER, RANGE = "is not a number; give a number from", "is out of range; give a number from"
CHOICE = "is not allowed; the choices are"
TASKS = [
    *[({f"POISE_TASKS_{name}": text}, [f"POISE_TASKS_{name}={text} {trouble}"])
      for names, text, trouble in (
          ("MIN_GAIN MIN_LOCAL MAX_TASKS POLL_US LARGE_BYTES CHUNK_BYTES BATCH_BYTES SHARE", "much", NUMBER),
          ("MIN_GAIN SHARED_BYTES DELAY_US PATIENCE_S PROGRESS_US MIN_ABSOLUTE MIN_RELATIVE", "-1", RANGE))
      for name in names.split()],
    *[({"POISE_TASKS_MIN_GAIN": text}, [f"POISE_TASKS_MIN_GAIN={text} {NUMBER} 0 to 1"])
      for text in ("", "nan", "0.1s", "0,1", " 0.1")],
    *[({"POISE_TASKS_POLICY": text}, [f"POISE_TASKS_POLICY={text} {CHOICE} {', '.join(POLICIES)}"])
      for text in ("", "2", "everything", "Cost")],
    *[({f"POISE_TASKS_{name}": text}, [f"POISE_TASKS_{name}={text} {CHOICE} 0, 1"])
      for name in ("PULL", "PUSH", "SUMMARY") for text in ("2", "yes", "0.5")],
    *[({f"POISE_TASKS_{name}": "yes"}, [f"POISE_TASKS_{name}=yes {CHOICE} auto, on, off"])
      for name in ("PROGRESS_THREAD", "HELPER")],  # HELPER is the deprecated name of PROGRESS_THREAD
    ({"POISE_TASKS_POLICY": "a\nb"}, ["POISE_TASKS_POLICY=a b", CHOICE]),
    ({"POISE_TASKS_POLCY": "cost"}, ["unknown environment variable POISE_TASKS_POLCY", "did you mean POISE_TASKS_POLICY?"]),
    ({"POISE_TASKS_TRAC": "t"}, ["unknown environment variable POISE_TASKS_TRAC", "did you mean POISE_TASKS_TRACE?"]),
    ({"POISE_TASKS_": "1"}, ["unknown environment variable POISE_TASKS_;", "known variables: POISE_TASKS_POLICY, "]),
    ({"POISE_TASKS_TRACE": "/no/such/folder/trace.json"}, ["POISE_TASKS_TRACE", "/no/such/folder/trace.json"]),
]
SOME_OF_TASKS = [TASKS[0], ({"POISE_TASKS_SHARE": "2"}, [f"POISE_TASKS_SHARE=2 {RANGE} 0 to 1"]), ({"POISE_TASKS_POLICY": "all"}, ["POISE_TASKS_POLICY=all"]),
                 ({"POISE_TASKS_POLCY": "cost"}, ["did you mean POISE_TASKS_POLICY?"])]
THRESHOLDS = ["MIN_LOCAL_TASKS_IN_QUEUE_BEFORE_MIGRATION", "MIN_ABS_LOAD_IMBALANCE_BEFORE_MIGRATION",
              "MIN_REL_LOAD_IMBALANCE_BEFORE_MIGRATION", "PERCENTAGE_DIFF_TASKS_TO_MIGRATE",
              "MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE"]
OBJECTS = [
    *[({name: text}, [name, text])
      for name, text in (("POISE_STRATEGY", "magic"), ("POISE_PERIOD", "often"), ("POISE_PERIOD", "-1"),
                         ("POISE_BUDGET", "2"), ("POISE_CLOCK", "sundial"),
                         ("POISE_MODE", "all"), ("POISE_PLACES", "2"), ("POISE_LEND", "yes"), ("POISE_LEND", "2"),
                         ("POISE_RANKS_PER_HOST", "-1"), ("POISE_TRACE", "/no/such/folder/a"),
                         ("POISE_TIMELINE", "/no/such/folder/a"), ("POISE_LOG", "/no/such/folder/a"))],
    ({"POISE_STRATEGY": "nuco:alpha=much"}, ["POISE_STRATEGY", f"alpha=much {NUMBER} 0 to 1"]),
    *[({"OMP_NUM_THREADS": text}, [f"OMP_NUM_THREADS={text} is not allowed; a rank can have 1 to 4096 threads"])
      for text in ("100000", "0", "-3", "many")],
    ({"POISE_LEND": "1", "POISE_PLACES": "thread"}, ["POISE_LEND=1", "POISE_PLACES=rank"]),
]
UNCAUGHT = [({}, ["polcy", "did you mean"])]  # the program sets an invalid setting and does not catch the error
TABLES = {
    "uncaught": UNCAUGHT,
    "tasks": TASKS,
    "face": SOME_OF_TASKS,
    "chameleon": [*SOME_OF_TASKS, *[({name: text}, [f"{name}={text}"]) for name in THRESHOLDS for text in ("much", "-1")]],
    "objects": OBJECTS,
    "unthreaded_objects": [({"POISE_LEND": "1"}, ["POISE_LEND=1", "MPI_THREAD_FUNNELED", "MPI_Init_thread"])],
    "lending_objects": [({"POISE_LEND": "1", **variables}, parts) for variables, parts in
                        [*SOME_OF_TASKS, ({"OMP_NUM_THREADS": "5000"}, ["OMP_NUM_THREADS=5000 is not allowed"])]],
}
# Variables that are misspelt, or that another runtime reads.
NO_EFFECT = {
    "objects": [({"POISE_STRATEGI": "greedy"}, "POISE_STRATEGI has no effect: there is no such variable; did you mean "
                 "POISE_STRATEGY?"),
                ({"POISE_TASKS_PULL": "0"}, "POISE_TASKS_PULL has no effect: tasks read it, objects do not without POISE_LEND=1")],
    "face": [({"POISE_PERIOD": "3"}, "POISE_PERIOD has no effect: objects, Charm++ read it, tasks do not"),
             ({"POISE_TASK_PULL": "0"}, "POISE_TASK_PULL has no effect: there is no such variable; did you mean "
              "POISE_TASKS_PULL?")],
    "chameleon": [({"MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONC": "3"}, "did you mean MAX_TASKS_PER_RANK_TO_MIGRATE_AT_ONCE?")],
}


def printed(folder):
    """Returns what each rank printed, by rank, without warnings of the OpenMP library."""
    return {path.name: re.sub(r"\nlibgomp: [^\n]*\n", "", path.read_text())
            for path in sorted(pathlib.Path(folder).iterdir())}


class WrongSettings(unittest.TestCase):
    def run_with(self, variables, *before):
        command = [*os.environ["LAUNCH"].split(), *before, os.environ["PROGRAM"], *sys.argv[2:]]
        return subprocess.run(command, env={**os.environ, **variables}, timeout=TIMEOUT_S, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def check(self, variables, parts):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_with({**variables, "OUTPUT": folder}, *TO_FILES)
            texts = printed(folder)
        self.assertEqual(done.returncode, 2, (done.stdout, texts))
        line = texts.pop("0")
        self.assertRegex(line, r"^poise: [^\n]+\n$")
        for part in parts:
            self.assertIn(part, line)
        self.assertEqual("".join(texts.values()), "", "others than rank 0 print something")

    def test_wrong_settings_end_the_job_with_status_2_and_one_line_from_rank_0(self):
        table = TABLES[sys.argv[1]]
        alone = os.environ["LAUNCH"].endswith(" 1")
        for variables, parts in table if alone else table[::5]:  # every fifth row: launching ranks takes a second
            with self.subTest(variables=variables):
                self.check(variables, parts)

    def test_settings_without_effect_are_reported_once_and_the_job_runs(self):
        if sys.argv[1] == "face" and os.environ["LAUNCH"].endswith(" 1"):
            self.skipTest("these programs check that tasks run on another rank")
        for variables, note in NO_EFFECT.get(sys.argv[1], []):
            with self.subTest(variables=variables), tempfile.TemporaryDirectory() as folder:
                done = self.run_with({**variables, "OUTPUT": folder}, *TO_FILES)
                self.assertEqual(done.returncode, 0, (done.stdout, printed(folder)))
                self.assertEqual("".join(printed(folder).values()).count(note), 1, printed(folder))
                self.assertIn(note, printed(folder)["0"])

    def test_the_mpi_launcher_shows_the_error_about_a_wrong_setting_once(self):
        variables, parts = TABLES[sys.argv[1]][0]
        done = self.run_with(variables)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertEqual(done.stdout.count(parts[0]), 1, done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
