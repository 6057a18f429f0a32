# SPDX-License-Identifier: BSD-3-Clause

"""Runs the code blocks of README.md and docs/*.md; tests/support/guide_blocks.py describes the marks of a block. All
blocks of a page run in order in one folder, which is empty at first and is also the home folder. Variables that a block
exports are kept for the next blocks.

A block may need more than the command poise, such as "mpi" (MPI and the mini-apps) or "installed" (an installed Poise).
The variable GUIDES_HAVE lists what exists here, except numpy and Clang 16, which the test finds itself. Blocks that
need anything else are left out. If GUIDES_HAVE is not set, the test runs all pages. If it is set, the test runs only
pages with a block that needs the first thing in the list. Of these, pages that need "installed" run only if the list
contains "installed", so that no page runs twice."""

import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from run_poise import POISE, CliTest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from guide_blocks import PAGES, ROOT, blocks_of, missing_from_source, missing_lines, outside_of_blocks  # noqa: E402

# Reference pages. All other pages in docs/ are guides.
REFERENCE = {"results.md", "variables.md", "options.md", "commands.md", "formats.md"}
GUIDES = [page for page in PAGES if page.parent.name == "docs" and page.name not in REFERENCE]
MAX_GUIDE_LINES = 150
MAX_NOT_RUN = 6  # maximum number of blocks that no test runs
LIMIT_S = 600  # time-out of a code block in seconds, long enough for a busy machine
GIVEN = os.environ.get("GUIDES_HAVE", "").split()
HAVE = {*GIVEN} | {name for name in ("numpy",) if importlib.util.find_spec(name)} | {name for name, file in
        {"clang-16": "clang-offload-packager-16"}.items() if shutil.which(file)}
BIN = pathlib.Path(POISE).resolve().parent
COMMANDS = r"poise|mpirun|mpiexec|srun|sbatch|export|pip|cc|c\+\+|gcc|g\+\+|clang\S*|mpicc|mpicxx|mpifort|\./\w+|cmake|ctest|make|ninja|git|charmc"
# Runs before each block: restores the exported variables and the current folder of the previous block, and defines a
# shell function. `stand_in FILE SCRIPT` writes a shell script that takes the place of a program which a block calls.
BEFORE = """[ ! -f ~/.exported ] || . ~/.exported
stand_in() { mkdir -p "$(dirname "$1")"; printf '#!/bin/sh\\n%s\\n' "$2" > "$1"; chmod +x "$1"; }
"""
AFTER = "\ndeclare -px > ~/.exported; echo \"cd '$PWD'\" >> ~/.exported\n"
WRAPPER = "#!/bin/sh\nexec {} \"$@\"\n"


