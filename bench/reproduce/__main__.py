#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Computes every result table and plot of the five papers that Poise implements, and compares them with the papers.
Writes build/reproduce/reproduce.md and .html, and stores bench/results/reproduce.json.

Outputs of the program `poise` are cached in build/reproduce/answers until the program is built again, so an interrupted
run can be continued."""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import chameleon  # noqa: E402
import juggle  # noqa: E402
import nucolb  # noqa: E402
import numalb  # noqa: E402
import treematch  # noqa: E402
from keep import RESULTS, stamp  # noqa: E402
from lab import Lab, Trouble  # noqa: E402
from report import markdown, page, summary  # noqa: E402
from sections import is_decided, row_of  # noqa: E402

PAPERS = (nucolb.PAPER, juggle.PAPER, numalb.PAPER, treematch.PAPER, chameleon.PAPER)
EXPECTED = [9, 14, 12, 6, 12]  # for each paper: its result tables, plots and open questions, counted together
TO_DECIDE = 36  # of these 53


def headline_of(paper, lab):
    try:
        return paper.headline(lab)
    except (Trouble, ValueError, KeyError) as failed:
        return f"not computed: {failed}"


def computed(papers, lab, only=()):
    """Returns a row per section of the papers in `papers`, and the papers' headlines. If `only` has ids of sections,
    returns only the rows of the sections with these ids, and no headlines."""
    def chosen(paper):
        return [section for section in paper.sections if not only or section.id in only]
    rows, headlines = [], {}
    total, done = sum(len(chosen(paper)) for paper in papers), 0
    for paper in papers:
        for section in chosen(paper):
            done += 1
            lab.show(f"{done} of {total}: {paper.name}, {section.title}")
            rows.append(row_of(section, paper, lab))
        if only:
            continue
        lab.show(f"{paper.name}: does the conclusion hold?")
        headlines[f"{paper.name} ({paper.citation})"] = headline_of(paper, lab)
    return rows, headlines


def with_others(rows, headlines, kept):
    """Returns the rows of all sections and the headlines of all papers: the new ones (`rows`, `headlines`) and, where
    there are none, those stored in `kept`."""
    by_id = {row["id"]: row for row in kept["sections"] + rows}
    ids = [section.id for paper in PAPERS for section in paper.sections]
    return [by_id[name] for name in ids if name in by_id], {**kept["headlines"], **headlines}


def write(rows, headlines, folder, kept, is_whole):
    """Writes the Markdown page and the HTML page and, if `kept` is a path, stores the rows there. If not all rows were
    computed, the date and commit of the whole file stay those of the last complete run; every new row has its own date
    and commit."""
    measured = stamp()
    rows = [{**row, "measured": measured} for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reproduce.md").write_text(markdown(rows, headlines, measured), encoding="utf-8")
    (folder / "reproduce.html").write_text(page(rows, headlines, measured), encoding="utf-8")
    if not kept:
        return
    if not is_whole:
        stored = json.loads(kept.read_text(encoding="utf-8"))
        rows, headlines = with_others(rows, headlines, stored)
        measured = stored["measured"]
    whole = {"benchmark": "reproduce", "command": "./dev reproduce", "measured": measured, "headlines": headlines,
             "sections": rows}
    kept.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line in one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")


def main():
    names = {paper.name.lower(): paper for paper in PAPERS}
    parser = Parser(prog="./dev reproduce", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", nargs="*", help=f"of {', '.join(names)}, or ids of sections; default: all. Only a run of all is kept")
    parser.add_argument("--keep", action="store_true", help="also keep the rows of a run of some papers or sections; others stay")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "reproduce", help="folder of both pages")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    ids = {section.id for paper in PAPERS for section in paper.sections}
    only = [name for name in arguments.paper if name in ids]
    unknown = [name for name in arguments.paper if name.lower() not in names and name not in ids]
    if unknown:
        parser.error(f"unknown paper or section {', '.join(unknown)}; papers: {', '.join(names)}; example of a section: juggle-figure-7")
    if only and len(only) < len(arguments.paper):
        parser.error("papers and ids of sections cannot be combined; give only papers or only ids of sections")
    if arguments.check:
        return 0
    papers = PAPERS if only else [names[name.lower()] for name in arguments.paper] or PAPERS
    try:
        lab = Lab(folder=arguments.out / "answers")
    except OSError as failed:
        parser.error(f"--out: cannot create the folder {arguments.out}: {failed.strerror}")
    if not lab.poise.exists():
        parser.error(f"{lab.poise} does not exist; ./dev build builds it")
    rows, headlines = computed(papers, lab, only)
    is_whole = not arguments.paper
    write(rows, headlines, arguments.out, RESULTS / "reproduce.json" if arguments.keep or is_whole else None, is_whole)
    for row in rows:
        print(f"{row['verdict']:19} {row['id']}: {row['sentence'][:150]}")
    for name, text in headlines.items():
        print(f"{name}: {text}")
    decided = sum(map(is_decided, rows))
    print(f"{summary(rows)}; {decided} of {len(rows)} decided. {arguments.out / 'reproduce.html'}")
    return 0 if arguments.paper or decided >= TO_DECIDE else 1


if __name__ == "__main__":
    sys.exit(main())
