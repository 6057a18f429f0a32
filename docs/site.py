#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Builds HTML from README.md and docs/ with Sphinx and MyST. usage: docs/site.py FOLDER; `./dev docs` calls this.

Warnings are errors: a link to a page, a heading or a file that does not exist fails the build. Nothing is fetched, so links
to other sites are not tried. The page of the C API is made here, from poise/poise.h."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "ARCHITECTURE.md", "STYLE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
OPTIONS = {"project": "Poise", "extensions": "myst_parser", "root_doc": "docs/README", "myst_heading_anchors": "4",
           "html_theme": "alabaster", "html_show_copyright": "0", "html_show_sphinx": "0",
           "suppress_warnings": "misc.highlighting_failure"}  # excerpts leave lines out
CONTENTS = """

```{toctree}
:hidden:
:glob:

../README
*
decisions/*
../*
```
"""
API = """# The C API

Made from [`poise/poise.h`](../poise/poise.h) by `docs/site.py`. [Calling Poise from a program](library.md) shows programs.
"""


def api_page(header):
    """Returns the sections, comments and declarations of a header. A comment stands above the declarations that it
    describes."""
    header = re.sub(r"(?ms)^(static inline [^{]*?) \{\n.*?^\}$", r"\1;", header)  # without bodies
    lines = [API]
    head = re.search(r"(?s)(.*?)#pragma once", header)[1]
    lines += [re.sub(r"(?m)^// ?", "", head.split("\n", 1)[1]), ""]
    comment, declared, in_comment = [], [], False

    def flush():
        if re.search(r"\bpoise_\w+", "\n".join(declared)):
            lines.extend(["```c", *declared, "```", "", " ".join(comment).strip("/* "), ""])
        comment.clear()
        declared.clear()

    for line in header[header.index('extern "C" {'):].splitlines()[1:]:
        if in_comment or line.startswith("/*"):
            if declared:
                flush()
            title = re.match(r"/\* -+ (.*?) -+ \*/", line)
            if title:
                lines.extend([f"## {title[1]}", ""])
                continue
            comment.append(line.strip())
            in_comment = not line.endswith("*/")
        elif not line or line.startswith(("#", "}  //")):
            flush()
        else:
            declared.append(line)
    return "\n".join(lines)


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
        text += CONTENTS
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
    (source / "docs" / "api.md").write_text(api_page((ROOT / "poise" / "poise.h").read_text(encoding="utf-8")), encoding="utf-8")
    done = subprocess.run(sphinx(sys.executable, OPTIONS, source, folder / "html"), check=False)
    if done.returncode == 0:
        print(f"docs: {folder / 'html' / 'docs' / 'README.html'}")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
