# SPDX-License-Identifier: BSD-3-Clause

"""Tests the HTML pages (docs/site.py): what is generated for Sphinx and, if Sphinx is installed, that it finds broken
links."""

import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("poise_site", ROOT / "docs" / "site.py")  # `import site` would load Python's module
site = importlib.util.module_from_spec(spec)
spec.loader.exec_module(site)

TOOLS = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "poise" / "docs" / "bin"
HEADER = '''// A licence
// What this is.
#pragma once
extern "C" {
/* ---- Machines ---- */

/* Makes one.
   It says more. */
int poise_make(const char* text,
               int how);
int poise_drop(int which);

static inline int poise_inline(int x) {
  int y = x;

  return y;
}
#ifdef X
}  // extern "C"
'''


class Site(unittest.TestCase):
    def test_the_api_page_shows_each_comment_below_the_declarations_it_describes(self):
        page = site.api_page(HEADER)
        self.assertIn("What this is.", page)
        self.assertIn("## Machines\n\n```c\nint poise_make(const char* text,\n               int how);\nint poise_drop(int which);\n```\n\n"
                      "Makes one. It says more.\n", page)
        self.assertIn("static inline int poise_inline(int x);", page)
        self.assertNotIn("return y", page)

    def test_the_api_page_lists_every_function_of_the_c_interface(self):
        header = (ROOT / "poise" / "poise.h").read_text(encoding="utf-8")
        declared = set(re.findall(r"(?m)^[a-z].*?\b(poise_\w+)\(", header))
        self.assertGreater(len(declared), 40)
        page = "\n".join(re.findall(r"(?s)```c\n(.*?)```", site.api_page(header)))
        self.assertEqual({name for name in declared if f"{name}(" not in page}, set())

    def test_files_that_a_guide_links_to_are_copied_beside_its_html_page(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder).resolve()
            (folder / "docs" / "sub").mkdir(parents=True)
            (folder / "a.h").write_text("x")
            (folder / "docs" / "page.md").write_text("[h](../a.h) [p](other.md#x) [s](sub/) [w](https://a.example)")
            with mock.patch.object(site, "ROOT", folder):
                site.copy_page(folder / "docs" / "page.md", folder / "out")
            self.assertEqual((folder / "out" / "a.h").read_text(), "x")
            self.assertEqual((folder / "out" / "docs" / "page.md").read_text(),
                             "[h](../a.h) [p](other.md#x) `docs/sub/` [w](https://a.example)")

    @unittest.skipUnless((TOOLS / "sphinx-build").exists(), "no Sphinx: ./dev docs gets it")
    def test_broken_links_fail_the_build_of_the_html_pages(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for text, status in ("# A\n\n[a](#a)\n", 0), ("# A\n\n[b](other.md)\n", 1), ("# A\n\n[c](#c)\n", 1):
                (folder / "index.md").write_text(text)
                options = {**site.OPTIONS, "root_doc": "index"}
                command = site.sphinx(TOOLS / "python", options, folder, folder / "html")
                done = subprocess.run(command, capture_output=True, timeout=300, check=False)
                self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    unittest.main()
