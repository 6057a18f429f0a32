#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures decisions that all ranks make together. The memory of a rank is measured under MPI, for several numbers of
ranks and of tasks per rank. CPU time and cost are compared with those of a decision by one rank; here, ranks are
threads of one process."""

import argparse
import json
import re
import subprocess

from keep import ROOT, keep
from mpi import mpiexec

BIN = ROOT / "build" / "bin"
# Each row: number of ranks, tasks per rank, and d. All tasks form a ring, and each sends a message to the d tasks
# before it and to the d tasks after it.
MEMORY = [(2, 50_000, 3), (4, 25_000, 3), (8, 12_500, 3), (4, 100_000, 1), (4, 100_000, 8), (2, 500_000, 3),
          (4, 250_000, 3), (8, 125_000, 3)]
# Ranks, tasks, recipe of the workload.
COST = [(64, 100_000, "stencil3d"), (64, 1_000_000, "stencil3d"), (64, 1_000_000, "geometric"),
        (256, 1_000_000, "stencil3d"), (1024, 1_000_000, "stencil3d")]
LINE = re.compile(r"messages per task: ([\d.]+) MB at most, ([\d.]+) allowed")


def memory(ranks, tasks, degree):
    """Measures the memory of a rank. If a rank needs more than it is allowed, this program ends."""
    megabytes, allowed = map(float, LINE.search(mpiexec(ranks, [BIN / "distributed_in_c", tasks, degree])).groups())
    return {"name": "memory", "ranks": ranks, "tasks_per_rank": tasks, "messages_per_task": 2 * degree,
            "megabytes": megabytes, "bound_megabytes": allowed}


def cost(ranks, tasks, recipe):
    done = subprocess.run([BIN / "distributed_cost", str(ranks), str(tasks), recipe], check=True, capture_output=True,
                          text=True, timeout=1800)
    row = json.loads(done.stdout)
    return {"name": "cost", **row, "cpu_over_central": round(row["cpu_s"] / row["central_cpu_s"], 3)}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench distributed", description=__doc__)
    parser.add_argument("--max_ranks", type=int, default=1024, help="skip rows with more ranks")
    limit = parser.parse_args().max_ranks
    for measure, cases in (memory, MEMORY), (cost, COST):
        for case in cases:
            if case[0] > limit:
                continue
            row = measure(*case)
            print(row, flush=True)
            keep("distributed", [row], key=("name", "ranks", "tasks_per_rank", "messages_per_task", "tasks", "recipe"))


if __name__ == "__main__":
    main()
