# SPDX-License-Identifier: BSD-3-Clause

"""Steps whose ranks lend tasks: the real runtime against `poise simulate --lend`, which was not calibrated with them."""

import json
import pathlib
import random
import subprocess
import tempfile

import native_trace

import os, shlex
PRE = shlex.split(os.environ.get("PRE", ""))


def all_on_one(ranks, tasks, seconds):
    return [[0, seconds]] * tasks


def randomly(ranks, tasks, seconds):
    """Tasks of 0.5 to 1.5 times the length, on random ranks."""
    draw = random.Random(7)
    return sorted([draw.randrange(ranks), seconds * draw.uniform(0.5, 1.5)] for _ in range(tasks))


def evenly(ranks, tasks, seconds):
    return sorted([task % ranks, seconds] for task in range(tasks))


def case(name, ranks, tasks, size=64, slow=1):
    """Rank 0 takes `slow` times as long for a task as the other ranks."""
    return {"name": name, "ranks": ranks, "tasks": tasks, "bytes": size, "slowness": [slow] + [1] * (ranks - 1)}


CASES = [
    case("all on one, 5 ms", 2, all_on_one(2, 100, 5e-3)),
    case("all on one, 1 ms", 4, all_on_one(4, 400, 1e-3)),
    case("all on one, 5 ms, 540 kB", 4, all_on_one(4, 200, 5e-3), 540000),
    case("all on one, 1 ms, 540 kB", 2, all_on_one(2, 200, 1e-3), 540000),
    case("random, 5 ms", 4, randomly(4, 160, 5e-3)),
    case("random, 1 ms", 8, randomly(8, 400, 1e-3)),
    case("one slow rank, 5 ms", 4, evenly(4, 160, 5e-3), slow=3),
    case("one slow rank, 1 ms", 8, evenly(8, 400, 1e-3), slow=3),
    case("even, 5 ms", 4, evenly(4, 80, 5e-3)),
    case("all on one, 5 ms", 8, all_on_one(8, 320, 5e-3)),
]


def measured(harness, of_ranks, rounds):
    """Returns the seconds of every round of each case. All have the same number of ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "steps")
        path.write_text("".join(json.dumps(one) + "\n" for one in of_ranks))
        command = [*PRE, "mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(of_ranks[0]["ranks"]), harness, "--steps", path,
                   "--rounds", str(rounds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=660, check=True)
    return [json.loads(line)["iteration_s"] for line in done.stdout.splitlines()]


def simulated(poise, one):
    """Returns the seconds of the step by the event engine."""
    speeds = ",".join(f"{1 / factor:.9g}" for factor in one["slowness"])
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "step.poise")
        native_trace.write(trace, [seconds for _, seconds in one["tasks"]], [], [rank for rank, _ in one["tasks"]],
                           one["ranks"], 2 * one["bytes"])
        done = subprocess.run([poise, "simulate", trace, "-m", f"core:{one['ranks']} speeds:{speeds}", "--engine", "events",
                               "--lend", "--steps", "1", "-s", "keep", "--json"], stdout=subprocess.PIPE, text=True,
                              timeout=60, check=True)
    return json.loads(done.stdout)["results"][0]["iteration_s"]
