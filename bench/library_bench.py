#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares three ways to call the same decision: through libpoise from C, through libpoise from Python, and in C++.
Measures the CPU time and the memory of everything between the program's arrays and the place of each task. Every call
runs in a process of its own. A round has one call of each kind, one after the other, and only calls of the same round
are compared."""

import argparse
import json
import os
import subprocess
import sys

from intervals import median_interval
from keep import ROOT, keep

BIN = ROOT / "build" / "bin"
STRATEGIES = "poise", "greedy", "keep"
PYTHON = {"POISE_LIBRARY": str(ROOT / "build" / "lib" / "libpoise.so.0"), "PYTHONPATH": str(ROOT / "faces" / "python"),
          "PYTHONDONTWRITEBYTECODE": "1"}


def measured(caller, side, strategy, python):
    """Returns what one call printed, or None if Python has no numpy."""
    command = [BIN / "library_call", caller, side, strategy]
    if caller == "python":
        command = [python, ROOT / "bench" / "library_call.py", side, strategy]
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, timeout=600, check=False,
                          env=os.environ | PYTHON)
    if done.returncode == 77:
        return None
    done.check_returncode()
    return json.loads(done.stdout)


def compared(side, strategy, rounds, python):
    """Returns a row for each caller. Ends the program if callers get different placements."""
    calls = {"cpp": [], "c": [], "python": []}
    for number in range(rounds):
        order = list(calls) if number % 2 == 0 else list(reversed(calls))
        for caller in order:
            calls[caller].append(measured(caller, side, strategy, python))
    if calls["python"][0] is None:
        print(f"skipped: {python} has no numpy; name another one by --python", flush=True)
        del calls["python"]
    if len({call["checksum"] for group in calls.values() for call in group}) != 1:
        sys.exit(f"strategy {strategy} returned different placements to C++, C and Python; "
                 "all placements must be equal")
    for caller, group in calls.items():
        row = {"name": "call", "caller": caller, "strategy": strategy, "tasks": side**3, "messages": 6 * side**3,
               "rounds": rounds}
        for column in "cpu_s", "megabytes":
            row[column] = median_interval([call[column] for call in group])[0]
            row[f"{column}_over_cpp"] = [round(x, 4) for x in median_interval(
                [call[column] / base[column] for call, base in zip(group, calls["cpp"])])]
        yield row


def main():
    parser = argparse.ArgumentParser(prog="./dev bench library", description=__doc__)
    parser.add_argument("--side", type=int, default=100, help="cells per side of the grid (default: 100)")
    parser.add_argument("--rounds", type=int, default=7, help="calls of each kind (default: 7)")
    parser.add_argument("--python", default=sys.executable, help="a Python that has numpy (default: this one)")
    parser.add_argument("--no-keep", action="store_true", help="store nothing")
    options = parser.parse_args()
    for strategy in STRATEGIES:
        rows = list(compared(options.side, strategy, options.rounds, options.python))
        for row in rows:
            print(row, flush=True)
        if not options.no_keep:
            keep("library", rows, key=("name", "caller", "strategy", "tasks"))


if __name__ == "__main__":
    main()
