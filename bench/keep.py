# SPDX-License-Identifier: BSD-3-Clause

"""Stores what a benchmark measured, with commit, machine and date, as JSON under bench/results."""

import datetime
import json
import os
import pathlib
import platform
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def commit():
    """The commit that was measured, with "+" if the working tree differs from it."""
    asked = subprocess.run(["git", "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"], cwd=ROOT,
                           capture_output=True, text=True)
    return asked.stdout.strip() or "unknown"


def keep(name, rows, **more):
    """Writes NAME.json with `rows` under "results" and the items of `more` beside them."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({
        "benchmark": name,
        "command": f"./dev bench {name}",
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "machine": {"cpu": cpu_model(), "cores": len(os.sched_getaffinity(0)),
                    "system": f"{platform.system()} {platform.release()}"},
        "load_average": os.getloadavg()[0], **more, "results": rows}, indent=1) + "\n")
    print(f"kept in {path.relative_to(ROOT)}")
