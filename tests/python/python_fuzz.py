#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Usage: python_fuzz.py SECONDS [SEED]. Calls the functions of the Python package with random arguments, most of which
are valid, and reads all arrays in the results. Arguments may be refused only with an error of the package or one of
Python's errors for wrong types and values. tests/fuzz/run starts this program with a library that has the address
sanitizer, which ends it at the first invalid access. If a call fails, prints the seed that repeats the call."""

import dataclasses
import mmap
import os
import pathlib
import random
import sys
import tempfile
import time
import traceback

import numpy as np

import poise

BATCH = 200  # calls per child process
REFUSALS = poise.Error, TypeError, ValueError, OverflowError
MACHINES = "core:1", "core:4", "node:2 core:2", "numa:2 core:4 speeds:1,0.5", "NUMA32"
STRATEGIES = "poise", "greedy", "refine", "nuco", "greedy_comm", "orb", "metis", "treematch", "keep"
KINDS = np.float64, np.float32, np.uint8, np.uint32, np.int32, np.int64, np.uint64, object, "U3"
WRONG = (None, 0, -1, 7, 2**31, 2**32, 2**64 + 3, -2**63, 0.5, float("nan"), float("inf"), 1e300, "x", "", b"x", "é\0", [],
         [1], [[1]], {"a": 1}, (1, 2), object(), np.array([1 + 2j]), np.zeros((2, 3, 4)), np.array(["a"]), [None], len)


class Arguments:
    """Random arguments for a workload with n tasks and a machine with p places."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.n, self.p = self.random.randrange(1, 13), 4

    def one_of(self, *choices):
        return self.random.choice(choices)

    def wild(self, value):
        """Returns `value` in 98 % of the calls, otherwise a wrong value."""
        return self.one_of(*WRONG) if self.random.random() < 0.02 else value

    def count(self, value):
        """Returns `value` or a wrong value, but no number so large that the library would run out of memory."""
        other = self.wild(value)
        return value if isinstance(other, int) and 10**6 < other < 2**63 else other

    def array(self, size, below, kind=None):
        """An array of whole numbers below `below`. In some cases size, type, layout or an entry is unusual."""
        size += self.one_of(-1, 1, 5) if self.random.random() < 0.01 else 0
        data = np.array([self.random.randrange(max(1, below)) for _ in range(max(0, size))])
        if kind is None and self.random.random() < 0.3:
            data = data.astype(self.one_of(*KINDS))
        if len(data) and self.random.random() < 0.02:
            data = data.astype(np.float64)
            data[self.random.randrange(len(data))] = self.one_of(-1, np.nan, np.inf, 1e19, 2.0**32, 0.5)
        if self.random.random() < 0.1:
            data = np.repeat(data, 2)[::2]  # not contiguous
        return self.wild(self.one_of(data, data, data.tolist()))

    def maybe(self, make):
        return make() if self.random.random() < 0.3 else None

    def table(self, rows, columns, below):
        if self.random.random() < 0.9:
            return self.wild(np.array([[self.random.randrange(1, below) for _ in range(columns)] for _ in range(rows)], float))
        return self.array(rows, below)

    def messages(self):
        size = self.random.randrange(30)
        lists = [self.array(size, self.n) for _ in range(2)] + [self.array(size, 10**6) for _ in range(self.random.randrange(3))]
        return self.wild(tuple(lists))

    def workload(self):
        n, p = self.n, self.p
        memory = self.random.random() < 0.2
        return poise.Workload(
            self.array(n, 50), self.maybe(lambda: self.array(n, 1000)), self.maybe(self.messages),
            positions=self.maybe(lambda: self.table(n, self.random.randrange(1, 5), 9)),
            pinned=self.maybe(lambda: self.array(n, 2)), background_s=self.maybe(lambda: self.array(p, 9)),
            subphase_load_s=self.maybe(lambda: self.table(n, 3, 9)),
            kind_load_s=self.maybe(lambda: self.table(n, 2, 9)), kind_speeds=self.maybe(lambda: self.table(p, 2, 9)),
            capacity=self.maybe(lambda: self.wild(self.one_of(9, self.array(p, 30)))), cores=self.maybe(lambda: self.array(n, 4)),
            footprint_bytes=self.array(n, 99) if memory else None, working_bytes=self.maybe(lambda: self.array(n, 99)),
            shared_block=self.array(n, 3) if memory else None, shared_block_bytes=self.array(3, 9) if memory else None,
            place_bytes=self.maybe(lambda: self.array(p, 99)), loads_include=self.wild("none"),
            overlap=self.wild(self.one_of(0, 0.5)), past_loads_s=self.maybe(lambda: self.table(3, n, 9)))

    def machine(self):
        text = self.one_of(*MACHINES)
        machine = poise.Machine(self.wild(text))
        if self.random.random() < 0.2:
            machine = machine.with_costs(self.wild("nuco"), seconds_per_byte=self.wild(1e-9))
        self.p = machine.num_places
        return machine

    def placement(self):
        return self.wild(self.one_of(None, self.array(self.n, self.p)))

    def strategy(self):
        def own(problem):
            for name in problem.COLUMNS:
                read(getattr(problem, name))
            return self.array(problem.num_tasks, problem.num_places)

        return self.wild(self.one_of(*STRATEGIES, own, "poise:steps=1", "nuco:alpha=1e-3"))


