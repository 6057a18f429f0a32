# SPDX-License-Identifier: BSD-3-Clause

"""Binds the C library: finds it, declares the types of poise/poise.h, and turns errors into exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, Structure, c_char_p, c_double, c_int, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from typing import Any

import numpy as np

OK, FAILED, BAD_INPUT, CANCELLED = range(4)


class Error(ValueError):
    """Raised for invalid input. The text says in one line what is wrong, where, and what would work."""


class SystemFailure(RuntimeError):
    """Raised if the system fails although the input is valid, for example because the disk is full."""


class Cancelled(Exception):
    """Raised if a `progress` callback requested to stop."""


class Problem(Structure):
    """The struct poise_problem of poise/plugin.h."""
    _fields_ = [
        ("version", c_uint32), ("num_tasks", c_uint32), ("num_places", c_uint32), ("num_domains", c_uint32),
        ("num_nodes", c_uint32), ("num_levels", c_uint32), ("seed", c_uint64),
        ("load_s", POINTER(c_double)), ("size_bytes", POINTER(c_uint64)), ("movable", POINTER(c_uint8)),
        ("current", POINTER(c_uint32)), ("indptr", POINTER(c_uint64)), ("indices", POINTER(c_uint32)),
        ("counts", POINTER(c_uint64)), ("bytes", POINTER(c_uint64)),
        ("speed", POINTER(c_double)), ("background_s", POINTER(c_double)), ("domain", POINTER(c_uint32)),
        ("node", POINTER(c_uint32)), ("level_name", POINTER(c_char_p)), ("level_group", POINTER(c_uint32)),
        ("latency_factor", POINTER(c_double)), ("bandwidth_factor", POINTER(c_double)),
        ("seconds_per_message", c_double), ("seconds_per_byte", c_double), ("seconds_per_migrated_byte", c_double),
        ("position", POINTER(c_double)), ("home", POINTER(c_uint32)), ("footprint_bytes", POINTER(c_uint64)),
        ("working_bytes", POINTER(c_uint64)), ("shared_block", POINTER(c_int32)),
        ("shared_block_bytes", POINTER(c_uint64)), ("place_bytes", POINTER(c_uint64)),
        ("subphase_load_s", POINTER(c_double)), ("past_loads_s", POINTER(c_double)),
        ("num_shared_blocks", c_uint32), ("num_subphases", c_uint32), ("num_past_loads", c_uint32),
        ("subphase_rule", c_uint32), ("loads_include", c_uint32), ("overlap", c_double),
    ]


class CMetrics(Structure):
    _fields_ = [
        ("iteration_s", c_double), ("makespan_s", c_double), ("makespan_bound_s", c_double), ("average_s", c_double),
        ("imbalance", c_double), ("max_comm_s", c_double), ("hop_bytes", c_uint64), ("internode_bytes", c_uint64),
        ("nuco_messages", c_double), ("migrations", c_uint64), ("migrated_bytes", c_uint64), ("migration_s", c_double),
    ]


class CMoves(Structure):
    _fields_ = [("count", c_uint64), ("global_id", POINTER(c_uint64)), ("task", POINTER(c_uint32)),
                ("from_place", POINTER(c_uint32)), ("to_place", POINTER(c_uint32))]


DECIDE = ctypes.CFUNCTYPE(c_int, POINTER(Problem), POINTER(c_uint32), c_void_p)
PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint64, c_char_p)


class COwn(Structure):
    _fields_ = [("name", c_char_p), ("decide", DECIDE), ("argument", c_void_p)]


class CComparisonRow(Structure):
    _fields_ = [("strategy", c_char_p), ("error", c_char_p), ("metrics", CMetrics), ("decision_s", c_double),
                ("decision_wall_s", c_double), ("place_of_task", POINTER(c_uint32))]


class CSimulationRow(Structure):
    _fields_ = [("strategy", c_char_p), ("error", c_char_p), ("total_s", c_double), ("iteration_s", c_double),
                ("migration_s", c_double), ("decision_s", c_double), ("decisions", c_uint64), ("migrations", c_uint64),
                ("migrated_bytes", c_uint64), ("step_iteration_s", POINTER(c_double)),
                ("step_decision_s", POINTER(c_double)), ("step_migration_s", POINTER(c_double))]


class CThreads(Structure):
    _fields_ = [("threads", c_uint64), ("cpus", c_uint64), ("phases", c_uint64), ("phase_s", c_double),
                ("period_s", c_double), ("domains", c_uint64), ("jitter", c_double), ("seed", c_uint64)]


class COutlook(Structure):
    _fields_ = [("static_s", c_double), ("ideal_s", c_double), ("reactive_s", c_double), ("proactive_bound_s", c_double),
                ("proactive_s", c_double), ("simulated_s", c_double), ("simulated_swaps_s", c_double),
                ("simulated_hybrid_s", c_double), ("swap_migrations", c_uint64), ("advice", c_char_p)]


class CStrategyRow(Structure):
    _fields_ = [("name", c_char_p), ("summary", c_char_p), ("source", c_char_p), ("complexity", c_char_p),
                ("is_incremental", c_int), ("is_oracle", c_int), ("ignores_messages", c_int), ("num_knobs", c_uint64)]


class CKnobRow(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("initial", c_double), ("min", c_double), ("max", c_double),
                ("choices", c_char_p)]


RECEIVE = ctypes.CFUNCTYPE(None, c_void_p, c_uint32, c_void_p, c_uint64)
EXCHANGE = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, POINTER(c_uint32), POINTER(c_void_p), POINTER(c_uint64), RECEIVE,
                            c_void_p)
REDUCE = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_uint64, POINTER(c_uint64))


class CCommunication(Structure):
    _fields_ = [("context", c_void_p), ("rank", c_uint32), ("num_ranks", c_uint32), ("exchange", EXCHANGE),
                ("reduce", REDUCE)]


class COwnTasks(Structure):
    _fields_ = [("num_tasks", c_uint64), ("global_ids", c_void_p), ("load_s", c_void_p), ("bytes", c_void_p),
                ("pinned", c_void_p), ("indptr", c_void_p), ("neighbours", c_void_p), ("neighbour_ranks", c_void_p),
                ("counts", c_void_p), ("message_bytes", c_void_p), ("background_s", c_double)]


def _load() -> ctypes.CDLL:
    """Loads the library that $POISE_LIBRARY names, otherwise that of the package, otherwise that of the system."""
    chosen = os.environ.get("POISE_LIBRARY")
    bundled = pathlib.Path(__file__).parent / "libpoise.so.0"
    name = chosen or (str(bundled) if bundled.exists() else "libpoise.so.0")
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise ImportError(f"libpoise cannot be loaded: {error}; install the package with pip, or name the library in "
                          "POISE_LIBRARY") from None


_WORDS: dict[str, tuple[Any, list[Any]]] = {
    "last_error": (c_char_p, []), "version": (c_char_p, []), "built_with": (c_char_p, []),
    "machine_create": (c_int, [c_char_p, POINTER(c_void_p)]),
    "machine_from_json": (c_int, [c_char_p, c_uint64, POINTER(c_void_p)]),
    "machine_from_hwloc_xml": (c_int, [c_char_p, c_uint64, POINTER(c_void_p)]),
    "machine_json": (c_int, [c_void_p, POINTER(c_char_p)]),
    "machine_set_model": (c_int, [c_void_p, c_char_p]),
    "machine_set_cost": (c_int, [c_void_p, c_char_p, c_double]),
    "workload_create": (c_int, [c_uint64, c_void_p, POINTER(c_void_p)]),
    "workload_num_tasks": (c_uint64, [c_void_p]),
    "workload_set_sizes": (c_int, [c_void_p] * 2), "workload_set_pinned": (c_int, [c_void_p] * 2),
    "workload_set_messages_csr": (c_int, [c_void_p] * 5),
    "workload_set_messages": (c_int, [c_void_p, c_uint64] + [c_void_p] * 4),
    "workload_set_positions": (c_int, [c_void_p, c_int, c_void_p]),
    "workload_set_background": (c_int, [c_void_p, c_uint64, c_void_p]),
    "workload_set_subphases": (c_int, [c_void_p, c_uint64, c_void_p]),
    "workload_set_kinds": (c_int, [c_void_p, c_uint64, c_void_p, c_uint64, c_void_p]),
    "workload_set_capacity": (c_int, [c_void_p, c_uint32, c_void_p, c_uint64, c_void_p, c_uint64, c_void_p]),
    "workload_set_memory": (c_int, [c_void_p] * 4 + [c_uint64, c_void_p]),
    "workload_set_place_bytes": (c_int, [c_void_p, c_uint64, c_void_p]),
    "workload_set_communication": (c_int, [c_void_p, c_char_p, c_double]),
    "workload_add_past_loads": (c_int, [c_void_p] * 2),
    "plan": (c_int, [c_void_p, c_void_p, c_void_p, c_char_p, c_uint64, c_void_p]),
    "evaluate": (c_int, [c_void_p] * 4 + [POINTER(CMetrics)]),
    "exports": (c_int, [c_uint64, c_void_p, c_void_p, c_void_p, c_int64, POINTER(POINTER(CMoves))]),
    "imports": (c_int, [c_uint64, c_void_p, c_void_p, c_void_p, c_int64, POINTER(POINTER(CMoves))]),
    "plan_distributed": (c_int, [POINTER(CCommunication), c_void_p, POINTER(COwnTasks), c_char_p, c_uint64, c_void_p,
                                 POINTER(POINTER(CMoves)), POINTER(POINTER(CMoves))]),
    "map": (c_int, [c_void_p] * 3 + [c_char_p, c_uint32, c_uint32, c_uint64, c_void_p]),
    "theory": (c_int, [POINTER(CThreads), POINTER(COutlook)]),
    "diagnose": (c_int, [c_char_p, POINTER(c_char_p)]),
    "moves_destroy": (None, [POINTER(CMoves)]),
    "compare": (c_int, [c_void_p, c_void_p, c_void_p, c_char_p, POINTER(COwn), c_uint64, c_uint64, PROGRESS, c_void_p,
                        POINTER(c_void_p)]),
    "comparison_num_rows": (c_uint64, [c_void_p]),
    "comparison_get": (POINTER(CComparisonRow), [c_void_p, c_uint64]),
    "comparison_best": (c_int64, [c_void_p]), "comparison_bound_s": (c_double, [c_void_p]),
    "simulate": (c_int, [c_void_p, c_void_p, c_void_p, c_char_p, POINTER(COwn), c_uint64, c_uint64, c_uint64, c_double,
                         c_uint64, PROGRESS, c_void_p, POINTER(c_void_p)]),
    "simulation_num_rows": (c_uint64, [c_void_p]), "simulation_num_steps": (c_uint64, [c_void_p]),
    "simulation_get": (POINTER(CSimulationRow), [c_void_p, c_uint64]),
    "strategy_get": (c_int, [c_uint64, POINTER(CStrategyRow)]),
    "knob_get": (c_int, [c_uint64, c_uint64, POINTER(CKnobRow)]),
    "trace_read": (c_int, [c_char_p, c_char_p, POINTER(c_void_p)]),
    "trace_write": (c_int, [c_void_p, c_char_p, c_char_p]),
    "trace_create": (c_int, [c_uint64, c_void_p, POINTER(c_void_p)]),
    "trace_add_phase": (c_int, [c_void_p, c_uint64, c_double, c_void_p, c_void_p]),
    "trace_num_phases": (c_uint64, [c_void_p]), "trace_num_places": (c_uint64, [c_void_p]),
    "trace_machine": (c_int, [c_void_p, POINTER(c_void_p)]),
    "trace_phase": (c_int, [c_void_p, c_uint64, POINTER(c_uint64), POINTER(c_double), POINTER(c_void_p)]),
    "trace_places": (c_int, [c_void_p, c_uint64, c_void_p]),
    "arrays_create": (c_int, [c_void_p, c_void_p, c_void_p, c_uint64, POINTER(c_void_p)]),
    "arrays_problem": (POINTER(Problem), [c_void_p]),
}
for _handle in ("machine", "workload", "comparison", "simulation", "trace", "arrays"):
    _WORDS[f"{_handle}_destroy"] = (None, [c_void_p])

_library = _load()
_functions: dict[str, Any] = {}
for _name, (_result, _arguments) in _WORDS.items():
    _functions[_name] = getattr(_library, f"poise_{_name}")
    _functions[_name].restype = _result
    _functions[_name].argtypes = _arguments


def value(name: str, *arguments: Any) -> Any:
    """Calls a function of the library and returns its result."""
    return _functions[name](*arguments)


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a poise_result, and raises an exception if the result is an error."""
    result = _functions[name](*arguments)
    if result == OK:
        return
    text = _functions["last_error"]().decode(errors="replace").removeprefix(f"poise_{name}: ")
    raise {BAD_INPUT: Error, CANCELLED: Cancelled}.get(result, SystemFailure)(text)


