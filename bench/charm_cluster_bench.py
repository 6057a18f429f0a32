#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Compares balancers in real runs of Charm++ 8's own programs lb_test, kNeighbor and stencil3d, on hosts joined by
slow links: network namespaces of tests/support/cluster.py. The objects sleep instead of computing (charm_programs.py).
Each round runs every balancer once per program, in an order that changes from round to round, and all of Poise's
balancers know the bandwidth of the links (POISE_MACHINE).

The programs themselves measure their iterations. A run's result is the mean time of an iteration after its first two
decisions. Per balancer, the benchmark reports the median over the rounds and its 95 % interval, and the ratio to `poise`
in the same round."""

import os
import re
import statistics
import subprocess
import sys
import tempfile

import charm_programs
from intervals import median_interval
from keep import ROOT, keep

CLUSTER = ROOT / "tests" / "support" / "cluster.py"
FOLDER = ROOT / "build" / "charm_cluster"
SKIPPED = 77
TIMEOUT_S = 120  # of a run
HOSTS, PES_PER_HOST = 4, 2
LINK_BYTES_PER_S = 1.25e6  # bandwidth of a host's network card in each direction, 10 Mbit/s
POISE = ["PoiseLB", "PoiseTreeLB", "PoiseHybridLB", "PoiseJointLB", "NucoLB"]
OTHERS = ["GreedyRefineLB", "RefineLB", "MetisLB", "RecBipartLB", "ScotchLB", "TreeLB", "DistributedLB"]
NONE = "none"
# If a message is not acknowledged within this time, Charm++ sends it again. The time is long, because on a slow link
# acknowledgements queue behind messages.
RESEND_MS = 3000
WORDS = {
    # arguments: objects, steps, steps between lines of output, steps between decisions, smallest and largest load in us
    "lb_test": "128 60 1 10 2000 22000 mesh3d",
    # arguments: objects, steps (each has ten iterations), bytes per message, steps between decisions
    "kNeighbor": "64 8 2000 1",
    "stencil3d": "64 64 64 16 16 16",  # the grid and its blocks: 64 objects
}


def iterations(program, output):
    """Returns the times in seconds of the iterations after the second decision, without those during which a decision
    was made."""
    if program == "lb_test":
        found = re.findall(r"TIME PER STEP\t(\d+)\t\S+\t(\S+)", output)
        return [float(time) for step, time in found if int(step) > 20 and int(step) % 10 != 0]
    if program == "kNeighbor":
        return [float(time) for step, time in re.findall(r"Step (\d+) with .* total=(\S+)", output) if int(step) >= 2]
    found = re.findall(r"\[(\d+)\] Time per iteration: (\S+)", output)
    return [float(time) for step, time in found if int(step) > 10 and int(step) % 5 != 1]


def start_script(folder):
    """Writes the script that charmrun calls instead of ssh, to start processes on a host: HOST -l USER -o OPTION…
    COMMAND."""
    script = folder / "start"
    script.write_text('#!/bin/bash\nhost=$1\nexec /run/enter "$host" "${!#}"\n')
    script.chmod(0o755)
    return script


def nodelist(folder):
    path = folder / "nodes"
    path.write_text("group main\n" + "".join(f"host node{number}\n" for number in range(1, HOSTS + 1)))
    return path


class Runs:
    def __init__(self, home, programs, folder):
        self.home, self.programs, self.folder = home, programs, folder
        self.is_smp = home.name.endswith("smp")
        start_script(folder), nodelist(folder)

    def command(self, program, balancer):
        pes = HOSTS * PES_PER_HOST
        threads = ["++ppn", PES_PER_HOST] if self.is_smp else []
        chosen = [] if balancer == NONE else ["+balancer", balancer]
        return [sys.executable, CLUSTER, "--racks", HOSTS, "--near", "0s", "--far", "0s", "--rate",
                f"{LINK_BYTES_PER_S * 8 / 1e6:g}mbit", "--", self.home / "bin" / "charmrun", f"+p{pes}", *threads,
                "++nodelist", self.folder / "nodes", "++remote-shell", self.folder / "start", self.programs[program],
                *WORDS[program].split(), *chosen, "+LBDebug", "1", "+delay_retransmit", RESEND_MS,
                *["+CmiSleepOnIdle"] * self.is_smp]

    def run(self, program, balancer):
        """Returns the mean time of an iteration and the number of moved objects, or the reason why the run has no
        result."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("POISE_")}
        environment["POISE_MACHINE"] = f"core:{PES_PER_HOST} bandwidth:{LINK_BYTES_PER_S:g}"
        command = list(map(str, self.command(program, balancer)))
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            try:
                done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                      stderr=subprocess.STDOUT, cwd=self.folder, timeout=TIMEOUT_S, check=False)
            except subprocess.TimeoutExpired:
                return {"ended": f"timed out after {TIMEOUT_S} s"}
            output.seek(0)
            text = output.read()
        if done.returncode == SKIPPED:
            sys.exit(SKIPPED)
        times = iterations(program, text)
        if done.returncode or not times:
            (self.folder / f"{program}.{balancer}.failed").write_text(text)
            return {"ended": f"ended with status {done.returncode}"}
        return {"ended": "ok", "iteration_s": statistics.mean(times)}


