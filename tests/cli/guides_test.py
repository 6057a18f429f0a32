# SPDX-License-Identifier: BSD-3-Clause

"""Runs the code blocks of README.md and docs/*.md. Blocks of a page marked ```sh run in order, in one empty folder.

    ```sh            runs and must succeed
    ```sh no-run     does not run; the line before says why: <!-- no-run: WHY -->
    ```text          lines that the block before must print in this order, possibly with other lines in between
    <!-- setup: COMMAND -->   the test first runs COMMAND, which makes files that the reader already has
    ```c, ```cpp …   another test compiles or runs the block (named in ELSEWHERE), or the block is marked no-run
"""

import os
import pathlib
import re
import subprocess
import unittest

from run_poise import POISE, CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Pages to look things up; all others in docs/ are guides.
REFERENCE = {"results.md", "variables.md", "options.md", "commands.md", "formats.md"}
GUIDES = [page for page in PAGES if page.parent.name == "docs" and page.name not in REFERENCE]
MAX_GUIDE_LINES = 150
LIMIT_S = 600  # time-out of a code block in seconds, long enough for a busy machine
# Code blocks in other languages, by page and language, with the test that runs or compiles them.
ELSEWHERE = {("library.md", "c"): "tests/install/examples_test.py", ("library.md", "cpp"): "tests/install/examples_test.py",
             ("library.md", "fortran"): "tests/install/examples_test.py", ("python.md", "python"): "tests/python/python_test.py",
             ("distributed.md", "c"): "tests/install/examples_test.py",
             ("formats.md", "python"): "tests/docs/formats_example.py"}
PART = re.compile(r"^<!-- (?P<kind>setup|no-run): (?P<why>.*?) -->$|^```(?P<language>[a-z]*)(?P<mark>[^\n]*)\n(?P<body>.*?)^```$",
                  re.S | re.M)


def parts_of(page):
    return list(PART.finditer(page.read_text(encoding="utf-8")))


def words_of(line):
    return " ".join(line.split())


def missing_lines(wanted, printed):
    """Returns the lines of `wanted` that `printed` does not contain in this order. Spaces do not count."""
    rest, missing = iter(map(words_of, printed.splitlines())), []
    for line in filter(None, map(words_of, wanted.splitlines())):
        if line not in rest:
            missing.append(line)
            rest = iter(())
    return missing


def anchors_of(page):
    """Returns the anchors that GitHub-like sites and MyST give to the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Guides(CliTest):
    def run_block(self, block):
        environment = {**os.environ, "PATH": f"{pathlib.Path(POISE).resolve().parent}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, timeout=LIMIT_S, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{block}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def run_page(self, page):
        printed = ""
        for part in parts_of(page):
            if part["kind"] == "setup":
                self.run_block(part["why"])
            elif part["language"] == "sh" and not part["mark"]:
                printed = self.run_block(part["body"])
            elif part["language"] == "text" and not part["mark"]:
                self.assertEqual(missing_lines(part["body"], printed), [], f"{page.name}: not in this order in:\n{printed}")

    def test_every_block_of_commands_in_the_guides_runs(self):
        for page in PAGES:
            with self.subTest(page.name):
                self.setUp()  # an empty folder for each page
                self.run_page(page)

    def test_every_code_block_is_run_by_a_test_or_says_why_not(self):
        for page in PAGES:
            before = None
            for part in parts_of(page):
                if part["language"] is None:
                    before = part
                    continue
                name = f"{page.name}: {part[0][:60]!r}"
                self.assertIn(part["mark"], ("", " no-run"), name)
                self.assertTrue(part["language"], f"{name}: a block names its language")
                if part["mark"] and part["language"] != "text":
                    self.assertTrue(before and before["kind"] == "no-run" and before.end() + 1 == part.start(),
                                    f"{name}: the line before says why it is not run")
                elif part["language"] not in ("sh", "text"):
                    test = ELSEWHERE.get((page.name, part["language"]))
                    self.assertTrue(test, f"{name}: no test runs it")
                    self.assertIn(page.name, (ROOT / test).read_text(encoding="utf-8"))

    def test_guides_contain_commands_only_in_code_blocks_that_are_run_as_tests(self):
        for page in PAGES:
            text = PART.sub("", page.read_text(encoding="utf-8"))
            self.assertEqual(re.findall(r"(?m)^    (?:poise|mpirun|mpiexec|srun|export|pip) .*", text), [], page.name)

    def test_the_check_of_guides_reports_promised_output_lines_that_the_command_does_not_print(self):
        self.assertEqual(missing_lines("a  1\nb 2\n", "x\na 1\ny\n b   2\n"), [])
        self.assertEqual(missing_lines("b 2\na 1\n", "a 1\nb 2\n"), ["a 1"])
        self.assertEqual(missing_lines("a 2\n", "a 1\n"), ["a 2"])

    def test_links_between_pages_have_targets_that_exist(self):
        for page in [*(ROOT / "docs").glob("**/*.md"), *ROOT.glob("*.md")]:
            text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
            for target, heading in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
                with self.subTest(f"{page.name}: {target}#{heading}"):
                    other = page.parent / target if target else page
                    self.assertTrue(other.exists())
                    if heading and other.suffix == ".md":
                        self.assertIn(heading, anchors_of(other))

    def test_no_guide_is_longer_than_its_limit(self):
        for page in GUIDES:
            lines = page.read_text(encoding="utf-8").splitlines()
            self.assertLessEqual(len(lines), MAX_GUIDE_LINES, f"{page.name}: results and reference belong on other pages")

    def test_tables_of_measured_gains_are_on_the_pages_of_results_only(self):
        for page in GUIDES:
            if page.name != "which.md":
                rows = re.findall(r"(?m)^\|.*<!-- figure: .*", page.read_text(encoding="utf-8"))
                self.assertEqual(rows, [], f"{page.name}: link to which.md or results.md")


if __name__ == "__main__":
    unittest.main()
