# SPDX-License-Identifier: BSD-3-Clause

"""Decisions: placements, their costs, and comparisons of strategies."""

from __future__ import annotations

import ctypes
import dataclasses
from typing import Any, Callable, Iterable, Iterator, Sequence, Union

import numpy as np

from . import _library as lib
from .machine import Machine, as_machine
from .trace import Trace, created
from .workload import Problem, Workload, as_workload

#: A strategy: a name that may be followed by parameters, called knobs ("nuco:alpha=1e-4"); "plugin:FILE.so";
#: "exec:COMMAND"; or a Python function that takes a Problem and returns the place of each task. In tables of results, a
#: function appears under its __name__.
Strategy = Union[str, Callable[[Problem], Any]]
#: A callback with the arguments (steps done, number of steps, name of the next step). If it returns True, the work stops
#: and Cancelled is raised.
Progress = Callable[[int, int, str], Any]


@dataclasses.dataclass(frozen=True)
class Metrics:
    """The cost of a placement, in seconds and bytes. docs/model.md has the formulas."""
    iteration_s: float  # predicted time of a phase
    makespan_s: float  # work of the busiest place
    makespan_bound_s: float  # lower bound on the makespan of any placement
    average_s: float  # sum of all work divided by the sum of all speeds
    imbalance: float  # makespan / average
    max_comm_s: float  # communication time of the place that communicates most
    hop_bytes: int  # sum over messages of (bytes * edges of the machine's tree that the message crosses)
    internode_bytes: int
    nuco_messages: float  # messages between different places, each weighted by its latency factor
    migrations: int
    migrated_bytes: int
    migration_s: float  # migration time of the place that sends or receives most

    @classmethod
    def _of(cls, raw: lib.CMetrics) -> Metrics:
        return cls(**{field.name: getattr(raw, field.name) for field in dataclasses.fields(cls)})


@dataclasses.dataclass(frozen=True)
class Moves:
    """The tasks that change their place, as four arrays of equal length in the order of tasks."""
    global_id: np.ndarray
    task: np.ndarray
    from_place: np.ndarray
    to_place: np.ndarray

    def __len__(self) -> int:
        return len(self.from_place)


@dataclasses.dataclass(frozen=True)
class Row:
    """The result of one strategy in a comparison."""
    strategy: str
    error: str | None  # why the strategy cannot work on this problem; then the other members are None or 0
    metrics: Metrics | None
    placement: np.ndarray | None  # (n,)
    decision_s: float  # CPU time of the decision
    decision_wall_s: float


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The results of several strategies on one problem. Iterate over it, or index it by the text of a strategy."""
    rows: list[Row]
    best: Row | None  # the row with the shortest iteration; of equal rows, the one with the fewest migrated bytes
    iteration_bound_s: float  # no placement has a shorter iteration
    machine: Machine
    workload: Workload
    current: np.ndarray

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, strategy: str) -> Row:
        for row in self.rows:
            if row.strategy == strategy:
                return row
        raise KeyError(strategy)

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame with one row for each strategy and its metrics as columns."""
        import pandas
        return pandas.DataFrame([{"strategy": row.strategy, "error": row.error, "decision_s": row.decision_s,
                                  **(dataclasses.asdict(row.metrics) if row.metrics else {})} for row in self.rows])


@dataclasses.dataclass(frozen=True)
class Run:
    """The result of one strategy in a simulation. The last three arrays have one entry per step."""
    strategy: str
    error: str | None
    total_s: float
    iteration_s: float
    migration_s: float
    decision_s: float
    decisions: int
    migrations: int
    migrated_bytes: int
    step_iteration_s: np.ndarray
    step_decision_s: np.ndarray
    step_migration_s: np.ndarray


@dataclasses.dataclass(frozen=True)
class Simulation:
    """The results of replaying a trace with each strategy. The first run is without balancing."""
    runs: list[Run]

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, strategy: str) -> Run:
        for run in self.runs:
            if run.strategy == strategy:
                return run
        raise KeyError(strategy)