def measure(runs, programs, balancers, rounds):
    """Returns {(program, balancer): one result per round}."""
    results = {}
    for number in range(rounds):
        for program in programs:
            shift = number % len(balancers)
            for balancer in balancers[shift:] + balancers[:shift]:
                result = runs.run(program, balancer)
                results.setdefault((program, balancer), []).append(result)
                print(f"round {number + 1}: {program:<10} {balancer:<15} "
                      f"{1e3 * result.get('iteration_s', 0):8.1f} ms  {result['ended']}", flush=True)
    return results


def rows_of(results, programs, balancers, build):
    for program in programs:
        ours = results[program, "PoiseLB"]
        for balancer in balancers:
            theirs = results[program, balancer]
            good = [row["iteration_s"] for row in theirs if row["ended"] == "ok"]
            ended = sorted({row["ended"] for row in theirs})
            row = {"program": program, "balancer": balancer, "build": build, "arguments": WORDS[program], "hosts": HOSTS,
                   "pes": HOSTS * PES_PER_HOST, "link_bytes_per_s": LINK_BYTES_PER_S, "runs": len(good),
                   "ended": ", ".join(ended)}
            ratios = [b["iteration_s"] / a["iteration_s"] for a, b in zip(ours, theirs) if {a["ended"], b["ended"]} == {"ok"}]
            if good:
                row["iteration_s"] = median_interval(good)
            if ratios:
                row["over_poise"] = median_interval(ratios)
            yield row


def shown(interval, factor, form):
    median, low, high = (format(factor * value, form) for value in interval)
    return f"{median} [{low}, {high}]"


def main():
    parser = charm_programs.parser("charm_cluster", __doc__)
    parser.add_argument("--programs", nargs="+", default=list(WORDS), choices=list(WORDS))
    parser.add_argument("--balancers", nargs="+", help="PoiseLB and these (default: all)")
    parser.add_argument("--rounds", type=int, default=6)
    options = parser.parse_args()
    home = charm_programs.network_home(options)
    if home is None:
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    balancers = [NONE, *POISE, *OTHERS]
    if not charm_programs.scotch(home, FOLDER / home.name):
        balancers.remove("ScotchLB")
    if options.balancers:
        balancers = list(dict.fromkeys(["PoiseLB", *options.balancers]))
    runs = Runs(home, charm_programs.built(home, FOLDER), FOLDER)
    results = measure(runs, options.programs, balancers, options.rounds)
    rows = list(rows_of(results, options.programs, balancers, home.name))
    print(f"\n{'program':<11}{'balancer':<16}{'ms per iteration':<26}{'over poise':<24}ended")
    for row in rows:
        print(f"{row['program']:<11}{row['balancer']:<16}"
              f"{shown(row['iteration_s'], 1e3, '.1f') if 'iteration_s' in row else '-':<26}"
              f"{shown(row['over_poise'], 1, '.3f') if 'over_poise' in row else '-':<24}{row['ended']}")
    is_partial = options.balancers or options.programs != list(WORDS)
    keep("charm_cluster", rows, key=("program", "balancer") if is_partial else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
