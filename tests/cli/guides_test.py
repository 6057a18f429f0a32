# SPDX-License-Identifier: BSD-3-Clause

"""Runs every command of the guides: blocks of a page marked ```sh, in order, in one empty folder."""

import os
import pathlib
import re
import subprocess
import unittest

from run_poise import POISE, CliTest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = "start.md",


class Guides(CliTest):
    def test_every_command_of_the_guides_works(self):
        for page in PAGES:
            blocks = re.findall(r"^```sh\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.S | re.M)
            self.assertTrue(blocks, page)
            path = f"{pathlib.Path(POISE).resolve().parent}:{os.environ['PATH']}"
            for block in blocks:
                with self.subTest(f"{page}: {block}"):
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder, timeout=120,
                                          env={**os.environ, "PATH": path}, capture_output=True, text=True,
                                          check=False)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_links_between_pages_have_targets_that_exist(self):
        for page in [*DOCS.glob("**/*.md"), *(DOCS.parent).glob("*.md")]:
            text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
            for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", text):
                with self.subTest(f"{page.name}: {target}"):
                    self.assertTrue((page.parent / target).exists())


if __name__ == "__main__":
    unittest.main()
