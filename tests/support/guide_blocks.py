# SPDX-License-Identifier: BSD-3-Clause

"""Reads the code blocks of README.md and docs/*.md, and the marks that say how a test checks a block.

A block of commands (sh) runs; a block of output (text) is compared with what the block before it printed; a block of JSON is
parsed. A mark is a comment on the line before a block or before another mark:

    <!-- setup: COMMAND -->       runs first; it makes what the reader already has, such as a program (function stand_in)
    <!-- needs: WORD… -->         the block runs only in tests that have these: mpi, installed (Poise under ~/poise), …
    <!-- file: NAME -->           the block is written to the file NAME, which a later block compiles
    <!-- excerpt: PATH -->        the file PATH, which a test compiles, has the lines of the block; … is omitted code
    <!-- output-of: COMMAND -->   COMMAND prints the lines of the block
    <!-- run-by: PATH -->         the test PATH reads the block and runs it
    <!-- no-run: WHY -->          nothing checks the block, which begins with ```LANGUAGE no-run
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKS = ("setup", "needs", "file", "excerpt", "output-of", "run-by", "no-run")
PART = re.compile(rf"^<!-- (?P<kind>{'|'.join(MARKS)}): (?P<value>.*?) -->$|^```(?P<language>[a-z]*)(?P<end>[^\n]*)\n(?P<body>.*?)^```$",
                  re.S | re.M)


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    language: str
    end: str  # text after the language on the first line of the block
    body: str
    marks: dict  # maps the name of each mark to its value; the value of `setup` is a list of commands

    def __str__(self):
        return f"{self.page.name}: {self.body.strip()[:60]!r}"


def blocks_of(page):
    """Returns the blocks of a page in their order. Raises ValueError if a mark is not directly before a block."""
    blocks, marks, end = [], {"setup": []}, None
    for part in PART.finditer(page.read_text(encoding="utf-8")):
        if end is not None and end + 1 != part.start():
            raise ValueError(f"{page.name}: no code block follows the mark before {part[0][:60]!r}")
        if part["kind"] == "setup":
            marks["setup"].append(part["value"])
        elif part["kind"]:
            marks[part["kind"]] = part["value"]
        else:
            blocks.append(Block(page, part["language"], part["end"], part["body"], marks))
            marks = {"setup": []}
        end = part.end() if part["kind"] else None
    if end is not None:
        raise ValueError(f"{page.name}: no code block follows the last mark")
    return blocks


def blocks_run_by(test, page_name):
    """Returns the text of the blocks of a page that the test at this path must run."""
    path = str(pathlib.Path(test).resolve().relative_to(ROOT))
    found = [block.body for block in blocks_of(ROOT / page_name) if block.marks.get("run-by") == path]
    if not found:
        raise ValueError(f"{page_name} has no block that {path} runs")
    return found


def outside_of_blocks(page):
    return PART.sub("", page.read_text(encoding="utf-8"))


def words_of(line):
    return " ".join(line.split())


def missing_lines(wanted, printed):
    """Returns the lines of `wanted` that `printed` does not contain in this order. Spaces do not count."""
    rest, missing = iter(map(words_of, printed.splitlines())), []
    for line in filter(None, map(words_of, wanted.splitlines())):
        if line not in rest:
            missing.append(line)
            rest = iter(())
    return missing


def missing_from_source(excerpt, source):
    """Splits an excerpt at each …, which marks omitted code, and returns the pieces that the source does not contain in
    this order. Comments and spaces do not count."""
    plain = re.sub(r"\s+", "", re.sub(r"(?m)(//|^\s*!).*$", "", source))
    position, missing = 0, []
    for piece in re.split(r"…|\n", re.sub(r"(?m)(//|^\s*!).*$", "", excerpt)):
        piece = re.sub(r"\s+", "", piece)
        found = plain.find(piece, position)
        if found < 0:
            missing.append(piece)
        else:
            position = found + len(piece)
    return missing
