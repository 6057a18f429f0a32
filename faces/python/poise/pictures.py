# SPDX-License-Identifier: BSD-3-Clause

"""Draws pictures with matplotlib. Each function draws on the axes `ax` (None: new axes) and returns them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _library as lib
from .decisions import Comparison, Simulation
from .machine import Machine, as_machine
from .workload import as_workload


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt
    return plt.subplots(layout="constrained")[1]


def work_s(machine: Any, workload: Any, placement: Any) -> np.ndarray:
    """Returns the work of each place in seconds (p,): loads divided by speed, plus background load."""
    places, tasks = as_machine(machine), as_workload(workload)
    where = lib.as_array(placement, np.uint32, (tasks.num_tasks,), "placement")
    if len(where) and where.max() >= places.num_places:
        raise lib.Error(f"placement[{where.argmax()}] is {where.max()}, but the machine has {places.num_places} places")
    sums: np.ndarray = np.bincount(where, weights=tasks.load_s, minlength=places.num_places) / places.speed
    if tasks.background_s is not None:
        sums += tasks.background_s
    return sums


def loads(machine: Any, workload: Any, placements: dict[str, Any], ax: Any = None) -> Any:
    """Draws the work of each place as bars, for each named placement."""
    ax = _axes(ax)
    width = 0.8 / max(1, len(placements))
    for i, (name, placement) in enumerate(placements.items()):
        seconds = work_s(machine, workload, placement)
        ax.bar(np.arange(len(seconds)) + (i - (len(placements) - 1) / 2) * width, seconds, width, label=name)
    ax.set(xlabel="place", ylabel="work [s]")
    ax.legend()
    return ax


def heat_map(machine: Any, workload: Any, placement: Any, ax: Any = None, *, by: str = "place") -> Any:
    """Draws the bytes that each place (row) sends to each other place (column). If `by` names a level of the machine,
    such as "node", draws the bytes between the groups of this level instead, without messages inside a group."""
    ax = _axes(ax)
    places, tasks = as_machine(machine), as_workload(workload)
    where = lib.as_array(placement, np.uint32, (tasks.num_tasks,), "placement")
    if by != "place" and by not in places.levels:
        raise lib.Error(f"the machine has no level {by!r}; choose one of: place, {', '.join(places.levels)}")
    group = np.arange(places.num_places) if by == "place" else places.levels[by]
    sender = np.repeat(group[where], np.diff(tasks.indptr.astype(np.int64)))
    receiver = group[where[tasks.indices]]
    amount = np.zeros((int(group.max()) + 1,) * 2)
    np.add.at(amount, (sender, receiver), tasks.bytes)
    np.fill_diagonal(amount, 0)
    image = ax.imshow(amount, cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label="bytes")
    ax.set(xlabel=f"to {by}", ylabel=f"from {by}")
    return ax


def timeline(simulation: Simulation, ax: Any = None) -> Any:
    """Draws the time of each step with each strategy: the iteration, and the decision and migrations before it."""
    ax = _axes(ax)
    for run in simulation:
        if run.error is None:
            ax.plot(run.step_iteration_s + run.step_decision_s + run.step_migration_s, label=run.strategy,
                    drawstyle="steps-mid")
    ax.set(xlabel="step", ylabel="time [s]")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


def machine_tree(machine: Any, ax: Any = None) -> Any:
    """Draws the hierarchy of the machine: one row of boxes for each level, with the places at the bottom."""
    ax = _axes(ax)
    places: Machine = as_machine(machine)
    levels = dict(places.levels)
    for row, groups in enumerate(levels.values()):
        starts = np.flatnonzero(np.r_[True, np.diff(groups) != 0])
        widths = np.diff(np.r_[starts, len(groups)])
        ax.barh(-row, widths - 0.1, left=starts + 0.05, height=0.8, color=f"C{row % 10}", edgecolor="black", linewidth=0.5)
    ax.set_yticks(-np.arange(len(levels)), list(levels))
    ax.set(xlabel="place", xlim=(0, places.num_places), title=places.name)
    return ax


def trade_off(comparison: Comparison, ax: Any = None) -> Any:
    """Draws each strategy as a point: x is the time of its migrations, y is the time of an iteration."""
    ax = _axes(ax)
    for row in comparison:
        if row.metrics is not None:
            ax.plot(row.metrics.migration_s, row.metrics.iteration_s, "o")
            ax.annotate(row.strategy, (row.metrics.migration_s, row.metrics.iteration_s), textcoords="offset points",
                        xytext=(4, 4), fontsize="small")
    ax.axhline(comparison.iteration_bound_s, linestyle=":", color="grey", label="no placement is below")
    ax.set(xlabel="migrations [s]", ylabel="iteration [s]")
    ax.legend()
    return ax
