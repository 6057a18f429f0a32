# SPDX-License-Identifier: BSD-3-Clause

"""Gives nonsensical values to the variables that a runtime reads, one at a time. Either the job must run as if nothing
were wrong, or rank 0 must print one line and every rank must exit with status 2. In both cases nothing else may be
printed, and the job must end.

settings_fuzz_test.py READERS all|some ARGUMENT… tests the variables of the runtimes READERS, which are separated by
commas. The ARGUMENTs are those of the program. `all` tests all values. `some` tests one value for each of at most 12
variables, drawn with the seed POISE_SEED (default: 1), because a launch takes up to half a second."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import wrong_settings_test

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import nonsense  # pylint: disable=wrong-import-position

TIMEOUT_S = 300
# All messages stay within a node. These settings keep Open MPI from looking for networks, a search that takes 0.2 s.
QUICK_START = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"}
CRASHES = ("terminate called", "Aborted", "Segmentation", "Sanitizer", "runtime error", "Assertion")
# These variables are not tested: OpenMP libraries read them before Poise does, and print messages of their own about
# wrong values.
READ_BY_OTHERS = {"OMP_NUM_THREADS", "OMP_TARGET_OFFLOAD", "LIBOMP_USE_HIDDEN_HELPER_TASK"}


def variables_of(readers):
    listed = subprocess.run([os.environ["POISE"], "variables", "--json"], check=True, timeout=TIMEOUT_S,
                            stdout=subprocess.PIPE)
    return [row["name"] for row in json.loads(listed.stdout)["variables"]
            if set(row["readers"].split(", ")) & readers and row["name"] not in READ_BY_OTHERS]


class Nonsense(unittest.TestCase):
    def check(self, name, value, arguments):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as here:
            command = [*os.environ["LAUNCH"].split(), *wrong_settings_test.TO_FILES, os.environ["PROGRAM"], *arguments]
            environment = {**os.environ, **QUICK_START, "OUTPUT": folder, name: value}
            done = subprocess.run(command, env=environment, cwd=here, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            texts = {path.name: path.read_text(errors="replace") for path in pathlib.Path(folder).iterdir()}
        shown = (name, value[:40], done.returncode, done.stdout[-1000:], {rank: text[-1000:] for rank, text in texts.items()})
        self.assertIn(done.returncode, (0, 2), shown)
        for crash in CRASHES:
            self.assertNotIn(crash, "".join(texts.values()), shown)
        if done.returncode == 2:
            self.assertRegex(texts.pop("0"), r"^poise: [^\n]+\n$", shown)
            self.assertEqual("".join(texts.values()), "", shown)
        return done.returncode

    def test_every_value_of_a_setting_is_either_accepted_or_refused_with_a_one_line_error(self):
        readers, which, *arguments = sys.argv[1:]
        seed = int(os.environ.get("POISE_SEED", "1"))
        names = variables_of(set(readers.split(",")))
        self.assertGreater(len(names), 5)
        refused = 0
        for name, value in nonsense.draws(names, which, seed):
            with self.subTest(seed=seed, name=name, value=value[:40]):
                refused += self.check(name, value, arguments) == 2
        self.assertGreater(refused, 0, "nothing was refused: is it the program that reads them?")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
