# SPDX-License-Identifier: BSD-3-Clause

"""Sets the environment variables of `poise juggle` to nonsense. A value must either be accepted, or be refused by one
line and status 2 before the program starts."""

import os
import pathlib
import sys
import unittest

from juggle_test import JuggleTest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import nonsense  # pylint: disable=wrong-import-position


class JuggleVariables(JuggleTest):
    def names(self):
        return [row["name"] for row in self.json_of("variables", "--json")["variables"]
                if row["readers"] == "poise juggle"]

    def test_every_value_of_an_environment_variable_is_either_accepted_or_refused_with_a_one_line_error(self):
        names, refused = self.names(), 0
        self.assertEqual(len(names), 6)
        for name in names:
            for value in nonsense.KINDS:
                with self.subTest(name=name, value=value[:40]):
                    done = self.run_poise("juggle", "--", "echo", "it runs", env={**os.environ, name: value},
                                          errors="replace")
                    if done.returncode == 2:
                        refused += 1
                        self.assertRegex(done.stderr, r"^poise: [^\n]+\n$")
                        self.assertRegex(done.stderr, rf"{name}|this process is not allowed to use any of")
                    else:
                        self.assertEqual((done.returncode, done.stdout), (0, "it runs\n"), done.stderr)
        self.assertGreater(refused, 2 * len(nonsense.KINDS))

    def test_nonexistent_cpus_in_the_option_cpus_or_in_its_environment_variable_are_reported_in_one_line(self):
        absent = max(os.sched_getaffinity(0)) + 1
        for arguments, variables in ((["--cpus", f"0-{absent}"], {}), ([], {"POISE_JUGGLE_CPUS": f"0-{absent}"})):
            done = self.run_poise("juggle", *arguments, "--", "echo", "it runs", env={**os.environ, **variables})
            self.assertEqual((done.returncode, done.stdout), (0, "it runs\n"), done.stderr)
            self.assertRegex(done.stderr, rf"^poise juggle: --cpus 0-{absent}: [^\n]*{absent} cannot be used here[^\n]*\n$")

    def test_the_error_about_an_invalid_tuning_parameter_names_its_variable_and_valid_values(self):
        for value, says in [("noice=0.1", r"noice.*noise"), ("noise", "KNOB=VALUE"), ("noise=2", "from 0.001 to 0.4"),
                            ("noise=0.2,min_window_s=0.02", "must be less than 0.5")]:
            done = self.run_poise("juggle", "--", "echo", "it runs", env={**os.environ, "POISE_JUGGLE_TUNING": value})
            self.assertEqual((done.returncode, done.stdout), (2, ""), value)
            self.assertRegex(done.stderr, rf"^poise: POISE_JUGGLE_TUNING: [^\n]*{says}[^\n]*\n$")
        done = self.run_poise("juggle", "--tuning", "noise=0.1,enough_windows=8", "--", "echo", "it runs")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "it runs\n", ""))

    def test_every_tuning_parameter_is_printed_with_its_value_and_unit(self):
        printed = self.run_poise("strategies", "--tuning").stdout.split("poise juggle", 1)[1]
        self.assertRegex(printed, r"\n  noise +0.05 of the time +\w")
        self.assertRegex(printed, r"\n  min_window_s +0.05 s +\w")


if __name__ == "__main__":
    unittest.main()
