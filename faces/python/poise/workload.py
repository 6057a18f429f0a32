# SPDX-License-Identifier: BSD-3-Clause

"""Workloads: what a program measured about itself in one phase."""

from __future__ import annotations

from typing import Any, Hashable

import numpy as np

from . import _library as lib


def _messages_of(messages: Any, num_tasks: int) -> tuple[str, list[np.ndarray | None]]:
    """The form of the messages: "csr" with indptr, indices, counts and bytes, or "list" with from, to, counts and
    bytes."""
    if hasattr(messages, "tocsr"):  # scipy.sparse
        matrix = messages.tocsr()
        if matrix.shape != (num_tasks, num_tasks):
            raise lib.Error(f"messages has shape {matrix.shape}; it must be {(num_tasks, num_tasks)}")
        return "csr", [lib.as_array(matrix.indptr, np.uint64, (num_tasks + 1,), "messages.indptr"),
                       lib.as_array(matrix.indices, np.uint32, (None,), "messages.indices"), None,
                       lib.as_array(matrix.data, np.uint64, (matrix.nnz,), "messages.data")]
    if hasattr(messages, "columns"):  # pandas
        absent = {"from", "to"} - set(messages.columns)
        if absent:
            raise lib.Error(f"messages has no column {sorted(absent)[0]!r}; the columns 'from' and 'to' are "
                            "required, 'count' and 'bytes' are optional")
        messages = {name: messages[name].to_numpy() for name in ("from", "to", "count", "bytes") if name in messages.columns}
        messages = (messages["from"], messages["to"], messages.get("bytes"), messages.get("count"))
    if not isinstance(messages, tuple) or not 2 <= len(messages) <= 4:
        raise lib.Error("messages must be a scipy.sparse matrix of byte counts, a pandas.DataFrame with the columns 'from' and "
                        "'to', or a tuple (from, to[, bytes[, count]])")
    from_task = lib.as_array(messages[0], np.uint32, (None,), "messages.from")
    same = (len(from_task),)
    sent, counts = (messages[2:] + (None, None))[:2]
    return "list", [from_task, lib.as_array(messages[1], np.uint32, same, "messages.to"),
                    None if counts is None else lib.as_array(counts, np.uint64, same, "messages.count"),
                    None if sent is None else lib.as_array(sent, np.uint64, same, "messages.bytes")]


