# SPDX-License-Identifier: BSD-3-Clause

"""Compares measured and simulated run times of the mini-app `phases` under `poise juggle`. The measured times are
those of bench/juggle_figures_bench.py. No number of the simulation was fitted to them.

Only runs with the policy `proactive` are compared, because the simulation knows no other policy. Runs that shared the
cpus with other programs are left out."""

import json
import pathlib
import re
import subprocess
import tempfile

import native_trace
from intervals import is_near, median_interval
from keep import stored_rows


def is_comparable(row):
    return row["phase_s"] is not None and row["figure"] != "15" and "--policy proactive" in row["balancer"]


def simulated_s(poise, row):
    """Returns the simulated run time. Thread i starts on cpu i modulo the number of cpus."""
    threads, cpus = row["threads"], row["cpus"]
    period = re.search(r"--period (\S+)", row["balancer"])[1]
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "run.poise")
        native_trace.write(trace, [row["phase_s"]] * threads, [], [thread % cpus for thread in range(threads)], cpus)
        command = [poise, "simulate", trace, "-m", f"core:{cpus}", "--engine", "events", "--juggle", period, "-s", "keep",
                   "--steps", str(row["phases"]), "--json"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    return json.loads(done.stdout)["results"][0]["total_s"]


def rows(poise):
    for run in filter(is_comparable, stored_rows("juggle_figures")):
        columns = ("figure", "threads", "cpus", "phase_s", "phases", "balancer", "rounds")
        row = {column: run[column] for column in columns} | {
            "held_out": True, "measured_s": median_interval(run["with_s"]), "simulated_s": simulated_s(poise, run)}
        row["is_within"] = is_near(row["simulated_s"], row["measured_s"])
        print(f"  figure {run['figure']:<9}{run['threads']:>3} threads on {run['cpus']:>2} cpus, {run['balancer'][7:]:<38}"
              f"{row['measured_s'][0]:7.3f} s  simulated {row['simulated_s']:7.3f}", flush=True)
        yield row
