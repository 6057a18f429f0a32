#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures what `poise juggle` gains for the NAS Parallel Benchmarks in C++ (https://github.com/GMAP/NPB-CPP), which
were not written for it. They are not part of this project: --programs names a folder with the built OpenMP versions
as COMPILER/KERNEL.CLASS, such as gcc/ep.W and clang/ft.A. The benchmark is skipped without that folder.

Each program runs in pairs, without and with the balancer. The pairs end when the 95 % confidence interval of the median
speed-up extends by at most 2 % to each side, at the latest after 25 pairs (--pairs). Rows whose interval is still wider
are stored as undecided. Speeds are those that the programs print, in operations per second, because the seconds that
they print have only two decimals."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

from intervals import median_interval
from juggle_bench import stranger
from keep import ROOT, keep

POISE = ROOT / "build" / "bin" / "poise"
KERNELS = ("ep.W", "ft.A", "is.B", "cg.A", "mg.A", "sp.W")
CPUS = len(os.sched_getaffinity(0))
# The situations in which each kernel runs by default: the number of threads, and whether another program computes all
# the time on one of the cpus.
SITUATIONS = (CPUS + 1, False), (2 * CPUS, False), (CPUS, True)
MIN_PAIRS, MAX_PAIRS, HALF_WIDTH = 6, 25, 0.02
MIN_SPEED_UP = 0.98  # target for the lower end of the speed-up's confidence interval
TIMEOUT_S = 120


def measured(program, threads, binding, is_juggled):
    """Runs the program. Returns its seconds, and its speed in millions of operations per second."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true" if binding == "bound" else "false"}
    command = [POISE, "juggle", "--", program] if is_juggled else [program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    if "SUCCESSFUL" not in done.stdout:
        sys.exit(f"juggle_npb: {program} computed wrong results")
    return tuple(float(re.search(rf"{name}\s*=\s*([0-9.]+)", done.stdout)[1])
                 for name in ("Time in seconds", "Mop/s total"))


def speed_ups(program, threads, has_stranger, binding, max_pairs):
    """Returns the speed-up of each pair of runs, and the seconds of the runs without the balancer."""
    ratios, plain_s = [], []
    while len(ratios) < max_pairs:
        order = (False, True) if len(ratios) % 2 == 0 else (True, False)  # alternates which run comes first
        with stranger("free" if has_stranger and binding == "free" else has_stranger):
            runs = {juggled: measured(program, threads, binding, juggled) for juggled in order}
        if runs[False][1] <= 0:
            sys.exit(f"juggle_npb: {program} finished too quickly to measure its speed; choose a larger problem class, such as A instead of W")
        ratios.append(runs[True][1] / runs[False][1])
        plain_s.append(runs[False][0])
        median, low, high = median_interval(ratios)
        if len(ratios) >= MIN_PAIRS and max(high - median, median - low) <= HALF_WIDTH * median:
            break
    return ratios, plain_s


def named(threads, has_stranger):
    return f"{threads} on {CPUS}" + " beside a stranger" * has_stranger


def measure(folder, compiler, kernel, situation, binding, max_pairs):
    ratios, plain_s = speed_ups(folder / compiler / kernel, *situation, binding, max_pairs)
    situation = named(*situation)
    speed_up = median_interval(ratios)
    is_decided = max(speed_up[2] - speed_up[0], speed_up[0] - speed_up[1]) <= HALF_WIDTH * speed_up[0]
    row = {"kernel": kernel, "compiler": compiler, "situation": situation, "threads_are": binding, "pairs": len(ratios),
           "plain_s": median_interval(plain_s), "speed_up": speed_up, "worst": min(ratios), "is_decided": is_decided,
           "wanted": MIN_SPEED_UP}
    print(f"{kernel} {compiler}, {situation}, {binding}: x{speed_up[0]:.3f} [{speed_up[1]:.3f}, {speed_up[2]:.3f}], "
          f"{len(ratios)} pairs, plain {row['plain_s'][0]:.2f} s{'' if is_decided else ', undecided'}", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(prog="./dev bench juggle_npb", description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, help="folder of the built programs")
    parser.add_argument("--only", default="", help="only rows whose name contains this text; the other rows stay as kept")
    parser.add_argument("--threads", type=int, help="number of threads, without a stranger, instead of the usual situations")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="kernels and classes, such as ep.A,ft.B (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=MAX_PAIRS, help="maximum number of pairs (default: %(default)s)")
    options = parser.parse_args()
    if options.pairs < 1 or (options.threads is not None and options.threads < 1):
        parser.error("--pairs and --threads must be at least 1")
    situations = [(options.threads, False)] if options.threads else SITUATIONS
    if options.programs is None or not options.programs.is_dir():
        print("juggle_npb: skipped, because --programs names no folder with the built programs")
        return
    num_rows = 0
    for compiler in ("gcc", "clang"):
        for situation in situations:
            for binding in ("bound", "free"):
                for kernel in options.kernels.split(","):
                    name = f"{kernel} {compiler}, {named(*situation)}, {binding}"
                    if options.only in name and (options.programs / compiler / kernel).exists():
                        row = measure(options.programs, compiler, kernel, situation, binding, options.pairs)
                        keep("juggle_npb", [row], key=("kernel", "compiler", "situation", "threads_are"))
                        num_rows += 1
    if num_rows == 0:
        sys.exit(f"juggle_npb: no program in {options.programs} matches --kernels {options.kernels} and --only \"{options.only}\"")


if __name__ == "__main__":
    main()