class Workload:
    """Tasks and messages of one phase; n tasks, p places of the machine.

    load_s        (n,)    seconds on a place of speed 1; or a pandas.DataFrame with the column load_s, and size_bytes,
                          pinned, x, y, z if it has them
    size_bytes    (n,)    bytes that a migration sends; without it a migration costs only seconds_per_migrated_task
    messages              who sends to whom: a scipy.sparse matrix whose entry [i, j] is the bytes that i sends to j in one
                          message, a pandas.DataFrame with the columns from, to and maybe bytes and count, or a tuple of
                          such arrays (from, to[, bytes[, count]])
    positions     (n, d)  coordinates, d from 1 to 3
    pinned        (n,)    tasks that must stay
    background_s  (p,)    seconds that each place works outside the tasks
    subphase_load_s (n, s) loads by subphase, after each of which all places wait for the busiest
    kind_load_s   (n, k)  loads by kind of work (processor cores first, then GPUs and the like); different kinds overlap
    kind_speeds   (p, k)  speed of each place for each kind, above 0; without it the speeds of the machine
    capacity              limit per place for its tasks, or for the cores that they take: one number, or (p,)
    cores         (n,)    cores that each task takes; 1 without it
    footprint_bytes, working_bytes (n,)  memory of a task while it exists, and additional memory while it runs
    shared_block  (n,)    index into shared_block_bytes (-1: none); a place holds each block once
    place_bytes   (p,)    memory that each place uses outside the tasks
    loads_include         which costs of messages the loads include: "none", "send" or "send_and_receive"
    overlap               fraction of communication hidden behind work, 0 to 1
    past_loads_s  (k, n)  loads of earlier phases, oldest first, for strategies that predict

    Raises Error naming the argument, the index and the value. A workload never changes: setting an attribute raises
    AttributeError, so that a misspelt name is noticed. Only names that begin with _ are free, for a subclass.
    """

    def __init__(self, load_s: Any, size_bytes: Any = None, messages: Any = None, *, positions: Any = None,
                 pinned: Any = None, background_s: Any = None, subphase_load_s: Any = None, kind_load_s: Any = None,
                 kind_speeds: Any = None, capacity: Any = None, cores: Any = None, footprint_bytes: Any = None,
                 working_bytes: Any = None, shared_block: Any = None, shared_block_bytes: Any = None,
                 place_bytes: Any = None, loads_include: str = "none", overlap: float = 0, past_loads_s: Any = None) -> None:
        if hasattr(load_s, "columns"):
            frame = load_s
            if "load_s" not in frame.columns:
                raise lib.Error("the table of tasks has no column 'load_s'; add it, with the load of each task in seconds")
            load_s = frame["load_s"].to_numpy()
            size_bytes = frame["size_bytes"].to_numpy() if "size_bytes" in frame.columns else size_bytes
            pinned = frame["pinned"].to_numpy() if "pinned" in frame.columns else pinned
            axes = [axis for axis in "xyz" if axis in frame.columns]
            positions = frame[axes].to_numpy() if axes else positions
        loads = lib.as_array(load_s, np.float64, (None,), "load_s")
        self._adopt(lib.create("workload", "workload_create", len(loads), lib.address(loads)))
        n = len(loads)
        if size_bytes is not None:
            self._set("sizes", lib.as_array(size_bytes, np.uint64, (n,), "size_bytes"))
        if pinned is not None:
            self._set("pinned", lib.as_array(pinned, np.uint8, (n,), "pinned"))
        if messages is not None:
            self._set_messages(messages)
        if positions is not None:
            coordinates = lib.as_array(positions, np.float64, (n, None), "positions")
            self._set("positions", coordinates.shape[1], coordinates)
        if background_s is not None:
            seconds = lib.as_array(background_s, np.float64, (None,), "background_s")
            self._set("background", len(seconds), seconds)
        if subphase_load_s is not None and kind_load_s is not None:
            raise lib.Error("subphase_load_s and kind_load_s exclude each other: loads are divided either by subphase "
                            "or by kind of work; give one of the two")
        if subphase_load_s is not None:
            parts = lib.as_array(subphase_load_s, np.float64, (n, None), "subphase_load_s")
            self._set("subphases", parts.shape[1], parts)
        if kind_load_s is not None:
            kinds = lib.as_array(kind_load_s, np.float64, (n, None), "kind_load_s")
            speeds = None if kind_speeds is None else lib.as_array(kind_speeds, np.float64, (None, kinds.shape[1]), "kind_speeds")
            self._set("kinds", kinds.shape[1], kinds, 0 if speeds is None else len(speeds), speeds)
        if capacity is not None:
            self._set_capacity(capacity, cores)
        self._set_memory(footprint_bytes, working_bytes, shared_block, shared_block_bytes, place_bytes)
        lib.call("workload_set_communication", self._handle.pointer, lib.text(loads_include, "loads_include"),
                 lib.number(overlap, "overlap"))
        if past_loads_s is not None:
            for row in lib.as_array(past_loads_s, np.float64, (None, n), "past_loads_s"):
                lib.call("workload_add_past_loads", self._handle.pointer, lib.address(row))

    @classmethod
    def from_networkx(cls, graph: Any, *, load: str = "load_s", size: str = "size_bytes", weight: str = "bytes",
                      **columns: Any) -> Workload:
        """Makes a workload from a networkx graph. Tasks are the nodes in the order of the graph, with their
        attributes `load` (1 s if it is missing) and `size` (0 bytes if it is missing). Messages are the edges, with the
        attribute `weight` in bytes (0 if it is missing); an undirected edge is a message in each direction."""
        number: dict[Hashable, int] = {node: i for i, node in enumerate(graph.nodes)}
        loads = [data.get(load, 1.0) for _, data in graph.nodes(data=True)]
        has_sizes = any(size in data for _, data in graph.nodes(data=True))
        sizes = [data.get(size, 0) for _, data in graph.nodes(data=True)] if has_sizes else None
        edges = [(number[a], number[b], data.get(weight, 0)) for a, b, data in graph.edges(data=True)]
        if not graph.is_directed():
            edges += [(b, a, sent) for a, b, sent in edges if a != b]
        table = np.array(edges, dtype=np.float64).reshape(-1, 3)
        return cls(loads, sizes, (table[:, 0], table[:, 1], table[:, 2]), **columns)

    @classmethod
    def _of(cls, handle: lib.Handle) -> Workload:
        workload = cls.__new__(cls)
        workload._adopt(handle)
        return workload

    def _adopt(self, handle: lib.Handle) -> None:
        self._handle = handle
        self._lists: Problem | None = None

    def _set(self, what: str, *arguments: Any) -> None:
        plain = [lib.address(a) if isinstance(a, np.ndarray) else a for a in arguments]
        lib.call(f"workload_set_{what}", self._handle.pointer, *plain)

    def _set_capacity(self, capacity: Any, cores: Any) -> None:
        is_same = np.ndim(capacity) == 0
        limits = lib.as_array([capacity] if is_same else capacity, np.uint32, (None,), "capacity")
        of_tasks = None if cores is None else lib.as_array(cores, np.uint32, (self.num_tasks,), "cores")
        if is_same:
            self._set("capacity", int(limits[0]), of_tasks, 0, None, 0, None)
        else:
            self._set("capacity", 0, of_tasks, len(limits), limits, 0, None)

    def _set_messages(self, messages: Any) -> None:
        form, arrays = _messages_of(messages, self.num_tasks)
        if form == "list":
            assert arrays[0] is not None
            self._set("messages", len(arrays[0]), *arrays)
            return
        indptr, indices = arrays[0], arrays[1]
        assert indptr is not None and indices is not None
        if indptr[-1] > len(indices):
            raise lib.Error(f"messages.indptr[{len(indptr) - 1}] is {indptr[-1]}, but messages.indices has only "
                            f"{len(indices)} entries")
        self._set("messages_csr", *arrays)

    def _set_memory(self, footprint: Any, working: Any, block: Any, block_bytes: Any, place_bytes: Any) -> None:
        n = (self.num_tasks,)
        if not (footprint is None and working is None and block is None):
            blocks = lib.as_array([] if block_bytes is None else block_bytes, np.uint64, (None,), "shared_block_bytes")
            arrays = [None if data is None else lib.as_array(data, kind, n, name)
                      for data, kind, name in ((footprint, np.uint64, "footprint_bytes"),
                                               (working, np.uint64, "working_bytes"), (block, np.int32, "shared_block"))]
            self._set("memory", *arrays, len(blocks), blocks)
        if place_bytes is not None:
            used = lib.as_array(place_bytes, np.uint64, (None,), "place_bytes")
            self._set("place_bytes", len(used), used)

    @property
    def num_tasks(self) -> int:
        return int(lib.value("workload_num_tasks", self._handle.pointer))

    def __len__(self) -> int:
        return self.num_tasks

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            raise AttributeError(f"{name} of a workload cannot be changed; create a new workload")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """The columns by name, as read-only arrays (None: unknown): load_s, size_bytes, movable, indptr, indices,
        counts, bytes, position, background_s and so on (see Problem)."""
        if name.startswith("_") or name not in Problem.COLUMNS and name not in ("overlap", "loads_include"):
            raise AttributeError(f"a workload has no attribute {name!r}")
        if self._lists is None:
            arrays = lib.create("arrays", "arrays_create", None, self._handle.pointer, None, 0)
            self._lists = Problem(lib.value("arrays_problem", arrays.pointer).contents, arrays)
        return getattr(self._lists, name)

    def messages(self) -> Any:
        """Returns the bytes that each task sends to each other task, as a scipy.sparse.csr_array."""
        from scipy.sparse import csr_array
        return csr_array((self.bytes, self.indices, self.indptr), shape=(self.num_tasks, self.num_tasks))

    def to_pandas(self) -> Any:
        """Returns the table of tasks as a pandas.DataFrame."""
        import pandas
        columns = {name: getattr(self, name) for name in ("load_s", "size_bytes", "movable")}
        return pandas.DataFrame({name: column for name, column in columns.items() if column is not None})

    def __repr__(self) -> str:
        return f"<poise.Workload: {self.num_tasks} tasks, {self.load_s.sum():.6g} s, {len(self.indices)} messages>"


