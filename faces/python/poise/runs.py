# SPDX-License-Identifier: BSD-3-Clause

"""Finds what would help a program: maps its ranks to places, predicts the gain of balancing its threads, and diagnoses
a profiled run."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
from typing import Any

import numpy as np

from . import _library as lib
from .decisions import places_in
from .machine import as_machine
from .workload import as_workload


def map(machine: Any, workload: Any, current: Any = None, *, distance: str = "hops", ranks_per_place: int = 1,
        cores_per_rank: int = 1, seed: int = 0) -> np.ndarray:
    """Returns the place of each rank of an MPI program, an array (n,) uint32. Places are chosen so that little traffic
    crosses long distances. The tasks of `workload` are the ranks, and its messages are their traffic; loads are ignored.
    `distance` is "hops" or "factors" (the machine's latency factors). A place takes at most `ranks_per_place` ranks, or
    each rank takes `cores_per_rank` places of one node. The map is never worse than block order, nor than `current`
    (n,) if it is given. Raises Error if an argument is wrong, or if the machine is too small. `poise map` writes files
    for launchers."""
    places, ranks = as_machine(machine), as_workload(workload)
    now = places_in(current, ranks.num_tasks, "current")
    result = np.empty(ranks.num_tasks, dtype=np.uint32)
    lib.call("map", places._handle.pointer, ranks._handle.pointer, lib.address(now), lib.text(distance, "distance"),
             lib.whole(ranks_per_place, "ranks_per_place", 32), lib.whole(cores_per_rank, "cores_per_rank", 32),
             lib.whole(seed, "seed"), lib.address(result))
    return result


@dataclasses.dataclass(frozen=True)
class Outlook:
    """Predicted run times of a program, in seconds: without balancing, and with threads balanced every `period_s`
    seconds (docs/theory.md)."""
    static_s: float  # time if threads stay where they start
    ideal_s: float  # run time in the limit of very short balancing periods
    reactive_s: float  # time if the other threads are spread anew over all cpus whenever a thread reaches the barrier
    proactive_bound_s: float  # lower bound on the time if threads are balanced every period_s
    proactive_s: float  # approximate time if threads are balanced every period_s
    simulated_s: float  # simulated time with Juggle's idealised algorithm, which sorts threads
    simulated_swaps_s: float  # simulated time with the swaps of `poise juggle`
    simulated_hybrid_s: float  # simulated time with proactive and reactive balancing together
    swap_migrations: int  # number of moved threads in the simulation of simulated_swaps_s
    advice: str


def theory(threads: int, cpus: int, phase_s: float, *, period_s: float = 0.1, phases: int = 1, domains: int = 1,
           jitter: float = 0.0, seed: int = 0) -> Outlook:
    """Predicts the run time of a program, and the gain of balancing its threads every `period_s` seconds. The program
    has `threads` identical threads; between two barriers, each of them computes for `phase_s` seconds. Threads stay in
    their memory domain. `jitter` is the random variation of period_s, as a fraction of period_s below 1. Source:
    Hofmeyr et al., "Juggle", HPDC 2011. Raises Error if a number is wrong."""
    program = lib.CThreads(lib.whole(threads, "threads"), lib.whole(cpus, "cpus"), lib.whole(phases, "phases"),
                           lib.number(phase_s, "phase_s"), lib.number(period_s, "period_s"), lib.whole(domains, "domains"),
                           lib.number(jitter, "jitter"), lib.whole(seed, "seed"))
    found = lib.COutlook()
    lib.call("theory", ctypes.byref(program), ctypes.byref(found))
    columns = {field[0]: getattr(found, field[0]) for field in lib.COutlook._fields_}
    return Outlook(**columns | {"advice": found.advice.decode()})


def diagnose(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns why a run that `poise profile` recorded lost time, and what would help, as a dictionary: "efficiencies"
    (fractions of 1, as the POP centre of excellence defines them), "imbalance", "late" ranks, and "advice" with the seconds
    that each remedy saves. It is what `poise diagnose --json` prints. Raises Error naming the file if it has no profile."""
    text = ctypes.c_char_p()
    lib.call("diagnose", lib.path(path, "path"), ctypes.byref(text))
    found: dict[str, Any] = json.loads(text.value or b"{}")
    return found
