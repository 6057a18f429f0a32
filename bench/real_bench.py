#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Profiles programs that were not written for Poise, follows the first advice, and measures the gain."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from intervals import median_interval, verdict_of_gain
from juggle_bench import stranger
from keep import ROOT, keep, say

BIN = ROOT / "build" / "bin"
POISE = BIN / "poise"
INPUTS = ROOT / "bench" / "real"
BUILT = ROOT / "build" / "real"
PAIRS, MAX_PAIRS = 7, 21
EVERY = "every"  # in the arguments of a run; Run.every() replaces it by the number of steps between two repartitionings
TIMEOUT_S = 300
# For each version of cgroups, by its folder: the file that sets the CPU quota of a group, the text to write to it (with
# the quota in µs per 100 ms), and the file that lists the members of the group.
GROUPS = {"/sys/fs/cgroup/cpu": ("cpu.cfs_quota_us", "{}", "tasks"), "/sys/fs/cgroup": ("cpu.max", "{} 100000", "cgroup.procs")}
ENVIRONMENT = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
LAUNCHERS = {"openmpi": ("mpirun.openmpi", "--oversubscribe", "--bind-to", "{bind_to}", "-np"), "mpich": ("mpiexec.mpich", "-n")}
PYTHON = "/usr/bin/python3"  # this Python has Debian's mpi4py, which is built with Open MPI
PETSC = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/pkgconfig"  # PETSc's folder in Debian 12
# Programs of bench/real that are compiled, and what they are linked with.
LIBRARIES = {"p4est_weights": ["-lp4est", "-lsc"], "petsc_poisson": ["PETSc"]}


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of a program in a folder that holds copies of the inputs in bench/real."""
    program: str
    arguments: tuple
    ranks: int = 2
    mpi: str = "openmpi"
    under: tuple = ()  # a command that starts the launcher
    bind_to: str = "none"  # the value of Open MPI's option --bind-to
    on_one_core: bool = False  # all ranks
    is_disturbed: bool = False  # another program computes all the time, on the core that the kernel chooses
    quota_cpus: float = 0  # the CPU quota of the run; 0: none
    steps: int = 0  # number of time steps of the run; needed only if `arguments` contains EVERY

    def every(self, phases, of_phases):
        """Returns this run with EVERY replaced by the number of time steps in `phases` phases. The profile of the whole
        run has `of_phases` phases, all of which are assumed to have the same number of time steps."""
        steps = max(1, round(phases * self.steps / of_phases))
        return self.but(arguments=tuple(str(steps) if word == EVERY else word for word in self.arguments))

    def executable(self):
        """Returns the path of the program, after compiling it if its source is in bench/real. Returns None if the program
        is not installed or cannot be compiled."""
        if self.program == PYTHON and subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True, check=False).returncode:
            return None
        if self.program not in LIBRARIES:
            return shutil.which(self.program)
        flags = LIBRARIES[self.program]
        if not flags[0].startswith("-"):
            found = subprocess.run(["pkg-config", "--cflags", "--libs", *flags], capture_output=True, text=True, check=False,
                                   env=ENVIRONMENT | {"PKG_CONFIG_PATH": PETSC})
            flags = found.stdout.split()
        BUILT.mkdir(parents=True, exist_ok=True)
        compiled = subprocess.run(["mpicc.openmpi", "-O2", INPUTS / f"{self.program}.c", "-o", BUILT / self.program, *flags, "-lm"],
                                  capture_output=True, check=False)
        return BUILT / self.program if compiled.returncode == 0 else None

    def command(self):
        pinned = ("taskset", "-c", str(min(os.sched_getaffinity(0)))) if self.on_one_core else ()
        launcher = [word.format(bind_to=self.bind_to) for word in LAUNCHERS[self.mpi]]
        return [*self.under, *launcher, str(self.ranks), *pinned, self.executable(), *self.arguments]

    def but(self, **changes):
        return dataclasses.replace(self, **changes)

    def output(self, command, folder):
        with stranger(self.is_disturbed and "free"), quota(self.quota_cpus) as join:
            return output_of(command, folder, join)

    def measure(self, folder):
        """Runs the program. Returns the time of the whole run in seconds, including its start."""
        start = time.monotonic()
        self.output(self.command(), folder)
        return time.monotonic() - start


def lammps(text, ranks, steps, balance="no", speed=0, every="50"):
    variables = {"steps": steps, "balance": balance, "speed": speed, "every": every}
    given = [word for name, value in variables.items() for word in ("-var", name, str(value))]
    return Run("lmp", ("-in", text, *given, "-log", "none"), ranks, steps=steps)


def particles(rule, *periods):
    return Run(PYTHON, ("particles.py", "40000", "800", rule, *periods), steps=800)


def p4est(rule, level=7, *turns):
    return Run("p4est_weights", (str(level), "150", rule, *turns), steps=150)


def petsc(share, solves=16):
    return Run("petsc_poisson", ("300", str(solves), share))


def fission(*plain):
    return Run(str(BIN / "fission"), ("--steps", "100", "--flights", "3000", *plain))


def products(*plain):
    return Run(str(BIN / "matmul"), ("--size", "200", "--tasks", "16", "--steps", "100", "--random", *plain))


def trees(*plain):
    return Run(str(BIN / "uts"), ("T3", "--steps", "40", *plain))


FULL = lammps("full.lmp", 2, 900)
THREE = lammps("full.lmp", 3, 600)
BOUND = THREE.but(bind_to="core:overload-allowed")
JUGGLED = (POISE, "juggle", "--")
# Shorter runs, for cases in which ranks share a core: ranks that spin while they share a core need up to a hundred
# times as long.
FULL_BRIEFLY, PETSC_BRIEFLY = lammps("full.lmp", 2, 100), petsc("0", 1)
# Each case has a name, a run, and the remedies that are right for this run. Each remedy comes with a run in which it is
# applied (None for `nothing`). If a case has None instead of remedies, the right remedy is unknown, so the advice is
# shown but not judged.
CASES = [
    ("lammps, a third of the box full", lammps("in.uneven", 2, 900), {"objects": lammps("in.uneven", 2, 900, "once")}),
    ("lammps, a third of the box full, 4 ranks on 2 cores", lammps("in.uneven", 4, 900), {"objects": lammps("in.uneven", 4, 900, "once")}),
    ("lammps, the box full", FULL, {"nothing": None}),
    ("lammps, both ranks on one core", FULL_BRIEFLY.but(on_one_core=True), {"binding": FULL_BRIEFLY}),
    ("lammps, the box full, beside another program", FULL.but(is_disturbed=True), {"exclusive": FULL}),
    ("lammps, the box full, with a quota of 1 cpu", FULL.but(quota_cpus=1), {"quota": FULL}),
    ("lammps, the box full, 4 ranks on 2 cores", FULL.but(ranks=4), {"fewer_ranks": FULL}),
    ("lammps, 3 spinning ranks on 2 cores", THREE, {"fewer_ranks": THREE.but(ranks=2), "juggle": THREE.but(under=JUGGLED)}),
    ("lammps, 3 spinning ranks on 2 cores, bound", BOUND, {"fewer_ranks": THREE.but(ranks=2), "juggle": BOUND.but(under=JUGGLED)}),
    ("lammps, a crystal that flies from rank to rank", lammps("in.uneven", 2, 900, speed=8),
     {"objects": lammps("in.uneven", 2, 900, "repeated", 8, EVERY)}),
    ("p4est, elements of unequal cost", p4est("even"), {"objects": p4est("weighted")}),
    ("p4est, costly elements that move", p4est("even", 8, "1"), {"objects": p4est("weighted", 8, "1", EVERY)}),
    ("p4est, divided by cost", p4est("weighted"), {"nothing": None}),
    ("p4est, both ranks on one core", p4est("weighted").but(on_one_core=True), {"binding": p4est("weighted")}),
    ("p4est, divided by cost, beside another program", p4est("weighted").but(is_disturbed=True), {"exclusive": p4est("weighted")}),
    ("p4est, divided by cost, with a quota of 1.5 cpus", p4est("weighted").but(quota_cpus=1.5), {"quota": p4est("weighted")}),
    ("p4est, divided by cost, 4 ranks on 2 cores", p4est("weighted").but(ranks=4), {"fewer_ranks": p4est("weighted")}),
    ("PETSc, 70 % of the rows on rank 0", petsc("0.7"), {"objects": petsc("0")}),
    ("PETSc, the same number of rows", petsc("0"), {"nothing": None}),
    ("PETSc, both ranks on one core", PETSC_BRIEFLY.but(on_one_core=True), {"binding": PETSC_BRIEFLY}),
    ("PETSc, the same number of rows, beside another program", petsc("0").but(is_disturbed=True), {"exclusive": petsc("0")}),
    ("PETSc, the same number of rows, with a quota of 1 cpu", petsc("0").but(quota_cpus=1), {"quota": petsc("0")}),
    ("PETSc, the same number of rows, 4 ranks on 2 cores", petsc("0").but(ranks=4), {"fewer_ranks": petsc("0")}),
    ("mpi4py, slabs of the same width", particles("even"), {"objects": particles("by_count")}),
    ("mpi4py, a cloud that swings from rank to rank", particles("even", "1"), {"objects": particles("repeated", "1", EVERY)}),
    ("fission, chains of random lengths", fission("--plain"), {"lending": fission()}),
    ("matmul, random numbers of products", products("--openmp"), {"lending": products()}),
    ("uts, subtrees of random sizes", trees("--plain"), {"lending": trees()}),
    ("hpcc", Run("hpcc", ()), None),
    ("NWChem", Run("nwchem.openmpi", ("water.nw",)), None),
    # With two ranks, Debian's nwchem.mpich converges only for the smallest inputs, with or without a profile.
    ("NWChem, a helium atom, MPICH", Run("nwchem.mpich", ("helium.nw",), mpi="mpich"), None),
]

# For some cases, another remedy to compare with the recommended one: its name, and a run in which it is applied.
BESIDE = {"lammps, a third of the box full": ("fix balance of LAMMPS", lammps("in.uneven", 2, 900, "repeated")),
          "lammps, 3 spinning ranks on 2 cores": ("poise juggle", THREE.but(under=JUGGLED)),
          "lammps, 3 spinning ranks on 2 cores, bound": ("poise juggle", BOUND.but(under=JUGGLED))}


@contextlib.contextmanager
def quota(cpus):
    """Makes a cgroup with this CPU quota. Yields a function by which the calling process joins the group, or None if `cpus`
    is 0. Raises OSError if no cgroup can be made."""
    if not cpus:
        yield None
        return
    root = next(root for root in GROUPS if pathlib.Path(root).exists())
    name, text, members = GROUPS[root]
    group = pathlib.Path(root) / f"poise_bench_{os.getpid()}"
    group.mkdir()
    try:
        (group / name).write_text(text.format(round(100000 * cpus)))
        yield lambda: (group / members).write_text(str(os.getpid()))
    finally:
        group.rmdir()


def output_of(command, folder, join=None):
    """Returns what the command prints. The new process calls `join`, if given, before it starts the command."""
    done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S,
                          env=ENVIRONMENT, check=False, preexec_fn=join)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} exited with status {done.returncode}\n{done.stderr}")
    return done.stdout


def measured(name, run, remedies, folder):
    """Returns a row: what the diagnosis recommends, and what a run gains by following it. The gain is measured
    by runs without the advice, with the advice and, if BESIDE names another remedy for the case, with that remedy."""
    run.output([POISE, "profile", "-o", folder / "run.poise", "--", *run.command()], folder)
    diagnosis = json.loads(output_of([POISE, "diagnose", folder / "run.poise", "--json"], folder))
    first, run_s = diagnosis["advice"][0], diagnosis["efficiencies"]["run_s"]
    row = {"name": name, "mpi": run.mpi, "ranks": run.ranks, "efficiencies": diagnosis["efficiencies"], "advice": first["remedy"],
           "is_right": None if remedies is None else first["remedy"] in remedies, "predicted_saving": first["saved_s"] / run_s,
           "predicted_half_width": first["half_width_s"] / run_s, "load_average": os.getloadavg()[0]}
    followed = (remedies or {}).get(first["remedy"])
    if followed is None:
        return row
    followed = followed.every(diagnosis["imbalance"]["every"], diagnosis["phases"])
    beside, other = BESIDE.get(name, ("", None))
    # A saving is a fraction of the time from MPI_Init to MPI_Finalize in the profiled run, as the prediction is. The
    # time that the launcher needs is part of both measured times, so it is not in their difference.
    rounds = []
    for wanted in PAIRS, MAX_PAIRS:
        rounds += [[each.measure(folder) for each in (run, followed, other) if each] for _ in range(wanted - len(rounds))]
        row["saving"] = median_interval([(times[0] - times[1]) / run_s for times in rounds])
        if verdict_of_gain(row["predicted_saving"], row["saving"]) != "undecided":
            break
    row["plain_s"], row["followed_s"] = ([times[column] for times in rounds] for column in (0, 1))
    if other:
        row["beside"], row["beside_saving"] = beside, median_interval([(times[0] - times[2]) / run_s for times in rounds])
    return row


def text_of(row):
    text = f"{row['name']:51} {row['advice']:12} predicted {100 * row['predicted_saving']:5.1f} %"
    if "saving" in row:
        middle, low, high = (100 * share for share in row["saving"])
        text += (f"  measured {middle:5.1f} % [{low:.1f}, {high:.1f}] of {len(row['plain_s'])} pairs, {statistics.median(row['plain_s']):.2f} s to "
                 f"{statistics.median(row['followed_s']):.2f} s; {verdict_of_gain(row['predicted_saving'], row['saving'])}")
    if "beside" in row:
        text += "; {} {:.1%} [{:.1%}, {:.1%}]".format(row["beside"], *row["beside_saving"])
    return text + ("  WRONG" if row["is_right"] is False else "")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench real", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="run only the cases whose names contain TEXT")
    only = parser.parse_args().only
    rows = []
    for name, run, remedies in CASES:
        if only not in name:
            continue
        if not run.executable():
            say(f"{name}: {run.program} is not installed or cannot be compiled; skipped")
            continue
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(INPUTS, folder, dirs_exist_ok=True)
            rows.append(measured(name, run, remedies, pathlib.Path(folder)))
        say(text_of(rows[-1]))
    if rows:
        keep("real", rows, key=("name",) if only else None, pairs=[PAIRS, MAX_PAIRS])


if __name__ == "__main__":
    main()
