#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Repeats the experiments of Klinkenberg et al. 2020 (CHAMELEON) at the size of this machine. Also runs programs
whose load distribution changes during the run: with balancing (prediction), with lending (reaction), and with both.

Runs with and without lending alternate. A result is the best of several runs or, if the load distribution changes,
their median. The ideal is `one process`: the same work as OpenMP tasks in a single process with the same number
of threads. Ratios can be compared between machines, seconds cannot. The tables are printed, and stored as JSON
under bench/results."""

import argparse
import contextlib
import functools
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

from keep import ROOT, keep
from mpi import BOUND, SLEEPY, mpiexec

BIN = ROOT / "build" / "bin"
CORES = sorted(os.sched_getaffinity(0))
LEND = "policy=cost"


def matmul(ranks, arguments, **variables):
    """Returns the time of the fastest step, except the first one, in which the runtime learns the cost of tasks."""
    out = mpiexec(ranks, [BIN / "matmul", *arguments.split()], **variables)
    return min([float(s) for s in re.findall(r"step \d+: ([\d.e-]+) s", out)][1:])


def in_turns(repeats, **ways):
    """Calls each variant `repeats` times, and returns its results by name. Variants are called in turn; every
    second round calls them in reverse order."""
    results = {name: [] for name in ways}
    for i in range(repeats):
        for name in list(ways)[::-1 if i % 2 else 1]:
            results[name].append(ways[name]())
    return results


def best_in_turns(repeats, **ways):
    return {name: min(results) for name, results in in_turns(repeats, **ways).items()}


@contextlib.contextmanager
def competitor(core, share):
    """Runs a process on the core. The process computes for the given share of the time, and sleeps otherwise."""
    code = ("import sys, time\nshare = float(sys.argv[1])\nwhile True:\n"
            "    end = time.monotonic() + 0.01 * share\n    while time.monotonic() < end: pass\n"
            "    time.sleep(0.01 * (1 - share))\n")
    process = subprocess.Popen(["taskset", "-c", str(core), "python3", "-c", code, str(share)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


class Table:
    def __init__(self, experiment, columns):
        self.experiment, self.columns, self.rows = experiment, columns, []
        print(f"\n{experiment}\n" + "".join(f"{column:>14}" for column in columns), flush=True)

    def add(self, *values):
        self.rows.append({"experiment": self.experiment, **dict(zip(self.columns, values))})
        print("".join(f"{value:>14.4f}" if isinstance(value, float) else f"{value:>14}"
                      for value in values), flush=True)


def balanced(repeats):
    """Measures the overhead of the runtime for two ranks with equal work, where nothing is lent. Each step runs twice
    in the same processes: with the runtime, and with OpenMP tasks."""
    table = Table("balanced", ["size", "tasks", "OpenMP s", "lending s", "slower %",
                               "median %"])
    for size, tasks in (50, 2400), (150, 200), (300, 30):
        out = mpiexec(2, [BIN / "matmul", "--size", size, "--tasks", tasks, "--steps", 15 * repeats,
                          "--settings", LEND, "--versus-openmp"], **BOUND)
        steps = [[float(s) for s in pair]
                 for pair in re.findall(r"step \d+: ([\d.e-]+) s, by OpenMP ([\d.e-]+) s", out)]
        lending_s, openmp_s = (min(way) for way in zip(*steps))
        median = statistics.median(lending / openmp for lending, openmp in steps)
        table.add(size, tasks, openmp_s, lending_s, 100 * (lending_s / openmp_s - 1), 100 * (median - 1))
    return table.rows


def slow_core(repeats):
    """Experiments 1 and 2: two ranks have equal work, and the core of the second one is slow. The paper slows this core
    down by a power cap or a lower clock; here, a competing process runs on this core. A step is so long that, during
    it, the core switches many times between the rank and its competitor."""
    table = Table("a slow core", ["competitor", "without s", "with s", "gain", "ideal gain",
                                  "one process s"])
    all_tasks = "--size 300 --steps 5 --tasks 120"
    half = "--size 300 --steps 5 --tasks 60"
    for share in 0.0, 0.25, 0.5, 1.0:
        with competitor(CORES[-1], share):
            best = best_in_turns(
                repeats,
                without=lambda: matmul(2, f"{half} --openmp", **BOUND),
                lending=lambda: matmul(2, f"{half} --settings {LEND}", **BOUND),
                ideal=lambda: matmul(1, f"{all_tasks} --openmp --threads 2"))
        left = 1 - min(share, 0.5)  # fraction of the disturbed core that the rank gets: at least half
        table.add(share, best["without"], best["lending"], best["without"] / best["lending"],
                  (1 + left) / (2 * left), best["ideal"])
    return table.rows


def one_owner(repeats):
    """Experiment 3: at the start, the first of two ranks has all tasks. From row to row of the table, the tasks become
    larger and fewer."""
    table = Table("one rank has everything", ["size", "tasks", "without s", "with s", "gain",
                                              "one process s", "of ideal"])
    for size, tasks in (50, 2400), (100, 1200), (150, 400), (300, 60), (450, 20), (600, 10):
        arguments = f"--size {size} --tasks {tasks},0 --steps 4"
        best = best_in_turns(
            repeats,
            without=lambda: matmul(2, f"{arguments} --openmp"),
            lending=lambda: matmul(2, f"{arguments} --settings {LEND}"),
            ideal=lambda: matmul(1, f"{arguments} --openmp --threads 2"))
        table.add(size, tasks, best["without"], best["lending"], best["without"] / best["lending"],
                  best["ideal"], best["ideal"] / best["lending"])
    return table.rows


def threads(repeats):
    """Experiment 3: a rank with more threads finishes its own tasks sooner, which leaves less time for lending.
    The tasks sleep instead of computing, because there are more threads than cores."""
    table = Table("threads per rank, tasks of 3 ms",
                  ["threads", "without s", "with s", "gain", "one process s", "of ideal"])
    for count in 1, 2, 4, 8, 16:
        out = mpiexec(2, [BIN / "tasks_lending", "--tasks", 800, "--us", 3000, "--in", 360000, "--out",
                          180000, "--sleep", "--threads", count, "--repeats", repeats], **SLEEPY)
        row = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
        table.add(count, row["without_s"], row["with_s"], row["gain"], row["openmp_s"],
                  row["openmp_s"] / row["with_s"])
    return table.rows


def program(name, arguments, ranks=2, **variables):
    out = mpiexec(ranks, [BIN / name, *arguments.split()], **variables)
    return float(re.search(r"(?:ranks?|threads): ([\d.]+) s", out)[1])


def one_process(name, arguments, threads=2, **variables):
    return program(name, arguments + " --openmp", ranks=1, OMP_NUM_THREADS=str(threads), **variables)


WAYS = {"neither": {"POISE_STRATEGY": "keep"},  # the strategy `keep` turns balancing off
        "lending": {"POISE_LEND": "1", "POISE_STRATEGY": "keep"}, "balancing": {"POISE_STRATEGY": "poise"},
        "both": {"POISE_LEND": "1", "POISE_STRATEGY": "poise"}}
JUMPING = "--side 10 --rounds 16000 --steps 80 --placement uneven"
MOVING_LOADS = [  # each step takes 8 to 20 ms
    ("load that grows", "imbalance", "--rounds 20000 --growth 0.2 --steps 60 --placement uneven", 20),
    # The extra load stays for 5 steps at each of the four corners of the grid, so it visits all four in one balancing
    # period of 20 steps. Past measurements do not tell which corner is next.
    *((f"load that jumps, {kib} kB", "imbalance", f"{JUMPING} --growth 6 --jump 5 --bytes {kib * 1024}", 20)
      for kib in (128, 512)),
    ("load that jumps and stays, 512 kB", "imbalance", f"{JUMPING} --growth 1.5 --jump 20 --bytes {512 * 1024}", 10),
]
MOVING_PROGRAMS = [
    ("nbody", "nbody", "--particles 8192 --steps 95 --placement uneven", 32),  # 1 + 2 * 95 steps of the runtime
    ("tsunami", "tsunami", "--steps 100 --cells 16 --placement uneven", 20),
    ("limiter", "limiter", "--pieces 32 --cells 1024 --steps 24 --placement uneven", 20),
]


# If the load distribution changes during the run, the compared variants differ by only a few per cent. So these
# experiments have OFTENER times as many runs as the others.
OFTENER = 3


def moving(experiment, programs, repeats):
    """Experiments 4 and 5, and the paper's conclusion. Programs whose load distribution changes run in three ways: with
    balancing at a fixed period (prediction), with lending (reaction), and with both. Reports median times. The columns
    `over lending` and `over balancing` have the speed-up of runs with both over runs with lending or balancing alone.
    The speed-up is a median over the rounds: in each round, the time of one run is divided by that of the other,
    because the runs of a round see the same state of the host."""
    table = Table(experiment, ["program", "period", *WAYS, "one process", "over lending", "over balancing"])
    for label, name, arguments, period in programs:
        walls_s = in_turns(OFTENER * repeats, **{
            way: lambda settings=settings: program(name, arguments, POISE_PERIOD=str(period), **settings)
            for way, settings in WAYS.items()}, ideal=lambda: one_process(name, arguments))
        over = [statistics.median(alone / both for alone, both in zip(walls_s[way], walls_s["both"]))
                for way in ("lending", "balancing")]
        table.add(label, period, *map(statistics.median, walls_s.values()), *over)
    return [{**row, "repeats": OFTENER * repeats} for row in table.rows]


RULES = {"no lending": {}, "paired": {"POISE_LEND": "1", "POISE_TASKS_POLICY": "paired"},
         "cost": {"POISE_LEND": "1", "POISE_TASKS_POLICY": "cost"}}
# Each row: number of cells along the side of a patch, and number of time steps. With these, the program `tsunami`
# computes for about one second.
OCEANS = [(8, 400), (16, 150), (24, 70)]


def victims(repeats):
    """Experiment 4: strong scaling of the program `tsunami` from one rank to two, with each rule for choosing
    the rank to which tasks are lent. Each row of the table has a finer grid of the ocean."""
    ways = *RULES, "one process"
    table = Table("tsunami, whom to lend to", ["cells", "one rank s", *(f"{way} s" for way in ways),
                                               *(f"{way} gain" for way in ways)])
    for cells, steps in OCEANS:
        arguments = f"--steps {steps} --cells {cells}"
        best = best_in_turns(repeats, alone=lambda: program("tsunami", arguments, ranks=1), **{
            rule: lambda settings=settings: program("tsunami", arguments, **settings)
            for rule, settings in RULES.items()}, ideal=lambda: one_process("tsunami", arguments))
        alone_s = best.pop("alone")
        table.add(cells, alone_s, *best.values(), *(alone_s / wall_s for wall_s in best.values()))
    return table.rows


def strong_scaling(repeats):
    """Experiment 4: the program `tsunami` on more ranks than cores, with each rule for choosing the rank to
    which tasks are lent. The program sleeps instead of computing."""
    rules = {**RULES, "lightest": {"POISE_LEND": "1", "POISE_TASKS_POLICY": "lightest"}}
    ways = *rules, "one process"
    table = Table("tsunami asleep", ["ranks", *(f"{way} s" for way in ways),
                                     *(f"{way} gain" for way in ways)])
    arguments = "--blocks 12 --cells 4 --steps 30 --sleep 3"
    one_s = best_in_turns(repeats, one=lambda: program("tsunami", arguments, ranks=1))["one"]
    table.add(1, *[one_s] * len(ways), *[1.0] * len(ways))
    for ranks in 2, 4, 8:
        best = best_in_turns(repeats, **{
            rule: lambda settings=settings: program("tsunami", arguments, ranks=ranks, **settings)
            for rule, settings in rules.items()},
            ideal=lambda: one_process("tsunami", arguments, threads=ranks, **SLEEPY))
        table.add(ranks, *best.values(), *(one_s / wall_s for wall_s in best.values()))
    return table.rows


def beside_one_process(repeats):
    """Compares the programs of experiments 4 and 5 with a single process that has one OpenMP thread per core."""
    table = Table("beside one process", ["program", "two ranks s", "lending s", "one process s", "of ideal"])
    for _, name, arguments, _ in MOVING_PROGRAMS:
        best = best_in_turns(
            repeats,
            neither=lambda: program(name, arguments, **WAYS["neither"]),
            lending=lambda: program(name, arguments, **WAYS["lending"]),
            ideal=lambda: one_process(name, arguments))
        table.add(name, *best.values(), best["ideal"] / best["lending"])
    return table.rows


def imbalances(busy):
    """Returns the imbalance of each iteration, given the busy times of two workers in every step. An iteration has two
    steps. Its imbalance is the longer busy time of each step, summed over both steps, divided by the sum of the mean
    busy times."""
    return [2 * (max(a) + max(b)) / (sum(a) + sum(b)) for a, b in zip(busy[::2], busy[1::2])]


def busy_ranks(trace, num_objects):
    """Returns the busy time of both ranks in each step, from the trace. No step begins before all ranks have ended
    the previous one."""
    ran = sorted((event["ts"], event["dur"], event["pid"]) for event in trace["traceEvents"]
                 if event["ph"] == "X" and event["name"].startswith("poise: an object's step"))
    steps = [ran[first:first + num_objects] for first in range(0, len(ran), num_objects)]
    return [[sum(us for _, us, rank in step if rank == which) for which in (0, 1)] for step in steps]


def limiter_steps(repeats):
    """Experiment 5: imbalance of the program `limiter` in each step. It is measured between ranks, without and
    with lending, and between the threads of one process. Each value is the median of several runs."""
    table = Table("limiter, imbalance per step", ["step", "without", "with", "one process"])
    pieces, steps = 32, 24
    arguments = f"--pieces {pieces} --cells 512 --steps {steps} --placement uneven"

    def lending(policy):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            program("limiter", arguments, POISE_LEND="1", POISE_STRATEGY="keep",
                    POISE_TASKS_POLICY=policy, POISE_TASKS_TRACE=str(path))
            return imbalances(busy_ranks(json.loads(path.read_text()), pieces))

    def threads_of_one():
        out = mpiexec(1, [BIN / "limiter", *arguments.split(), "--openmp", "--each-step"],
                      OMP_NUM_THREADS="2")
        return imbalances([[float(s) for s in line.split()]
                           for line in re.findall(r"threads busy for (.*) s", out)])

    series = in_turns(repeats, without=lambda: lending("none"), lending=lambda: lending("cost"),
                      ideal=threads_of_one)
    for step in range(steps):
        table.add(step + 1, *(statistics.median(run[step] for run in runs) for runs in series.values()))
    return table.rows


EXPERIMENTS = {"balanced": balanced, "slow_core": slow_core, "one_owner": one_owner,
               "threads": threads, "victims": victims, "one_process": beside_one_process,
               "strong_scaling": strong_scaling, "limiter_steps": limiter_steps,
               "moving_loads": functools.partial(moving, "loads that move", MOVING_LOADS),
               "moving_programs": functools.partial(moving, "programs whose load moves", MOVING_PROGRAMS)}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench reactive", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each experiment (default: 3)")
    parser.add_argument("--only", choices=EXPERIMENTS, action="append",
                        help="run only this experiment and keep the stored results of the others")
    options = parser.parse_args()
    rows = [{"repeats": options.repeats, **row} for name, experiment in EXPERIMENTS.items()
            if not options.only or name in options.only for row in experiment(options.repeats)]
    keep("reactive", rows, key=("experiment",) if options.only else None)


if __name__ == "__main__":
    main()
