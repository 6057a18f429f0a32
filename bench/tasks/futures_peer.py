# SPDX-License-Identifier: BSD-3-Clause

"""Runs the sleeping tasks of tasks_peers.cc with mpi4py.futures. Rank 0 only distributes the tasks; the other ranks
run them.

usage: futures_peer.py TASKS US SPREAD BYTES_IN BYTES_OUT REPEATS

Rank 0 prints the seconds of each run as a line of JSON."""

import json
import random
import sys
import time

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor


def body(task):
    seconds, data, bytes_out = task
    time.sleep(seconds)
    return data[:1] * bytes_out


def main():
    count, us, spread, bytes_in, bytes_out, repeats = [float(word) for word in sys.argv[1:]]
    draw = random.Random(1)
    tasks = [(1e-6 * us * draw.uniform(1 - spread, 1 + spread), bytes([t % 101 + 1]) * int(bytes_in), int(bytes_out))
             for t in range(int(count))]
    seconds = []
    with MPICommExecutor(MPI.COMM_WORLD, root=0) as executor:
        if executor is None:
            return
        workers = MPI.COMM_WORLD.size - 1
        for _ in range(int(repeats)):
            began = time.perf_counter()
            results = list(executor.map(body, tasks, chunksize=max(1, len(tasks) // (16 * workers))))
            seconds.append(time.perf_counter() - began)
            assert all(result[0] == task[1][0] for task, result in zip(tasks, results, strict=True))
    print(json.dumps({"seconds": {"futures": seconds}}))


if __name__ == "__main__":
    main()
