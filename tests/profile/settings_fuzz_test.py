#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Gives nonsensical values to the variables that the profile's library reads, one at a time. The program must always
run as it does without the library. If a value is wrong, rank 0 prints one line, and the other ranks print nothing.
Tests both MPIs.

settings_fuzz_test.py all|some: `all` tests all values, `some` one value of each variable, drawn with the seed
POISE_SEED (default: 1)."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from reader import LIBRARY, compile_c, installations, launch, read_profile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import nonsense  # noqa: E402

SIZE = 2
TIMEOUT_S = 300
# Shell code that gives the rank of a process, from the variable that Open MPI or MPICH sets.
RANK = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
TO_FILES = ["sh", "-c", f'exec "$@" > "$OUTPUT/{RANK}.out" 2> "$OUTPUT/{RANK}.err"', "sh"]
# These settings keep Open MPI from looking for networks, a search that takes 0.2 s.
QUICK_START = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
# For some variables, other variables that must be set, too: otherwise the library does not read the variable.
NEEDED = {"POISE_PROFILE_PARTS": {"POISE_PROFILE": "profile"}, "POISE_PROFILE_PERIOD_NS": {"POISE_PROFILE": "profile"},
          "POISE_REORDER_MACHINE": {"POISE_REORDER": "1"}}


def names():
    listed = subprocess.run([os.environ["POISE"], "variables", "--json"], check=True, timeout=TIMEOUT_S,
                            stdout=subprocess.PIPE)
    return [row["name"] for row in json.loads(listed.stdout)["variables"]
            if row["readers"] == "the profile's library"]


class Nonsense(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def ran(self, mpi, variables):
        """Returns what the ranks printed to stdout and to stderr, and the folder in which they ran."""
        here = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        output = here / "output"
        output.mkdir()
        # The shell of each rank sets the variables, because launchers cannot pass all values.
        words = ["env", "-C", here, *[f"{name}={value}" for name, value in variables.items()]]
        program = compile_c(mpi, "ring.c")
        done = launch(mpi, SIZE, [*TO_FILES, *words, program], QUICK_START | {"OUTPUT": str(output)}, TIMEOUT_S)
        texts = {path.name: path.read_text(errors="replace") for path in output.iterdir()}
        self.assertEqual(done.returncode, 0, (done.stderr[-1000:], {name: text[-1000:] for name, text in texts.items()}))
        return [sorted("".join(text for name, text in texts.items() if name.endswith(end)).splitlines())
                if end == ".out" else {name: text for name, text in texts.items() if name.endswith(end)}
                for end in (".out", ".err")] + [here]

    def check(self, mpi, plain, name, value):
        printed, errors, _ = self.ran(mpi, {"LD_PRELOAD": LIBRARY, **NEEDED.get(name, {}), name: value})
        self.assertEqual(printed, plain, name)
        text = errors.pop("0.err")
        self.assertRegex(text, r"^(poise profile: [^\n]+\n)?$")
        self.assertEqual("".join(errors.values()), "")
        return name if text else None

    def test_if_an_environment_variable_is_nonsense_the_program_runs_and_the_profiler_prints_at_most_one_line(self):
        which, seed = sys.argv[1], int(os.environ.get("POISE_SEED", "1"))
        found = names()
        self.assertEqual(len(found), 5)
        for mpi in installations():
            noted = set()
            plain = self.ran(mpi, {})[0]
            for name, value in nonsense.draws(found, which, seed):
                with self.subTest(mpi=mpi, seed=seed, name=name, value=value[:40]):
                    noted.add(self.check(mpi, plain, name, value))
            if which == "all":
                self.assertEqual(noted - {None}, set(found))

    def test_for_an_invalid_environment_variable_one_error_names_the_variable_and_the_default_value_is_used(self):
        profiled = {"LD_PRELOAD": LIBRARY, "POISE_PROFILE": "profile"}
        wrong = {"POISE_REORDER": ("nonsense", "POISE_REORDER=nonsense is not one of 0, 1, verbose"),
                 "POISE_REORDER_MACHINE": ("node:1 core:1", "POISE_REORDER_MACHINE: machine \"node:1 core:1\" has fewer places (1)"),
                 "POISE_PROFILE_PERIOD_NS": ("1", "POISE_PROFILE_PERIOD_NS=1 is not 0 or a number of nanoseconds"),
                 "POISE_PROFILE_PARTS": ("/no/such/folder", "POISE_PROFILE_PARTS: cannot write in /no/such/folder")}
        for mpi in installations():
            for name, (value, line) in wrong.items():
                with self.subTest(mpi=mpi, name=name):
                    _, errors, here = self.ran(mpi, {**profiled, **NEEDED.get(name, {}), name: value})
                    self.assertTrue(errors["0.err"].startswith("poise profile: " + line), errors)
                    self.assertEqual(errors["0.err"].count("\n"), 1, errors)
                    self.assertEqual(errors["1.err"], "")
                    self.assertEqual(len(read_profile(here / "profile")), SIZE)


if __name__ == "__main__":
    if not LIBRARY or not installations():
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
