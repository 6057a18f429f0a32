#!/usr/bin/env python3
"""What lending gains when one rank has all tasks: each case without and with lending, alternating in
one run, best of several. Prints a table and keeps it as JSON under bench/results."""

import json
import sys

from keep import ROOT, keep
from mpi import mpiexec

PROGRAM = ROOT / "build" / "bin" / "tasks_lending"
BIG = ["--in", "360000", "--out", "180000"]
SLEEP = ["--sleep"]
CASES = [  # ranks, arguments, the gain that is wanted
    (2, ["--tasks", "200", "--us", "5000", *BIG], 1.97),
    (2, ["--tasks", "1000", "--us", "200"], 1.95),
    (2, ["--tasks", "1000", "--us", "50"], 1.6),
    (2, ["--tasks", "5000", "--us", "10"], 0.98),
    (2, ["--tasks", "20000", "--us", "1"], 0.98),
    (2, ["--tasks", "200", "--us", "5000", *SLEEP], 1.97),
    (4, ["--tasks", "400", "--us", "1000", *SLEEP], 3.6),
    (8, ["--tasks", "800", "--us", "1000", *SLEEP], 6.8),
    (16, ["--tasks", "1600", "--us", "1000", *SLEEP], 13.6),
    (2, ["--tasks", "1000", "--us", "200", "--balanced"], 0.99),
]


def measure(np, arguments):
    out = mpiexec(np, [PROGRAM, *arguments])
    return json.loads(next(line for line in out.splitlines() if line.startswith("{")))


def main():
    rows = []
    print(f"{'np':>3} {'tasks':>6} {'µs':>6} {'bytes':>7} {'kind':>9} "
          f"{'without s':>10} {'with s':>8} {'gain':>6} {'median':>7} {'wanted':>7}")
    for np, arguments, wanted in CASES:
        row = measure(np, [*arguments, *sys.argv[1:]])
        row["wanted_gain"] = wanted
        rows.append(row)
        kind = "balanced" if row["balanced"] else "sleeps" if row["sleep"] else "computes"
        print(f"{np:>3} {row['tasks']:>6} {row['us']:>6.0f} {row['bytes_in'] + row['bytes_out']:>7} "
              f"{kind:>9} {row['without_s']:>10.4f} {row['with_s']:>8.4f} {row['gain']:>6.2f} "
              f"{row['median_gain']:>7.2f} {wanted:>7}", flush=True)
    keep("tasks", rows)


if __name__ == "__main__":
    main()
