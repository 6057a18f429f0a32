# SPDX-License-Identifier: BSD-3-Clause

"""Machines: places in a hierarchy, with the cost of a message between any two places."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any

import numpy as np

from . import _library as lib


class Machine:
    """A machine on which tasks run. `description` is "live" (this host), a name such as "NUMA32", a file (.json, or
    .xml of hwloc), or a text such as "node:2 numa:2 core:4" (docs/machines.md). Raises Error if it is none of these."""

    def __init__(self, description: str | os.PathLike[str] = "live") -> None:
        given = os.fspath(description) if isinstance(description, os.PathLike) else description
        self._adopt(lib.create("machine", "machine_create", lib.text(given, "description")))

    @classmethod
    def from_json(cls, text: str) -> Machine:
        """Returns the machine that a JSON document describes, in the format of `Machine.json` and machines/*.json."""
        data = lib.text(text, "text")
        return cls._of(lib.create("machine", "machine_from_json", data, len(data)))

    @classmethod
    def from_hwloc_xml(cls, text: str) -> Machine:
        """Returns the machine that hwloc's XML describes (`lstopo --of xml`)."""
        data = lib.text(text, "text")
        return cls._of(lib.create("machine", "machine_from_hwloc_xml", data, len(data)))

    @classmethod
    def _of(cls, handle: lib.Handle) -> Machine:
        machine = cls.__new__(cls)
        machine._adopt(handle)
        return machine

    def _adopt(self, handle: lib.Handle) -> None:
        self._handle = handle
        self.model = "physical"
        load = np.zeros(1)
        one_task = lib.create("workload", "workload_create", 1, lib.address(load))
        self._arrays = lib.create("arrays", "arrays_create", handle.pointer, one_task.pointer, None, 0)
        self._problem = lib.value("arrays_problem", self._arrays.pointer).contents

    def with_costs(self, model: str | None = None, **costs: float) -> Machine:
        """Returns a copy of the machine with another cost formula ("physical", the default, or "nuco"; docs/model.md)
        or with other costs, such as seconds_per_message=1e-5. If a cost is unknown, raises Error with the names of the
        known costs."""
        handle = Machine.from_json(self.json)._handle
        for name, number in costs.items():
            lib.call("machine_set_cost", handle.pointer, name.encode(), lib.number(number, name))
        lib.call("machine_set_model", handle.pointer, lib.text(model or self.model, "model"))
        changed = Machine._of(handle)
        changed.model = model or self.model
        return changed

    @property
    def json(self) -> str:
        text = ctypes.c_char_p()
        lib.call("machine_json", self._handle.pointer, ctypes.byref(text))
        return (text.value or b"").decode()

    @property
    def name(self) -> str:
        return str(json.loads(self.json).get("name", ""))

    @property
    def num_places(self) -> int:
        return int(self._problem.num_places)

    @property
    def num_domains(self) -> int:
        return int(self._problem.num_domains)

    @property
    def num_nodes(self) -> int:
        return int(self._problem.num_nodes)

    def _per_place(self, column: str) -> np.ndarray:
        return lib.column(getattr(self._problem, column), (self.num_places,), self._arrays)

    @property
    def speed(self) -> np.ndarray:
        """The speed of each place relative to the fastest: a load of 1 s takes 1 / speed seconds."""
        return self._per_place("speed")

    @property
    def domain(self) -> np.ndarray:
        """The index of the memory domain to which each place belongs."""
        return self._per_place("domain")

    @property
    def node(self) -> np.ndarray:
        """The index of the node to which each place belongs."""
        return self._per_place("node")

    @property
    def levels(self) -> dict[str, np.ndarray]:
        """Maps the name of each level of the hierarchy, such as "node", to an array with the index of the group to
        which each place belongs on this level. The coarsest level comes first."""
        groups = lib.column(self._problem.level_group, (self._problem.num_levels, self.num_places), self._arrays)
        return {self._problem.level_name[i].decode(): groups[i] for i in range(self._problem.num_levels)}

    def _factors(self, column: str) -> np.ndarray | None:
        return lib.view(getattr(self._problem, column), (self.num_domains, self.num_domains), self._arrays)

    @property
    def latency_factor(self) -> np.ndarray | None:
        """The cost of a message from one memory domain to another, at index [from, to], relative to the cost of a
        message inside a domain. None if there are more than 4,096 domains."""
        return self._factors("latency_factor")

    @property
    def bandwidth_factor(self) -> np.ndarray | None:
        """The cost of a byte from one memory domain to another, at index [from, to], relative to the cost of a byte
        inside a domain."""
        return self._factors("bandwidth_factor")

    def __repr__(self) -> str:
        return f"<poise.Machine {self.name!r}: {self.num_places} places, {self.num_domains} domains, {self.num_nodes} nodes>"


def as_machine(machine: Any) -> Machine:
    return machine if isinstance(machine, Machine) else Machine(machine)
