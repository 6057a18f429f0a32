#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Builds HTML from README.md and docs/ with Sphinx and MyST. usage: docs/site.py FOLDER; `./dev docs` calls this.

Warnings are errors: a link to a page, a heading or a file that does not exist fails the build. Nothing is fetched, so links
to other sites are not tried. docs/api.py makes the pages of the API reference."""

import pathlib
import re
import shutil
import subprocess
import sys

import api

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "ARCHITECTURE.md", "STYLE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
OPTIONS = {"project": "Poise", "extensions": "myst_parser", "root_doc": "docs/README", "myst_heading_anchors": "4",
           "html_theme": "alabaster", "html_show_copyright": "0", "html_show_sphinx": "0",
           "suppress_warnings": "misc.highlighting_failure"}  # excerpts of code omit lines, so some cannot be highlighted
CONTENTS = """

**API reference**, made from headers and modules

{links}

```{toctree}
:hidden:
:glob:

../README
*
decisions/*
../*
```
"""


def copy_page(path, source):
    """Copies a page and the files to which it links. A link to a folder is replaced by the folder's name, because a
    site does not list folders."""
    def resolved(link):
        target = (path.parent / link[2]).resolve()
        if target.is_dir():
            return f"`{target.relative_to(ROOT)}/`"
        if target.exists() and target.suffix != ".md":
            copy = source / target.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(target, copy)
        return link[0]

    text = LINK.sub(resolved, path.read_text(encoding="utf-8"))
    if path == ROOT / "docs" / "README.md":
        text += CONTENTS.replace("{links}", "\n".join(f"- [{title}]({name}.md)" for name, (title, *_) in api.PAGES.items()))
    copy = source / path.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, encoding="utf-8")


def sphinx(python, options, source, output):
    """Returns the command that builds HTML. The command fails on warnings."""
    words = [word for name, value in options.items() for word in ("-D", f"{name}={value}")]
    return [python, "-m", "sphinx", "-q", "-C", "-W", "--keep-going", "-b", "html", *words, source, output]


def main(folder):
    source = folder / "source"
    shutil.rmtree(folder, ignore_errors=True)
    for path in [*(ROOT / name for name in PAGES), *(ROOT / "docs").glob("**/*.md")]:
        copy_page(path, source)
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, source / "docs")
    for name, text in api.pages().items():
        (source / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    done = subprocess.run(sphinx(sys.executable, OPTIONS, source, folder / "html"), check=False)
    if done.returncode == 0:
        print(f"docs: {folder / 'html' / 'docs' / 'README.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
