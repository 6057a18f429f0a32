#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures what maps of ranks gain in real runs on a cluster with slow links: `poise map`, `poise run`, and
POISE_REORDER.

The cluster of tests/support/cluster.py has four hosts with two ranks each. The launcher's own order assigns the ranks
to the hosts round-robin, so neighbours are on different hosts. For `poise map`, a program runs once under `poise
profile`; then pairs of runs follow, one in the launcher's order and one with the map. For POISE_REORDER, a pair is a
run without this variable and a run with it. For `poise run`, a program is started with it again and again until the map
is kept or dropped. HPCC runs all of its benchmarks, but only the rate of its PTRANS (a parallel transposition of a
matrix) is used. This benchmark needs root. If the system has no namespaces, it prints why nothing was measured."""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from intervals import median_interval
from keep import ROOT, keep

POISE = ROOT / "build" / "bin" / "poise"
INPUTS = ROOT / "bench" / "real"
CLUSTER = [ROOT / "tests" / "support" / "cluster.py", "--racks", "2,2", "--slots", "2", "--near", "0s", "--far", "0s", "--rate"]
HOSTS, RANKS, PAIRS, MAX_RUNS = 4, 8, 7, 25
GRID = (2, 4)  # numbers of ranks along the rows and the columns of HPCC's matrices
TIMEOUT_S, SKIPPED = 300, 77
# The launcher assigns ranks to hosts round-robin, and binds each rank to a core of its host.
SCATTERED = {"OMPI_MCA_rmaps_base_mapping_policy": "node", "OMPI_MCA_hwloc_base_binding_policy": "core"}
MAPPED = {"OMPI_MCA_hwloc_base_binding_policy": "core"}


@dataclasses.dataclass(frozen=True)
class Program:
    """`figure` is a regular expression that finds the measured number in the program's output or, if `written` names a
    file, in that file. The number is the time of the program's own loop in seconds or, if `is_rate` is set, a rate,
    where higher is better."""
    command: tuple
    figure: str
    ways: tuple
    written: str = ""
    is_rate: bool = False
    link: str = "50mbit"

    def executable(self):
        return shutil.which(self.command[0])


class Cluster:
    """Runs commands on the cluster, in a folder with copies of the inputs."""

    def __init__(self, folder):
        self.folder = folder
        self.link = ""  # rate of the links with its unit, as cluster.py takes it: "50mbit"

    def run(self, *command, **variables):
        done = subprocess.run([*map(str, CLUSTER), self.link, "--", *map(str, command)], cwd=self.folder, capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False, env={**os.environ, **variables})
        if done.returncode == SKIPPED:
            sys.exit(f"nothing was measured: {done.stderr.strip()}")
        if done.returncode != 0:
            sys.exit(f"mapped: `{' '.join(map(str, command))}` exited with status {done.returncode} on the emulated "
                     f"hosts. The command printed:\n{done.stderr}")
        return done

    def launch(self, program, options=(), **variables):
        """Returns the seconds of the program's own loop, or the inverse of its rate."""
        written = self.folder / program.written
        if program.written:
            written.unlink(missing_ok=True)
        done = self.run("mpirun", "-np", RANKS, *options, *program.command, **variables)
        figure = float(re.search(program.figure, written.read_text(encoding="utf-8") if program.written else done.stdout)[1])
        return 1 / figure if program.is_rate else figure


def pairs_of(first, second):
    """Runs first() and second() in pairs. Returns the median of 1 - second / first over the pairs with its confidence
    interval, and the times of all runs."""
    pairs = [(first(), second()) for _ in range(PAIRS)]
    return {"saving": median_interval([1 - after / before for before, after in pairs]),
            "before": [before for before, _ in pairs], "after": [after for _, after in pairs]}


def by_map(cluster, name, program):
    """Profiles a program, maps its ranks, and measures pairs of runs in the launcher's order and with the map."""
    cluster.run(POISE, "profile", "-o", "run.poise", "--", "mpirun", "-np", RANKS, *program.command, **SCATTERED)
    shown = cluster.run(POISE, "map", "run.poise", "--for", "openmpi", "--launch-file", "ranks", "--hosts", "hosts").stdout
    return {"name": name, "by": "poise map", "traffic_change": re.search(r"bytes x hops.* (\S+%)", shown)[1],
            **pairs_of(lambda: cluster.launch(program, **SCATTERED),
                       lambda: cluster.launch(program, ("--rankfile", "ranks"), **MAPPED))}


