# SPDX-License-Identifier: BSD-3-Clause

"""Stores the results of a benchmark as JSON under bench/results. The entry "measured" of every row has the date, the
commit, the machine and its load average. A run that measures only some rows leaves the other rows unchanged.

    python3 bench/keep.py --key part --only part=cores FILE…

adds rows that another machine measured. FILE has the form of the files in bench/results; its rows replace stored rows
that have the same values in the columns of --key. On a machine without the repository's history, the variable
BENCH_COMMIT names the commit that is measured."""

import argparse
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def commit():
    """Returns the commit that was measured, with "+" if the working tree differs from this commit in more than stored
    results."""
    if given := os.environ.get("BENCH_COMMIT"):
        return given

    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    head = git("rev-parse", "--short=12", "HEAD")
    differs = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!bench/results", ":!docs/results.md")
    return head + "+" * bool(differs) if head else None


def stamp():
    """Returns the date, commit, machine and load average, which all rows of a run share. The load average is
    that of the minute before this call, so call it at the end of the run."""
    cores = os.cpu_count()  # all cores of the machine, even if the run was allowed to use only some of them
    return {"date": datetime.date.today().isoformat(), "commit": commit(),
            "machine": f"{cpu_model()}, {cores} core{'s' * (cores != 1)}, {platform.system()} {platform.release()}",
            "load_average": round(os.getloadavg()[0], 2)}


def merged(stored, rows, key):
    """Returns the stored rows together with the new ones. `key` is a tuple of columns. All rows with the same values in
    these columns form a group. A group of new rows replaces the stored group with the same values. If there is no such
    group, the new one is appended."""
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


def say(text):
    """Prints a line immediately. If the reader of stdout has ended, as after `| head`, drops this line and all later
    ones, so that the benchmark still finishes and stores its results."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def keep(name, rows, key=None, **more):
    """Writes NAME.json with `rows` under "results". The items of `more`, such as summaries of all rows, are
    written beside "results".

    A run that measures all rows passes no `key`, and replaces the file. A run that measures only some rows passes as
    `key` the columns that identify a row; all other stored rows are kept."""
    measured = stamp()
    rows = [{**row, "measured": measured} for row in rows]
    if key:
        rows = merged(stored_rows(name), rows, key)
    whole = {"benchmark": name, "command": f"./dev bench {name}"}
    if more:
        whole |= {"measured": measured, **more}
    whole["results"] = rows
    write(name, whole)
    say(f"kept in bench/results/{name}.json; ./dev docs renews docs/results.md")


def add(files, key, column=None, value=None):
    """Adds the rows of these files, which another machine measured, to the stored rows of the same benchmarks. If
    `column` is given, adds only rows that have this value in the column."""
    for file in files:
        new = json.loads(file.read_text())
        path = RESULTS / f"{new['benchmark']}.json"
        whole = json.loads(path.read_text()) if path.exists() else new | {"results": []}
        rows = [row for row in new["results"] if column is None or str(row.get(column)) == value]
        write(new["benchmark"], whole | {"results": merged(whole["results"], rows, key)})


def write(name, whole):
    """Replaces NAME.json in one step, so that it is never half written."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(".part")
    temporary.write_text(json.dumps(whole, indent=1) + "\n")
    temporary.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--key", required=True, help="columns that identify a row, separated by commas")
    parser.add_argument("--only", metavar="COLUMN=VALUE", help="add only rows that have this value in this column")
    parser.add_argument("files", type=pathlib.Path, nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    if arguments.only and "=" not in arguments.only:
        parser.error(f'--only "{arguments.only}" has no "="; write COLUMN=VALUE, such as part=cores')
    if missing := [str(path) for path in arguments.files if not path.is_file()]:
        parser.error(f"no such file: {', '.join(missing)}")
    add(arguments.files, tuple(arguments.key.split(",")), *(arguments.only.split("=", 1) if arguments.only else []))


if __name__ == "__main__":
    main()
