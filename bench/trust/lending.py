# SPDX-License-Identifier: BSD-3-Clause

"""Compares measured and simulated times of steps in which ranks lend tasks. lending_mpi.cc measures steps of the tasks
runtime, and `poise simulate --engine events --lend` simulates them. No number of the simulation was fitted to these
measurements. Two cases (SEEN) did influence the design of the simulation: they showed that simulated ranks must not
know in advance how long each task takes."""

import itertools
import json
import pathlib
import random
import subprocess
import tempfile

import native_trace
from intervals import is_near, median_interval
from mpi import mpiexec


def all_on_one(tasks, seconds):
    return [[0, seconds]] * tasks


def at_random(ranks, tasks, seconds):
    """Returns tasks that take 0.5 to 1.5 times `seconds`, each on a random rank."""
    draw = random.Random(7)
    return sorted([draw.randrange(ranks), seconds * draw.uniform(0.5, 1.5)] for _ in range(tasks))


def evenly(ranks, tasks, seconds):
    return sorted([task % ranks, seconds] for task in range(tasks))


def dealt(ranks, tasks, seconds):
    """Returns tasks that take 0.1 to 4 times `seconds`. They are distributed longest first, each to the rank that has
    the least work so far."""
    draw = random.Random(1)
    lengths = sorted((seconds * draw.uniform(0.1, 4) for _ in range(tasks)), reverse=True)
    work, dealt_out = [0.0] * ranks, []
    for length in lengths:
        rank = work.index(min(work))
        work[rank] += length
        dealt_out.append([rank, length])
    draw.shuffle(dealt_out)
    return sorted(dealt_out, key=lambda task: task[0])


def case(name, ranks, tasks, size=64, slowness=1):
    """A case. Rank 0 needs `slowness` times as long for a task as other ranks. `size` is the number of bytes of a
    task's data, and also of its result."""
    return {"name": name, "ranks": ranks, "tasks": tasks, "bytes": size, "slowness": [slowness] + [1] * (ranks - 1)}


CASES = [
    case("all on one, 5 ms", 2, all_on_one(100, 5e-3)),
    case("all on one, 1 ms, 540 kB", 2, all_on_one(200, 1e-3), 540000),
    case("all on one, 1 ms", 4, all_on_one(400, 1e-3)),
    case("all on one, 5 ms, 540 kB", 4, all_on_one(200, 5e-3), 540000),
    case("random, 5 ms", 4, at_random(4, 160, 5e-3)),
    case("even, 5 ms", 4, evenly(4, 80, 5e-3)),
    case("one slow rank, 5 ms", 4, evenly(4, 160, 5e-3), slowness=3),
    case("all on one, 5 ms", 8, all_on_one(320, 5e-3)),
    case("random, 1 ms", 8, at_random(8, 400, 1e-3)),
    case("one slow rank, 1 ms", 8, evenly(8, 400, 1e-3), slowness=3),
    case("uneven but balanced, 1.2 ms", 8, dealt(8, 64, 1.2e-3)),
    case("uneven but balanced, 5 ms", 8, dealt(8, 32, 5e-3)),
]
SEEN = {"uneven but balanced, 1.2 ms", "uneven but balanced, 5 ms"}


def ideal_s(one):
    """Returns the seconds that the step would take with perfect balance: the total work divided by the total speed of
    the ranks. The formula ignores the longest task, which is shorter than this time in all cases."""
    return sum(seconds for _, seconds in one["tasks"]) / sum(1 / slowness for slowness in one["slowness"])


def measured(harness, cases, rounds):
    """Returns the seconds of every round of each case. All cases have the same number of ranks."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "steps")
        path.write_text("".join(json.dumps(one) + "\n" for one in cases))
        lines = mpiexec(cases[0]["ranks"], [harness, "--steps", path, "--rounds", rounds]).splitlines()
    return [json.loads(line)["iteration_s"] for line in lines]


def simulated_s(poise, one):
    """Simulates the step with the event engine, on a node with the default costs. Returns its seconds."""
    speeds = ",".join(f"{1 / slowness:.9g}" for slowness in one["slowness"])
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "step.poise")
        native_trace.write(trace, [seconds for _, seconds in one["tasks"]], [], [rank for rank, _ in one["tasks"]],
                           one["ranks"], 2 * one["bytes"])
        command = [poise, "simulate", trace, "-m", f"core:{one['ranks']} speeds:{speeds}", "--engine", "events",
                   "--lend", "--steps", "1", "-s", "keep", "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return json.loads(done.stdout)["results"][0]["iteration_s"]


def rows(binaries, rounds):
    """Measures and simulates all cases."""
    for _, group in itertools.groupby(CASES, key=lambda one: one["ranks"]):
        cases = list(group)
        for one, seconds in zip(cases, measured(binaries / "trust_lending", cases, rounds)):
            row = {"name": one["name"], "ranks": one["ranks"], "held_out": one["name"] not in SEEN, "rounds": len(seconds),
                   "measured_s": median_interval(seconds), "simulated_s": simulated_s(binaries / "poise", one),
                   "ideal_s": ideal_s(one)}
            row["is_within"] = is_near(row["simulated_s"], row["measured_s"])
            median, low, high = (1e3 * value for value in row["measured_s"])
            print(f"  {one['ranks']} ranks, {one['name']:<25}{median:8.2f} ms  [{low:.2f}, {high:.2f}]  simulated "
                  f"{1e3 * row['simulated_s']:8.2f}  {row['simulated_s'] / row['measured_s'][0] - 1:+6.1%}", flush=True)
            yield row
