#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Counts page faults and cache misses of a program that uses objects on MPI: without balancing, and with a strategy
that migrates objects every 10 iterations. Pilla et al. (2012) report both for stencil4D: balancers that migrate many
objects cause more faults and misses.

Page faults come from getrusage. Cache misses need hardware counters, which virtual machines often hide; then their
column is empty. The counts of a run of N iterations are subtracted from those of a run of 2 N iterations, so faults and
misses at the start and the end of the program cancel out."""

import argparse
import ctypes
import os
import resource
import struct
import subprocess

from keep import ROOT, keep
from mpi import ENVIRONMENT, TIMEOUT_S

PROGRAM = ("stencil4d", "--blocks", "4", "--points", "12", "--placement", "uneven")
STRATEGIES = ("keep", "nuco", "greedy", "poise")
PERIOD, ITERATIONS = 10, 10
OPEN_CALL = {"x86_64": 298, "aarch64": 241}  # perf_event_open
# PERF_COUNT_HW_CACHE_MISSES, and the flag that makes a counter include child processes
CACHE_MISSES, INHERIT = 3, 1 << 1


def open_counter():
    """Returns a descriptor that counts cache misses of this process and of all children that it starts later, or None if
    the kernel or the machine does not offer the counter."""
    attributes = bytearray(128)
    struct.pack_into("=IIQ", attributes, 0, 0, 128, CACHE_MISSES)
    struct.pack_into("=Q", attributes, 40, INHERIT)
    memory = (ctypes.c_char * 128).from_buffer(attributes)
    found = ctypes.CDLL(None, use_errno=True).syscall(OPEN_CALL.get(os.uname().machine, -1), memory, 0, -1, -1, 0)
    return found if found >= 0 else None


def count(ranks, strategy, iterations):
    """Returns the minor and the major page faults, the cache misses (or None) and the printed text of a run."""
    counter = open_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {"POISE_STRATEGY": strategy, "POISE_PERIOD": str(PERIOD)}
    done = subprocess.run(["mpiexec", "-n", str(ranks), ROOT / "build" / "bin" / PROGRAM[0], *PROGRAM[1:], "--steps",
                           str(iterations)], env={**os.environ, **ENVIRONMENT, **settings}, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    misses = None
    if counter is not None:
        misses = struct.unpack("=q", os.read(counter, 8))[0]
        os.close(counter)
    return after.ru_minflt - before.ru_minflt, after.ru_majflt - before.ru_majflt, misses, done.stdout


def migrations_in(text):
    words = next(line for line in text.splitlines() if " migrations of " in line).split(";")[1].split()
    return int(words[0])


def row_of(ranks, strategy, iterations):
    short, long = (count(ranks, strategy, n) for n in (iterations, 2 * iterations))

    def per_iteration(index):
        return None if long[index] is None else (long[index] - short[index]) / iterations
    return {"ranks": ranks, "strategy": strategy, "period": PERIOD, "iterations": iterations,
            "minor_faults": per_iteration(0), "major_faults": per_iteration(1), "cache_misses": per_iteration(2),
            "migrations": (migrations_in(long[3]) - migrations_in(short[3])) / iterations}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench faults", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each case (default: 3)")
    repeats = parser.parse_args().repeats
    rows = []
    for strategy in STRATEGIES:
        for repeat in range(repeats):
            rows.append({"repeat": repeat, **row_of(2, strategy, ITERATIONS)})
            print(rows[-1], flush=True)
    keep("faults", rows)


if __name__ == "__main__":
    main()