def anchors_of(page):
    """Returns the anchors that GitHub-like sites and MyST give to the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def needs_of(page):
    return {word for block in blocks_of(page) for word in block.marks.get("needs", "").split()}


class Runs(CliTest):
    def enter(self, page):
        """Makes an empty home folder for the blocks of a page. Its folder bin/ is searched first for commands: stand-ins, and
        the launcher and the compilers of the MPI with which Poise was built."""
        self.setUp()
        self.left_out = 0
        (self.folder / "bin").mkdir()
        launcher = os.environ.get("MPIEXEC", "")
        for name, path in {"mpirun": launcher, "mpiexec": launcher, **{name: os.environ.get(name.upper(), "")
                                                                      for name in ("mpicc", "mpicxx", "mpifort")}}.items():
            if path:
                (self.folder / "bin" / name).write_text(WRAPPER.format(path))
                (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "build").symlink_to(BIN.parent)
        if os.environ.get("INSTALLED"):
            (self.folder / "poise").symlink_to(os.environ["INSTALLED"])
        self.environment = {**os.environ, "HOME": str(self.folder), "PATH": f"{self.folder}/bin:{BIN}:{os.environ['PATH']}",
                            "ROOT": str(ROOT), "XDG_DATA_HOME": str(self.folder / ".local" / "share")}

    def run_commands(self, commands):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", BEFORE + commands + AFTER], cwd=self.folder, timeout=LIMIT_S,
                              env=self.environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, f"{commands}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def run_block(self, block, printed):
        """Runs, writes or compares a block. A block of commands is run. A block with the mark `file: NAME` is written to
        the file NAME. The lines of a block of output must occur in `printed`, the output of the previous commands. Returns the
        output of the last commands that have run."""
        for command in block.marks["setup"]:
            self.run_commands(command)
        if "file" in block.marks:
            (self.folder / block.marks["file"]).write_text(block.body, encoding="utf-8")
        elif block.language == "sh" and "run-by" not in block.marks:
            return self.run_commands(block.body)
        elif block.language == "text":
            if "output-of" in block.marks:
                printed = self.run_commands(block.marks["output-of"])
            self.assertEqual(missing_lines(block.body, printed), [], f"{block}: not in this order in:\n{printed}")
        return printed

    def run_page(self, page):
        self.enter(page)
        printed = ""
        for block in blocks_of(page):
            if block.end:
                continue
            if set(block.marks.get("needs", "").split()) <= HAVE:
                printed = self.run_block(block, printed)
            else:
                print(f"left out, because it needs {block.marks['needs']}: {block}")

    def test_every_block_of_commands_in_the_guides_runs(self):
        for page in PAGES:
            needs = needs_of(page)
            if not GIVEN or (GIVEN[0] in needs and ("installed" in HAVE or "installed" not in needs)):
                with self.subTest(page.name):
                    self.run_page(page)


class Rules(unittest.TestCase):
    def assert_checked(self, block):
        """Checks that a block is run or compared, either by this test or by another test that a mark of the block
        names."""
        marks, name = block.marks, str(block)
        self.assertTrue(block.language, f"{name}: a block names its language")
        if "run-by" in marks:
            self.assertIn(f'"{block.page.relative_to(ROOT)}"', (ROOT / marks["run-by"]).read_text(encoding="utf-8"), name)
        elif "excerpt" in marks:
            self.assertEqual(missing_from_source(block.body, (ROOT / marks["excerpt"]).read_text(encoding="utf-8")), [], name)
        elif "file" in marks:
            used = [other for other in blocks_of(block.page) if other.language == "sh" and marks["file"] in other.body]
            self.assertTrue(used or marks["file"] == "CMakeLists.txt", f"{name}: no block compiles {marks['file']}")
        elif block.language == "json":
            json.loads(block.body)
        else:
            self.assertIn(block.language, ("sh", "text"), f"{name}: no test runs it")

    def test_every_code_block_is_checked_by_a_test_or_states_why_it_is_not_checked(self):
        for page in PAGES:
            for block in blocks_of(page):
                self.assertEqual(block.end, " no-run" if "no-run" in block.marks else "", str(block))
                if not block.end:
                    self.assert_checked(block)

    def test_only_a_few_code_blocks_are_not_run_and_each_of_these_blocks_states_the_reason(self):
        not_run = [block for page in PAGES for block in blocks_of(page) if block.end]
        for block in not_run:
            print(f"not run: {block}: {block.marks.get('no-run')}")
            self.assertRegex(block.marks.get("no-run", ""), r"^needs |^takes ", f"{block}: say what it needs or takes")
        self.assertLessEqual(len(not_run), MAX_NOT_RUN)

    def test_guides_contain_commands_only_in_code_blocks_that_are_checked(self):
        for page in PAGES:
            found = re.findall(rf"(?m)^    (?:\w+=\S+ )*(?:{COMMANDS})(?: .*|$)", outside_of_blocks(page))
            self.assertEqual(found, [], page.name)

    def test_the_check_of_guides_reports_lines_of_an_output_block_that_the_command_does_not_print(self):
        self.assertEqual(missing_lines("a  1\nb 2\n", "x\na 1\ny\n b   2\n"), [])
        self.assertEqual(missing_lines("b 2\na 1\n", "a 1\nb 2\n"), ["a 1"])
        self.assertEqual(missing_lines("a 2\n", "a 1\n"), ["a 2"])

    def test_the_check_of_guides_reports_lines_of_an_excerpt_that_the_program_does_not_contain(self):
        program = "int f(int a) {\n  return a;  // the same\n}\nint b;\n"
        self.assertEqual(missing_from_source("int f(int a) { … }\nint b;", program), [])
        self.assertEqual(missing_from_source("int b;\nint f(int a)", program), ["intf(inta)"])
        self.assertEqual(missing_from_source("return b;", program), ["returnb;"])

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
            if page.name not in ("which.md", "scale.md"):  # scale.md extrapolates from measured times
                rows = re.findall(r"(?m)^\|.*<!-- figure: .*", page.read_text(encoding="utf-8"))
                self.assertEqual(rows, [], f"{page.name}: link to which.md or results.md")


if __name__ == "__main__":
    unittest.main()