@dataclasses.dataclass(frozen=True)
class Knob:
    """A setting of a strategy: a number from min to max, or one of `choices`."""
    name: str
    help: str
    initial: float
    min: float
    max: float
    choices: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class StrategyInfo:
    """A row of the table of strategies."""
    name: str
    summary: str
    source: str
    complexity: str
    is_incremental: bool
    is_oracle: bool  # too slow for balancing, but shows what is possible; runs only if it is named
    ignores_messages: bool
    knobs: tuple[Knob, ...]


class _Callbacks:
    """Wraps Python functions so that the library can call them. If a strategy raises an exception, its row in
    the results has the text of the exception. An exception in `progress`, or one that ends the program (such as
    KeyboardInterrupt), stops the work and is raised again."""

    def __init__(self, own: Sequence[Callable[[Problem], Any]], progress: Progress | None) -> None:
        self.errors: dict[int, str] = {}  # index of a function -> text of its exception
        self.raised: BaseException | None = None
        self.names = [getattr(function, "__name__", repr(function)) for function in own]
        self.decides = [lib.DECIDE(self._decide(i, function)) for i, function in enumerate(own)]
        self.own = (lib.COwn * len(own))(*[lib.COwn(name.encode(), decide, None)
                                           for name, decide in zip(self.names, self.decides)])
        self.progress = lib.PROGRESS(self._progress(progress)) if progress or own else lib.PROGRESS()

    def _decide(self, index: int, function: Callable[[Problem], Any]) -> Callable[[Any, Any, Any], int]:
        def decide(problem: Any, places: Any, _argument: Any) -> int:
            try:
                num_tasks = problem.contents.num_tasks
                answer = lib.as_array(function(Problem(problem.contents)), np.uint32, (num_tasks,), "the placement")
                ctypes.memmove(places, answer.ctypes.data, answer.nbytes)
                return 0
            except Exception as error:
                self.errors[index] = f"{self.names[index]}: {type(error).__name__}: {error}"
            except BaseException as error:
                self.raised = error
            return 1
        return decide

    def _progress(self, progress: Progress | None) -> Callable[[Any, int, int, bytes], int]:
        def report(_argument: Any, done: int, total: int, what: bytes) -> int:
            try:
                return int(self.raised is not None or bool(progress and progress(done, total, what.decode())))
            except BaseException as error:
                self.raised = error
                return 1
        return report

    def call(self, *arguments: Any) -> lib.Handle:
        try:
            handle = lib.create(*arguments)
        except lib.Cancelled:
            if self.raised is None:
                raise
        if self.raised is not None:
            raise self.raised
        return handle

    def error_of(self, row: Any, rows_left: int) -> str | None:
        """Returns the error in a row, or None. The last rows of the table belong to the Python functions, in the order
        of the functions. So `rows_left`, the number of rows that follow `row`, tells whether the row belongs to a
        function, and to which function."""
        if row.error is None:
            return None
        return self.errors.get(len(self.names) - 1 - rows_left, str(row.error.decode(errors="replace")))


def _split(strategies: Strategy | Iterable[Strategy] | None) -> tuple[bytes | None, list[Callable[[Problem], Any]]]:
    """Separates strategies that are given by name from those that are Python functions. Returns the names, joined into
    one string as the library expects, and the list of functions."""
    if strategies is None:
        return None, []
    listed = [strategies] if isinstance(strategies, str) or callable(strategies) else list(strategies)
    for strategy in listed:
        if not isinstance(strategy, str) and not callable(strategy):
            raise lib.Error(f"{lib.shown(strategy)} is not a strategy; give a name or a function")
    names = ",".join(s for s in listed if isinstance(s, str))
    return lib.text(names, "strategies"), [s for s in listed if not isinstance(s, str)]


def places_in(placement: Any, num_tasks: int, name: str) -> np.ndarray | None:
    """Returns a placement as an array; None stays None."""
    return None if placement is None else lib.as_array(placement, np.uint32, (num_tasks,), name)


