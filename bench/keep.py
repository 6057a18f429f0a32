# SPDX-License-Identifier: BSD-3-Clause

"""Stores the results of a benchmark as JSON under bench/results. The entry "measured" of every row has the date, the
commit, the machine and its load average. A run of only some rows leaves the other rows unchanged."""

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
    """Returns the commit that was measured, with "+" if the working tree differs from it in more than stored results."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    head = git("rev-parse", "--short=12", "HEAD")
    differs = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs/results.md")
    return head + "+" * bool(differs) if head else None


def stamp():
    """Returns the date, commit, machine and load average, which all rows of a run share. The load average is
    that of the minute before this call, so call it at the end of the run."""
    cores = len(os.sched_getaffinity(0))
    return {"date": datetime.date.today().isoformat(), "commit": commit(),
            "machine": f"{cpu_model()}, {cores} core{'s' * (cores != 1)}, {platform.system()} {platform.release()}",
            "load_average": round(os.getloadavg()[0], 2)}


def merged(stored, rows, key):
    """Returns the stored rows together with the new ones. `key` is a tuple of columns. New rows replace the
    stored rows that have the same values in these columns; several rows may share these values. New rows that
    replace none come last."""
    def of(row):
        return json.dumps([row.get(column) for column in key])

    again = {}
    for row in rows:
        again.setdefault(of(row), []).append(row)
    measured, result = set(again), []
    for row in stored:
        result += again.pop(of(row), []) if of(row) in measured else [row]
    return result + [row for group in again.values() for row in group]


def stored_rows(name):
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text())["results"] if path.exists() else []


def keep(name, rows, key=None, **more):
    """Writes NAME.json with `rows` under "results". The items of `more`, such as summaries of all rows, are
    written beside "results".

    A run of all rows passes no `key`, and replaces the file. A run of only some rows passes in `key` the columns
    that identify a row; stored rows that this run did not measure stay."""
    measured = stamp()
    rows = [{**row, "measured": measured} for row in rows]
    if key:
        rows = merged(stored_rows(name), rows, key)
    whole = {"benchmark": name, "command": f"./dev bench {name}"}
    if more:
        whole |= {"measured": measured, **more}
    whole["results"] = rows
    write(name, whole)
    print(f"kept in bench/results/{name}.json; ./dev docs renews docs/results.md")


def write(name, whole):
    """Replaces NAME.json at once, so that it is never half written."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(whole, indent=1) + "\n")
    temporary.replace(path)
