#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures the costs of objects on MPI, and what balancing gains in every mini-app that starts badly placed.
Prints a table and stores it as JSON under bench/results.

Each program runs on two ranks for three phases. Two decisions precede the last phase, whose iterations are
evaluated. In an ideal iteration, the work is spread evenly over the ranks and no rank waits. Column `of ideal`
has the time of the ideal iteration divided by the measured time: median and quartiles over all iterations
of all runs. The column `faster` has the time without balancing divided by the time with it: median over the
rounds. Both numbers of a ratio come from the same iteration or round, because a core of a virtual machine may be
half as fast a few seconds later.

A run is repeated if other programs used too large a share of a core during it. If there are more ranks than
cores, the program sleeps instead of computing. Programs that are limited by memory or by messages would not
reach the ideal even with a perfect balance, because the two ranks share the bandwidth."""

import argparse
import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import statistics
import tempfile
import time

from keep import ROOT, keep
from mpi import mpiexec

BIN = ROOT / "build" / "bin"
STRATEGIES = ["keep", "poise", "greedy", "refine", "greedy_comm", "nuco", "numa", "treematch"]
PHASES = 3
MOST_FOREIGN = 0.08  # limit for the fraction of a core that other processes use
MOST_TRIES = 4


@dataclasses.dataclass
class Case:
    program: str
    arguments: str
    period: int  # number of iterations between decisions
    steps: int = 1  # number of steps of the objects per iteration
    ranks: int = 2
    bound: str = "compute"  # the resource that limits the program
    name: str = ""
    cycle: int = 1  # number of iterations after which the load pattern repeats

    def title(self):
        return self.name or self.program

    def run(self, strategy):
        iterations = PHASES * self.period - 2  # two are left out, because some programs make additional steps
        with tempfile.TemporaryDirectory() as folder:
            timeline = pathlib.Path(folder) / "timeline.json"
            out = mpiexec(self.ranks, [BIN / self.program, *self.arguments.split(), "--steps", iterations,
                                       "--placement", "uneven"],
                          POISE_STRATEGY=strategy, POISE_PERIOD=str(self.period * self.steps),
                          POISE_TIMELINE=str(timeline))
            places = places_of(json.loads(timeline.read_text())["traceEvents"])
        since = r"last decision: imbalance ([\d.]+), efficiency ([\d.]+), ([\d.]+) ms"
        imbalance, efficiency, iteration_ms = map(float, re.search(since, out).groups())
        return {
            "of_ideal": of_ideal(places, self.steps * self.cycle),
            "iteration_ms": iteration_ms,
            "imbalance": imbalance,
            "efficiency": efficiency,
            "migrations": int(re.search(r"(\d+) migrations", out)[1]),
            "checksum": re.search(r"checksum (\S+)", out)[1],
        }

    def undisturbed(self, strategy):
        """Repeats the run of the program until other programs hardly disturb it, but at most MOST_TRIES times. Returns
        the last run."""
        for _ in range(MOST_TRIES):
            start_s, others_s = time.monotonic(), foreign_s()
            run = self.run(strategy)
            if foreign_s() - others_s < MOST_FOREIGN * (time.monotonic() - start_s):
                break
        return run


def foreign_s():
    """Returns the CPU seconds of all processes except this program and its children."""
    ticks = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _, _, *interrupts = ticks[:8]
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return ((user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
            - sum(usage.ru_utime + usage.ru_stime for usage in own))


def places_of(events):
    """Returns one list per place. Its items are [begin, end, what]: what the place did, from when to when, in
    seconds."""
    places = {}
    for event in events:
        if event["ph"] == "X":
            begin, time = event["ts"] / 1e6, event["dur"] / 1e6
            places.setdefault(event["pid"], []).append([begin, begin + time, event["cat"]])
    return [places[place] for place in sorted(places)]


def of_ideal(places, steps):
    """Returns one ratio per group of `steps` steps after the last decision: the ideal time of the group, with
    its work spread evenly over the places, divided by the measured time."""
    phases = []
    for spans in places:
        since = max((i + 1 for i, (_, _, what) in enumerate(spans) if what == "balance"), default=0)
        begun = [begin for begin, _, what in spans[since:] if what == "work"]
        works = [end - begin for begin, end, what in spans[since:] if what == "work"]
        phases.append((works, [*begun, spans[-1][1]]))
    num = min(len(works) for works, _ in phases)
    ratios = []
    for last in range(num, steps - 1, -steps):
        first = last - steps
        work_s = sum(sum(works[first:last]) for works, _ in phases) / len(phases)
        ratios.append(work_s / max(bounds[last] - bounds[first] for _, bounds in phases))
    return ratios


CASES = [
    Case("lb_test", "--scale 0.0015", 9),
    Case("stencil4d", "--points 8 --stiff 100", 8),
    Case("leanmd", "--cells 4 --lattice 6", 8, steps=3),
    Case("jacobi2d", "--blocks 16 --points 128", 90, bound="memory"),  # reads tens of gigabytes per second
    # The grid is larger than the cache, so a point takes twice as long as in a small grid.
    Case("poisson3d", "--blocks 6 --points 24", 45, bound="memory"),
    Case("waves3d", "--blocks 6 --points 16", 36, steps=2),
    Case("nbody", "--pieces 64 --particles 16384", 16, steps=2, cycle=8),
    Case("imbalance", "--rounds 8000 --growth 0.02", 50),
    Case("kneighbor", "--objects 128 --work 20000", 50),
    Case("commbench", "--bytes 65536 --work 1000", 50, bound="messages"),
    Case("lb_test", "--sleep --objects 128 --scale 0.02", 5, ranks=8, bound="sleep",
         name="lb_test, asleep"),
]


def measure(case, strategies, repeats):
    """Runs each strategy once per round, in a different order in each round, so that a periodic disturbance does
    not always hit the same strategy."""
    runs = {strategy: [] for strategy in strategies}
    order = list(strategies)
    for seed in range(repeats):
        random.Random(seed).shuffle(order)
        for strategy in order:
            runs[strategy].append(case.undisturbed(strategy))
    if len({run["checksum"] for of_strategy in runs.values() for run in of_strategy}) > 1:
        raise SystemExit(f"{case.program} computed something else when balanced: {runs}")
    rows = []
    for strategy, own in runs.items():
        row = {"program": case.title(), "ranks": case.ranks, "bound": case.bound, "strategy": strategy}
        for what in "iteration_ms", "imbalance", "efficiency", "migrations":
            row[what] = statistics.median(run[what] for run in own)
        quartiles = statistics.quantiles((ratio for run in own for ratio in run["of_ideal"]), n=4)
        row["of_ideal"], row["of_ideal_quartiles"] = quartiles[1], [quartiles[0], quartiles[2]]
        gains = [before["iteration_ms"] / run["iteration_ms"] for before, run in zip(runs["keep"], own)]
        row["faster"], row["faster_range"] = statistics.median(gains), [min(gains), max(gains)]
        row["checksum"] = own[0]["checksum"]
        rows.append(row)
    return rows


def show(row):
    print(f"{row['program']:<16}{row['strategy']:<12}{row['iteration_ms']:>9.3f}{row['faster']:>8.2f}"
          f"{row['of_ideal']:>10.3f} [{row['of_ideal_quartiles'][0]:.3f}, {row['of_ideal_quartiles'][1]:.3f}]"
          f"{row['efficiency']:>12.3f}{row['imbalance']:>11.3f}{row['migrations']:>7g}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench objects", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (default: 5)")
    parser.add_argument("--programs", help="only these, as in costs,lb_test,leanmd; of the others what "
                        "was kept stays")
    parser.add_argument("--strategies", help="only these and keep; nothing is kept")
    options = parser.parse_args()
    strategies = ["keep", *(options.strategies or ",".join(STRATEGIES[1:])).split(",")]
    everything = ["costs", *dict.fromkeys(case.program for case in CASES)]
    wanted = options.programs.split(",") if options.programs else everything
    if unknown := set(wanted) - set(everything):
        parser.error(f"unknown programs: {', '.join(sorted(unknown))}; known: {', '.join(everything)}")
    rows = []
    if "costs" in wanted:
        costs = json.loads(mpiexec(2, [BIN / "objects_costs"]))
        rows.append({"program": "costs", **costs})
        for what, value in costs.items():
            print(f"{what:<36} {value:.4g}")
    print(f"\n{'program':<16}{'strategy':<12}{'ms/iter':>9}{'faster':>8}{'of ideal':>10} {'quartiles':<14}"
          f"{'efficiency':>12}{'imbalance':>11}{'moved':>7}")
    for case in CASES:
        if case.program not in wanted:
            continue
        for row in measure(case, list(dict.fromkeys(strategies)), options.repeats):
            rows.append({**row, "repeats": options.repeats})
            show(row)
    if not options.strategies:
        keep("objects", rows, key=("program",) if options.programs else None)


if __name__ == "__main__":
    main()
