#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures the cost of `poise profile`: the nanoseconds that it adds to an MPI call, and the slow-down of a program with
20,000 calls per second, for each installed MPI. If eztrace is installed, it is measured in the same way, and also mpiP if
--mpip names a folder with openmpi/libmpiP.so and mpich/libmpiP.so, built with these MPIs."""
import argparse
import os
import pathlib
import shutil
import shlex
import statistics
import subprocess
import sys
import tempfile

from intervals import median_interval
from keep import ROOT, keep

LIBRARY = ROOT / "build" / "lib" / "libpoise_profile.so"
SOURCE = ROOT / "bench" / "profile_cost.c"
REPEATS = 5
PAIRS = 15  # number of pairs of runs of the program: without and with a tool
CALLS_PER_S = 20000  # of the program
TIMEOUT_S = 300
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def times(mpi, program, tool, what=()):
    """Returns the figures that the program prints. `tool` is a pair: variables that are set in the environment of the rank
    but not in that of the launcher, and a command that starts the program."""
    variables, before = tool
    command = [f"mpirun.{mpi}", "-np", "1"]
    for name, value in variables.items():
        command += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value]
    done = subprocess.run([*command, *before, program, *what], capture_output=True, text=True, timeout=TIMEOUT_S, env=ENVIRONMENT,
                          check=True)
    figures = (line.split() for line in done.stdout.splitlines() if not line.startswith("mpiP") and line)  # mpiP prints, too
    return {name: float(value) for name, value in figures}


def tools(mpi, folder, mpip):
    found = {"poise": ({"LD_PRELOAD": str(LIBRARY), "POISE_PROFILE": str(folder / "profile")}, [])}
    eztrace = shlex.split(os.environ.get("EZTRACE", "eztrace"))  # may name options
    if shutil.which(eztrace[0]):
        found["eztrace"] = ({}, [*eztrace, "-t", mpi, "-o", str(folder / "eztrace")])
    library = mpip / mpi / "libmpiP.so" if mpip else None
    if library and library.exists():
        found["mpiP"] = ({"LD_PRELOAD": str(library), "MPIP": f"-f {folder}"}, [])
    return found


def costs(mpi, program, measured):
    """Yields rows: what each tool adds to a call of each kind."""
    runs = {name: [] for name in ("plain", *measured)}
    for _ in range(REPEATS):  # variants take turns, so that disturbances by other programs hit all of them
        runs["plain"].append(times(mpi, program, ({}, [])))
        for name, tool in measured.items():
            runs[name].append(times(mpi, program, tool))
    for tool in measured:
        for call in runs["plain"][0]:
            added = sorted(after[call] - before[call] for before, after in zip(runs["plain"], runs[tool]))
            yield {"mpi": mpi, "tool": tool, "call": call, "plain_ns": round(min(run[call] for run in runs["plain"]), 1),
                   "added_ns": round(statistics.median(added), 1), "added_min_ns": round(added[0], 1),
                   "added_max_ns": round(added[-1], 1)}


def slow_downs(mpi, program, measured):
    """Yields rows: how much each tool slows the program down."""
    ratios, rates, additions = {name: [] for name in measured}, [], 10000
    additions = round(additions * times(mpi, program, ({}, []), ["program", str(additions)])["calls_per_s"] / CALLS_PER_S)
    for _ in range(PAIRS):
        for name, tool in measured.items():
            before = times(mpi, program, ({}, []), ["program", str(additions)])
            ratios[name].append(times(mpi, program, tool, ["program", str(additions)])["loop_s"] / before["loop_s"] - 1)
            rates.append(before["calls_per_s"])
    for name in measured:
        yield {"mpi": mpi, "tool": name, "calls_per_s": round(statistics.median(rates)), "slow_down": median_interval(ratios[name])}


def rows(mpi, folder, mpip):
    program = folder / f"cost.{mpi}"
    subprocess.run([f"mpicc.{mpi}", "-O2", "-w", SOURCE, "-o", program], check=True, timeout=TIMEOUT_S)
    measured = tools(mpi, folder, mpip)
    return [*costs(mpi, program, measured), *slow_downs(mpi, program, measured)]


def main():
    parser = argparse.ArgumentParser(prog="./dev bench profile", description=__doc__)
    parser.add_argument("--mpip", type=pathlib.Path, metavar="FOLDER", help="folder with mpiP's libraries")
    mpip = parser.parse_args().mpip
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for mpi in ("openmpi", "mpich"):
            if shutil.which(f"mpicc.{mpi}"):
                measured += rows(mpi, pathlib.Path(folder), mpip)
    for row in measured:
        if "call" in row:
            print("{mpi:8} {tool:8} {call:16} {plain_ns:8} ns a call, {added_ns} ns more profiled "
                  "({added_min_ns} to {added_max_ns} in {n} runs)".format(n=REPEATS, **row))
        else:
            print("{mpi:8} {tool:8} slows a program with {calls_per_s} calls per second down by {0:.2%} "
                  "[{1:.2%}, {2:.2%}]".format(*row["slow_down"], **row))
    keep("profile", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