class Problem:
    """The argument of your own strategy: a problem as read-only numpy arrays (None: unknown). The arrays are valid
    only during the call, so copy what you keep. There are n tasks, p places and d memory domains. The messages of
    task t are the entries indptr[t] to indptr[t + 1] - 1 of indices, counts and bytes."""

    COLUMNS = {
        "load_s": ("num_tasks",), "size_bytes": ("num_tasks",), "movable": ("num_tasks",), "current": ("num_tasks",),
        "home": ("num_tasks",), "footprint_bytes": ("num_tasks",), "working_bytes": ("num_tasks",),
        "shared_block": ("num_tasks",), "shared_block_bytes": ("num_shared_blocks",), "position": ("num_tasks", 3),
        "subphase_load_s": ("num_tasks", "num_subphases"), "past_loads_s": ("num_past_loads", "num_tasks"),
        "speed": ("num_places",), "background_s": ("num_places",), "place_bytes": ("num_places",),
        "domain": ("num_places",), "node": ("num_places",), "level_group": ("num_levels", "num_places"),
        "latency_factor": ("num_domains", "num_domains"), "bandwidth_factor": ("num_domains", "num_domains"),
        "indptr": (), "indices": (), "counts": (), "bytes": (),
    }

    # __getattr__ reads the attributes below from the struct of the C library.
    version: int
    num_tasks: int
    num_places: int
    num_domains: int
    num_nodes: int
    num_levels: int
    num_shared_blocks: int
    num_subphases: int
    num_past_loads: int
    subphase_rule: int
    loads_include: int
    seed: int
    overlap: float
    seconds_per_message: float
    seconds_per_byte: float
    seconds_per_migrated_byte: float
    level_name: list[str]
    load_s: np.ndarray
    movable: np.ndarray
    current: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    counts: np.ndarray
    bytes: np.ndarray
    speed: np.ndarray
    domain: np.ndarray
    node: np.ndarray
    level_group: np.ndarray
    size_bytes: np.ndarray | None
    background_s: np.ndarray | None
    latency_factor: np.ndarray | None
    bandwidth_factor: np.ndarray | None
    position: np.ndarray | None
    home: np.ndarray | None
    footprint_bytes: np.ndarray | None
    working_bytes: np.ndarray | None
    shared_block: np.ndarray | None
    shared_block_bytes: np.ndarray | None
    place_bytes: np.ndarray | None
    subphase_load_s: np.ndarray | None
    past_loads_s: np.ndarray | None

    def __init__(self, raw: lib.Problem, owner: Any = None) -> None:
        self._raw, self._owner = raw, owner

    def __getattr__(self, name: str) -> Any:
        raw = self.__dict__["_raw"]
        if name == "level_name":
            return [raw.level_name[i].decode() for i in range(raw.num_levels)]
        if name not in self.COLUMNS:
            if name in (field[0] for field in lib.Problem._fields_):
                return getattr(raw, name)
            raise AttributeError(f"a problem has no attribute {name!r}")
        if name == "indptr":
            return lib.view(raw.indptr, (raw.num_tasks + 1,), self._owner)
        if name in ("indices", "counts", "bytes"):
            pointer, size = getattr(raw, name), raw.indptr[raw.num_tasks]
            return lib.view(pointer, (size,), self._owner) if size else np.empty(0, dtype=pointer._type_)
        shape = tuple(w if isinstance(w, int) else getattr(raw, w) for w in self.COLUMNS[name])
        return lib.view(getattr(raw, name), shape, self._owner)


def as_workload(workload: Any) -> Workload:
    return workload if isinstance(workload, Workload) else Workload(workload)
