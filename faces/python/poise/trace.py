# SPDX-License-Identifier: BSD-3-Clause

"""Traces: phases over time, and the files that hold them."""

from __future__ import annotations

import ctypes
import dataclasses
import os
from typing import Any

import numpy as np

from . import _library as lib
from .machine import Machine, as_machine
from .workload import Workload, as_workload


@dataclasses.dataclass
class Phase:
    """One phase: the measurements, and the place of each task (n,), or None if the places were not recorded. `wall_s`
    is 0 if the phase was not timed."""
    workload: Workload
    placement: Any = None
    id: int = 0
    wall_s: float = 0


@dataclasses.dataclass
class Trace:
    """A trace of a program on num_places places: its phases, with increasing ids, and the machine if it is known."""
    phases: list[Phase]
    num_places: int
    machine: Machine | None = None


def created(trace: Trace) -> lib.Handle:
    """Returns a copy of the trace in the library. Raises Error if `trace` or a part of it has a wrong type."""
    if not isinstance(trace, Trace):
        raise lib.Error(f"trace is {lib.shown(trace)}; it must be a Trace, such as the result of poise.read()")
    machine = None if trace.machine is None else as_machine(trace.machine)
    handle = lib.create("trace", "trace_create", lib.whole(trace.num_places, "num_places"),
                        None if machine is None else machine._handle.pointer)
    for phase in trace.phases:
        if not isinstance(phase, Phase):
            raise lib.Error(f"trace.phases contains {lib.shown(phase)}; it must contain only Phases")
        workload = as_workload(phase.workload)
        places = None
        if phase.placement is not None:
            places = lib.as_array(phase.placement, np.uint32, (workload.num_tasks,), "placement")
        lib.call("trace_add_phase", handle.pointer, lib.whole(phase.id, "id"), lib.number(phase.wall_s, "wall_s"),
                 workload._handle.pointer, lib.address(places))
    return handle


def _phase(handle: lib.Handle, number: int) -> Phase:
    identity, wall_s, pointer = ctypes.c_uint64(), ctypes.c_double(), ctypes.c_void_p()
    lib.call("trace_phase", handle.pointer, number, ctypes.byref(identity), ctypes.byref(wall_s), ctypes.byref(pointer))
    workload = Workload._of(lib.Handle("workload", pointer))
    places: np.ndarray | None = np.empty(workload.num_tasks, dtype=np.uint32)
    try:
        lib.call("trace_places", handle.pointer, number, lib.address(places))
    except lib.Error:
        places = None
    return Phase(workload, places, identity.value, wall_s.value)


def read(path: str | os.PathLike[str], format: str | None = None) -> Trace:
    """Reads a trace in any format of docs/formats.md; the format is recognised by the content. Names of tasks are
    dropped. Raises an Error that names the file."""
    handle = lib.create("trace", "trace_read", lib.path(path, "path"), None if format is None else lib.text(format, "format"))
    phases = [_phase(handle, i) for i in range(lib.value("trace_num_phases", handle.pointer))]
    machine = None
    try:
        machine = Machine._of(lib.create("machine", "trace_machine", handle.pointer))
    except lib.Error:
        pass  # the trace contains no machine
    return Trace(phases, lib.value("trace_num_places", handle.pointer), machine)


def write(trace: Trace, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Writes a trace in the format that the ending of the path selects (.poise, .json, .json.br, .graph). The file
    appears complete or not at all. No format stores capacities, past loads, the speeds of places for kinds of work, or
    whether the parts of a load belong to subphases or to kinds of work. Raises Error, or SystemFailure
    if the disk is full."""
    handle = created(trace)
    lib.call("trace_write", handle.pointer, lib.path(path, "path"), None if format is None else lib.text(format, "format"))
