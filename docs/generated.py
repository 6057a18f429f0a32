#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Writes what the program `poise` prints about itself into pages: variables.md, options.md, and tables of settings in guides.

usage: docs/generated.py build/bin/poise; `./dev docs` calls this. In a guide, a table stands between these comments:

    <!-- generated: the name of the table -->
    <!-- end -->
"""

import json
import pathlib
import re
import subprocess
import sys
import textwrap

DOCS = pathlib.Path(__file__).resolve().parent
sys.path.append(str(DOCS / "man"))
from from_help import help_of, split_help  # noqa: E402

OPTIONS = """# Options of each command

`docs/generated.py` writes this page from the help of the program; `poise COMMAND --help` prints the same. [The command
line](commands.md) tells what all commands have in common and what they print."""
TABLE = re.compile(r"(?s)(<!-- generated: (.*?) -->\n).*?(?=<!-- end -->)")


def printed_by(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, encoding="utf-8", timeout=60).stdout


def cell(text):
    return text.replace("|", "\\|")


def code(text):
    return f"`{text}`" if text else ""


def table(head, rows):
    return "".join(f"| {' | '.join(cell(text) for text in row)} |\n" for row in [head, *rows]).replace(
        "\n", "\n" + "|---" * len(head) + "|\n", 1)


def settings_of(variables, reader, prefix=""):
    """Returns the table of the variables that `reader` reads and whose names begin with `prefix`. With a prefix, the
    table names each variable as a setting: in lower case, without the prefix."""
    rows = [row for row in variables if reader in row["readers"].split(", ") and row["name"].startswith(prefix)
            and not row["help"].startswith(("set by", "deprecated"))]
    named = [(row["name"].removeprefix(prefix).lower() if prefix else row["name"], row) for row in rows]
    return table(["setting" if prefix else "variable", "takes", "default", "meaning"],
                 [[code(name), row["takes"], code(row["initial"]), row["help"]] for name, row in named])


def wrapped(text):
    return "\n".join(textwrap.wrap(" ".join(text.split()), 100, break_long_words=False, break_on_hyphens=False))


def options_of(program, command):
    """Returns the section of options.md about `command`."""
    summary, usage, sections, rest = split_help(help_of(program, command))
    lines = [f"## {command}", "", wrapped(f"{summary.rstrip('.')}. Usage: `{usage}`"), ""]
    rows = [[code(name), text] for _, items in sections for name, text in items if name != "-h,--help"]
    lines += [table(["argument", "meaning"], rows)] if rows else []
    for block in rest:
        listed = [f"  {line}" for line in block if line.startswith("  ")]  # indented by 4: a code block in Markdown
        prose = "\n".join(line for line in block if not line.startswith("  "))
        for line in re.sub(r"\n(?!Example: )", " ", prose).split("\n"):
            example = re.match(r"Example: (.*)", line)
            lines += [wrapped(f"Example: `{example[1]}`" if example else line), ""]
        lines += [*listed, ""] if listed else []
    return "\n".join(lines).rstrip() + "\n"


def options_page(program):
    commands = next(items for title, items in split_help(help_of(program))[2] if title == "Subcommands")
    return "\n".join(["\n".join([OPTIONS.split("\n")[0], "", wrapped(OPTIONS.split("\n", 1)[1])]) + "\n",
                      *(options_of(program, command) for command, _ in commands)])


def pages(program):
    """Returns the text of each file that is generated as a whole or in part."""
    variables = json.loads(printed_by(program, "variables", "--json"))["variables"]
    tables = {"settings of tasks": settings_of(variables, "tasks", "POISE_TASKS_"), "variables of objects": settings_of(variables, "objects")}
    made = {DOCS / "variables.md": printed_by(program, "variables", "--page"), DOCS / "options.md": options_page(program)}
    for page in DOCS.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if TABLE.search(text):
            made[page] = TABLE.sub(lambda found: found[1] + tables[found[2]], text)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for path, content in pages(sys.argv[1]).items():
        path.write_text(content, encoding="utf-8")
