#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Profiles programs that were not written for Poise, follows the first advice, and measures what it gains."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from intervals import median_interval
from keep import ROOT, keep

POISE = ROOT / "build" / "bin" / "poise"
INPUTS = ROOT / "bench" / "real"
PAIRS = 7
TIMEOUT_S = 300
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}


class Lammps:
    """A run of LAMMPS: its input, the number of ranks, the text that replaces the line #BALANCE, and the launcher."""
    program = "lmp"

    def __init__(self, text, ranks, steps, balance="", under=()):
        self.text, self.ranks, self.steps, self.balance, self.under = text, ranks, steps, balance, under

    def command(self, folder):
        path = folder / f"{self.text}{'.balanced' if self.balance else ''}"
        path.write_text((INPUTS / self.text).read_text().replace("#BALANCE", self.balance))
        return [*self.under, "mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(self.ranks), "lmp", "-in", path,
                "-var", "steps", str(self.steps), "-log", "none"]

    def seconds(self, output):
        return float(re.search(r"Loop time of (\S+)", output)[1])


BALANCE = "balance 1.0 shift z 20 1.02"
# Each case has a name, a run, and the remedies that are right for this run. Each remedy comes with a run in which it is
# applied (None for `nothing`).
CASES = [
    ("lammps, a third of the box full", Lammps("in.uneven", 2, 300), {"objects": Lammps("in.uneven", 2, 300, BALANCE)}),
    ("lammps, the box full", Lammps("full.lmp", 2, 300), {"nothing": None}),
    ("lammps, 3 spinning ranks on 2 cores", Lammps("full.lmp", 3, 100),
     {"fewer_ranks": Lammps("full.lmp", 2, 100),
      "juggle": Lammps("full.lmp", 3, 100, under=(POISE, "juggle", "--"))}),
]


def output_of(command, folder):
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S,
                          env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} exited with status {done.returncode}\n{done.stderr}")
    return done.stdout


def measured(name, run, remedies, folder):
    """Returns a row: what the diagnosis recommends, and what a run gains by following it. The gain is measured
    by pairs of runs without and with the advice."""
    output_of([POISE, "profile", "-o", folder / "run.poise", "--", *run.command(folder)], folder)
    diagnosis = json.loads(output_of([POISE, "diagnose", folder / "run.poise", "--json"], folder))
    first, run_s = diagnosis["advice"][0], diagnosis["efficiencies"]["run_s"]
    row = {"name": name, "ranks": run.ranks, "efficiencies": diagnosis["efficiencies"], "advice": first["remedy"],
           "is_right": first["remedy"] in remedies, "predicted_saving": first["saved_s"] / run_s,
           "predicted_half_width": first["half_width_s"] / run_s, "load_average": os.getloadavg()[0]}
    followed = remedies.get(first["remedy"])
    if followed is None:
        return row
    pairs = [[each.seconds(output_of(each.command(folder), folder)) for each in (run, followed)] for _ in range(PAIRS)]
    row["plain_s"], row["followed_s"] = (list(times) for times in zip(*pairs))
    row["saving"] = median_interval([1 - after / before for before, after in pairs])
    # A prediction is right if it differs from the measured gain by at most a quarter of that gain, or by at most 3 % of
    # the run time.
    row["is_near"] = abs(row["saving"][0] - row["predicted_saving"]) <= max(0.25 * row["saving"][0], 0.03)
    return row


def text_of(row):
    text = f"{row['name']:38} {row['advice']:12} predicted {100 * row['predicted_saving']:5.1f} %"
    if "saving" in row:
        middle, low, high = (100 * share for share in row["saving"])
        text += (f"  measured {middle:5.1f} % [{low:.1f}, {high:.1f}], {statistics.median(row['plain_s']):.2f} s to "
                 f"{statistics.median(row['followed_s']):.2f} s")
    return text + ("" if row["is_right"] else "  WRONG")


def main():
    argparse.ArgumentParser(prog="./dev bench real", description=__doc__).parse_args()
    rows = []
    for name, run, remedies in CASES:
        if not shutil.which(run.program):
            print(f"{name}: {run.program} is not installed; skipped")
            continue
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measured(name, run, remedies, pathlib.Path(folder)))
        print(text_of(rows[-1]), flush=True)
    if rows:
        keep("real", rows, pairs=PAIRS)


if __name__ == "__main__":
    main()
