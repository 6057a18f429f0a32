# SPDX-License-Identifier: BSD-3-Clause

"""Poise decides which task of a parallel program should run where. docs/python.md has examples.

Tasks and places are numbered from 0. Times are in seconds, sizes in bytes."""

from __future__ import annotations

from typing import Any

from ._library import Cancelled, Error, SystemFailure
from ._library import value as _value
from .decisions import (Comparison, Knob, Metrics, Moves, Row, Run, Simulation, StrategyInfo, compare, evaluate, exports,
                        imports, plan, simulate, strategies)
from .distributed import OwnPlan, Ranks, plan_distributed
from .machine import Machine
from .runs import Outlook, diagnose, map, theory
from .trace import Phase, Trace, read, write
from .workload import Problem, Workload

__version__: str = _value("version").decode()
built_with: str = _value("built_with").decode()

__all__ = ["Cancelled", "Comparison", "Error", "Knob", "Machine", "Metrics", "Moves", "Outlook", "OwnPlan", "Phase", "Problem",
           "Ranks", "Row", "Run", "Simulation", "StrategyInfo", "SystemFailure", "Trace", "Workload", "built_with",
           "compare", "diagnose", "evaluate", "exports", "imports", "map", "pictures", "plan", "plan_distributed", "read",
           "simulate", "strategies", "theory", "write"]


def __getattr__(name: str) -> Any:
    if name == "pictures":  # matplotlib is imported only when something is drawn
        import importlib
        return importlib.import_module(".pictures", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
