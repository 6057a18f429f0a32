#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Checks the figures that README.md and the pages quote as measured. usage: docs/figures.py; prints a line per problem.

A figure from bench/results is followed by a comment that names its row in a table of docs/results_tables.py:

    bound threads gain x1.32 <!-- figure: juggle "Gains" gain where scenario="bound threads, one phase" runner=auto -->

The number before the comment must be the named figure, rounded to the printed digits. `where` must select exactly
one row, unless `min`, `max` or `median` before the column says how to combine the values of several rows. `times 100`
converts a fraction to per cent. If a selected row is stale (docs/results.py), the word stale must stand in the same
paragraph or table, or in the one before or after.

A sentence that claims a speed (CLAIMS) with a ratio, a percentage or a time must have such a comment, or the comment
<!-- given: WHY -->, which says why the number is not a measurement. A comment `given` on a line of its own applies to
the next paragraph or table. Code and output between fences are not checked here, because tests run them. Decision
records may state what was measured when they were written."""

import json
import pathlib
import re
import shlex
import statistics
import sys

import results
from results_tables import PAGES

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATED = {"results.md", "variables.md", "options.md"}
CLAIMS = re.compile(r"\b(faster|slower|speed-?up|gain(s|ed)?|saves?d?|shorter|longer|takes?|took|costs?|reach(es|ed)?|overhead|less|"
                    r"measured|median|best|worst|moves?)\b", re.I)
QUANTITY = re.compile(r"(?<![\w.])(x|×)?\d[\d,]*(\.\d+)?\s?(%|x\b|×|times\b|ns\b|[µu]s\b|ms\b|s\b|[GM]B/s)|(?<!\w)[x×]\d+(\.\d+)?")
NUMBER = re.compile(r"-?(?:\d[\d,]*)?\.?\d+")
COMMENT = re.compile(r"<!--\s*(figure|given):\s*(.*?)\s*-->", re.S)
MARK = "\x01"  # check_block() replaces HTML comments by this character before it searches the text
COMBINE = {"min": min, "max": max, "median": statistics.median}


class Wrong(Exception):
    pass


def rows_of(benchmark, title):
    for table in PAGES.get(benchmark, ("", []))[1]:
        if table.title == title:
            return list(table.rows(json.loads((results.RESULTS / f"{benchmark}.json").read_text(encoding="utf-8"))))
    raise Wrong(f'no table "{title}" of benchmark "{benchmark}" in docs/results_tables.py')


def column_of(row, path):
    for name in path.split("."):
        if name not in row:
            raise Wrong(f'no column "{name}"; there are {", ".join(row)}')
        row = row[name]
    return row


def value_of(reference):
    """Returns the figure to which a reference in a comment points, and whether this figure is stale."""
    words = shlex.split(" ".join(reference.split()))
    factor = float(words.pop() if words[-2:-1] == ["times"] else 1)
    words = words[:-1] if words[-1:] == ["times"] else words
    conditions = words[words.index("where") + 1:] if "where" in words else []
    benchmark, title, *column = words[:words.index("where")] if "where" in words else words
    rows = rows_of(benchmark, title)
    for condition in conditions:
        name, _, wanted = condition.partition("=")
        rows = [row for row in rows if str(column_of(row, name)) == wanted]
    combine = COMBINE[column.pop(0)] if len(column) > 1 else None
    if not rows or (len(rows) > 1 and not combine):
        raise Wrong(f"{len(rows)} rows match")
    values = [column_of(row, column[0]) for row in rows]
    stale = any(results.is_stale(row["measured"], results.GRACE) for row in rows)
    return (combine(values) if combine else values[0]) * factor, stale


def check_figure(before, reference, near):
    """Raises Wrong unless the last number in the text `before` equals the figure to which the reference points."""
    numbers = NUMBER.findall(COMMENT.sub("", before))
    if not numbers:
        raise Wrong("no number before it")
    printed = numbers[-1].replace(",", "")
    value, stale = value_of(reference)
    digits = len(printed.partition(".")[2])
    if abs(value - float(printed)) > 0.5 * 10 ** -digits * (1 + 1e-6):
        raise Wrong(f"the page says {printed}, the kept result {value:.{digits + 2}f}")
    if stale and "stale" not in COMMENT.sub("", near):
        raise Wrong('the result is stale; measure again, or write "stale" beside it')


def blocks_of(text):
    """Returns (line, text) of each paragraph and table outside of code. A comment <!-- given: … --> on a
    line of its own belongs to the next block."""
    text = re.sub(r"^```.*?^```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S | re.M)
    text = re.sub(r"(?m)^(    .*)$", "", text)
    text = re.sub(r"(?m)^(<!-- given: .*-->)\n\n", r"\1\n", text)
    for block in re.finditer(r"(?:.+\n?)+", text):
        yield text.count("\n", 0, block.start()) + 1, block[0]


def sentences_of(block):
    """Splits a table into rows, a list into items, and other text into sentences. An HTML comment stays with the
    sentence before it."""
    hidden = COMMENT.sub(lambda comment: re.sub(r"\s", "\0", comment[0]), block)
    pieces = hidden.split("\n") if hidden.lstrip().startswith("|") else re.split(r"(?<=[.:;])\s+(?!<!--)(?=\S)|\n(?=- )", hidden)
    return [piece.replace("\0", " ") for piece in pieces]


def check_block(block, near, claims_count):
    for comment in COMMENT.finditer(block):
        if comment[1] == "figure":
            try:
                check_figure(block[:comment.start()], comment[2], near)
            except (Wrong, KeyError, ValueError, IndexError) as wrong:
                yield f"<!-- figure: {comment[2]} -->: {wrong}"
    if not claims_count or re.match(r"<!-- given: \S", block):
        return
    is_table = block.lstrip().startswith("|")
    for sentence in sentences_of(block):
        plain = re.sub(r"`[^`]*`", "", COMMENT.sub(MARK, sentence))
        claims = CLAIMS.search(block.split("\n")[0] + plain if is_table else plain)
        if claims and "<!-- given:" not in sentence:
            for quantity in QUANTITY.finditer(plain):
                if not re.match(rf"[^\d{MARK}]{{0,12}}{MARK}", plain[quantity.end():]):
                    yield f'"{quantity[0].strip()}" has no kept result: "{" ".join(plain.split())[:80]}"'


def troubles(page):
    """Yields the problems of one page. The word stale, which must accompany a stale figure, may stand in the paragraph
    or table of the figure, in the one before, or in the one after."""
    blocks = list(blocks_of(page.read_text(encoding="utf-8")))
    for i, (line, block) in enumerate(blocks):
        near = "".join(text for _, text in blocks[max(i - 1, 0):i + 2])
        for trouble in check_block(block, near, page.parent.name != "decisions"):
            yield f"{page.name}:{line}: {trouble}"


def pages():
    return [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("**/*.md")) if page.name not in GENERATED)]


if __name__ == "__main__":
    found = [trouble for page in pages() for trouble in troubles(page)]
    print("\n".join(found) or "figures: every measured number is a kept result")
    sys.exit(bool(found))
