#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Rewrites the tables of docs/tasks.md, and one table of docs/objects.md, from the results kept under
bench/results. A table is found by its head. The benchmarks of tasks call this when they end."""

import json

from keep import RESULTS, ROOT

DOCS = ROOT / "docs"


def results(name):
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def rows_of(name, key, value):
    return [row for row in results(name) if row.get(key) == value]


def length(us):
    return f"{us / 1000:g} ms" if us >= 1000 else f"{us:g} µs"


def size(num_bytes):
    return f"{num_bytes / 1000:g} kB" if num_bytes >= 1000 else f"{num_bytes} B"


def tasks(row):
    return (f"{row['tasks']} of {length(row['us'])}, {size(row['bytes_in'] + row['bytes_out'])}"
            + (", asleep" if row["sleep"] else ""))


def gains():
    for row in rows_of("tasks", "part", "gains"):
        yield row["np"], tasks(row), *(f"{row[key]:.2f}" for key in (
            "gain", "median_gain", "host_gain", "openmp_gain"))


def balanced():
    for row in rows_of("tasks", "part", "balanced"):
        yield (tasks(row), f"{row['openmp_s']:.4f}", f"{row['with_s']:.4f}",
               f"{100 * row['slower']:.1f} %", f"{100 * row['median_slower']:.1f} %")
    for row in rows_of("reactive", "experiment", "balanced"):
        yield (f"{row['tasks']} products of {row['size']} rows", f"{row['OpenMP s']:.4f}",
               f"{row['lending s']:.4f}", f"{row['slower %']:.1f} %", f"{row['median %']:.1f} %")


def seconds_and_gain(row, *, ways):
    return *(f"{row[way + ' s']:.4f}" for way in ways), f"{row['gain']:.2f}"


THREE_WAYS = "without", "with", "one process"


def slow_core():
    for row in rows_of("reactive", "experiment", "a slow core"):
        yield (f"{100 * row['competitor']:.0f} %", *seconds_and_gain(row, ways=THREE_WAYS),
               f"{row['ideal gain']:.2f}")


def one_owner():
    for row in rows_of("reactive", "experiment", "one rank has everything"):
        yield row["size"], row["tasks"], *seconds_and_gain(row, ways=THREE_WAYS)


def threads():
    for row in rows_of("reactive", "experiment", "threads per rank, tasks of 3 ms"):
        yield row["threads"], *seconds_and_gain(row, ways=THREE_WAYS)


def gains_of(experiment, first, *ways):
    for row in rows_of("reactive", "experiment", experiment):
        yield row[first], *(f"{row[way + ' gain']:.2f}" for way in ways)


def limiter():
    """Every third step becomes a column."""
    rows = rows_of("reactive", "experiment", "limiter, imbalance per step")[::3]
    yield "step", *(row["step"] for row in rows)
    for way in THREE_WAYS:
        yield way, *(f"{row[way]:.2f}" for row in rows)


def programs():
    for row in rows_of("reactive", "experiment", "beside one process"):
        yield row["program"], *(f"{row[way + ' s']:.2f}" for way in ("two ranks", "lending", "one process"))


def moving():
    for row in rows_of("reactive", "experiment", "loads that move") + rows_of(
            "reactive", "experiment", "programs whose load moves"):
        yield (row["program"], *(f"{row[way]:.2f}" for way in ("neither", "lending", "balancing", "both", "one process")),
               *(f"{100 * (row['over ' + way] - 1):.1f} %" for way in ("lending", "balancing")))


OF_TASKS = {
    "ranks | tasks | gain | median | by hand | OpenMP": gains,
    "equal work on both ranks | OpenMP, s | lending, s | slower | median": balanced,
    "competitor | without, s | with, s | one process, s | gain | of all cores": slow_core,
    "rows | tasks | without, s | with, s | one process, s | gain": one_owner,
    "threads | without, s | with, s | one process, s | gain": threads,
    "cells along a patch | no lending | sorted pairs | cost | one process":
        lambda: gains_of("tsunami, whom to lend to", "cells", "no lending", "paired", "cost", "one process"),
    "ranks | no lending | sorted pairs | least loaded | cost | one process": lambda: gains_of(
        "tsunami asleep", "ranks", "no lending", "paired", "lightest", "cost", "one process"),
    "imbalance" + " |" * 8: limiter,
    "program | two ranks | with lending | one process": programs,
}
OF_OBJECTS = {
    " | neither | offloading | balancing | both | one process | both over offloading | both over balancing": moving,
}


def with_table(lines, head, rows):
    """The lines of a page with the rows of one table replaced. Every head occurs exactly once."""
    at = lines.index(f"| {head} |")
    end = lines.index("", at)
    return [*lines[:at + 2], *("| " + " | ".join(map(str, row)) + " |" for row in rows), *lines[end:]]


def write():
    for page, tables in ("tasks.md", OF_TASKS), ("objects.md", OF_OBJECTS):
        lines = (DOCS / page).read_text().splitlines()
        for head, rows in tables.items():
            lines = with_table(lines, head, list(rows()))
        (DOCS / page).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    write()
