#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares the event engine of `poise simulate` with SimGrid on small programs, and times it on large ones."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from keep import ROOT, keep

BIN = ROOT / "build" / "bin"
TIMEOUT_S = 600
AGREES = 0.05  # two simulations agree if their relative difference is below this

# Each row: machine, program, number of objects, number of steps, "steady" or "drifting" loads, how messages share a
# link ("fluid" or "queue"), and two limits: CPU seconds and bytes of memory.
NUMA80 = "node:20 numa:2 core:2 bandwidth:0 shared_network:1.25e8"
CLUSTER80 = "node:10 numa:2 core:4"
CLUSTER32K = "rack:32 node:64 numa:2 core:8 uplink:2e11"
GB = 1e9
SPEED = [
    (CLUSTER80, "leanmd", 1875, 10, "steady", "fluid", 0.02, GB),
    (NUMA80, "leanmd", 1875, 10, "steady", "fluid", 0.02, GB),
    (CLUSTER80, "leanmd", 1875, 10, "drifting", "fluid", None, GB),
    (CLUSTER80, "leanmd", 1875, 10, "drifting", "queue", None, GB),
    (CLUSTER32K, "stencil3d", 262144, 10, "steady", "fluid", 8, 4 * GB),
    (CLUSTER32K, "commbench", 262144, 10, "steady", "fluid", 8, 4 * GB),
    (CLUSTER32K, "stencil3d", 262144, 10, "drifting", "fluid", 8, 4 * GB),
    (CLUSTER32K, "stencil3d", 262144, 10, "drifting", "queue", 8, 4 * GB),
    (CLUSTER32K, "stencil3d", 1000000, 10, "steady", "fluid", None, 4 * GB),
    (CLUSTER32K, "commbench", 1000000, 10, "steady", "queue", None, 4 * GB),
]


def lines_of(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr.strip() or f"{command[0]} exited with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def compared():
    """Returns a row per program: the seconds that SimGrid and each model of Poise predict."""
    cases = lines_of([BIN / "engine_cases"])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cases")
        path.write_text("".join(json.dumps(case) + "\n" for case in cases))
        simgrid = lines_of([BIN / "engine_simgrid", path])
    return [{"name": case["name"], "messages": len(case["messages"]), "overlap": case["overlap"],
             "simgrid_s": row["simgrid_s"], "predicted_s": case["predicted_s"]}
            for case, row in zip(cases, simgrid)]


def differences(rows):
    """Returns for each model of Poise how far its times differ from SimGrid's: the median and the largest
    relative difference, and the number of programs that agree."""
    found = {}
    for model in rows[0]["predicted_s"]:
        off = [abs(row["predicted_s"][model] / row["simgrid_s"] - 1) for row in rows]
        found[model] = {"median": statistics.median(off), "largest": max(off),
                        "within_5_percent": sum(value <= AGREES for value in off), "of": len(off)}
    return found


def timed():
    for *case, limit_s, limit_bytes in SPEED:
        row = lines_of([BIN / "engine_speed", *map(str, case)])[0]
        row.update(limit_s=limit_s, limit_bytes=limit_bytes, load_average=os.getloadavg()[0])
        print(f"  {row['places']:>6} places {row['objects']:>8} objects {row['steps']:>3} steps  {row['program']:<10}"
              f"{row['loads']:<9}{row['sharing']:<6}{row['run_s']:9.3f} s"
              f"{' of ' + str(limit_s) + ' s' if limit_s else '':<10}{row['max_memory_bytes'] / 1e9:7.2f} GB",
              flush=True)
        yield row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no_speed", action="store_true", help="compare only, keep nothing")
    options = parser.parse_args()
    rows, found = [], {}
    if (BIN / "engine_simgrid").exists():
        rows = compared()
        found = differences(rows)
        print(f"{'model':<28}{'median off':>12}{'largest':>10}{'within 5 %':>12}")
        for model, row in found.items():
            print(f"{model:<28}{row['median']:>12.2%}{row['largest']:>10.2%}"
                  f"{row['within_5_percent']:>8} of {row['of']}")
    else:
        print("engine: SimGrid is not installed; no comparison", file=sys.stderr)
    if not options.no_speed:
        speed = list(timed())
        if rows:
            keep("engine", rows, differences=found, speed=speed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
