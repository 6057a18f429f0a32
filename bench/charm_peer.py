#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Makes a balancer of Charm++ 8 available as a strategy: `poise compare -s "exec:charm_peer.py PROGRAM BALANCER"`.
PROGRAM is built by charm_programs.py from charm_replay/replay.cc, with a threaded network build of Charm++
(netlrts-smp). PROGRAM runs all PEs as threads of one process."""

import json
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT_S = 100


def written(problem):
    """Returns the text that replay.cc reads."""
    messages = problem["messages"]
    lines = [str(problem["num_tasks"])]
    for task, (load_s, place, movable) in enumerate(zip(problem["load_s"], problem["current"], problem["movable"])):
        links = range(messages["indptr"][task], messages["indptr"][task + 1])
        sent = [f"{messages['indices'][i]} {messages['counts'][i]} {messages['bytes'][i]}" for i in links]
        lines.append(" ".join([repr(load_s), str(place), str(movable), str(len(sent)), *sent]))
    return "\n".join(lines) + "\n"


def main():
    program, balancer = pathlib.Path(sys.argv[1]), sys.argv[2]
    problem = json.load(sys.stdin)
    pes = problem["machine"]["num_places"]
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = pathlib.Path(folder, "problem"), pathlib.Path(folder, "answer")
        asked.write_text(written(problem))
        # Charm++ would measure the work of the program itself as background load, so +LBNoBackground leaves it out.
        done = subprocess.run([program, f"+p{pes}", "++ppn", str(pes), "+CmiSleepOnIdle", "+setcpuaffinity", "+balancer", balancer, "+LBCommOn",
                               "+LBNoBackground", "+LBSyncResume", asked, answer], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode or not answer.exists():
            sys.exit(f"{balancer} ended with status {done.returncode}:\n{done.stdout[-2000:]}")
        sys.stdout.write(answer.read_text())


if __name__ == "__main__":
    main()
