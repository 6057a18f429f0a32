#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures decisions that all ranks make together. The memory of a rank is measured under MPI, for several numbers of
ranks and of tasks per rank. CPU time and cost of the placement are compared with those of a decision by one rank; in
this comparison, ranks are threads of one process. Under MPI, time and cost are compared with those of Zoltan's PHG in
repartition mode and of PT-Scotch's ParMETIS_V3_PartKway, if these tools are installed. Both tools get the same loads
and messages as weights without units, and know nothing about the machine."""

import argparse
import json
import os
import re
import subprocess

from intervals import median_interval
from keep import ROOT, keep
from mpi import ENVIRONMENT, mpiexec

BIN = ROOT / "build" / "bin"
# Each row: number of ranks, number of tasks per rank, and a number d. All tasks form a ring; a task sends one message
# to each of the d tasks before it and of the d tasks after it.
MEMORY = [(2, 50_000, 3), (4, 25_000, 3), (8, 12_500, 3), (4, 100_000, 1), (4, 100_000, 8), (2, 500_000, 3),
          (4, 250_000, 3), (8, 125_000, 3), (4, 2_500_000, 3)]
# Each row: number of ranks, number of tasks, recipe of the workload.
COST = [(64, 100_000, "stencil3d"), (64, 1_000_000, "stencil3d"), (64, 1_000_000, "geometric"),
        (256, 1_000_000, "stencil3d"), (1024, 1_000_000, "stencil3d")]
# Each row: number of ranks, number of tasks, recipe of the workload. There are no more ranks than cores, because ranks
# that share a core disturb each other.
PEERS = [(2, 100_000, "stencil3d"), (2, 100_000, "geometric"), (2, 100_000, "rmat"), (4, 100_000, "stencil3d"),
         (4, 100_000, "geometric"), (4, 100_000, "rmat")]
TOOLS = "poise", "zoltan", "ptscotch"
ROUNDS = 7
LINE = re.compile(r"messages per task: ([\d.]+) MB at most, ([\d.]+) allowed")


def memory(ranks, tasks, degree):
    """Measures the memory of a rank. Fails if a rank needs more memory than the documented bound."""
    megabytes, allowed = map(float, LINE.search(mpiexec(ranks, [BIN / "distributed_in_c", tasks, degree])).groups())
    return {"name": "memory", "ranks": ranks, "tasks_per_rank": tasks, "messages_per_task": 2 * degree,
            "megabytes": megabytes, "bound_megabytes": allowed}


def cost(ranks, tasks, recipe):
    done = subprocess.run([BIN / "distributed_cost", str(ranks), str(tasks), recipe], check=True, capture_output=True,
                          text=True, timeout=1800)
    row = json.loads(done.stdout)
    return {"name": "cost", **row, "cpu_over_central": round(row["cpu_s"] / row["central_cpu_s"], 3)}


def decided_by(tool, ranks, tasks, recipe):
    """Returns the time of one decision and the cost of its placement, or None if the tool is not installed."""
    command = ["mpiexec", "-n", str(ranks), BIN / "distributed_peers", tool, str(tasks), recipe]
    done = subprocess.run(command, env=os.environ | ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 77:
        print(f"skipped: {tool} was not found when distributed_peers was built", flush=True)
        return None
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def peers(ranks, tasks, recipe):
    """Returns a row for each tool that is installed. In each round, every tool decides once."""
    tools, rounds = list(TOOLS), []
    for _ in range(ROUNDS):
        measured = {tool: decided_by(tool, ranks, tasks, recipe) for tool in tools}
        tools = [tool for tool in tools if measured[tool]]
        rounds.append(measured)
    rows = []
    for tool in tools:
        samples = [each[tool]["seconds"] for each in rounds]
        ratios = [each[tool]["seconds"] / each["poise"]["seconds"] for each in rounds]
        rows.append({"name": "peer", **rounds[0][tool], "seconds": median_interval(samples),
                     "seconds_over_poise": [round(x, 3) for x in median_interval(ratios)]})
    return rows


def main():
    parser = argparse.ArgumentParser(prog="./dev bench distributed", description=__doc__)
    parser.add_argument("--max_ranks", type=int, default=1024, help="skip rows with more ranks")
    parser.add_argument("--only", choices=("memory", "cost", "peers"), help="measure only this")
    options = parser.parse_args()
    for measure, cases in (memory, MEMORY), (cost, COST), (peers, PEERS):
        for case in cases if options.only in (None, measure.__name__) else ():
            if case[0] > options.max_ranks:
                continue
            measured = measure(*case)
            rows = measured if isinstance(measured, list) else [measured]
            for row in rows:
                print(row, flush=True)
            keep("distributed", rows, key=("name", "tool", "ranks", "tasks_per_rank", "messages_per_task", "tasks", "recipe"))


if __name__ == "__main__":
    main()
