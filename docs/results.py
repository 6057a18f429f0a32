#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Writes docs/results.md from bench/results/*.json: `./dev docs` calls this.

A figure is stale if its row does not say at which commit it was measured, or if more than MAX_COMMITS commits lie
between. The number of commits is not printed, so that the page changes only when a figure becomes stale."""

import functools
import json
import pathlib
import subprocess
import textwrap

from results_tables import PAGES

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "results.md"
MAX_COMMITS = 300
INTRODUCTION = f"""Written by `./dev docs` from [bench/results](../bench/results); do not edit. `./dev bench NAME` measures
anew. Medians come first, the worst case beside them. A mean says which one it is. Each table says when, at which commit
and on which machine its figures were measured. Times on a machine that does other work are noisy; the load average
tells. **stale**: measured more than {MAX_COMMITS} commits ago, or at a commit that was not recorded."""


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False).stdout.strip()


@functools.cache
def is_stale(commit):
    """Whether a figure of this commit is stale; None where git cannot tell (no clone, or a shallow one)."""
    if commit is None:
        return True
    if git("rev-parse", "--is-shallow-repository") != "false":
        return None
    counted = git("rev-list", "--count", f"{commit.rstrip('+')}..HEAD")
    return not counted or int(counted) > MAX_COMMITS


def stamp_text(stamp):
    commit, first = stamp["commit"], stamp.get("first_kept_by")
    place = f"commit {commit}" if commit else f"commit unknown, {first} or before" if first else "commit unknown"
    load = "" if stamp["load_average"] is None else f", load average {stamp['load_average']:.1f}"
    stale = {True: " **stale**", False: "", None: ""}[is_stale(commit)]
    return f"{stamp['date']}, {place}; {stamp['machine']}{load}.{stale}"


def wrapped(text, indent=""):
    return textwrap.wrap(text, 100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def table_text(table, whole):
    rows = list(table.rows(whole))
    stamps = list(dict.fromkeys(stamp_text(row["measured"]) for row in rows))
    columns = dict(table.columns) | ({"measured": None} if len(stamps) > 1 else {})
    lines = [f"### {table.title}", "", *wrapped(table.text), "",
             "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        letter = chr(ord("a") + stamps.index(stamp_text(row["measured"])))
        lines.append("| " + " | ".join(letter if cell is None else cell.format_map(row) for cell in columns.values()) + " |")
    lines.append("")
    for i, stamp in enumerate(stamps):
        lines += wrapped(f"- measured {f'({chr(97 + i)}) ' if len(stamps) > 1 else ''}{stamp}", "  ")
    return lines + ["", *(wrapped(table.note(rows)) + [""] if table.note else [])]


def page(results=RESULTS):
    lines = ["# Results", "", *wrapped(INTRODUCTION), ""]
    for name, (heading, tables) in PAGES.items():
        path = results / f"{name}.json"
        lines += [f"## {heading}", "", f"`./dev bench {name}`, [all rows](../bench/results/{name}.json).", ""]
        for table in tables:
            lines += table_text(table, json.loads(path.read_text(encoding="utf-8")))
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
