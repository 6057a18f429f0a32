#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Draws the figures of the Juggle paper's evaluation from `poise theory --figure`, as SVG.

    bench/theory_plots.py build/bin/poise OUT_FOLDER [FIGURE...]

Needs only `poise` and Python's standard library. For each figure it prints how long `poise theory` took to compute the data."""

import csv
import io
import pathlib
import subprocess
import sys
import time

from drawing import COLOURS, heat_map, line_plot

SIMULATED, THEORY = "", "6 4"  # dash patterns


def data_of(poise, name):
    text = subprocess.run([poise, "theory", "--figure", name], check=True, capture_output=True,
                          text=True, timeout=600).stdout
    return [{key: float(value) for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(text))]


def curve(label, rows, x, y, colour, dash=SIMULATED):
    return {"label": label, "points": [(r[x], r[y]) for r in rows], "colour": colour, "dash": dash}


def curves_by(rows, keys, x, series):
    """Returns the curves of a plot. Rows that agree in the columns `keys` form a group with one colour. `series` lists
    (column, label, dash) of the curves that each group has."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(int(row[key]) for key in keys), []).append(row)
    found = []
    for colour, (group, members) in zip(COLOURS, groups.items()):
        name = ", ".join(map(str, group))
        for column, label, dash in series:
            found.append(curve(f"({name}) {label}".strip(), members, x, column, colour, dash))
    return found


def mean_cells(rows, column_of, row_of):
    sums = {}
    for row in rows:
        cell = column_of(row), row_of(row)
        total, count = sums.get(cell, (0.0, 0))
        sums[cell] = total + row["simulated"], count + 1
    return {cell: total / count for cell, (total, count) in sums.items()}


def figure_6(rows):
    names = {"ideal": THEORY, "simulated": SIMULATED, "simulated_two_domains": SIMULATED,
             "reactive": THEORY}
    return {"6": line_plot("8 to 16 threads on 8 places, e = 30 s, period 100 ms", "threads",
                           "speed-up over static",
                           [curve(name.replace("_two_domains", ", 2 domains"), rows, "threads", name,
                                  colour, dash)
                            for (name, dash), colour in zip(names.items(), COLOURS)], least_y=1)}


def figure_7(rows):
    curves = [curve(f"{int(m)} places", [r for r in rows if r["places"] == m], "threads_per_place",
                    "ideal", colour)
              for m, colour in zip(sorted({r["places"] for r in rows}), COLOURS)]
    return {"7": line_plot("One thread more than an equal share", "floor(n/m)",
                           "ideal speed-up over static", curves, least_y=1)}


def figure_8(rows, name="8", title="One phase, n/m below 2"):
    curves = curves_by(rows, ["threads", "places"], "period_over_phase",
                       [("simulated", "", SIMULATED), ("upper_bound", "bound", THEORY)])
    return {name: line_plot(title + ": (threads, places)", "period / phase",
                            "speed-up over static", curves, least_y=1)}


def figure_9(rows):
    return figure_8(rows, "9", "One phase, n/m above 2")


def figure_10(rows):
    by_share = mean_cells(rows, lambda r: min(int(r["threads"] / r["places"] * 10) - 10, 89),
                          lambda r: round(r["period_over_phase"] * 100) - 1)
    tenth = [r for r in rows if round(r["period_over_phase"] * 100) == 10]
    by_pair = mean_cells(tenth, lambda r: int(r["places"]) - 2, lambda r: int(r["threads"]) - 3)
    return {"10": heat_map("Mean simulated speed-up, 3 to 64 threads", "n/m (10 and above: last column)",
                           "period / phase", by_share, [1 + i / 10 for i in range(91)],
                           [i / 100 for i in range(501)][1:]),
            "10_pairs": heat_map("Simulated speed-up, period / phase = 0.1", "places", "threads",
                                 by_pair, list(range(2, 64)), list(range(3, 65)))}


def figure_11(rows):
    series = [("approximation", "(16), (17)", THEORY), ("simulated", "simulated", SIMULATED),
              ("simulated_jittered", "period +-10%", SIMULATED)]
    curves = [curve(label, rows, "period_over_phase", column, colour, dash)
              for (column, label, dash), colour in zip(series, COLOURS)]
    return {"11": line_plot("8 threads on 7 places, 600 phases", "period / phase",
                            "speed-up over static", curves, least_y=1)}


def figure_16(rows):
    curves = curves_by(rows, ["threads", "places"], "period_over_phase",
                       [("migrations_per_s", "", SIMULATED)])
    return {"16": line_plot("Migrations by swaps, e = 30 s: (threads, places)", "period / phase",
                            "migrations per second", curves, log_x=True, log_y=True)}


def table_1(rows):
    lines = ["| n | m | static s | ideal s | simulated s | in two domains s |", "|---" * 6 + "|"]
    for row in rows:
        cells = [f"{value:.0f}" for value in list(row.values())[:2]]
        cells += [f"{value:.1f}" for value in list(row.values())[2:]]
        lines.append("| " + " | ".join(cells) + " |")
    return {"table1": "\n".join(lines) + "\n"}


DRAWINGS = {"6": figure_6, "7": figure_7, "8": figure_8, "9": figure_9, "10": figure_10,
            "11": figure_11, "16": figure_16, "table1": table_1}


def main():
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(DRAWINGS):
        sys.exit(f"usage: {sys.argv[0]} POISE OUT_FOLDER [{'|'.join(DRAWINGS)}]...")
    poise, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or DRAWINGS:
        start = time.monotonic()
        rows = data_of(poise, name)
        print(f"figure {name}: {len(rows)} rows in {time.monotonic() - start:.1f} s")
        for stem, document in DRAWINGS[name](rows).items():
            suffix = ".md" if name.startswith("table") else ".svg"
            (folder / f"theory_{stem}{suffix}").write_text(document)


if __name__ == "__main__":
    main()
