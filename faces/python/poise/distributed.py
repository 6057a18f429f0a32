# SPDX-License-Identifier: BSD-3-Clause

"""Decisions by all ranks together, each of which knows its own tasks only (docs/distributed.md)."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
from typing import Any, Callable, Iterator, Protocol

import numpy as np

from . import _library as lib
from .decisions import Moves, moves_in
from .machine import as_machine


class Ranks(Protocol):
    """Communication between ranks, for programs that do not use mpi4py. Both functions are collective."""
    rank: int
    num_ranks: int

    def exchange(self, sends: dict[int, Any]) -> dict[int, Any]:
        """Sends bytes: `sends` maps each receiving rank to its data. Returns a dictionary that maps each sending rank
        to the data received from it. After the call, the caller may change the data that it sent."""

    def reduce(self, values: np.ndarray, operation: str) -> np.ndarray:
        """Returns the element-wise maximum ("max") or sum ("sum") of `values` over all ranks, (n,) uint64."""


@dataclasses.dataclass(frozen=True)
class OwnPlan:
    """The result on one rank: where its own tasks go, and which tasks come to it."""
    rank_of_task: np.ndarray  # (n,) uint32
    exports: Moves
    imports: Moves  # without `task`: an arriving task has no index on this rank yet


class _MpiRanks:
    """Ranks of a communicator of mpi4py. A rank does not know in advance which ranks send to it. It enters a
    non-blocking barrier when the messages that it sent have been received, and stops receiving when the barrier is
    complete, as in poise/poise_mpi.h."""

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI
        self._mpi, self._comm, self._tag = MPI, comm, 0
        self.rank, self.num_ranks = comm.Get_rank(), comm.Get_size()

    def exchange(self, sends: dict[int, Any]) -> dict[int, Any]:
        mpi, received, barrier = self._mpi, {}, None
        self._tag = 1 - self._tag  # two tags alternate, so that messages of the next exchange are not received
        requests = [self._comm.Issend([data, mpi.BYTE], to, self._tag) for to, data in sends.items()]
        while barrier is None or not barrier.Test():
            status = mpi.Status()
            while self._comm.Iprobe(mpi.ANY_SOURCE, self._tag, status):
                data = bytearray(status.Get_count(mpi.BYTE))
                self._comm.Recv([data, mpi.BYTE], status.Get_source(), self._tag)
                received[status.Get_source()] = data
            if barrier is None and mpi.Request.Testall(requests):
                barrier = self._comm.Ibarrier()
        return received

    def reduce(self, values: np.ndarray, operation: str) -> np.ndarray:
        result = np.empty_like(values)
        self._comm.Allreduce(values, result, self._mpi.MAX if operation == "max" else self._mpi.SUM)
        return result


@contextlib.contextmanager
def _ranks_of(ranks: Any) -> Iterator[Ranks]:
    """Returns the ranks to use. Duplicates a communicator of mpi4py, so that the library's messages cannot match receives
    of the program."""
    if not hasattr(ranks, "Get_rank"):
        yield ranks
        return
    comm = ranks.Dup()
    try:
        yield _MpiRanks(comm)
    finally:
        comm.Free()


class _Table:
    """Wraps Ranks so that the C library can call it. If one of its functions raises an exception, the exception is
    raised again after the library has returned."""

    def __init__(self, ranks: Ranks) -> None:
        self.raised: BaseException | None = None
        self._ranks = ranks
        self.table = lib.CCommunication(None, ranks.rank, ranks.num_ranks, lib.EXCHANGE(self._guarded(self._exchange)),
                                        lib.REDUCE(self._guarded(self._reduce)))

    def _guarded(self, function: Callable[..., None]) -> Callable[..., int]:
        def called(_context: Any, *arguments: Any) -> int:
            try:
                function(*arguments)
                return 0
            except BaseException as error:
                self.raised = error
                return 1
        return called

    def _exchange(self, num_sends: int, to: Any, data: Any, sizes: Any, receive: Any, receiver: Any) -> None:
        sends = {to[i]: (ctypes.c_char * sizes[i]).from_address(data[i]) for i in range(num_sends)}
        for source, message in self._ranks.exchange(sends).items():
            array = np.frombuffer(message, dtype=np.uint8)
            receive(receiver, source, array.ctypes.data, array.size)

    def _reduce(self, reduction: int, count: int, values: Any) -> None:
        own = np.ctypeslib.as_array(values, (count,))
        # `own` and own.copy() have the type "<Q", which mpi4py 3 refuses. astype() makes an array of the usual type.
        own[:] = self._ranks.reduce(own.astype(np.uint64), "max" if reduction == 0 else "sum")


def _own_tasks(global_ids: Any, load_s: Any, messages: Any, size_bytes: Any, pinned: Any, neighbour_ranks: Any,
               background_s: float) -> tuple[lib.COwnTasks, list[Any]]:
    """Returns the arguments as a poise_own_tasks, and the arrays to which it points."""
    ids = lib.as_array(global_ids, np.uint64, (None,), "global_ids")
    if messages is not None and not (isinstance(messages, tuple) and 2 <= len(messages) <= 4):
        raise lib.Error("messages must be a tuple (indptr, neighbours[, bytes[, counts]])")
    indptr, neighbours, sent, counts = (tuple(messages or ()) + (None,) * 4)[:4]
    n, edges = (len(ids),), (None if neighbours is None else np.size(neighbours),)
    optional = lib.optional_array
    starts = optional(indptr, np.uint64, (len(ids) + 1,), "messages.indptr")
    receivers = optional(neighbours, np.uint64, edges, "messages.neighbours")
    if starts is not None and receivers is not None and len(receivers) != starts[-1]:
        raise lib.Error(f"the last entry of messages.indptr is {starts[-1]}; it must be {len(receivers)}, "
                        "the length of messages.neighbours")
    arrays = [ids, lib.as_array(load_s, np.float64, n, "load_s"), optional(size_bytes, np.uint64, n, "size_bytes"),
              optional(pinned, np.uint8, n, "pinned"), starts, receivers,
              optional(neighbour_ranks, np.uint32, edges, "neighbour_ranks"),
              optional(counts, np.uint64, edges, "messages.counts"), optional(sent, np.uint64, edges, "messages.bytes")]
    return lib.COwnTasks(len(ids), *map(lib.address, arrays), lib.number(background_s, "background_s")), arrays


def plan_distributed(ranks: Any, machine: Any, global_ids: Any, load_s: Any, messages: Any = None, strategy: str = "poise", *,
                     size_bytes: Any = None, pinned: Any = None, neighbour_ranks: Any = None, background_s: float = 0.0,
                     seed: int = 0) -> OwnPlan:
    """Decides where the tasks of all ranks should run. A rank passes its n tasks and the m messages that they send.

    ranks          a communicator of mpi4py, or an object with the members of Ranks; rank r is place r of the machine
    global_ids     (n,)  whole numbers, unique among the tasks of all ranks
    load_s         (n,)  seconds on a place of speed 1
    messages             (indptr (n + 1,), neighbours (m,)[, bytes (m,)[, counts (m,)]]): task t sends to the tasks with the
                         global ids neighbours[indptr[t]:indptr[t + 1]]
    size_bytes     (n,)  bytes that a migration sends
    pinned         (n,)  tasks that must stay
    neighbour_ranks (m,) the ranks that have the neighbours; without it they are looked up. Pass it on all ranks or on none.
    background_s         seconds of work of this rank that belong to no task

    Collective. If the input of a rank is wrong, all ranks raise Error. On the other ranks, the text of the Error names
    the rank with the wrong input.
    """
    with _ranks_of(ranks) as communication:
        table = _Table(communication)
        wrong: Exception | None = None
        handle, name, number, own = None, b"", 0, lib.COwnTasks()
        _arrays: list[Any] = []  # the arrays to which `own` points
        try:
            places, name, number = as_machine(machine), lib.text(strategy, "strategy"), lib.whole(seed, "seed")
            handle = places._handle.pointer
            own, _arrays = _own_tasks(global_ids, load_s, messages, size_bytes, pinned, neighbour_ranks, background_s)
        except Exception as error:
            wrong = error  # the collective call below is still made, so that the other ranks get an error
            own.num_tasks = 1  # a task without arrays is invalid, so the library reports an error on all ranks
        rank_of_task = np.empty(own.num_tasks, dtype=np.uint32)
        exports, imports = ctypes.POINTER(lib.CMoves)(), ctypes.POINTER(lib.CMoves)()
        try:
            lib.call("plan_distributed", ctypes.byref(table.table), handle, ctypes.byref(own), name, number,
                     lib.address(rank_of_task), ctypes.byref(exports), ctypes.byref(imports))
        except lib.Error:
            first = table.raised or wrong
            if first is not None:
                raise first from None
            raise
        return OwnPlan(rank_of_task, moves_in(exports), moves_in(imports))
