#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares Poise's strategies with the balancers of Charm++ 8. All of them balance the same problems: the programs of
table III of the NucoLB paper, with the numbers of objects given there, on that paper's machines. `poise generate` makes
the problems. Each balancer of Charm++ decides in a real run, in which chares have the loads and messages of the problem
(charm_replay/replay.cc). `poise compare` judges all placements by the same model, so no time is measured. Some
decisions of Charm++ differ from run to run, because statistics arrive in a different order or because DistributedLB
draws random PEs. Therefore each balancer of Charm++ decides several times, and its row has the medians."""

import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

import charm_programs
from keep import ROOT, keep

POISE = ROOT / "build" / "bin" / "poise"
PEER = ROOT / "bench" / "charm_peer.py"
FOLDER = ROOT / "build" / "charm_cluster"
MACHINES = ["NUMA32", "NUMA48", "20xNUMA4"]
OBJECTS = {"lb_test": 200, "kneighbor": 400, "stencil4d": 256, "leanmd": 1875}
LONG = "poise:steps=1000"  # this strategy expects many iterations before the next decision, so migrations hardly count
OURS = ["keep", "poise", LONG, "nuco", "greedy_refine"]
PEERS = ["GreedyLB", "GreedyRefineLB", "RefineLB", "MetisLB", "RecBipartLB", "ScotchLB", "TreeLB", "DistributedLB"]
RUNS = 5  # number of decisions by each balancer of Charm++
ITERATIONS = 10  # a total time is the time of this many iterations plus the time of the migrations
COLUMNS = ["iteration_s", "total_s", "migration_s", "makespan_s", "imbalance", "nuco_messages", "internode_bytes", "migrations"]


def compared(trace, strategy):
    """Returns the row of `poise compare` for a strategy, or why it failed."""
    done = subprocess.run([POISE, "compare", trace, "--json", "--exec-limit", "120s", "-s", strategy],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return {"failed": done.stderr.strip()}
    row = json.loads(done.stdout)["results"][0]
    # total_s leaves out the time of the decision: for balancers of Charm++, that time includes the start of Charm++.
    return {**row, "total_s": ITERATIONS * row["iteration_s"] + row["migration_s"]}


def row_of(results):
    """Returns the median of each column over the runs of one balancer, or why a run failed."""
    failed = [result.get("failed") for result in results]
    if any(failed):
        return {"ended": next(filter(None, failed)).splitlines()[-1]}
    times_s = [result["iteration_s"] for result in results]
    return {"ended": "ok", "runs": len(results), "least_and_most_s": [min(times_s), max(times_s)],
            **{column: statistics.median(result[column] for result in results) for column in COLUMNS}}


def rows_of(program, machine, replay, peers, folder):
    trace = folder / f"{program}_{machine}.poise"
    subprocess.run([POISE, "generate", program, "--tasks", str(OBJECTS[program]), "--machine", machine, "-o", trace],
                   stdout=subprocess.DEVNULL, check=True)
    for name in OURS + peers:
        strategy = name if name in OURS else f"exec:{sys.executable} {PEER} {replay} {name}"
        results = [compared(trace, strategy) for _ in range(1 if name in OURS else RUNS)]
        yield {"machine": machine, "program": program, "balancer": name, "objects": OBJECTS[program], **row_of(results)}


def shown(row, best_s):
    head = f"{row['machine']:<10}{row['program']:<11}{row['balancer']:<17}"
    if row["ended"] != "ok":
        return head + row["ended"]
    return (f"{head}{1e3 * row['iteration_s']:>12.3f}{row['iteration_s'] / best_s:>9.3f}{row['migrations']:>10.0f}"
            f"{row['imbalance']:>11.3f}{row['total_s']:>12.3f}")


def main():
    parser = charm_programs.parser("charm_peers", __doc__)
    parser.add_argument("--programs", nargs="+", default=list(OBJECTS), choices=list(OBJECTS))
    parser.add_argument("--machines", nargs="+", default=MACHINES)
    options = parser.parse_args()
    home = charm_programs.network_home(options)
    if home is None:
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    replay = charm_programs.built_replay(home, FOLDER)
    peers = [name for name in PEERS if name != "ScotchLB" or charm_programs.scotch(home, replay.parent.parent)]
    kept = []
    print(f"{'machine':<10}{'program':<11}{'balancer':<17}{'iteration ms':>12}{'/ best':>9}{'migrated':>10}{'imbalance':>11}"
          f"{'total s':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for machine in options.machines:
            for program in options.programs:
                rows = list(rows_of(program, machine, replay, peers, pathlib.Path(folder)))
                best_s = min(row["iteration_s"] for row in rows if row["ended"] == "ok")
                for row in rows:
                    print(shown(row, best_s), flush=True)
                kept += rows
    is_partial = options.programs != list(OBJECTS) or options.machines != MACHINES
    keep("charm_peers", kept, key=("machine", "program") if is_partial else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
