# SPDX-License-Identifier: BSD-3-Clause

"""Tests the completions of bash and zsh as a user who presses the tab key sees them."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from run_poise import POISE, CliTest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "completion"
PATIENCE_S = 60


class Bash(CliTest):
    def complete(self, *words):
        done = subprocess.run(
            ["bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _poise;'
             ' echo "${COMPREPLY[@]}"', FOLDER / "poise.bash", POISE, *words],
            check=True, capture_output=True, encoding="utf-8", timeout=PATIENCE_S)
        return done.stdout.split()

    def test_bash_completes_commands_and_options_and_strategies_and_choices(self):
        self.assertEqual(self.complete("comp"), ["compare"])
        self.assertIn("--strategies", self.complete("compare", "--str"))
        self.assertIn("greedy", self.complete("plan", "--strategy", "gr"))
        self.assertEqual(self.complete("juggle", "--numa", "a"), ["across"])
        self.assertEqual(self.complete("juggle", "--json", "a"), [], "files are bash's own part")

    def test_bash_completes_every_command_that_the_help_lists(self):
        section = self.run_poise("--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
        self.assertEqual(set(self.complete("")), set(re.findall(r"(?m)^  (\w+)", section)))


class Terminal:
    """A shell that runs in a pseudo-terminal."""

    def __init__(self, *command, **environment):
        self.process, self.handle = pty.fork()
        if self.process == 0:
            os.execvpe(command[0], command, {**os.environ, "TERM": "dumb", **environment})
        self.output = ""

    def type(self, text):
        os.write(self.handle, text.encode())

    def shows(self, pattern):
        """Waits until the pattern is on the screen, then discards what was printed before it."""
        ends_s = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.output)):
            if time.monotonic() > ends_s or not select.select([self.handle], [], [], 1)[0]:
                if time.monotonic() > ends_s:
                    raise AssertionError(f"{pattern!r} does not come: {self.output[-2000:]!r}")
                continue
            self.output += os.read(self.handle, 4096).decode(errors="replace")
        self.output = self.output[found.end():]

    def close(self):
        os.close(self.handle)
        os.waitpid(self.process, 0)


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class Zsh(CliTest):
    def setUp(self):
        super().setUp()
        shutil.copy(FOLDER / "poise.zsh", self.folder / "_poise")
        (self.folder / "poise").symlink_to(POISE)
        self.shell = Terminal("zsh", "-f", "-i", PATH=f"{self.folder}:{os.environ['PATH']}", COLUMNS="200")
        self.addCleanup(self.shell.close)
        self.shell.type(f"PROMPT=; fpath=({self.folder} $fpath); autoload -Uz compinit; compinit -u -D; "
                        "setopt no_list_beep; bindkey '^U' kill-whole-line; print is-$_comps[poise]\n")
        self.shell.shows("is-_poise")

    def test_zsh_completes_commands_and_options_and_choices(self):
        for typed, completed in [("poise compa\t", "compare "), ("poise compare --strat\t", "--strategies"),
                                 ("poise plan --strategy greedy_r\t", "greedy_refine"),
                                 ("poise juggle --numa a\t", "across")]:
            with self.subTest(typed):
                self.shell.type(typed)
                self.shell.shows(re.escape(completed))
                self.shell.type("\x15")

    def test_zsh_shows_a_description_beside_each_command(self):
        self.shell.type("poise co\t")
        self.shell.shows("compare +-- Compare strategies side by side")


if __name__ == "__main__":
    unittest.main()
