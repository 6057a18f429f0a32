#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures the cost of `poise profile`: the nanoseconds that it adds to an MPI call, for each installed MPI."""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from keep import ROOT, keep

LIBRARY = ROOT / "build" / "lib" / "libpoise_profile.so"
SOURCE = ROOT / "bench" / "profile_cost.c"
REPEATS = 5
TIMEOUT_S = 300
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def times(mpi, program, variables):
    """Returns the nanoseconds of each MPI call, by the name of the call. `variables` are set in the environment
    of the rank, but not in that of the launcher."""
    command = [f"mpirun.{mpi}", "-np", "1"]
    for name, value in variables.items():
        command += ["-x", f"{name}={value}"] if mpi == "openmpi" else ["-genv", name, value]
    done = subprocess.run([*command, program], capture_output=True, text=True, timeout=TIMEOUT_S, env=ENVIRONMENT,
                          check=True)
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def rows(mpi, folder):
    program = folder / f"cost.{mpi}"
    subprocess.run([f"mpicc.{mpi}", "-O2", "-w", SOURCE, "-o", program], check=True, timeout=TIMEOUT_S)
    plain, profiled = [], []
    for _ in range(REPEATS):  # in turn, so that both see the same machine
        plain.append(times(mpi, program, {}))
        profiled.append(times(mpi, program, {"LD_PRELOAD": str(LIBRARY), "POISE_PROFILE": str(folder / "profile")}))
    for call in plain[0]:
        added = sorted(after[call] - before[call] for before, after in zip(plain, profiled))
        yield {"mpi": mpi, "call": call, "plain_ns": round(min(run[call] for run in plain), 1),
               "added_ns": round(statistics.median(added), 1), "added_min_ns": round(added[0], 1),
               "added_max_ns": round(added[-1], 1)}


def main():
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for mpi in ("openmpi", "mpich"):
            if shutil.which(f"mpicc.{mpi}"):
                measured += rows(mpi, pathlib.Path(folder))
    for row in measured:
        print("{mpi:8} {call:16} {plain_ns:8} ns a call, {added_ns} ns more profiled "
              "({added_min_ns} to {added_max_ns} in {n} runs)".format(n=REPEATS, **row))
    keep("profile", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
