#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures the iterations of Charm++ programs under Charm++'s own balancers and Poise's, on a cluster of network
namespaces with slow links (tests/support/cluster.py): two racks of two hosts, with one process of two PEs on each.

The program is the mini-app lb_test on the graphs of Charm++'s lb_test (random), kNeighbor (a ring) and stencil3d (a
grid). Its objects sleep instead of computing, so all PEs run at full speed on any number of cores. Each repeat runs
all balancers in turn, in an order that differs from repeat to repeat. For each balancer the bench prints the time of
an iteration after the last decision: the median over the repeats, with its 95 % interval, and the ratio to that of no
balancing in the same repeat. It needs root, and a Charm++ 7 or 8 built for a network with threads
(netlrts-linux-x86_64-smp). Exit status: 77 if there is none."""

import argparse
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from intervals import median_interval
from keep import ROOT, keep

NETWORK = ROOT / "build" / "charm_network"
INSIDE = "POISE_CHARM_CLUSTER_INSIDE"
SKIPPED, TIMEOUT_S = 77, 60
BALANCERS = {  # name in the table: arguments
    "none": ["TreeLB", "+TreeLBFile", "DUMMY"],
    "TreeLB": ["TreeLB"],
    "GreedyRefineLB": ["GreedyRefineLB"],
    "RefineLB": ["RefineLB"],
    "MetisLB": ["MetisLB", "+LBCommOn"],
    "RecBipartLB": ["RecBipartLB", "+LBCommOn"],
    "DistributedLB": ["DistributedLB"],
    "PoiseLB": ["PoiseLB"],
    "NucoLB": ["NucoLB"],
}
OBJECTS = ["--objects", "64", "--sleep", "--scale", "0.03", "--placement", "round_robin", "--steps", "40"]
PROGRAMS = {
    "lb_test": ["--graph", "random", "--degree", "4", "--bytes", "2000"],
    "kNeighbor": ["--graph", "ring", "--degree", "6", "--bytes", "2000"],
    "stencil3d": ["--graph", "grid", "--bytes", "2000"],
}
PERIOD = 10  # iterations between decisions
LINKS = ["--racks", "2,2", "--slots", "1", "--near", "1ms", "--far", "5ms", "--rate", "100mbit", "--uplink", "100mbit"]
# What charmrun runs instead of ssh: HOST and options, then a shell that reads a script from stdin.
REMOTE_SHELL = '#!/bin/sh\nexec /run/enter "$1" /bin/bash -f\n'
DUMMY = {"tree": "PE_Root", "root": {"pe": 0, "strategies": ["Dummy"]}}


def command_of(home, folder, program, balancer):
    arguments = [str(folder / "dummy.json") if word == "DUMMY" else word for word in BALANCERS[balancer]]
    return [str(home / "bin" / "charmrun"), "++nodelist", str(folder / "nodes"), "++remote-shell", str(folder / "shell"),
            "+p8", "++ppn", "2", str(NETWORK / "bin" / "lb_test_on_charm"), "+setcpuaffinity", "+CmiSleepOnIdle",
            "+LBDebug", "1", "+balancer", *arguments, *OBJECTS, *PROGRAMS[program]]


def run(command):
    """Returns the milliseconds of an iteration after the last decision and the checksum, or why there are none."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=TIMEOUT_S, check=False,
                              env=os.environ | {"POISE_PERIOD": str(PERIOD)})
    except subprocess.TimeoutExpired:
        return {"ended": f"no end within {TIMEOUT_S} s"}
    said = re.search(r"(\d+) migrations; since the last decision: (\S+) ms", done.stdout)
    checksum = re.search(r"checksum (\S+)", done.stdout)
    if done.returncode or not said or not checksum:
        return {"ended": f"status {done.returncode}", "output": done.stdout[-2000:]}
    return {"ended": "ok", "migrations": int(said[1]), "ms": float(said[2]), "checksum": checksum[1]}


