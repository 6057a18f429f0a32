# SPDX-License-Identifier: BSD-3-Clause

"""Compares the documents about the command line with the program."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

import files
from run_poise import POISE, CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
import generated  # noqa: E402


def keys_of(document):
    """Returns the keys of a JSON document and of everything in it."""
    if isinstance(document, list):
        return {key for value in document for key in keys_of(value)}
    return set(document).union(*map(keys_of, document.values())) if isinstance(document, dict) else set()


class Docs(CliTest):
    def test_every_key_of_the_json_output_is_documented(self):
        (self.folder / "g.graph").write_text(files.GRAPH)
        page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
        simulate = "simulate", "g.graph", "-m", "core:2", "-s", "greedy", "--steps", "4"
        for command in (("compare", "g.graph", "-m", "core:2", "-s", "greedy,exec:./absent", "--curve"), ("strategies",), ("variables",),
                        ("plan", "g.graph", "-m", "core:2", "-s", "keep"), ("generate", "--list"), (*simulate, "--every", "2,3"),
                        (*simulate, "--every", "2", "--overlap"), (*simulate, "--every", "2", "--engine", "events"),
                        ("map", "g.graph", "-m", "core:2", "--capacity", "9", "--for", "openmpi"),
                        ("theory", "--figure", "9"), ("theory", "--threads", "8", "--cpus", "7", "--phase", "1s")):
            with self.subTest(command):
                keys = keys_of(self.json_of(*command, "--json"))
                self.assertEqual({key for key in keys if f"`{key}`" not in page and f'`{{"{key}":' not in page}, set())

    def test_generated_documents_match_the_help_texts_of_the_program(self):
        made = generated.pages(POISE)
        self.assertTrue({"variables.md", "options.md", "tasks.md", "objects.md"} <= {path.name for path in made})
        for path, text in made.items():
            self.assertEqual(path.read_text(encoding="utf-8"), text, f"{path.name}: write it again: docs/generated.py {POISE}")

    def test_the_page_of_variables_lists_every_environment_variable(self):
        page, text = self.run_poise("variables", "--page").stdout, self.run_poise("variables").stdout
        for row in self.json_of("variables", "--json")["variables"]:
            self.assertIn(f"| `{row['name']}` |", page)
            self.assertRegex(text, rf"(?m)^{row['name']}\b.*\n    \S.*\n    takes \S")

    def test_the_page_of_options_lists_each_option_of_each_command(self):
        page = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
        sections = dict(re.findall(r"(?ms)^## (\w+)\n(.*?)(?=^## |\Z)", page))
        self.assertGreater(len(sections), 10)
        for command, section in sections.items():
            text = self.run_poise(command, "--help").stdout
            named = set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", text)) - {"--help"}
            self.assertTrue(named, command)
            self.assertNotRegex(text, "FLOAT|UINT|INT:|TEXT")  # names of types in C++
            self.assertEqual({name for name in named if not re.search(rf"`[^`]*{name}\b[^`]*` \|", section)}, set(), command)

    def test_every_environment_variable_that_the_code_reads_is_documented(self):
        known = {row["name"] for row in self.json_of("variables", "--json")["variables"]}
        read = set()
        for folder in "poise", "runtimes", "faces", "apps", "tests", "bench":
            for path in (ROOT / folder).rglob("*"):
                if path.suffix in (".cc", ".h", ".py", ".c"):
                    read |= set(re.findall(r"(?:getenv\(|environ(?:\.get\(|\[))\"(POISE_\w+)\"", path.read_text()))
        self.assertGreater(len(read), 5)
        self.assertEqual(read - known, set())

    def test_a_misspelt_environment_variable_is_reported_and_the_command_still_runs(self):
        done = self.run_poise("topo", "-m", "core:2", env={**os.environ, "POISE_MACHINS": "/m", "POISE_PERIOD": "often"})
        self.assertEqual((done.returncode, done.stderr), (0, "poise: POISE_MACHINS has no effect: there is no such "
                         "variable; did you mean POISE_MACHINES?\n"))

    def test_a_misspelt_environment_variable_is_reported_once_if_one_poise_command_starts_another(self):
        for outer in "juggle", "profile":
            with self.subTest(outer):
                done = self.run_poise(outer, "--", POISE, "topo", "-m", "core:2", cwd=self.folder,
                                      env={**os.environ, "POISE_STRATEGI": "greedy"})
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stderr.count("POISE_STRATEGI has no effect"), 1, done.stderr)

    def test_manual_pages_match_the_help(self):
        subprocess.run([sys.executable, ROOT / "docs" / "man" / "from_help.py", POISE, "man"],
                       cwd=self.folder, check=True, timeout=300)
        pages = {path.name: path.read_text(encoding="utf-8")
                 for path in (self.folder / "man").iterdir()}
        self.assertIn("poise\\-compare", pages["poise-compare.1"])
        self.assertIn(".B \\-\\-html FILE", pages["poise-compare.1"])
        for row in self.json_of("variables", "--json")["variables"]:
            for page in "poise.1", "poise-plan.1":
                self.assertIn(f"\n.B {row['name']}\n", pages[page].partition(".SH ENVIRONMENT")[2])
        for command in "plan", "evaluate", "compare", "strategies":
            self.assertIn(f".B {command}\n", pages["poise.1"])
            self.assertIn(f"poise-{command}.1", pages)


if __name__ == "__main__":
    unittest.main()
