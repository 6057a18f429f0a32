#!/usr/bin/env python3
"""Objects on MPI: what they cost, and what balancing gains every mini-app that starts badly placed.
Prints a table and keeps it as JSON under bench/results.

Each program runs on two ranks for three phases, so two decisions are behind it when the last phase
is timed. `ideal` is its load there under the strategy keep, spread evenly and without any waiting;
`of ideal` is that time over the time measured; efficiency is that of the phase itself. Rows with more
ranks than cores sleep for their load. What waits for memory shares it with the other rank, and for
messages with itself: of those a perfect balance, too, would fall short of the ideal."""

import argparse
import dataclasses
import datetime
import json
import random
import re

from keep import RESULTS, ROOT, keep
from mpi import mpiexec

BIN = ROOT / "build" / "bin"
STRATEGIES = ["keep", "poise", "greedy", "refine", "greedy_comm", "nuco", "numa", "treematch"]
PHASES = 3


@dataclasses.dataclass
class Case:
    program: str
    arguments: str
    period: int  # iterations between decisions
    steps: int = 1  # of the objects, in an iteration
    ranks: int = 2
    bound: str = "compute"  # what it waits for
    name: str = ""

    def title(self):
        return self.name or self.program

    def run(self, strategy):
        iterations = PHASES * self.period - 2  # some programs begin with a step more
        out = mpiexec(self.ranks, [BIN / self.program, *self.arguments.split(), "--steps", iterations,
                                   "--placement", "uneven"],
                      POISE_STRATEGY=strategy, POISE_PERIOD=str(self.period * self.steps))
        since = r"last decision: imbalance ([\d.]+), efficiency ([\d.]+), ([\d.]+) ms"
        imbalance, efficiency, iteration_ms = map(float, re.search(since, out).groups())
        return {
            "program": self.title(),
            "ranks": self.ranks,
            "bound": self.bound,
            "strategy": strategy,
            "wall_s": float(re.search(r"ranks: ([\d.]+) s", out)[1]),
            "migrations": int(re.search(r"(\d+) migrations", out)[1]),
            "iteration_ms": iteration_ms,
            "imbalance": imbalance,
            "efficiency": efficiency,
            "checksum": re.search(r"checksum (\S+)", out)[1],
        }


CASES = [
    Case("lb_test", "--scale 0.0015", 9),
    Case("stencil4d", "--points 8 --stiff 100", 8),
    Case("leanmd", "--cells 4 --lattice 6", 8, steps=3),
    Case("jacobi2d", "--blocks 16 --points 128", 90, bound="memory"),  # at tens of gigabytes a second
    Case("poisson3d", "--blocks 6 --points 24", 45),
    Case("waves3d", "--blocks 6 --points 16", 36, steps=2),
    Case("nbody", "--pieces 64 --particles 16384", 16, steps=2),
    Case("imbalance", "--rounds 8000 --growth 0.02", 50),
    Case("kneighbor", "--objects 128 --work 20000", 50),
    Case("commbench", "--bytes 65536 --work 1000", 50, bound="messages"),
    Case("lb_test", "--sleep --objects 128 --scale 0.02", 5, ranks=8, bound="sleep",
         name="lb_test, asleep"),
]


def measure(case, strategies, repeats):
    """The quickest last phase of several runs of each strategy, taken in turns, in another order each
    time: what comes back every few seconds must not meet the same one again and again."""
    best = {}
    order = list(strategies)
    for seed in range(repeats):
        random.Random(seed).shuffle(order)
        for strategy in order:
            row = case.run(strategy)
            if strategy not in best or row["iteration_ms"] < best[strategy]["iteration_ms"]:
                best[strategy] = row
    rows = [best[strategy] for strategy in strategies]
    if len({row["checksum"] for row in rows}) > 1:
        raise SystemExit(f"{case.program} computed something else when balanced: {rows}")
    before = best["keep"]
    ideal_ms = before["iteration_ms"] * before["efficiency"]
    for row in rows:
        row["faster"] = before["iteration_ms"] / row["iteration_ms"]
        row["ideal_ms"] = ideal_ms
        row["of_ideal"] = ideal_ms / row["iteration_ms"]
    return rows


def show(row):
    print(f"{row['program']:<16}{row['strategy']:<12}{row['iteration_ms']:>9.3f}{row['ideal_ms']:>9.3f}"
          f"{row['faster']:>8.2f}{row['of_ideal']:>10.3f}{row['efficiency']:>12.3f}"
          f"{row['imbalance']:>11.3f}{row['migrations']:>7}", flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev bench objects", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each (default: 3)")
    parser.add_argument("--programs", help="only these, as in costs,lb_test,leanmd; of the others what "
                        "was kept stays")
    parser.add_argument("--strategies", help="only these and keep; nothing is kept")
    options = parser.parse_args()
    strategies = ["keep", *(options.strategies or ",".join(STRATEGIES[1:])).split(",")]
    everything = ["costs", *dict.fromkeys(case.program for case in CASES)]
    wanted = options.programs.split(",") if options.programs else everything
    if unknown := set(wanted) - set(everything):
        parser.error(f"--programs: {', '.join(sorted(unknown))}; there are {', '.join(everything)}")
    path = RESULTS / "objects.json"
    before = json.loads(path.read_text()) if path.exists() else {"costs": {}, "results": []}
    costs, kept = before["costs"], before["results"]
    if "costs" in wanted:
        costs = json.loads(mpiexec(2, [BIN / "objects_costs"]))
        for what, value in costs.items():
            print(f"{what:<36} {value:.4g}")
    print(f"\n{'program':<16}{'strategy':<12}{'ms/iter':>9}{'ideal':>9}{'faster':>8}{'of ideal':>10}"
          f"{'efficiency':>12}{'imbalance':>11}{'moved':>7}")
    rows = []
    for case in CASES:
        if case.program not in wanted:
            rows += [row for row in kept if row["program"] == case.title()]
            continue
        for row in measure(case, list(dict.fromkeys(strategies)), options.repeats):
            rows.append({**row, "repeats": options.repeats, "date": datetime.date.today().isoformat()})
            show(row)
    if not options.strategies:
        keep("objects", rows, costs=costs)


if __name__ == "__main__":
    main()
