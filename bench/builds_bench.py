#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares how fast two builds of Poise lend tasks: `./dev bench builds --before BUILD --after BUILD`. Each
BUILD is a build folder that contains bin/tasks_lending.

The two builds run in pairs, in random order within each pair. For each case the script prints a ratio with its
95 % interval: the median over the pairs of the time of the build `before` divided by that of the build `after`.
On a quiet machine, the lower end of the interval should be at least 0.98. If --before or --after is missing, the script
compares nothing."""

import argparse
import json
import os
import pathlib
import random

from intervals import median_interval
from keep import keep
from mpi import SLEEPY, mpiexec

CASES = {  # name: ranks, arguments
    "200 of 5 ms, 540 kB": (2, ["--tasks", "200", "--us", "5000", "--in", "360000", "--out", "180000"]),
    "1000 of 200 us": (2, ["--tasks", "1000", "--us", "200"]),
    "5000 of 10 us": (2, ["--tasks", "5000", "--us", "10"]),
    "20000 of 1 us": (2, ["--tasks", "20000", "--us", "1"]),
    "400 of 1 ms asleep": (4, ["--tasks", "400", "--us", "1000", "--sleep"]),
    "1600 of 1 ms asleep": (16, ["--tasks", "1600", "--us", "1000", "--sleep"]),
}
WANTED = 0.98


def seconds(build, np, arguments):
    out = mpiexec(np, [build / "bin" / "tasks_lending", *arguments, "--repeats", "3"], **SLEEPY)
    return json.loads(next(line for line in out.splitlines() if line.startswith("{")))["with_s"]


def compare(before, after, pairs, seed):
    rng = random.Random(seed)
    rows = []
    for name, (np, arguments) in CASES.items():
        ratios = []
        for _ in range(pairs):
            builds = [before, after]
            rng.shuffle(builds)
            taken = {build: seconds(build, np, arguments) for build in builds}
            ratios.append(taken[before] / taken[after])
        median, low, high = median_interval(ratios)
        rows.append({"case": name, "ranks": np, "pairs": pairs, "ratio": median, "low": low, "high": high,
                     "wanted_low": WANTED, "load": os.getloadavg()[0]})
        print(f"{name:>22} {np:>3} ranks: {median:.3f} [{low:.3f}, {high:.3f}]  load {os.getloadavg()[0]:.1f}",
              flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--after", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=21)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if not arguments.before or not arguments.after:
        print("builds: give --before BUILD and --after BUILD; nothing is compared")
        return
    if arguments.before.resolve() == arguments.after.resolve():
        parser.error("--before and --after name the same build folder; give two different ones")
    keep("builds", compare(arguments.before.resolve(), arguments.after.resolve(), arguments.pairs, arguments.seed))


if __name__ == "__main__":
    main()
