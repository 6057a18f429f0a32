# SPDX-License-Identifier: BSD-3-Clause

"""Compares lending with other ways to distribute tasks that all belong to rank 0. Several programs run these tasks,
one program after the other in each of several rounds. One of them, tasks_peers, runs the tasks in four ways; the ways
alternate. StarPU-MPI and mpi4py are measured if they are installed."""

import json
import pathlib
import subprocess
import sys

from intervals import median_interval
from keep import ROOT
from mpi import SLEEPY, mpiexec

BIN = ROOT / "build" / "bin"
ROUNDS, REPEATS = 3, 7
BIG = (360000, 180000)
CASES = [  # each row: number of ranks, number of tasks, and per task: mean µs, (bytes in, bytes out), whether it sleeps
    (2, 200, 5000, BIG, False),
    (2, 1000, 200, (64, 64), False),
    (2, 5000, 10, (64, 64), False),
    (4, 400, 1000, (64, 64), True),
    (8, 800, 1000, (64, 64), True),
]
SPREAD = 0.5
# StarPU has one worker per rank, which may share its core with other ranks. Data are registered anew in each run, so no
# transfer is cached. Under Open MPI 4, StarPU-MPI 1.3 hangs if a task returns more than LARGEST_OF_STARPU bytes, so
# StarPU is not measured in such cases.
LARGEST_OF_STARPU = 4096
STARPU = {"STARPU_NCPU": "1", "STARPU_WORKERS_NOBIND": "1", "STARPU_SILENT": "1"}
PYTHONS = [sys.executable, "/usr/bin/python3"]
NAMES = {"alone": "without lending", "lending": "lending", "master_worker": "master and workers", "openmp": "OpenMP, one process",
         "starpu": "StarPU-MPI", "futures": "mpi4py.futures"}


def python_with_futures():
    for python in PYTHONS:
        if subprocess.run([python, "-c", "import mpi4py.futures"], capture_output=True).returncode == 0:
            return python
    return None


def launches(case):
    """Returns the commands that run a case, each with the variables that it needs."""
    np, tasks, us, (bytes_in, bytes_out), sleeps = case
    arguments = ["--tasks", tasks, "--us", us, "--spread", SPREAD, "--in", bytes_in, "--out", bytes_out,
                 "--repeats", REPEATS, *(["--sleep"] if sleeps else [])]
    commands = [([BIN / "tasks_peers", *arguments], {})]
    if bytes_out <= LARGEST_OF_STARPU and (BIN / "tasks_starpu").exists():
        commands.append(([BIN / "tasks_starpu", *arguments], STARPU))
    if sleeps and (python := python_with_futures()):
        script = pathlib.Path(__file__).with_name("futures_peer.py")
        commands.append(([python, script, tasks, us, SPREAD, bytes_in, bytes_out, REPEATS], {}))
    return commands


def measure(case):
    seconds = {}
    for _ in range(ROUNDS):
        for command, variables in launches(case):
            out = mpiexec(case[0], command, **SLEEPY, **variables)
            line = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
            for way, runs in line["seconds"].items():
                seconds.setdefault(way, []).extend(runs)
    return seconds


def rows():
    """Measures all cases. Returns one row for each case and each way to run it. A row has two medians with intervals:
    the seconds, and the ratio of the seconds to those of lending in the same round."""
    all_rows = []
    for case in CASES:
        np, tasks, us, (bytes_in, bytes_out), sleeps = case
        seconds = measure(case)
        for way, runs in seconds.items():
            ratio = median_interval([run / lent for run, lent in zip(runs, seconds["lending"], strict=True)])
            all_rows.append({"np": np, "tasks": tasks, "us": us, "bytes": bytes_in + bytes_out, "sleep": sleeps,
                             "way": NAMES[way], "runs": len(runs), "seconds": median_interval(runs),
                             "of_lending": ratio})
            print(f"{np} ranks, {tasks} of {us} µs, {NAMES[way]}: {1e3 * all_rows[-1]['seconds'][0]:.1f} ms, "
                  f"{ratio[0]:.2f} ({ratio[1]:.2f} to {ratio[2]:.2f}) times as long as lending", flush=True)
    return all_rows