def read(value):
    """Reads every entry of the arrays in a result."""
    if isinstance(value, np.ndarray):
        value.tobytes()
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            read(getattr(value, field.name))
    elif isinstance(value, (list, tuple)):
        for each in value:
            read(each)
    elif isinstance(value, dict):
        read(list(value.values()))
    elif isinstance(value, poise.Workload):
        for name in ("load_s", "size_bytes", "movable", "indptr", "indices", "counts", "bytes", "position", "home",
                     "footprint_bytes", "working_bytes", "shared_block", "shared_block_bytes", "place_bytes",
                     "subphase_load_s", "background_s", "past_loads_s"):
            read(getattr(value, name))
    elif isinstance(value, poise.Machine):
        read([value.speed, value.domain, value.node, value.levels, value.latency_factor, value.bandwidth_factor, value.json])


class Alone:
    """The communication functions of a single rank, for plan_distributed()."""
    rank, num_ranks = 0, 1

    def exchange(self, sends):
        return sends

    def reduce(self, values, operation):
        return values


def trace_of(arguments, machine):
    phases = [poise.Phase(arguments.workload(), arguments.placement(), arguments.wild(number), arguments.wild(0.5))
              for number in range(arguments.random.randrange(1, 3))]
    return poise.Trace(phases, arguments.count(arguments.p), arguments.one_of(None, machine))


def distributed(arguments):
    n, indptr = arguments.n, [0]
    for _ in range(n):
        indptr.append(indptr[-1] + arguments.random.randrange(3))
    neighbours = arguments.array(indptr[-1], n)
    messages = (arguments.wild(np.array(indptr)), neighbours, arguments.array(indptr[-1], 999))
    return poise.plan_distributed(Alone(), arguments.wild("core:1"), np.arange(n), arguments.array(n, 9),
                                  arguments.wild(messages), size_bytes=arguments.maybe(lambda: arguments.array(n, 99)),
                                  pinned=arguments.maybe(lambda: arguments.array(n, 2)),
                                  neighbour_ranks=arguments.maybe(lambda: arguments.array(indptr[-1], 1)),
                                  background_s=arguments.wild(1.0), seed=arguments.wild(0))


def call(arguments, folder):
    """Calls one function, and returns its result."""
    machine = arguments.machine()
    choice = arguments.random.randrange(11)
    if choice == 0:
        return distributed(arguments)
    if choice == 1:
        return poise.exports(arguments.array(arguments.n, 4), arguments.array(arguments.n, 4), arguments.wild(2),
                             arguments.maybe(lambda: arguments.array(arguments.n, 99)))
    if choice == 2:
        return poise.simulate(machine, trace_of(arguments, machine), [arguments.strategy()], steps=arguments.count(8),
                              every=arguments.wild(3), start=arguments.placement(), decision_s=arguments.wild(0.0))
    if choice == 3:
        path = pathlib.Path(folder) / arguments.one_of("t.poise", "t.json", "t.json.br", "t.graph", "t", "t.txt")
        for old in path.parent.iterdir():
            old.unlink()
        poise.write(trace_of(arguments, machine), path, arguments.wild(None))
        files = sorted(path.parent.iterdir())  # the format of vt has a file per place
        damaged = arguments.random.choice(files)
        data = bytearray(damaged.read_bytes())
        if arguments.random.random() < 0.5:
            data[arguments.random.randrange(len(data))] ^= 1 << arguments.random.randrange(8)
            damaged.write_bytes(data)
        return poise.read(path if path.exists() else files[0])
    if choice == 4:
        text = list(machine.json)
        text[arguments.random.randrange(len(text))] = chr(arguments.random.randrange(32, 127))
        return poise.Machine.from_json("".join(text))
    if choice == 5:
        return poise.theory(arguments.wild(8), arguments.wild(7), arguments.wild(1.0), period_s=arguments.wild(0.1),
                            phases=arguments.wild(2), domains=arguments.wild(1), jitter=arguments.wild(0.0),
                            seed=arguments.wild(0))
    workload = arguments.workload()
    if choice == 6:
        return [workload, machine, workload.messages() if "scipy" in sys.modules else None]
    if choice == 7:
        return poise.evaluate(machine, workload, arguments.placement(), arguments.placement())
    if choice == 8:
        return poise.map(machine, workload, arguments.placement(), distance=arguments.wild("factors"),
                         ranks_per_place=arguments.wild(4), cores_per_rank=arguments.wild(1), seed=arguments.wild(0))
    if choice == 9:
        return poise.compare(machine, workload, arguments.placement(), [arguments.strategy() for _ in range(2)],
                             seed=arguments.wild(0))
    return poise.plan(machine, workload, arguments.placement(), arguments.strategy(), seed=arguments.wild(0))


def calls(seeds, end_s, counts):
    """Makes one call for each seed, until the time is over. Counts all calls and those that returned a result."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            counts[0] += 1
            try:
                read(call(Arguments(seed), folder))
                counts[1] += 1
            except REFUSALS as error:
                assert not isinstance(error, poise.Error) or "\n" not in str(error), error
            if time.monotonic() >= end_s:
                return


def succeeds(seeds, end_s, counts):
    """Makes the calls in a child process, which may crash."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 1
    try:
        calls(seeds, end_s, counts)
        status = 0
    except BaseException:
        traceback.print_exc()
    os._exit(status)


def main():
    end_s = time.monotonic() + float(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns() % 10**9
    counts = memoryview(mmap.mmap(-1, 16)).cast("Q")  # shared with the child processes
    while True:
        before = counts[0]
        if not succeeds(range(seed, seed + BATCH), end_s, counts):
            failed = seed + counts[0] - before - 1
            sys.exit(f"the call with seed {failed} failed; to repeat this call, run: python_fuzz.py 0 {failed}")
        seed += BATCH
        if time.monotonic() >= end_s:
            break
    print(f"Done {counts[0]} calls, {counts[1]} of them with a result")


if __name__ == "__main__":
    main()