def plan(machine: Any, workload: Any, current: Any = None, strategy: Strategy = "poise", *, seed: int = 0) -> np.ndarray:
    """Returns the place that a strategy chooses for each task, (n,) uint32. `machine` is a Machine, or a description
    from which Machine() makes one; `workload` is a Workload, or the loads in seconds; `current` (n,) is the present
    place of each task (None: blocks of consecutive tasks). The result depends only on these arguments, `strategy` and
    `seed`. Raises Error if an argument is wrong."""
    places, tasks = as_machine(machine), as_workload(workload)
    now = places_in(current, tasks.num_tasks, "current")
    if not isinstance(strategy, str):
        row = compare(places, tasks, now, [strategy], seed=seed).rows[0]
        if row.placement is None:
            raise lib.Error(row.error)
        return row.placement
    result = np.empty(tasks.num_tasks, dtype=np.uint32)
    lib.call("plan", places._handle.pointer, tasks._handle.pointer, lib.address(now), lib.text(strategy, "strategy"),
             lib.whole(seed, "seed"), lib.address(result))
    return result


def evaluate(machine: Any, workload: Any, before: Any, after: Any = None) -> Metrics:
    """Returns the cost of the placement `after`, including the migrations from `before` (n,). Without `after`, returns
    the cost of `before`."""
    places, tasks = as_machine(machine), as_workload(workload)
    old = places_in(before, tasks.num_tasks, "before")
    new = old if after is None else places_in(after, tasks.num_tasks, "after")
    metrics = lib.CMetrics()
    lib.call("evaluate", places._handle.pointer, tasks._handle.pointer, lib.address(old), lib.address(new),
             ctypes.byref(metrics))
    return Metrics._of(metrics)


def moves_in(listed: Any) -> Moves:
    """Returns a copy of a list that the library allocated, and frees the original."""
    try:
        moves = listed.contents
        columns = [np.array(lib.view(pointer, (moves.count,), None)) if moves.count and pointer
                   else np.empty(0, dtype=pointer._type_)
                   for pointer in (moves.global_id, moves.task, moves.from_place, moves.to_place)]
        return Moves(*columns)
    finally:
        lib.value("moves_destroy", listed)


def _moves(function: str, before: Any, after: Any, place: int | None, global_ids: Any) -> Moves:
    old = lib.as_array(before, np.uint32, (None,), "before")
    new = lib.as_array(after, np.uint32, (len(old),), "after")
    ids = None if global_ids is None else lib.as_array(global_ids, np.uint64, (len(old),), "global_ids")
    listed = ctypes.POINTER(lib.CMoves)()
    lib.call(function, len(old), lib.address(ids), lib.address(old), lib.address(new), -1 if place is None else lib.whole(place, "place", 63),
             ctypes.byref(listed))
    return moves_in(listed)


def exports(before: Any, after: Any, place: int | None = None, global_ids: Any = None) -> Moves:
    """Returns the tasks that leave `place` (None: all tasks that move)."""
    return _moves("exports", before, after, place, global_ids)


def imports(before: Any, after: Any, place: int | None = None, global_ids: Any = None) -> Moves:
    """Returns the tasks that move to `place` (None: all tasks that move)."""
    return _moves("imports", before, after, place, global_ids)


