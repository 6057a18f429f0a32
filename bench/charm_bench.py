#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares Charm++'s own balancers with Poise's on real Charm++ programs. Each part of the benchmark is printed
and stored as JSON under bench/results.

Part `live`: the programs of table III of the NucoLB paper run under every balancer. They run on 2 PEs, on more PEs than
cores, and on 32 PEs (as many as the paper's machine NUMA32 has) that sleep instead of computing. The part reports the
migrated objects and the seconds of each decision, and the milliseconds per iteration after the last decision.

Part `machines`: all balancers decide for the same measured phases on the papers' machines. Loads and messages come
from LB dumps of the running programs; objects start round-robin, as in Charm++. Charm++'s balancers replay the dumps
with +LBSim, Poise's strategies decide by `poise plan`, and `poise evaluate` judges all placements.

Part `million`: one decision for a million objects on eight PEs, made by one PE or separately by groups of PEs.

Part `network`: two programs run on the multicore build of Charm++ and on a network build. The part needs a network
build, from `./dev charm netlrts-linux-x86_64` or named by --network."""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from charm_dump import Dump
from keep import ROOT, keep

BIN = ROOT / "build" / "bin"
NETWORK = ROOT / "build" / "charm_network"
POISE = BIN / "poise"
TIMEOUT_S = 120
WATCHER = "DummyLB"  # this balancer measures and synchronises like the others, but moves nothing
CHARM = ["GreedyLB", "GreedyCommLB", "RefineLB", "ScotchLB", "TreeMatchLB"]
OURS = {"NucoLB": "nuco", "NumaLB": "numa", "TreeMatchTopoLB": "treematch", "PoiseLB": "poise"}
MACHINES = {"NUMA32": 32, "NUMA48": 48, "20xNUMA4": 80}
DECISIONS = 4
PARTS = "live,machines,million,network"


@dataclasses.dataclass
class App:
    program: str
    arguments: str
    iterations: int
    period: int  # iterations between decisions
    steps: int = 1  # number of steps that each object makes per iteration of the program
    pes: tuple = (2, 4)
    variables: dict = dataclasses.field(default_factory=dict)
    name: str = ""
    longer: str = ""  # further arguments for the part "machines", in which loads are measured

    def run(self, pes, arguments, iterations, *more):
        return run([BIN / f"{self.program}_on_charm", f"+p{pes}", "+CmiSleepOnIdle", "+setcpuaffinity",
                    "+LBPeriod", "0.001", "+LBDebug", "1", *more, *arguments.split(), "--steps",
                    str(iterations), "--placement", "round_robin"],
                   POISE_PERIOD=str(self.period * self.steps), **self.variables)


APPS = [
    App("lb_test", "--objects 200 --scale 0.004", 50, 10, longer="--objects 200 --scale 0.02"),
    App("kneighbor", "--objects 400 --k 7 --bytes 16384 --work 2000", 50, 10),
    App("stencil4d", "--blocks 4 --points 8", 50, 10, longer="--blocks 4 --points 12"),
    App("leanmd", "--cells 5 --lattice 4", 60, 12, steps=3, longer="--cells 5 --lattice 6"),
    App("lb_test", "--objects 200 --scale 0.02 --sleep", 50, 10, pes=(32,),
        variables={"POISE_MACHINE": "NUMA32"}, name="lb_test, asleep"),
]


def run(command, **variables):
    """Runs a command and returns its output and how it ended: ok, crashed or timed out."""
    try:
        done = subprocess.run([str(word) for word in command], env={**os.environ, **variables},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return "", f"timed out after {TIMEOUT_S} s"
    return done.stdout, "ok" if done.returncode == 0 else f"crashed with status {done.returncode}"


def numbers(pattern, text):
    return [float(number) for number in re.findall(pattern, text)]


def live_row(app, pes, balancer):
    out, ended = app.run(pes, app.arguments, app.iterations, "+balancer", balancer)
    migrated = numbers(r"#Objects migrating: (\d+)", out)
    decided_s = numbers(r"strategy finished at \S+ duration (\S+) s", out)
    iteration_ms = numbers(r"last decision: (\S+) ms", out)
    checksum = re.search(r"checksum (\S+)", out)
    return {"part": "live", "program": app.name or app.program, "pes": pes, "balancer": balancer, "ended": ended,
            "decisions": len(decided_s),
            "migrated": migrated,
            "decision_s": statistics.median(decided_s) if decided_s else None,
            "iteration_ms": iteration_ms[0] if iteration_ms else None,
            "checksum": checksum[1] if checksum else None}


def live(apps):
    rows = []
    print(f"{'live':<16}{'PEs':>4}  {'balancer':<17}{'migrated':<21}{'decided ms':>12}{'ms/iter':>10}  ended")
    for app in apps:
        for pes in app.pes:
            for balancer in [WATCHER, *CHARM, *OURS]:
                row = live_row(app, pes, balancer)
                rows.append(row)
                print(f"{row['program']:<16}{pes:>4}  {balancer:<17}{listed(row['migrated']):<21}"
                      f"{shown(row['decision_s'], 1000, '.3f'):>12}"
                      f"{shown(row['iteration_ms'], 1, '.3f'):>10}  {row['ended']}", flush=True)
        sums = {row["checksum"] for row in rows
                if row["program"] == (app.name or app.program) and row["ended"] == "ok"}
        if len(sums) > 1:
            raise SystemExit(f"{app.program} computed something else when balanced: {sums}")
    return rows


def listed(counts):
    return " ".join(f"{count:.0f}" for count in counts) or "-"


def shown(value, factor, form):
    return "-" if value is None else format(value * factor, form)


def measured(app, folder):
    """Runs the program on two PEs. Returns an LB dump of each of its phases except the first."""
    stem = folder / app.program
    out, ended = app.run(2, app.longer or app.arguments, (DECISIONS + 2) * app.period, "+balancer", WATCHER, "+LBDump", "1",
                         "+LBDumpSteps", str(DECISIONS), "+LBDumpFile", stem)
    paths = [folder / f"{app.program}.{phase + 1}" for phase in range(DECISIONS)]
    if not all(path.exists() for path in paths):
        raise SystemExit(f"{app.program} wrote no dumps, {ended}:\n{out}")
    return [Dump(path.read_bytes()) for path in paths]


def poise_json(*words):
    done = subprocess.run([str(word) for word in [POISE, *words, "--json"]], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def replayed(balancer, stem, dump, places):
    """Lets a Charm++ balancer decide on a dump. Returns the new places, the seconds of the decision, and how the run
    ended."""
    # Charm++ replays a dump in any program that is linked with the balancer. The arguments of lb_test keep the work of
    # lb_test itself small.
    out, ended = run([BIN / "lb_test_on_charm", "+p1", "+balancer", balancer, "+LBSim", "0", "+LBDumpFile", stem,
                      "+LBShowDecisions", "+LBDebug", "1", "--objects", "2", "--scale", "0", "--steps", "1000000"])
    decided_s = numbers(r"strategy finished at \S+ duration (\S+) s", out)
    answer = pathlib.Path(f"{stem}.0.results")
    if ended != "ok" or not answer.exists() or not decided_s:
        return places, None, ended
    index = {name: i for i, name in enumerate(dump.ids())}
    moved = list(places)
    for line in answer.read_text().splitlines()[1:]:
        name, place = map(int, line.split())
        moved[index[name]] = place
    answer.unlink()
    return moved, decided_s[0], "ok"


def planned(strategy, stem, machine):
    """Lets a strategy of Poise decide on a dump. Returns the new places, the seconds of the decision, and "ok"."""
    chosen = stem.with_suffix(".json")
    report = poise_json("plan", f"{stem}.0", "--machine", machine, "--strategy", strategy, "-o", chosen)
    return json.loads(chosen.read_text())["placement"], report["decision_s"], "ok"


def decisions(balancer, dumps, machine, stem):
    """Measures one balancer on one machine. The balancer makes one decision for each dumped phase. Each decision starts
    from the placement that the previous decision made."""
    num_places = MACHINES[machine]
    places = [i % num_places for i in range(len(dumps[0].ids()))]
    reports, seconds = [], []
    for dump in dumps:
        pathlib.Path(f"{stem}.0").write_bytes(dump.on(places, num_places))
        if balancer in CHARM:
            places, second, ended = replayed(balancer, stem, dump, places)
        else:
            places, second, ended = planned(OURS.get(balancer, "keep"), stem, machine)
        wrong = sum(place >= num_places for place in places)
        if wrong:
            ended = f"answers places that do not exist for {wrong} objects"
        if ended != "ok":
            return {"ended": ended}
        chosen = stem.with_suffix(".places")
        chosen.write_text("".join(f"{place}\n" for place in places))
        reports.append(poise_json("evaluate", f"{stem}.0", "--machine", machine, "--placement", chosen))
        seconds.append(second)
    means = {key: statistics.mean(report[key] for report in reports)
             for key in ("iteration_s", "makespan_s", "imbalance", "nuco_messages", "internode_bytes")}
    return {"ended": "ok", "migrated": [report["migrations"] for report in reports],
            "decision_s": statistics.median(seconds), **means}


def machines(apps, folder):
    rows = []
    print(f"\n{'machine':<10}{'program':<11}{'balancer':<17}{'migrated':<21}{'iteration ms':>14}{'imbalance':>11}"
          f"{'NUCO messages':>15}{'decided ms':>12}  ended")
    for app in apps:
        if app.name:
            continue
        dumps = measured(app, folder)
        for machine in MACHINES:
            for balancer in ["none", *CHARM, *OURS]:
                row = {"part": "machines", "machine": machine, "program": app.program, "balancer": balancer,
                       "objects": len(dumps[0].ids()), "iterations": app.period,
                       **decisions(balancer, dumps, machine, folder / f"{app.program}_{machine}")}
                rows.append(row)
                print(f"{machine:<10}{app.program:<11}{row['balancer']:<17}{listed(row.get('migrated', [])):<21}"
                      f"{shown(row.get('iteration_s'), 1000 / app.period, '.4f'):>14}"
                      f"{shown(row.get('imbalance'), 1, '.3f'):>11}{shown(row.get('nuco_messages'), 1, '.0f'):>15}"
                      f"{shown(row.get('decision_s'), 1000, '.3f'):>12}  {row['ended']}", flush=True)
    return rows


def million():
    """Returns the seconds of the decision and of the whole balancing, as Charm++ prints them. If groups of PEs decide,
    they do so at the same time, and the decision takes as long as that of the slowest group. Loads are equal at first,
    so few objects move, and migrations take only a small part of the balancing."""
    rows = []
    print(f"\n{'million':<16}{'PEs':>4}{'decided s':>12}{'balanced s':>12}  ended")
    for balancer in ("PoiseLB", "PoiseHybridLB", "PoiseJointLB"):
        if not (ROOT / "build" / "lib" / f"libmodule{balancer}.a").exists():
            continue  # PoiseJointLB is not built for Charm++ 6.10
        out, ended = run([BIN / "lb_test_on_charm", "+p8", "+CmiSleepOnIdle", "+setcpuaffinity", "+LBPeriod", "0.001",
                          "+LBDebug", "1", "+balancer", balancer, "--objects", "1000000", "--degree", "0", "--scale",
                          "0.0001", "--steps", "2"], POISE_STRATEGY="greedy_refine", POISE_PERIOD="1")
        decided_s = numbers(r"strategy finished at \S+ duration (\S+) s", out) + numbers(
            r"Level 1 .* elapsed time (\S+)", out)
        if balancer == "PoiseJointLB":
            decided_s = numbers(r"objects of 8 PEs move, decided in (\S+) s", out)[:1]
        balanced_s = numbers(r"step 0 finished at \S+ duration (\S+)", out)
        if ended != "ok" or not decided_s or not balanced_s:
            raise SystemExit(f"{balancer}: {ended}\n{out}")
        rows.append({"part": "million", "balancer": balancer, "pes": 8, "objects": 1000000, "deciders": len(decided_s),
                     "decision_s": max(decided_s), "balanced_s": balanced_s[0], "ended": ended})
        print(f"{balancer:<16}{8:>4}{max(decided_s):>12.3f}{balanced_s[0]:>12.3f}  {ended}", flush=True)
    return rows


# Two programs that the talk about NumaLB (Charm++ workshop 2011) measured: Jacobi2D, and kNeighbor with k = 3 and
# messages of 1,024 bytes.
BUILDS_COMPARED = [("jacobi2d", "--blocks 16 --points 64 --steps 200"),
                   ("kneighbor", "--objects 64 --k 3 --bytes 1024 --work 0 --steps 300"),
                   ("kneighbor", "--objects 16 --k 3 --bytes 1024 --work 0 --steps 1000")]


def network(home, repeats):
    """Compares two builds of Charm++ by the iteration times of the programs in BUILDS_COMPARED: the shared-memory
    build, and the network build, whose messages go through sockets."""
    subprocess.run(["cmake", "--preset", "release", "-B", NETWORK, "-DPOISE_TESTS=OFF", "-DPOISE_BENCH=OFF"],
                   cwd=ROOT, env={**os.environ, "CHARM_HOME": str(home)}, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["ninja", "-C", NETWORK, *(f"{program}_on_charm" for program, _ in BUILDS_COMPARED)],
                   stdout=subprocess.DEVNULL, check=True)
    rows = []
    print(f"\n{'network':<11}{'PEs':>4}{'multicore ms':>14}{'at best':>9}{'network ms':>12}{'at best':>9}{'shorter by':>12}")
    for program, arguments in BUILDS_COMPARED:
        for pes in (1, 2):
            words = [f"{program}_on_charm", *arguments.split()]
            launch = {"multicore": [BIN / words[0], f"+p{pes}", "+setcpuaffinity"],
                      "network": [home / "bin" / "charmrun", "++local", f"+p{pes}",
                                  NETWORK / "bin" / words[0]]}
            times = {build: [] for build in launch}
            for _ in range(repeats):
                for build, start in launch.items():
                    out, ended = run([*start, *words[1:]])
                    found = numbers(r"last decision: (\S+) ms", out)
                    if not found:
                        raise SystemExit(f"{program} on {build}: {ended}\n{out}")
                    times[build].append(found[0])
            best = {build: min(of) for build, of in times.items()}
            median = {build: statistics.median(of) for build, of in times.items()}
            rows.append({"part": "network", "program": program, "arguments": arguments, "pes": pes,
                         "repeats": repeats, "least_ms": best, "median_ms": median})
            print(f"{program:<11}{pes:>4}{median['multicore']:>14.4f}{best['multicore']:>9.4f}"
                  f"{median['network']:>12.4f}{best['network']:>9.4f}{1 - median['multicore'] / median['network']:>12.1%}", flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(prog="./dev bench charm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=PARTS, help=f"default: {PARTS}; of the others what was kept stays")
    parser.add_argument("--programs", help="only these of live and machines, as in lb_test,leanmd; of the others "
                        "what was kept stays")
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    parser.add_argument("--network", metavar="CHARM_HOME", type=pathlib.Path, help="a build of Charm++ for a network",
                        default=cache / "poise" / "charm-6.10" / "netlrts-linux-x86_64")
    parser.add_argument("--repeats", type=int, default=10, help="of each run of the part network")
    options = parser.parse_args()
    if not (BIN / "lb_test_on_charm").exists():
        print("no Charm++: ./dev charm gets one; skipped", file=sys.stderr)
        return
    parts = options.parts.split(",")
    programs = options.programs.split(",") if options.programs else [app.program for app in APPS]
    apps = [app for app in APPS if app.program in programs]
    rows = []
    if "live" in parts:
        rows += live(apps)
    if "machines" in parts:
        with tempfile.TemporaryDirectory() as folder:
            rows += machines(apps, pathlib.Path(folder))
    if "million" in parts:
        rows += million()
    if "network" in parts and (options.network / "bin" / "charmrun").exists():
        rows += network(options.network, options.repeats)
    keep("charm", rows, key=("part", "program"))


if __name__ == "__main__":
    main()
