#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Measures the points of the figures of Hofmeyr et al., "Juggle" (HPDC 2011), on the cpus of this machine, and
computes what theory predicts for them. A machine of 16 cpus repeats two cases of the paper: 8 threads on 7 cpus,
and 16 threads on 12 cpus. A machine with m < 8 cpus runs m + 1 threads on them instead.

In each round, a program runs without and with the balancer in turn, on the same cpus. Rounds are repeated for about the
time that --seconds gives. On 16 cpus, two experiments run at the same time, on eight cpus each. The work of a thread is
a fixed cpu time, so other programs on the machine lengthen a run but do not change its work. Phases are shorter than
the paper's, and balancing periods are shortened by the same factor. The speed-up of a round is the time without the
balancer divided by the time with it. The median over all rounds is stored with a 95 % confidence interval that assumes
nothing about the distribution.

The script needs only Python's standard library. With --out it also runs on machines without a compiler."""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import platform
import queue
import subprocess
import sys
import tempfile
import threading
import time

import juggle_figures_plot
from intervals import median_interval
from keep import RESULTS, ROOT, keep, stamp

BIN = ROOT / "build" / "bin"
TIMEOUT_S = 60
PHASE_S = 0.6  # length of a phase; in the paper 30 s
PERIOD_S = 0.01
LANE = 8  # number of cpus of one experiment, as on the paper's machines
# OpenMP programs. For each: the option that sets its work, the value of this option for one cpu, and other options. ep
# has one long phase, ft and is have phases of milliseconds, and cg has shorter ones.
KERNELS = {"ep": ("--points", 30_000_000, []), "cg": ("--iterations", 60, ["--side", "500"]),
           "ft": ("--steps", 1.5, ["--size", "128"]), "is": ("--steps", 4, ["--keys", "8000000"])}


def juggle(policy, period_s=PERIOD_S):
    return ["juggle", "--policy", policy, "--period", f"{1e3 * period_s:g}ms"]


def group(figure, threads, cpus, phase_s=PHASE_S, phases=1, runners=None, **more):
    """Returns one experiment: a program, and the balancers with which it runs."""
    return {"figure": figure, "threads": threads, "cpus": cpus, "phase_s": phase_s, "phases": phases,
            "runners": {"plain": None, **(runners or {"proactive": juggle("proactive")})}, **more}


def by_period(shares, phase_s):
    return {f"period {share:g} e": juggle("proactive", max(0.001, share * phase_s)) for share in shares}


