# SPDX-License-Identifier: BSD-3-Clause

"""Compares measured and simulated run times of mini-apps on the objects runtime. `poise simulate --engine events`
simulates a run from a trace that another run recorded. A run balances objects between steps, lends tasks within steps,
does both, or neither.

The mini-apps sleep instead of computing, so ranks do not disturb each other even if there are more ranks than cores. No
number of the simulation was fitted to these measurements. The simulation includes no other programs on the machine, so
run the comparison on an idle machine or with priority (nice -n -15).

While the comparison was written, only the cases with held_out=False were run. When all cases were run for the first
time, they showed that tsunami takes one step more than it has iterations. STEPS was added for this reason; nothing else
was changed after that run."""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from intervals import is_near, median_interval
from keep import ROOT
from mpi import ENVIRONMENT, mpiexec

PERIOD = 4  # steps between two decisions
ITERATIONS = 12
STEPS = {"tsunami": ITERATIONS + 1}  # tsunami begins with an additional step, in which objects only send
TIMEOUT_S = 120
CLUSTER_PROGRAM = ROOT / "tests" / "support" / "cluster.py"
WAYS = {"neither": {"POISE_STRATEGY": "keep"}, "balancing": {"POISE_STRATEGY": "poise"},
        "lending": {"POISE_STRATEGY": "keep", "POISE_LEND": "1"}, "both": {"POISE_STRATEGY": "poise", "POISE_LEND": "1"}}
# Hosts with slow links. For the keys see CLUSTERS in trust_bench.py.
NARROW = {"shape": (2, 2, 2), "out": 100, "in": 100, "uplink": 150, "near": "0s", "far": "1ms"}
LB_TEST = f"--sleep --objects 64 --scale 0.1 --placement uneven --steps {ITERATIONS}"
TSUNAMI = f"--blocks 8 --cells 4 --sleep 20 --steps {ITERATIONS}"


def case(program, arguments, ranks, held_out=True, cluster=None, ways=tuple(WAYS)):
    return {"program": program, "arguments": arguments, "ranks": ranks, "held_out": held_out, "cluster": cluster,
            "ways": ways}


CASES = [
    case("lb_test", LB_TEST, 4, held_out=False), case("lb_test", LB_TEST, 2), case("lb_test", LB_TEST, 8),
    case("tsunami", TSUNAMI, 4, held_out=False), case("tsunami", TSUNAMI, 2), case("tsunami", TSUNAMI, 8),
    case("lb_test", LB_TEST, 8, cluster=NARROW),
    case("kneighbor", f"--objects 32 --k 3 --bytes 40000 --placement random --steps {ITERATIONS}", 8, held_out=False,
         cluster=NARROW, ways=("neither",)),
    case("kneighbor", f"--objects 64 --k 1 --bytes 60000 --placement round_robin --steps {ITERATIONS}", 8, cluster=NARROW,
         ways=("neither",)),
]


def on_cluster(cluster, ranks, command, variables):
    """Runs the command on hosts with slow links, and returns its output. Ends this program if the command fails."""
    racks, nodes, slots = cluster["shape"]
    done = subprocess.run(
        [sys.executable, CLUSTER_PROGRAM, "--racks", ",".join([str(nodes)] * racks), "--slots", str(slots), "--near",
         cluster["near"], "--far", cluster["far"], "--rate", f"{cluster['out']}mbit", "--rate-in", f"{cluster['in']}mbit",
         "--uplink", f"{cluster['uplink']}mbit", "--", "mpirun", "-np", str(ranks),
         *(word for name in variables for word in ("-x", name)), *map(str, command)],
        env={**os.environ, **ENVIRONMENT, **variables}, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(done.returncode)
    return done.stdout


def run(binaries, one, variables):
    """Runs the mini-app. Returns the seconds of all steps, including balancing."""
    command = [binaries / one["program"], *one["arguments"].split()]
    variables = {"POISE_CLOCK": "wall", "POISE_PERIOD": str(PERIOD), **variables}
    output = on_cluster(one["cluster"], one["ranks"], command, variables) if one["cluster"] \
        else mpiexec(one["ranks"], command, **variables)
    return float(re.search(r"ranks: ([0-9.]+) s", output)[1])


def simulated_s(poise, one, way, trace, links):
    """Simulates the run from a recorded trace, and returns its seconds. links(cluster)
    returns the description of the cluster as a machine."""
    settings = WAYS[way]
    command = [poise, "simulate", trace, "--engine", "events", "--barrier", "-s", settings["POISE_STRATEGY"],
               "--every", str(PERIOD),
               "-m", links(one["cluster"]) if one["cluster"] else f"core:{one['ranks']}", "--steps",
               str(STEPS.get(one["program"], ITERATIONS)), "--json"]
    if "POISE_LEND" in settings:
        command.append("--lend")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=True)
    return json.loads(done.stdout)["results"][1]["total_s"]


def rows(binaries, rounds, links):
    """Measures and simulates all cases. In each round, a case runs once in each of its variants (`ways`)."""
    for one in CASES:
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "run.poise")
            run(binaries, one, {"POISE_STRATEGY": "keep", "POISE_PERIOD": "1", "POISE_TRACE": str(trace)})
            measured = {way: [] for way in one["ways"]}
            for _ in range(rounds):
                for way, seconds in measured.items():
                    seconds.append(run(binaries, one, WAYS[way]))
            for way, seconds in measured.items():
                row = {**{key: value for key, value in one.items() if key != "ways"}, "way": way, "rounds": rounds,
                       "load_average": os.getloadavg()[0], "measured_s": median_interval(seconds),
                       "simulated_s": simulated_s(binaries / "poise", one, way, trace, links)}
                row["is_within"] = is_near(row["simulated_s"], row["measured_s"])
                print(f"  {one['ranks']} ranks, {one['program']:<10}{way:<10}{statistics.median(seconds):8.3f} s  "
                      f"simulated {row['simulated_s']:8.3f}  {row['simulated_s'] / row['measured_s'][0] - 1:+6.1%}", flush=True)
                yield row
