#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures lending when one rank has all tasks. Each case runs in four ways: without lending, with lending, with tasks
divided by hand between the ranks (the largest gain that the host allows at the time), and as OpenMP tasks in one
process that has as many threads as the ranks have in all. The four kinds of runs alternate, and of each kind only the
fastest run is used.

To measure how much lending can slow a program down, runs without and with lending are paired; both runs of a pair meet
the same competitor for the cores. The benchmark also measures what lending costs if all ranks have equal work, relative
to OpenMP tasks in the same processes; how much of a core the progress thread uses while long tasks run; and how soon a
lent task starts. It compares lending with a master and workers, OpenMP tasks in one process, StarPU-MPI and
mpi4py.futures (tasks/peers.py).

Prints tables and stores them as JSON under bench/results."""

import argparse
import json
import os

from intervals import median_interval, quantile_interval
from keep import ROOT, keep
from mpi import BOUND, SLEEPY, mpiexec
from tasks import peers

BIN = ROOT / "build" / "bin"
NUM_CORES = len(os.sched_getaffinity(0))
PROGRAM = BIN / "tasks_lending"
BIG = ["--in", "360000", "--out", "180000"]
SLEEP = ["--sleep"]
OFTEN = ["--repeats", "15"]
# Only the fastest run is used. With many runs, there is probably one in which no other program disturbs either core.
LONG = ["--repeats", "30"]
CASES = [  # each row: number of ranks, arguments of the program, target for the gain by lending
    (2, ["--tasks", "200", "--us", "5000", *BIG, *LONG], 1.97),
    (2, ["--tasks", "1000", "--us", "200", *OFTEN], 1.95),
    (2, ["--tasks", "1000", "--us", "50", *OFTEN], 1.6),
    (2, ["--tasks", "5000", "--us", "10", *OFTEN], 0.98),
    (2, ["--tasks", "20000", "--us", "1", *OFTEN], 0.98),
    (2, ["--tasks", "200", "--us", "5000", *SLEEP], 1.97),
    (4, ["--tasks", "400", "--us", "1000", *SLEEP], 3.6),
    (8, ["--tasks", "800", "--us", "1000", *SLEEP], 6.8),
    (16, ["--tasks", "1600", "--us", "1000", *SLEEP], 13.6),
]
# The columns are those of CASES. In these cases ranks compute instead of sleeping, and each rank has a core of its own.
COMPUTING = [(ranks, ["--tasks", str(100 * ranks), "--us", us, *more], 0.85 * ranks)
             for ranks in (4, 8, 16) for us, more in (("200", OFTEN), ("1000", OFTEN), ("5000", BIG))]
BALANCED = [(25, 4000), (200, 500), (5000, 20)]  # each row has tasks per rank and µs per task
MAX_SLOWER = 0.01  # target: maximum slowdown relative to OpenMP
# The progress thread polls at its highest rate during tasks of up to 4,000 µs. During longer tasks it sleeps longer
# between polls and so uses less of a core.
PROGRESS = ["--tasks", "250", "--us", "4000", "--sleep", "--balanced"]
PROGRESS_CORES = 0.02  # target: maximum fraction of a core that the progress thread of a rank uses
STARTS_US = {360000: 50, 64: 50}  # targets: bytes of a lent task -> maximum time in µs until it starts
# Each row: number of tasks of a rank, and mean µs per task. The length of a task differs from the mean by up to the
# fraction --spread of the mean.
LOSSES = [(20000, 1), (2000, 10), (200, 100), (20, 1000), (4, 5000)]
# Targets for runs with lending, compared with runs without: the median speed is at least MIN_MEDIAN times as high, and
# no run takes more than MAX_SINGLE times as long.
MIN_MEDIAN, MAX_SINGLE = 0.98, 2


def measure(np, arguments, program=PROGRAM, **variables):
    out = mpiexec(np, [program, *arguments], **SLEEPY, **variables)
    return json.loads(next(line for line in out.splitlines() if line.startswith("{")))


def gains(extra):
    return gains_in(CASES, extra)


def cores(extra):
    """Measures gains on as many cores as this machine has. Cases that need more cores are left out."""
    return gains_in([case for case in COMPUTING if case[0] <= NUM_CORES], extra)


def gains_in(cases, extra):
    rows = []
    print(f"{'np':>3} {'tasks':>6} {'µs':>6} {'bytes':>7} {'kind':>9} "
          f"{'without s':>10} {'with s':>8} {'gain':>6} {'median':>7} {'by hand':>8} {'OpenMP':>7} {'wanted':>7}")
    for np, arguments, wanted in cases:
        row = measure(np, [*arguments, *extra])
        row["wanted_gain"] = wanted
        rows.append(row)
        row["openmp_gain"] = row["without_s"] / row["openmp_s"]
        kind = "sleeps" if row["sleep"] else "computes"
        print(f"{np:>3} {row['tasks']:>6} {row['us']:>6.0f} {row['bytes_in'] + row['bytes_out']:>7} "
              f"{kind:>9} {row['without_s']:>10.4f} {row['with_s']:>8.4f} {row['gain']:>6.2f} "
              f"{row['median_gain']:>7.2f} {row['host_gain']:>8.2f} "
              f"{row['openmp_gain']:>7.2f} {wanted:>7}", flush=True)
    return rows


def balanced(extra):
    """Measures two ranks with equal work, each bound to its own core, and compares them with OpenMP tasks on the same
    cores."""
    rows = []
    for tasks, us in BALANCED:
        row = measure(2, ["--tasks", str(tasks), "--us", str(us), "--balanced", "--repeats", "100", *extra], **BOUND)
        row["slower"] = 1 / row["of_openmp_best"] - 1
        row["median_slower"] = 1 / row["of_openmp"] - 1
        row["wanted_slower"] = MAX_SLOWER
        rows.append(row)
        print(f"balanced, {tasks} of {us} µs: {row['with_s']:.4f} s, {row['openmp_s']:.4f} s by OpenMP: "
              f"{100 * row['slower']:.2f} % slower, median {100 * row['median_slower']:.2f} %; "
              f"wanted: {100 * MAX_SLOWER:.0f} % at most", flush=True)
    return rows


def helper(extra):
    row = measure(2, [*PROGRESS, *extra])
    row["helper_cores"] = row["cores_with"] - row["cores_without"]
    row["wanted_cores"] = PROGRESS_CORES
    print(f"progress thread: {100 * row['helper_cores']:.2f} % of a core; wanted: {100 * PROGRESS_CORES:.0f} % at most")
    return [row]


def starts(extra):
    rows = []
    for num_bytes, wanted in STARTS_US.items():
        row = measure(2, ["--start", "--tasks", "300", "--in", str(num_bytes), *extra])
        row["wanted_start_us"] = wanted
        rows.append(row)
        print(f"from the decision to lend {num_bytes} bytes to the start: {row['start_us']:.1f} µs; "
              f"wanted: {wanted} µs at most")
    return rows


def losses(extra):
    """On a machine of up to three cores, measures how much lending can slow down programs."""
    return losses_in_pairs(extra) if NUM_CORES < 4 else []


def losses_with_spare_cores(extra):
    """On a machine with at least four cores, measures how much lending can slow down programs of two ranks. The other
    cores are free for progress threads and for a competitor."""
    return losses_in_pairs(extra) if NUM_CORES >= 4 else []


def losses_in_pairs(extra):
    """Measures two kinds of cases on two ranks: both ranks have the same number of tasks, or rank 0 has all tasks.
    `speed` is the time without lending divided by the time with lending; `longer` is the inverse."""
    rows, every = [], []
    for tasks, us in LOSSES:
        for how in ([], ["--balanced"], ["--busy"], ["--balanced", "--busy"]):
            row = measure(2, ["--tasks", tasks, "--us", us, "--spread", "0.5", *how, *extra], BIN / "tasks_loss")
            longer = [with_s / without_s for without_s, with_s in row.pop("pairs_s")]
            every += longer
            row |= loss_of(longer)
            rows.append(row)
            print(f"{tasks} of {us} µs{''.join(how).replace('--', ', ')}: {said(row)}", flush=True)
    rows.append({"np": 2, "all": True, **loss_of(every)})
    print(f"all: {said(rows[-1])}; wanted: median {MIN_MEDIAN} at least, longest {MAX_SINGLE} at most")
    return rows


def loss_of(longer):
    return {"pairs": len(longer), "speed": median_interval([1 / ratio for ratio in longer]),
            "longer_p99": quantile_interval(longer, 0.99), "longest": max(longer),
            "wanted_speed": MIN_MEDIAN, "wanted_longest": MAX_SINGLE}


def said(row):
    speed, p99 = row["speed"], row["longer_p99"]
    return (f"median speed {speed[0]:.3f} ({speed[1]:.3f} to {speed[2]:.3f}), 99 % of runs take at most {p99[0]:.2f} "
            f"({p99[1]:.2f} to {p99[2]:.2f}) times as long, the longest {row['longest']:.2f}")


def beside(extra):
    """Compares lending with other ways to distribute tasks: a master and workers, OpenMP, StarPU-MPI and mpi4py."""
    return peers.rows()


PARTS = {part.__name__: part for part in (gains, cores, beside, losses, losses_with_spare_cores, balanced, helper, starts)}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench tasks", description=__doc__,
                                     epilog="Other options go to build/bin/tasks_lending.")
    parser.add_argument("--only", choices=PARTS, action="append",
                        help="this one alone; of the others what was kept stays")
    options, extra = parser.parse_known_args()
    wanted = options.only or PARTS
    rows = [{"part": name, **row} for name in PARTS if name in wanted for row in PARTS[name](extra)]
    keep("tasks", rows, key=("part",))  # keeps rows of other parts, which may come from a machine with more cores


if __name__ == "__main__":
    main()