class Handle:
    """Owns a handle of the library."""

    def __reduce__(self) -> Any:
        raise TypeError(f"a {self._kind} of poise cannot be copied or pickled; create it anew from its arrays or its text")

    def __init__(self, kind: str, pointer: c_void_p) -> None:
        self._kind, self.pointer = kind, pointer

    def __del__(self) -> None:
        if self.pointer and _functions:
            _functions[f"{self._kind}_destroy"](self.pointer)
            self.pointer = c_void_p()


def create(kind: str, function: str, *arguments: Any) -> Handle:
    """Calls a function that returns a handle through its last argument, and returns that handle."""
    pointer = c_void_p()
    call(function, *arguments, ctypes.byref(pointer))
    return Handle(kind, pointer)


class _Memory:
    """Lets numpy use memory of the library as an array and keeps the memory's owner alive."""

    def __init__(self, pointer: Any, shape: tuple[int, ...], owner: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (ctypes.cast(pointer, c_void_p).value, True), "shape": shape, "version": 3,
                                    "typestr": np.dtype(pointer._type_).str}


def view(pointer: Any, shape: tuple[int, ...], owner: Any) -> np.ndarray | None:
    """Returns the array at a typed pointer, read-only and without a copy; None if the pointer is null."""
    if not pointer:
        return None
    if 0 in shape:
        return np.empty(shape, dtype=pointer._type_)
    return np.asarray(_Memory(pointer, shape, owner))