def by_run(cluster, name, program):
    """Starts a program by `poise run` again and again, until its map is kept or dropped."""
    for runs in range(1, MAX_RUNS + 1):
        done = cluster.run(POISE, "run", "--history", "history", "--", "mpirun", "-np", RANKS, *program.command, **SCATTERED)
        said = [line for line in done.stderr.splitlines() if line.startswith("poise run: ")][-1].removeprefix("poise run: ")
        if re.search("is kept|is dropped|order stays", said):
            break
    return {"name": name, "by": "poise run", "runs": runs, "said": said}


def by_reorder(cluster, name, program):
    library = {"LD_PRELOAD": str(ROOT / "build" / "lib" / "libpoise_profile.so")}

    def options(value):
        return [word for key, each in {**library, "POISE_REORDER": value}.items() for word in ("-x", f"{key}={each}")]

    return {"name": name, "by": "POISE_REORDER", **pairs_of(lambda: cluster.launch(program, options("0"), **SCATTERED),
                                                            lambda: cluster.launch(program, options("1"), **SCATTERED))}


PROGRAMS = {
    "ring": Program(("./ring", "262144", "8"), r"Time of the steps: (\S+)", (by_map, by_run, by_reorder)),
    "kneighbor": Program((ROOT / "build" / "bin" / "kneighbor", "--objects", "64", "--k", "4", "--bytes", "65536", "--work", "100",
                          "--steps", "12"), r"iterations of .* ranks: (\S+) s", (by_map, by_run)),
    "lammps": Program(("lmp", "-in", "full.lmp", "-var", "steps", "20", "-log", "none"), r"Loop time of (\S+)", (by_map, by_run)),
    # A run takes two minutes, mostly in HPCC's test of latencies and bandwidths. On links of 50 Mbit/s a run would take
    # longer.
    "hpcc, PTRANS": Program(("hpcc",), r"PTRANS_GBs=(\S+)", (by_map,), "hpccoutf.txt", True, "200mbit"),
}


def write_input_of_hpcc(folder):
    """Writes HPCC's input file for GRID: replaces lines 11 and 12, the numbers of ranks along rows and columns. The
    file in INPUTS is for two ranks."""
    lines = (INPUTS / "hpccinf.txt").read_text(encoding="utf-8").splitlines()
    lines[10:12] = map(str, GRID)
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def text_of(row):
    if "saving" not in row:
        return f"{row['name']:14} {row['by']:14} after {row['runs']} runs: {row['said']}"
    middle, low, high = row["saving"]
    return (f"{row['name']:14} {row['by']:14} saves {middle:.1%} [{low:.1%}, {high:.1%}], "
            f"{statistics.median(row['before']):.3f} to {statistics.median(row['after']):.3f}")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench mapped", description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="run only the programs whose names contain TEXT")
    only = parser.parse_args().only
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
        write_input_of_hpcc(folder)
        (folder / "hosts").write_text("".join(f"node{number}\n" for number in range(1, HOSTS + 1)))
        subprocess.run(["mpicc.openmpi", "-O2", INPUTS / "ring.c", "-o", folder / "ring"], check=True, timeout=TIMEOUT_S)
        cluster = Cluster(folder)
        for program_name, program in PROGRAMS.items():
            if only not in program_name:
                continue
            if program.command[0] != "./ring" and not program.executable():
                print(f"{program_name} is not installed; skipped")
                continue
            cluster.link = program.link
            for measure in program.ways:
                rows.append(measure(cluster, program_name, program))
                print(text_of(rows[-1]), flush=True)
            (folder / "history").unlink(missing_ok=True)
    if rows:
        keep("mapped", rows, key=("name", "by") if only else None, ranks=RANKS, pairs=PAIRS)


if __name__ == "__main__":
    main()
