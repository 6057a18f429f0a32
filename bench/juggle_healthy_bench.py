#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Counts false alarms of `poise juggle --diagnose`: runs ordinary programs that need no advice, and counts those for
which the diagnosis names a cause of lost time. Another program that computes would be a true cause, so a run is used
only if all other processes used less than 2 % of the cpus. A program that is not installed is skipped. --programs names
a folder with the NAS Parallel Benchmarks (see juggle_npb_bench.py)."""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from juggle_bench import QUIET_SHARE, busy_s
from keep import ROOT, keep

POISE = ROOT / "build" / "bin" / "poise"
CPUS = len(os.sched_getaffinity(0))
KERNELS = ("ep.W", "ft.A", "cg.A", "mg.A", "sp.W")
TIMEOUT_S = 300
LINES = 400_000  # number of lines of the file that is compressed and sorted (40 MB)

BUILD = "\n".join(["all:" + "".join(f" unit{i}" for i in range(8)),
                   *(f"unit{i}:\n\tpython3 -c 'sum(j * j for j in range(3000000))'" for i in range(8)), ""])
POOL = ("import concurrent.futures, time\n"
        "with concurrent.futures.ProcessPoolExecutor(2) as pool:\n"
        "    for burst in range(20):\n"
        "        list(pool.map(sum, [range(2000000)] * 2))\n"
        "        time.sleep(.1)\n")


def healthy(folder, programs):
    """Yields for each program its name, the words of its command, and its number of OpenMP threads. Programs read and
    write files in `folder`."""
    data = folder / "data"
    yield "one thread, python", ["python3", "-c", "sum(i * i for i in range(30000000))"], 1
    yield "one thread, gzip", ["gzip", "-k", "-f", data], 1
    yield f"{CPUS} threads, xz", ["xz", f"-T{CPUS}", "-3", "-k", "-f", data], 1
    yield f"{CPUS} threads, zstd", ["zstd", "-q", f"-T{CPUS}", "-15", "-k", "-f", data], 1
    yield f"{CPUS} threads, sort", ["sort", f"--parallel={CPUS}", "-S", "500M", "-o", folder / "sorted", data], 1
    yield "a pipeline of two, gzip and bzip2", ["sh", "-c", f"gzip -1 -c {data} | gzip -d | bzip2 -1 > {folder}/piped"], 1
    yield "a file copied and flushed", ["dd", f"if={data}", f"of={folder}/copy", "bs=64k", "oflag=dsync"], 1
    yield "a pool of two processes that sleeps in between", ["python3", folder / "pool.py"], 1
    yield f"a build by {CPUS} processes at a time", ["make", "-s", f"-j{CPUS}", "-C", folder], 1
    yield "mostly asleep", ["python3", "-c", "import time\nfor i in range(300): sum(range(20000)); time.sleep(.01)"], 1
    for compiler in ("gcc", "clang"):
        for kernel in KERNELS:
            for threads in sorted({1, CPUS}):
                yield f"{kernel} {compiler}, {threads} threads", [programs / compiler / kernel], threads


def text():
    """Returns pseudo-random words, which compress about as well as text."""
    random_numbers = random.Random(1)
    words = [f"{random_numbers.getrandbits(32):x}" for _ in range(20_000)]
    return "\n".join(" ".join(random_numbers.choices(words, k=12)) for _ in range(LINES))


def diagnosis(command, threads, folder):
    """Returns the causes that the diagnosis of a command names, as pairs of kind and text, and whether the machine was quiet."""
    report = folder / "report.json"
    before, children, began_s = busy_s(), os.times(), time.monotonic()
    done = subprocess.run([POISE, "juggle", "--diagnose", "--json", report, "--", *command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False,
                          env={**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "false"})
    if done.returncode != 0:
        sys.exit(f"juggle_healthy: {command[0]} failed:\n{done.stderr}")
    after = os.times()
    own_s = sum(after[:4]) - sum(children[:4])
    others = (busy_s() - before - own_s) / (CPUS * (time.monotonic() - began_s))
    causes = [(cause["kind"], cause["text"]) for cause in json.loads(report.read_text())["causes"]]
    return causes, others < QUIET_SHARE


def main():
    parser = argparse.ArgumentParser(prog="./dev bench juggle_healthy", description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("/nonexistent"), help="folder of the NAS kernels")
    parser.add_argument("--only", default="", help="only programs whose name contains this text; the other rows stay as kept")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "data").write_text(text())
        (folder / "Makefile").write_text(BUILD)
        (folder / "pool.py").write_text(POOL)
        for what, command, threads in healthy(folder, options.programs):
            if options.only not in what or shutil.which(command[0]) is None:
                continue
            causes, is_quiet = diagnosis(command, threads, folder)
            names_a_cause = causes[0][0] not in ("nothing", "unknown")
            rows.append({"program": what, "said": causes[0][1], "names_a_cause": names_a_cause, "is_quiet": is_quiet})
            print(f"{what}: {causes[0][1]}{'' if is_quiet else ' (NOT QUIET)'}", flush=True)
    keep("juggle_healthy", rows, key=("program",) if options.only else None)
    quiet = [row for row in rows if row["is_quiet"]]
    print(f"{sum(row['names_a_cause'] for row in quiet)} of {len(quiet)} programs got advice that they do not need; "
          f"{len(rows) - len(quiet)} runs were disturbed")


if __name__ == "__main__":
    main()