def synthetic(m, less):
    """Yields the experiments with the program `phases` on m cpus. In experiments for which the paper uses 7 of its 8
    cpus, only `less` of the m cpus are used."""
    over = less + 1  # number of threads: one more than the `less` cpus on which they run
    for threads in sorted({m, m + 1, m + m // 4, m + m // 2, 2 * m}):
        yield group("6", threads, m)
    for share in 2, 4:
        yield group("7", share * m + 1, m, PHASE_S / share)
    yield group("8", over, less, runners=by_period((0.02, 0.1, 0.25, 0.5, 1, 1.5, 2), PHASE_S))
    yield group("9", 2 * less + max(1, less // 3), less, PHASE_S / 2, runners=by_period((0.04, 0.2, 0.5, 1, 2, 4), PHASE_S / 2))
    for threads, cpus in ((3, 2), (7, 5), (13, 8)):
        if cpus <= m:
            yield group("10", threads, cpus, runners=by_period((0.1,), PHASE_S))
    yield group("11", over, less, 0.05, 20, runners=by_period((0.2, 0.5, 1, 2, 4), 0.05))
    for threads in sorted({over, over + less // 2, 4 * less + 4}):
        yield group("16", threads, less, PHASE_S * less / threads, runners={"proactive": juggle("proactive", 0.02)})
    yield group("17", over, less, runners={f"{ms} ms": juggle("proactive", 1e-3 * ms) for ms in (1, 2, 5, 10, 20, 50)})
    for phase_s in 0.001, 0.005, 0.02, 0.1:
        yield group("reactive", over, less, phase_s, round(PHASE_S / phase_s), runners={
            "proactive": juggle("proactive", 0.02), "reactive": juggle("reactive", 0.02), "hybrid": juggle("hybrid", 0.02),
            "reactive, polled": juggle("reactive", 0.02)})
    yield group("15", m, m, 0.1, 15, options=["--wait", "spin"], is_free=True, strangers=True,
                runners={"auto": ["juggle"], "proactive": juggle("proactive", 0.02)})


def programs(m, less, most):
    """Yields the experiments with OpenMP programs, and those of table 1, in which the same total work is divided among
    more and more threads."""
    pairs = {(less + 1, less)} | ({(16, 12)} if most >= 16 else set())
    for threads, cpus in sorted(pairs):
        for kernel in KERNELS:
            if (BIN / kernel).exists():
                for waiting in ("passive", "active") if cpus <= m else ("passive",):
                    yield group("12-14", threads, cpus, None, kernel=kernel, waiting=waiting,
                                runners={"auto": ["juggle"], "proactive": juggle("proactive", 0.02)})
    for cpus in (m, less):
        for share in 1, 2, 4:
            yield group("table1", share * m, cpus, PHASE_S / share, options=["--memory-kib", str(4096 // share)])
    if most >= 16:
        yield group("12-14", 16, 12, kernel=None)


def groups(most):
    m = min(LANE, most)
    less = m - 1 if m == LANE else m
    return list(synthetic(m, less)) + list(programs(m, less, most))


def command_of(experiment, runner):
    options = list(experiment.get("options", []))
    if experiment.get("kernel"):
        option, each, words = KERNELS[experiment["kernel"]]
        command = ["env", f"OMP_NUM_THREADS={experiment['threads']}", f"OMP_WAIT_POLICY={experiment['waiting']}",
                   "OMP_PROC_BIND=true", BIN / experiment["kernel"], option, round(each * experiment["cpus"]), *words]
    else:
        options += [] if experiment.get("is_free") else ["--bound"]
        command = [BIN / "phases", "--threads", experiment["threads"], "--phases", experiment["phases"],
                   "--phase", f"{1e3 * experiment['phase_s']:.6g}ms", *options]
    return ["env", "-u", "LD_PRELOAD", *command] if runner.endswith("polled") else command


@contextlib.contextmanager
def strangers(cpus, are_there):
    """Runs two other programs that compute all the time, one of them with higher priority if that is allowed (figure 15)."""
    if not are_there:
        yield
        return
    names = ",".join(map(str, sorted(cpus)))
    loop = ["taskset", "-c", names, "sh", "-c", "while :; do :; done"]
    is_first = subprocess.run(["nice", "-n", "-3", "true"], capture_output=True, check=False).stderr == b""
    others = [subprocess.Popen(loop), subprocess.Popen([*(["nice", "-n", "-3"] if is_first else []), *loop])]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def measured(experiment, runner, cpus):
    """Runs the program once on these cpus. Returns its time and, if it ran under the balancer, numbers that the
    balancer counted, such as migrations."""
    balancer = experiment["runners"][runner]
    command = command_of(experiment, runner)
    with strangers(cpus, experiment.get("strangers")), tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder, "summary.json")
        if balancer:
            command = [BIN / "poise", *balancer, "--json", summary, "--", *command]
        done = subprocess.run([str(word) for word in command], check=True, capture_output=True, encoding="utf-8",
                              timeout=TIMEOUT_S, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        counts = json.loads(summary.read_text()) if balancer else None
    row = {"elapsed_s": json.loads(done.stdout.splitlines()[-1])["elapsed_s"]}
    if counts:
        row |= {key: counts[key] for key in ("migrations", "balancing_points", "reactions", "balancer_cpu_s")}
        row["of_s"] = counts["elapsed_s"]
    return row


class Runs:
    """Runs experiments, and stores the results of all rounds."""

    def __init__(self, experiments, end_s):
        self.experiments, self.end_s = experiments, end_s
        self.samples = [collections.defaultdict(list) for _ in experiments]
        self.troubles = []

    def run_group(self, number, cpus, is_backwards):
        experiment, round_ = self.experiments[number], {}
        own = set(sorted(cpus)[:experiment["cpus"]])
        for runner in list(experiment["runners"])[::-1 if is_backwards else 1]:
            if time.monotonic() > self.end_s:
                return  # discards the unfinished group, because the runs of a group are compared
            try:
                round_[runner] = measured(experiment, runner, own)
            except (subprocess.SubprocessError, ValueError, IndexError) as error:
                self.troubles.append(f"figure {experiment['figure']}, {runner}: {error}"[:300])
                return
        for runner, row in round_.items():
            self.samples[number][runner].append(row)

    def round(self, cpus, is_backwards):
        """Runs each experiment once: the large ones alone, then the others, as many at a time as the cpus allow."""
        numbers = range(len(self.experiments))
        lanes = [cpus[i:i + LANE] for i in range(0, len(cpus) - LANE + 1, LANE)] or [cpus]
        for number in numbers:
            if self.experiments[number]["cpus"] > LANE:
                self.run_group(number, cpus, is_backwards)
        waiting = queue.SimpleQueue()
        for number in numbers:
            if self.experiments[number]["cpus"] <= LANE:
                waiting.put(number)

        def work(lane):
            with contextlib.suppress(queue.Empty):
                while True:
                    self.run_group(waiting.get_nowait(), lane, is_backwards)

        workers = [threading.Thread(target=work, args=(lane,)) for lane in lanes]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def theory(experiment, balancer):
    """Returns the speed-ups that the paper's formulas and the simulation predict, relative to threads that never
    move."""
    if experiment.get("kernel") or experiment.get("strangers"):
        return {}
    period = balancer[balancer.index("--period") + 1] if "--period" in balancer else "100ms"
    answer = json.loads(subprocess.run(
        [str(word) for word in (BIN / "poise", "theory", "--json", "--threads", experiment["threads"], "--cpus",
                                experiment["cpus"], "--phase", f"{1e3 * experiment['phase_s']:.6g}ms", "--phases",
                                experiment["phases"], "--period", period, "--jitter", 0.1)],
        check=True, capture_output=True, encoding="utf-8", timeout=TIMEOUT_S).stdout)
    static_s = answer["static_s"]
    found = {name: static_s / answer[f"{name}_s"] for name in ("ideal", "reactive", "proactive_bound")
             if answer.get(f"{name}_s")}
    return found | {name: static_s / answer[name]["completion_s"] for name in ("simulated", "simulated_hybrid")}


def key_of(row):
    return json.dumps([row.get(column) for column in ("figure", "threads", "cpus", "phase_s", "phases", "kernel", "waiting",
                                                      "runner")])


def point(row):
    """Returns a copy of the row that also has the medians of its samples, with confidence intervals."""
    ratios = [plain / own for plain, own in zip(row["plain_s"], row["with_s"])]
    return {**row, "rounds": len(ratios), "speedup": median_interval(ratios), "plain": median_interval(row["plain_s"]),
            "with": median_interval(row["with_s"]), "migrations_per_s": median_interval(row["migrations_per_s_each"]),
            "reactions_per_s": median_interval(row["reactions_per_s_each"])}


def rows_of(runs):
    for experiment, samples in zip(runs.experiments, runs.samples):
        for runner, own in samples.items():
            if runner == "plain" or not own:
                continue
            yield {"figure": experiment["figure"], "threads": experiment["threads"], "cpus": experiment["cpus"],
                   "phase_s": experiment["phase_s"], "phases": experiment["phases"], "kernel": experiment.get("kernel"),
                   "waiting": experiment.get("waiting"), "runner": runner,
                   "balancer": " ".join(experiment["runners"][runner]),
                   "theory": theory(experiment, experiment["runners"][runner]),
                   "plain_s": [row["elapsed_s"] for row in samples["plain"]],
                   "with_s": [row["elapsed_s"] for row in own],
                   "migrations_per_s_each": [row["migrations"] / row["of_s"] for row in own],
                   "reactions_per_s_each": [row["reactions"] / row["of_s"] for row in own],
                   "of_a_cpu": sum(row["balancer_cpu_s"] for row in own) / sum(row["of_s"] for row in own)}


def added(files):
    """Returns the points of several files. If a point occurs in several files, its samples are merged."""
    whole = {}
    for file in files:
        for row in json.loads(file.read_text())["results"]:
            first = whole.setdefault(key_of(row), row)
            if first is not row:
                for column in ("plain_s", "with_s", "migrations_per_s_each", "reactions_per_s_each"):
                    first[column] = first[column] + row[column]
    return [point(row) for row in whole.values()]


def keep_plots(rows):
    for figure, picture in juggle_figures_plot.draw(rows).items():
        (RESULTS / f"juggle_figures_{figure}.svg").write_text(picture)


def keep_added(files):
    """Stores points that a run with --out measured on another machine. The file has the form in which keep()
    stores the points of this machine."""
    first = json.loads(files[0].read_text())
    # Stores the load average that was measured before the runs. A load average measured after the runs would include
    # their own load.
    measured = first["measured"] | {"load_average": round(first["load_before"][0], 2)}
    rows = [{**row, "measured": measured} for row in added(files)]
    whole = {"benchmark": "juggle_figures", "command": "./dev bench juggle_figures", "results": rows}
    (RESULTS / "juggle_figures.json").write_text(json.dumps(whole, indent=1) + "\n")
    keep_plots(rows)


def machine(commit):
    """Returns the date, commit, machine and load average of a run, as keep.stamp() does, but also works without git."""
    try:
        found = stamp()
    except OSError:
        found = {"date": time.strftime("%Y-%m-%d"), "commit": None, "load_average": round(os.getloadavg()[0], 2),
                 "machine": f"{platform.processor()}, {len(os.sched_getaffinity(0))} cores, {platform.platform()}"}
    return found | ({"commit": commit} if commit else {})


def main():
    parser = argparse.ArgumentParser(prog="./dev bench juggle_figures", description=__doc__)
    parser.add_argument("--seconds", type=float, default=300, help="measure for about this long; default: 300")
    parser.add_argument("--out", type=pathlib.Path, help="write the points to this file, not to bench/results")
    parser.add_argument("--commit", help="the commit of the programs, where there is no git")
    parser.add_argument("--add", type=pathlib.Path, nargs="+", help="measure nothing; keep the points of these files")
    arguments = parser.parse_args()
    if arguments.add:
        keep_added(arguments.add)
        return 0
    cpus, load = sorted(os.sched_getaffinity(0)), os.getloadavg()
    runs = Runs(groups(len(cpus)), time.monotonic() + arguments.seconds)
    number = 0
    while time.monotonic() < runs.end_s:
        runs.round(cpus, number % 2 == 1)
        number += 1
        print(f"round {number}, {runs.end_s - time.monotonic():.0f} s remain", flush=True)
    rows = [point(row) for row in rows_of(runs)]
    for row in rows:
        median, low, high = row["speedup"]
        print(f"{row['figure']:>8} {row['threads']:>3} on {row['cpus']:<2} {row['kernel'] or row['phase_s']!s:<6} "
              f"{row['waiting'] or '':<8}{row['runner']:<18} x{median:.3f} [{low:.3f}, {high:.3f}] of {row['rounds']}  "
              f"theory {row['theory'].get('simulated', 0):.3f}")
    stamps = machine(arguments.commit)
    more = {"cpus": cpus, "load_before": load, "load_after": os.getloadavg(), "rounds": number, "troubles": runs.troubles}
    if arguments.out:
        arguments.out.write_text(json.dumps({"benchmark": "juggle_figures", "measured": stamps, **more, "results": rows},
                                            indent=1) + "\n")
    else:
        keep("juggle_figures", rows)
        keep_plots(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
