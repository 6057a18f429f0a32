#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures what `poise juggle` gains and costs. Each program runs alternately without and with `poise juggle`, and the
share of the cpu time that other programs used is recorded.

The threads of the first programs compute and meet at barriers. Such a program runs alone, alongside another program
that computes on one of the cpus, or together with a second program of the same kind. The last two cases follow sections
4.4 and 6 of the paper (Hofmeyr et al., "Juggle", HPDC 2011). If n threads with work e each run on m cpus, their run
time is at least e*n/m; where e is known, the measured time is compared with this bound. The benchmark also measures the
cost of a balancing point for growing numbers of threads.

The last programs are two OpenMP kernels. Each kernel runs with GCC's OpenMP library and with LLVM's. The threads spin
or sleep while they wait. A phase is the time between two barriers: the kernel ep has long phases, and cg has phases far
shorter than any balancing period."""

import argparse
import contextlib
import glob
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from keep import ROOT, keep

BIN = ROOT / "build" / "bin"
# A run is quiet if all other processes used less than this fraction of the cpus.
QUIET_SHARE = 0.02
TIMEOUT_S = 600

RUNNERS = {
    "plain": [],
    "proactive": ["juggle", "--policy", "proactive", "--period", "50ms"],
    "auto": ["juggle"],
}
# The threads compute for e = 2 s per phase. So 100 ms, the longest balancing period here, is e / 20.
PERIODS = {"plain": [], **{f"period {period}": ["juggle", "--policy", "proactive", "--period", period]
                           for period in ("20ms", "50ms", "100ms")}}
# For runs alongside another program, the policy `proactive` balances every 20 ms instead of every 50 ms. In the runs
# "bound", no balancer runs, and the program binds each thread to a cpu of its own. If phases are far shorter than the
# kernel's time slices, a balancer that leaves the other program its fair share of the cpus cannot be faster than
# "bound".
BESIDE = {**RUNNERS, "proactive": ["juggle", "--policy", "proactive", "--period", "20ms"], "bound": []}
SCENARIOS = {
    "bound threads, periods up to e/20": {"phase_s": 2, "phases": 1, "options": ["--bound"],
                                          "runners": PERIODS},
    "bound threads, one phase": {"phase_s": 2, "phases": 1, "options": ["--bound"]},
    "bound threads, sleeping": {"phase_s": 1, "phases": 3, "options": ["--bound"]},
    "bound threads, spinning": {"phase_s": 1, "phases": 3, "options": ["--bound", "--wait", "spin"]},
    "free threads, sleeping": {"phase_s": 1, "phases": 3, "options": []},
    "free threads, yielding": {"phase_s": 1, "phases": 3, "options": ["--wait", "yield"]},
    "free threads, spinning, phases of 100 ms": {"phase_s": 0.1, "phases": 30, "options": ["--wait", "spin"]},
    "free threads, short phases": {"phase_s": 0.01, "phases": 200, "options": []},
    "bound threads, 32 KiB of memory each": {
        "phase_s": 1, "phases": 3, "options": ["--bound", "--memory-kib", "32"], "is_rough": True},
    "bound threads, 4 MiB of memory each": {
        "phase_s": 1, "phases": 3, "options": ["--bound", "--memory-kib", "4096"], "is_rough": True},
    "bound threads, one per cpu, and a stranger": {"phase_s": 2, "phases": 1, "options": ["--bound"],
                                                   "over": 0, "stranger": True},
    # Two threads run on two cpus alongside another program that may use both cpus.
    "free threads, one per cpu, spinning with short phases, and a stranger": {
        "phase_s": 0.0002, "phases": 5000, "options": ["--wait", "spin"], "over": 0, "stranger": "free",
        "runners": BESIDE},
    "free threads, one per cpu, spinning, and a stranger": {
        "phase_s": 0.1, "phases": 20, "options": ["--wait", "spin"], "over": 0, "stranger": "free",
        "runners": BESIDE},
    "bound threads, phases of 5 ms": {"phase_s": 0.005, "phases": 600, "options": ["--bound"]},
    "bound threads, phases of 30 ms": {"phase_s": 0.03, "phases": 100, "options": ["--bound"]},
    "bound threads, phases of 90 ms": {"phase_s": 0.09, "phases": 33, "options": ["--bound"]},
    "two programs, bound": {"phase_s": 2, "phases": 1, "options": ["--bound"], "splits": True},
}
# With 500 threads, which are all runnable all the time, the balancer has to wait for its turn on a cpu.
COST_THREADS = (2, 8, 16, 32, 64, 500)
COST_S = 20  # seconds of a run: much longer than the start, when the balancer finds threads and measures speeds
KERNELS = {"ep": ["ep", "--points", "500000000"], "cg": ["cg", "--side", "600", "--iterations", "1000"]}
# LLVM's OpenMP library has all functions that code compiled by GCC calls, so the same kernels run with both libraries.
RUNTIMES = {"gomp": None, "libomp": max(glob.glob("/usr/lib/llvm-*/lib/libomp.so.5"), default="")}


def kernel_scenarios():
    for kernel, command in KERNELS.items():
        if not (BIN / kernel).exists():
            continue  # was not built, because the compiler has no OpenMP
        for runtime, library in RUNTIMES.items():
            if library == "":
                continue
            for waiting in "active", "passive":
                for threads_are in ("bound", "free") if kernel == "ep" else ("free",):
                    environment = {"OMP_WAIT_POLICY": waiting,
                                   "OMP_PROC_BIND": str(threads_are == "bound").lower(),
                                   **({"LD_PRELOAD": library} if library else {})}
                    yield (f"{kernel}, {runtime}, {waiting}, {threads_are}",
                           {"command": command, "environment": environment})


SCENARIOS.update(kernel_scenarios())


def busy_s():
    """Returns the cpu time that all programs have used since the machine started, in seconds."""
    times = list(map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]))
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def stranger(is_there):
    """Runs another program that computes all the time: on the last cpu, or where the kernel puts it ("free")."""
    if not is_there:
        yield
        return
    cpus = os.sched_getaffinity(0)
    where = ",".join(map(str, cpus)) if is_there == "free" else str(max(cpus))
    with subprocess.Popen(["taskset", "-c", where, "sh", "-c", "while :; do :; done"]) as other:
        try:
            yield
        finally:
            other.kill()


def phases(threads, scenario):
    return [str(BIN / "phases"), "--threads", str(threads), "--phases", str(scenario["phases"]),
            "--phase", f"{scenario['phase_s']}s", *scenario["options"]]


def command_of(threads, scenario):
    environment = {**scenario.get("environment", {}), "OMP_NUM_THREADS": str(threads)}
    if "command" in scenario:
        command = [BIN / scenario["command"][0], *scenario["command"][1:]]
    elif scenario.get("splits"):  # two programs: one with a thread per cpu, one with the remaining threads
        cpus = len(os.sched_getaffinity(0))
        first, second = phases(cpus, scenario), phases(threads - cpus, scenario)
        command = ["sh", "-c", f"{' '.join(first)} & {' '.join(second)} & wait"]
    else:
        command = phases(threads, scenario)
    return ["env", *(f"{key}={value}" for key, value in environment.items()), *command]


def run_once(runner, options, threads, scenario):
    if runner == "bound":
        scenario = {**scenario, "options": [*scenario["options"], "--bound"]}
    command = command_of(threads, scenario)
    if options:
        command = [BIN / "poise", *options, "--", *command]
    before, children = busy_s(), os.times()
    with stranger(scenario.get("stranger", False)):
        done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8",
                              timeout=TIMEOUT_S)
    after = os.times()
    own_s = (after.children_user - children.children_user
             + after.children_system - children.children_system)
    elapsed_s = max(json.loads(line)["elapsed_s"] for line in done.stdout.splitlines())
    others = (busy_s() - before - own_s) / (elapsed_s * len(os.sched_getaffinity(0)))
    return {"elapsed_s": elapsed_s, "others_share": max(0.0, others)}


def summary(runner, runs, bound_s, plain_s):
    elapsed = [run["elapsed_s"] for run in runs]
    others = [run["others_share"] for run in runs]
    median_s = statistics.median(elapsed)
    return {"runner": runner, "least_s": min(elapsed), "median_s": median_s, "most_s": max(elapsed),
            "others_share": statistics.median(others), "is_quiet": max(others) < QUIET_SHARE,
            "of_bound": bound_s and bound_s / median_s, "speedup": (plain_s or median_s) / median_s}


def measure(name, threads, repeats):
    scenario, cpus = SCENARIOS[name], len(os.sched_getaffinity(0))
    if scenario.get("over") == 0:
        threads = cpus
    bound_s = None
    if "phases" in scenario and not scenario.get("is_rough"):  # is_rough: phase_s is only approximate
        free_cpus = cpus - (0.5 if scenario.get("stranger") else 0)
        bound_s = scenario["phase_s"] * scenario["phases"] * max(1, threads / free_cpus)
    # Real programs run as users run them: without the balancer, or with its default settings.
    runners = scenario.get("runners", RUNNERS)
    runs = {runner: [] for runner in runners if "phases" in scenario or runner != "proactive"}
    for _ in range(repeats):
        for runner, measured in runs.items():
            measured.append(run_once(runner, runners[runner], threads, scenario))
    plain_s = statistics.median(run["elapsed_s"] for run in runs["plain"])
    rows = [summary(runner, measured, bound_s, plain_s) for runner, measured in runs.items()]
    print(f"{name}: {threads} threads on {cpus} cpus"
          f"{f', bound {bound_s:.2f} s' if bound_s else ''}")
    for row in rows:
        of_bound = f"  {100 * row['of_bound']:5.1f}% of the bound" if bound_s else ""
        print(f"  {row['runner']:<10} {row['median_s']:8.3f} s  [{row['least_s']:.3f} "
              f"{row['most_s']:.3f}]{of_bound}  x{row['speedup']:.3f}  "
              f"others had {100 * row['others_share']:.1f}%"
              f"{'' if row['is_quiet'] else '  NOT QUIET'}", flush=True)
    return {"scenario": name, "threads": threads, "cpus": cpus, "bound_s": bound_s,
            "repeats": repeats, "rows": rows}


def cost(threads):
    """Measures the cost of a balancing point with this number of threads. All threads compute; they are bound to
    the cpus round-robin."""
    cpus = len(os.sched_getaffinity(0))
    scenario = {"phase_s": COST_S * cpus / threads, "phases": 1, "options": ["--bound"]}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "summary.json")
        before, children = busy_s(), os.times()
        subprocess.run([BIN / "poise", "juggle", "--policy", "proactive", "--json", file, "--",
                        *phases(threads, scenario)], check=True, capture_output=True, timeout=TIMEOUT_S)
        after = os.times()
        summary = json.loads(file.read_text())
    own_s = (after.children_user - children.children_user
             + after.children_system - children.children_system)
    points, elapsed_s = summary["balancing_points"], summary["elapsed_s"]
    row = {"threads": threads, "points": points, "point_s": summary["balancing_point_s"],
           "least_point_s": summary["least_balancing_point_s"],
           "still_points": summary["still_balancing_points"],
           "still_point_s": summary["still_balancing_point_s"],
           "of_a_cpu": summary["balancer_cpu_s"] / elapsed_s,
           "early_wake_ups": summary["early_wake_ups"],
           "wake_ups_per_point": summary["wake_ups"] / points,
           "visits_per_point": summary["visits"] / points,
           "migrations_per_point": summary["migrations"] / points,
           "others_share": max(0.0, busy_s() - before - own_s) / (elapsed_s * cpus)}
    print(f"  {threads:>4} threads: {points:>4} points of {1e6 * row['point_s']:.0f} us, "
          f"{1e6 * row['still_point_s']:.0f} us where nothing moved ({row['still_points']}), least "
          f"{1e6 * row['least_point_s']:.0f} us; {100 * row['of_a_cpu']:.2f}% of a cpu; "
          f"{row['early_wake_ups']} early wake-ups; a point {row['wake_ups_per_point']:.2f} wake-ups, "
          f"{row['visits_per_point']:.2f} visits and {row['migrations_per_point']:.2f} migrations; "
          f"others had {100 * row['others_share']:.1f}%", flush=True)
    return row


def costs():
    print(f"what a balancing point costs, in {COST_S} s with a period of 100 ms")
    return {"scenario": "costs", "rows": [cost(threads) for threads in COST_THREADS]}


def main():
    parser = argparse.ArgumentParser(prog="./dev bench juggle", description=__doc__)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)) + 1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scenario", action="append", choices=["costs", *SCENARIOS],
                        help="this one (any number of times), not all")
    arguments = parser.parse_args()
    results = []
    for name in arguments.scenario or ["costs", *SCENARIOS]:
        results.append(costs() if name == "costs"
                       else measure(name, arguments.threads, arguments.repeats))
    keep("juggle", results, key=("scenario",) if arguments.scenario else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