def column(pointer: Any, shape: tuple[int, ...], owner: Any) -> np.ndarray:
    """Like view(), but for a pointer that must not be null."""
    array = view(pointer, shape, owner)
    assert array is not None
    return array


def as_array(data: Any, dtype: type, shape: tuple[int | None, ...], name: str) -> np.ndarray:
    """Returns the data as a C-contiguous array; copies them only if necessary. Raises Error if a number cannot be
    represented or if the shape is wrong (None in `shape` accepts any size)."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        index = ", ".join(map(str, np.argwhere(data.mask)[0]))
        raise Error(f"{name}[{index}] is masked; give each element a value, for example with filled(0)")
    try:
        given = np.asarray(data)
    except (TypeError, ValueError) as error:  # such as lists of different lengths
        raise Error(f"{name} is not an array of numbers: {error}") from None
    if given.ndim != len(shape) or any(w is not None and w != s for s, w in zip(given.shape, shape)):
        wanted = "(" + ", ".join("n" if w is None else str(w) for w in shape) + ("," if len(shape) == 1 else "") + ")"
        raise Error(f"{name} has shape {given.shape}; it must be {wanted}")
    if given.dtype == dtype:
        return np.ascontiguousarray(given)
    if given.dtype.kind not in "biuf":
        raise Error(f"{name} has elements of type {given.dtype}; they must be numbers")
    if dtype is np.uint64 and given.dtype.kind == "f" and not hasattr(data, "dtype") and (given >= 2**53).any():
        # If only some whole numbers of a list are below 2^63, numpy converts the list to doubles, which would round the
        # numbers. So each number is converted separately.
        return np.array([whole(each, f"{name}[{i}]") for i, each in enumerate(data)], dtype=np.uint64)
    if np.issubdtype(dtype, np.integer) and given.dtype.kind != "b":  # numpy 2 cannot compare booleans to 2^64 - 1
        _check_integers(given, dtype, name)
    return np.ascontiguousarray(given, dtype=dtype)


def optional_array(data: Any, dtype: type, shape: tuple[int | None, ...], name: str) -> np.ndarray | None:
    return None if data is None else as_array(data, dtype, shape, name)


def _check_integers(given: np.ndarray, dtype: type, name: str) -> None:
    limits = np.iinfo(dtype)
    top = given < float(limits.max + 1) if given.dtype.kind == "f" else given <= limits.max
    wrong = ~((given >= limits.min) & top)
    if given.dtype.kind == "f":
        wrong |= given != np.floor(given)
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise Error(f"{name}[{', '.join(map(str, index))}] is {given[index]}; it must be a whole number from "
                    f"{limits.min} to {limits.max}")


def shown(value: Any) -> str:
    """Returns a value as text for an error: one line of at most 60 characters."""
    return " ".join(repr(value).split())[:60]


def whole(value: Any, name: str, bits: int = 64) -> int:
    """Returns the value as a whole number. Raises Error unless it is from 0 to 2^bits - 1: ctypes would drop higher bits."""
    try:
        number = int(value)
        is_valid = bool(number == value) and 0 <= number < 2**bits
    except (TypeError, ValueError, OverflowError):
        is_valid = False
    if not is_valid:
        raise Error(f"{name} is {shown(value)}; it must be a whole number from 0 to 2^{bits} - 1")
    return number


def number(value: Any, name: str) -> float:
    """Returns the value as a floating-point number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{name} is {shown(value)}; it must be a number") from None


def text(value: Any, name: str) -> bytes:
    """Returns a string as bytes for the C library. Raises Error if the value is not a string or contains a zero byte."""
    if not isinstance(value, str) or "\0" in value:
        raise Error(f"{name} is {shown(value)}; it must be a string without zero bytes")
    return value.encode()


def path(value: Any, name: str) -> bytes:
    """Returns the name of a file as bytes for the C library. Raises Error if `value` cannot be a file name."""
    if not isinstance(value, (str, bytes, os.PathLike)):
        raise Error(f"{name} is {shown(value)}; it must be the name of a file")
    return os.fsencode(value)


def address(array: np.ndarray | None) -> c_void_p | None:
    return None if array is None else array.ctypes.data_as(c_void_p)
