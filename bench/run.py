#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Runs benchmarks and stores their results, with machine and date, as JSON under bench/results."""

import argparse
import json
import shutil
import subprocess
import sys

import growth_plot
from keep import RESULTS, ROOT, keep, stored_rows

BIN = ROOT / "build" / "bin"


def known():
    return sorted(path.stem.removesuffix("_bench") for path in (ROOT / "bench").glob("*_bench.*"))


def with_peers(name, extra):
    """Returns the options for NAME_bench. If the script NAME_peers.py exists, it first runs other tools on the cases
    of NAME_bench; the returned options then make NAME_bench import the answers of these tools."""
    peers = ROOT / "bench" / f"{name}_peers.py"
    if not peers.exists() or "--no_peers" in extra:
        return [option for option in extra if option != "--no_peers"]
    folder = ROOT / "build" / f"{name}_cases"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    subprocess.run([BIN / f"{name}_bench", f"--export={folder}", *extra], check=True)
    subprocess.run([sys.executable, peers, folder], check=True)
    return [*extra, f"--import={folder}"]


def rows_of(measured, extra):
    """Returns the rows of a benchmark's output. If options were given, they are added to the name of the row "summary",
    because they select its cases."""
    dropped = "family_index", "per_family_instance_index", "repetition_index", "threads", "run_name", "run_type"
    rows = [{column: value for column, value in row.items() if column not in dropped} for row in measured["benchmarks"]]
    for row in rows:
        if row["name"] == "summary" and extra:
            row["name"] = "summary with " + " ".join(extra)
    return rows


def run(name, extra):
    script = ROOT / "bench" / f"{name}_bench.py"  # a script that measures, prints and stores results itself
    if script.exists():
        subprocess.run([sys.executable, script, *extra], check=True)
        return
    options = with_peers(name, extra)
    raw = ROOT / "build" / f"{name}_bench.json"
    command = [BIN / f"{name}_bench", f"--benchmark_out={raw}", "--benchmark_out_format=json", *options]
    subprocess.run(command, check=True)
    keep(name, rows_of(json.loads(raw.read_text()), extra), key=("name",) if extra else None)
    if name == "decide":
        rows = stored_rows(name)
        (RESULTS / "growth.svg").write_text(growth_plot.draw(rows))
        (RESULTS / "growth_memory.svg").write_text(growth_plot.draw_memory(rows))


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("name", nargs="*", help=f"of {', '.join(known())}; default: all")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    arguments, extra = parser.parse_known_args()
    unknown = set(arguments.name) - set(known())
    if unknown:
        parser.exit(2, f"dev: bench: unknown benchmark {', '.join(sorted(unknown))}; known: {', '.join(known())}\n")
    if arguments.check:
        return 0
    try:
        for name in arguments.name or known():
            run(name, extra)
    except subprocess.CalledProcessError as failed:  # the program has printed why
        return failed.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