def inside(options, home):
    """Runs on the first host of the cluster: all runs, interleaved."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "nodes").write_text("group main\n" + "".join(f"host node{i}\n" for i in range(1, 5)))
        (folder / "shell").write_text(REMOTE_SHELL)
        (folder / "shell").chmod(0o755)
        (folder / "dummy.json").write_text(json.dumps(DUMMY))
        runs = []
        for repeat in range(options.repeats):
            for program in options.programs.split(","):
                order = options.balancers.split(",")
                random.Random(repeat).shuffle(order)
                for balancer in order:
                    load = os.getloadavg()[0]
                    runs.append({"program": program, "balancer": balancer, "repeat": repeat, "load_before": load,
                                 **run(command_of(home, folder, program, balancer))})
                    print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
                    pathlib.Path(options.out).write_text(json.dumps(runs))
    return 0


def rows_of(runs):
    rows = []
    for program in dict.fromkeys(run["program"] for run in runs):
        of_program = [run for run in runs if run["program"] == program]
        sums = {run["checksum"] for run in of_program if run["ended"] == "ok"}
        if len(sums) > 1:
            raise SystemExit(f"{program} computed something else when balanced: {sums}")
        none = {run["repeat"]: run["ms"] for run in of_program if run["balancer"] == "none" and run["ended"] == "ok"}
        for balancer in BALANCERS:
            mine = [run for run in of_program if run["balancer"] == balancer]
            good = [run for run in mine if run["ended"] == "ok"]
            row = {"program": program, "balancer": balancer, "runs": len(mine), "failed": len(mine) - len(good),
                   "load_averages": [round(run["load_before"], 1) for run in mine]}
            if good:
                row |= {"iteration_ms": median_interval([run["ms"] for run in good]),
                        "migrations": [run["migrations"] for run in good]}
                ratios = [run["ms"] / none[run["repeat"]] for run in good if run["repeat"] in none]
                row |= {"of_none": median_interval(ratios)} if ratios else {}
            if mine:
                rows.append(row)
    return rows


def show(rows):
    print(f"{'program':<11}{'balancer':<16}{'runs':>5}{'failed':>8}{'ms/iteration':>14}  {'interval':<20}{'of none':>9}")
    for row in rows:
        median, low, high = row.get("iteration_ms", (float("nan"),) * 3)
        print(f"{row['program']:<11}{row['balancer']:<16}{row['runs']:>5}{row['failed']:>8}{median:>14.2f}  "
              f"{f'{low:.2f} to {high:.2f}':<20}{row.get('of_none', [float('nan')])[0]:>9.3f}")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench charm_cluster", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", metavar="CHARM_HOME", type=pathlib.Path, help="the build of Charm++ (default: "
                        "$CHARM_NETWORK)", default=os.environ.get("CHARM_NETWORK"))
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--balancers", default=",".join(BALANCERS))
    parser.add_argument("--out", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.network is None or not (options.network / "bin" / "charmrun").exists():
        print("charm_cluster: skipped, no Charm++ for a network; name one by --network", file=sys.stderr)
        return SKIPPED
    home = options.network.resolve()
    if os.environ.pop(INSIDE, ""):
        return inside(options, home)
    for command in (["cmake", "--preset", "ci", "-B", str(NETWORK)], ["ninja", "-C", str(NETWORK), "lb_test_on_charm"]):
        subprocess.run(command, cwd=ROOT, env=os.environ | {"CHARM_HOME": str(home)}, stdout=subprocess.DEVNULL, check=True)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "runs.json"
        status = subprocess.run([sys.executable, str(ROOT / "tests/support/cluster.py"), *LINKS, "--", sys.executable, __file__,
                                 "--network", str(home), "--out", str(out), "--repeats", str(options.repeats),
                                 "--programs", options.programs, "--balancers", options.balancers],
                                env=os.environ | {INSIDE: "1"}, check=False).returncode
        if status or not out.exists():
            return status
        rows = rows_of(json.loads(out.read_text()))
    show(rows)
    keep("charm_cluster", rows, key=("program", "balancer"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
