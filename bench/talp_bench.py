#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares the efficiencies of `poise profile` with those of TALP, the profiler of DLB (Barcelona Supercomputing Center).

The runs are those of `./dev bench real` under Open MPI in which each rank has a core of its own. If ranks share cores,
two runs of the same program differ too much to be compared. Each program runs several times, alternately under `poise
profile` and with TALP's library preloaded. A single run cannot be measured by both tools, because each tool would count
as useful work the time that the other tool takes at the beginning and at the end of the program. Both tools count a
part of their own overhead per MPI call as time in MPI, so programs that make millions of short calls per second cannot
be compared. Other programs on the machine only lengthen a run, so only the shortest run of each tool is used. DLB must
be built with this MPI; without its library libdlb_mpi.so nothing is compared."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from keep import keep
from real_bench import CASES, ENVIRONMENT, INPUTS, POISE, TIMEOUT_S, output_of

REPEATS = 5
MAX_POINTS = 3  # target: maximum difference between the efficiencies of the two tools, in percentage points
OF_TALP = {"parallel": "parallelEfficiency", "load_balance": "mpiLoadBalance", "communication": "mpiCommunicationEfficiency"}


def poise_measures(run, folder):
    output_of([POISE, "profile", "-o", folder / "run.poise", "--", *run.command()], folder)
    found = json.loads(output_of([POISE, "diagnose", folder / "run.poise", "--json"], folder))["efficiencies"]
    return {"run_s": found["run_s"], **{name: found[name] for name in OF_TALP}}


def talp_measures(run, folder, library):
    command = run.command()
    command[1:1] = ["-x", f"LD_PRELOAD={library}", "-x", f"DLB_ARGS=--talp --talp-output-file={folder}/talp.json"]
    (folder / "talp.json").unlink(missing_ok=True)  # TALP appends
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, env=ENVIRONMENT,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{run.program} with {library} exited with status {done.returncode}\n{done.stderr}")
    found = json.loads((folder / "talp.json").read_text(encoding="utf-8"))["Application"]["Global"]
    return {"run_s": 1e-9 * found["elapsedTime"], **{name: found[key] for name, key in OF_TALP.items()}}


def rows_of(name, run, folder, library):
    pairs = [(poise_measures(run, folder), talp_measures(run, folder, library)) for _ in range(REPEATS)]
    ours, theirs = (min(side, key=lambda measured: measured["run_s"]) for side in zip(*pairs))
    for efficiency in OF_TALP:
        difference = ours[efficiency] - theirs[efficiency]
        yield {"name": name, "ranks": run.ranks, "efficiency": efficiency, "poise": ours[efficiency], "talp": theirs[efficiency],
               "poise_run_s": ours["run_s"], "talp_run_s": theirs["run_s"], "difference": difference,
               "is_near": abs(difference) <= MAX_POINTS / 100}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench talp", description=__doc__.split("\n")[0])
    parser.add_argument("--library", default="/usr/local/lib/libdlb_mpi.so", metavar="FILE", help="libdlb_mpi.so of DLB (default: %(default)s)")
    parser.add_argument("--only", default="", metavar="TEXT", help="run only the cases whose names contain TEXT")
    options = parser.parse_args()
    if not pathlib.Path(options.library).exists():
        print(f"{options.library} does not exist; build DLB with MPI and name its library: --library FILE. Nothing was compared.")
        return
    for name, run, _ in CASES:
        has_cores = run.ranks <= len(os.sched_getaffinity(0)) and not run.on_one_core
        if not has_cores or run.mpi != "openmpi" or options.only not in name or not run.executable():
            continue
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
            rows = list(rows_of(name, run, pathlib.Path(folder), options.library))
            for row in rows:
                print("{name:38} {efficiency:14} poise {poise:6.1%}  TALP {talp:6.1%}  {}".format(
                    "" if row["is_near"] else "DIFFERENT", **row), flush=True)
        keep("talp", rows, key=("name",), repeats=REPEATS)  # stored after each case, because a case takes minutes


if __name__ == "__main__":
    main()
