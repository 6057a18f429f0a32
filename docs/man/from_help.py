#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Writes manual pages from the program's own help: poise.1, and poise-COMMAND.1 for each command.
All pages list the environment variables.

usage: from_help.py build/bin/poise build/man
"""

import json
import pathlib
import re
import subprocess
import sys


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], check=True, capture_output=True,
                          encoding="utf-8").stdout


def escaped(text):
    """Escapes what roff interprets: backslashes, and dots and quotes at the beginning of a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def entries(lines):
    """Returns (name, text) of each entry of a section. The name is indented by 2 columns, the text by more."""
    found = []
    for line in lines:
        if match := re.match(r"  (\S.*?)(?:\s{2,}(.*))?$", line):
            found.append((match[1], [match[2]] if match[2] else []))
        elif line.strip() and found:
            found[-1][1].append(line.strip())
    return [(name, " ".join(text)) for name, text in found]


def split_help(text):
    """Splits the help of a command into the summary, the usage, the sections with entries, and the remaining text."""
    blocks = [block.splitlines() for block in re.split(r"\n\s*\n", text.strip())]
    summary, usage, sections, rest = " ".join(blocks[0]), "", [], []
    for lines in blocks[1:]:
        if lines[0].startswith("Usage: "):
            usage = " ".join(lines)[len("Usage: "):]
        elif lines[0] in ("Positionals:", "Options:", "Subcommands:"):
            sections.append((lines[0][:-1], entries(lines[1:])))
        else:
            rest.append(lines)
    return summary, usage, sections, rest


def environment_of(program):
    """Returns the section ENVIRONMENT, from the output of `poise variables`."""
    rows = json.loads(subprocess.run([program, "variables", "--json"], check=True, capture_output=True,
                                     encoding="utf-8").stdout)["variables"]
    out = [".SH ENVIRONMENT"]
    for row in rows:
        default = f"; default: {row['initial']}" if row["initial"] else ""
        out += [".TP", f".B {escaped(row['name'])}",
                escaped(f"({row['readers']}) {row['help']}. Takes {row['takes']}{default}.")]
    return out


def page(name, version, text, environment):
    summary, usage, sections, rest = split_help(text)
    out = [f'.TH {name.upper()} 1 "" "poise {version}" "Poise"',
           ".SH NAME", f"{escaped(name)} \\- {escaped(summary.rstrip('.'))}",
           ".SH SYNOPSIS", f".B {escaped(usage)}"]
    for title, items in sections:
        out.append(".SH " + {"Positionals": "ARGUMENTS", "Subcommands": "COMMANDS"}.get(
            title, title.upper()))
        for item, description in items:
            out += [".TP", f".B {escaped(item)}", escaped(description)]
    out += environment
    if rest:
        out.append(".SH NOTES")
    for lines in rest:
        out += [".PP", ".nf", *map(escaped, lines), ".fi"]
    return "\n".join(out) + "\n"


def main(program, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([program, "--version"], check=True, capture_output=True,
                             encoding="utf-8").stdout.split()[1]
    overview, environment = help_of(program), environment_of(program)
    (folder / "poise.1").write_text(page("poise", version, overview, environment), encoding="utf-8")
    for title, items in split_help(overview)[2]:
        if title != "Subcommands":
            continue
        for command, _ in items:
            (folder / f"poise-{command}.1").write_text(
                page(f"poise-{command}", version, help_of(program, command), environment), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