def compare(machine: Any, workload: Any, current: Any = None, strategies: Strategy | Iterable[Strategy] | None = None, *,
            seed: int = 0, progress: Progress | None = None) -> Comparison:
    """Runs several strategies on one problem. `strategies` holds names and functions of your own; None means all
    strategies of the table except oracles (see StrategyInfo). A strategy that fails gets a row with the reason. Raises
    Error if the problem or a name is wrong."""
    places, tasks = as_machine(machine), as_workload(workload)
    now = places_in(current, tasks.num_tasks, "current")
    names, own = _split(strategies)
    callbacks = _Callbacks(own, progress)
    handle = callbacks.call("comparison", "compare", places._handle.pointer, tasks._handle.pointer, lib.address(now), names,
                            callbacks.own, len(own), lib.whole(seed, "seed"), callbacks.progress, None)
    rows, num_rows = [], lib.value("comparison_num_rows", handle.pointer)
    for i in range(num_rows):
        raw = lib.value("comparison_get", handle.pointer, i).contents
        error = callbacks.error_of(raw, num_rows - 1 - i)
        rows.append(Row(raw.strategy.decode(), error, Metrics._of(raw.metrics) if error is None else None,
                        lib.view(raw.place_of_task, (tasks.num_tasks,), handle), raw.decision_s, raw.decision_wall_s))
    best = lib.value("comparison_best", handle.pointer)
    if now is None:
        numbers = np.arange(tasks.num_tasks, dtype=np.uint64)
        now = (numbers * places.num_places // tasks.num_tasks).astype(np.uint32)
    return Comparison(rows, rows[best] if best >= 0 else None, lib.value("comparison_bound_s", handle.pointer), places,
                      tasks, now)


def simulate(machine: Any, trace: Trace, strategies: Strategy | Iterable[Strategy] | None = None, *, steps: int = 100,
             every: int = 10, start: Any = None, decision_s: float | None = None, seed: int = 0,
             progress: Progress | None = None) -> Simulation:
    """Replays `steps` steps of a trace, with a decision every `every` steps. `start` (n,) is the placement of the
    first phase (None: the placement in the trace or, without one, blocks of consecutive tasks). `decision_s` is the
    time charged for each decision (None: the time that the decision takes on this machine)."""
    places = as_machine(machine)
    now = None if start is None else lib.as_array(start, np.uint32, (None,), "start")
    handle = created(trace)
    tasks = as_workload(trace.phases[0].workload).num_tasks if trace.phases else 0
    if now is not None and trace.phases and len(now) != tasks:
        raise lib.Error(f"start has {len(now)} entries, but the trace has {tasks} tasks")
    steps, every = lib.whole(steps, "steps", 63), lib.whole(every, "every", 63)
    if steps == 0 or every == 0:
        raise lib.Error(f"steps is {steps} and every is {every}; both must be at least 1")
    charged_s = -1.0 if decision_s is None else lib.number(decision_s, "decision_s")
    names, own = _split(strategies)
    callbacks = _Callbacks(own, progress)
    done = callbacks.call("simulation", "simulate", places._handle.pointer, handle.pointer, lib.address(now), names,
                          callbacks.own, len(own), steps, every, charged_s, lib.whole(seed, "seed"),
                          callbacks.progress, None)
    runs, taken = [], lib.value("simulation_num_steps", done.pointer)
    num_rows = lib.value("simulation_num_rows", done.pointer)
    for i in range(num_rows):
        raw = lib.value("simulation_get", done.pointer, i).contents
        per_step = [lib.column(getattr(raw, f"step_{what}_s"), (taken,), done)
                    for what in ("iteration", "decision", "migration")]
        runs.append(Run(raw.strategy.decode(), callbacks.error_of(raw, num_rows - 1 - i), raw.total_s, raw.iteration_s,
                        raw.migration_s, raw.decision_s, raw.decisions, raw.migrations, raw.migrated_bytes, *per_step))
    return Simulation(runs)


def strategies() -> list[StrategyInfo]:
    """Returns the table of strategies with their knobs, the most useful strategy first."""
    rows: list[StrategyInfo] = []
    while True:
        raw = lib.CStrategyRow()
        try:
            lib.call("strategy_get", len(rows), ctypes.byref(raw))
        except lib.Error:
            return rows
        knobs = []
        for k in range(raw.num_knobs):
            knob = lib.CKnobRow()
            lib.call("knob_get", len(rows), k, ctypes.byref(knob))
            choices = tuple(knob.choices.decode().split("|")) if knob.choices else ()
            knobs.append(Knob(knob.name.decode(), knob.help.decode(), knob.initial, knob.min, knob.max, choices))
        rows.append(StrategyInfo(raw.name.decode(), raw.summary.decode(), raw.source.decode(), raw.complexity.decode(),
                                 bool(raw.is_incremental), bool(raw.is_oracle), bool(raw.ignores_messages), tuple(knobs)))
