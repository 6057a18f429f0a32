#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""usage: library_call.py SIDE STRATEGY: the decision that library_call.cc measures, called from Python. Exits with
status 77 if numpy is missing."""

import importlib.util
import json
import pathlib
import sys
import time

if importlib.util.find_spec("numpy") is None:
    sys.exit(77)
import numpy as np

import poise

PLACES = 1024


class Matrix:
    """The messages in CSR form, as scipy.sparse.csr_array stores them."""

    def __init__(self, indptr, indices, data):
        self.indptr, self.indices, self.data, self.nnz = indptr, indices, data, len(data)
        self.shape = (len(indptr) - 1,) * 2

    def tocsr(self):
        return self


def arrays_of(side):
    n = side**3
    task = np.arange(n, dtype=np.uint64)
    load_s = 1e-3 * (1 + (task * 2654435761 % 2**32) / 4294967296.0)
    cells = task.astype(np.uint32).reshape(side, side, side)
    neighbours = [np.roll(cells, step, axis) for axis in (2, 1, 0) for step in (-1, 1)]
    indices = np.stack(neighbours, axis=-1).reshape(-1)
    messages = Matrix(np.arange(0, 6 * n + 1, 6, dtype=np.uint64), indices, np.full(6 * n, 1000, np.uint64))
    return load_s, np.full(n, 10_000, np.uint64), messages, (task * PLACES // n).astype(np.uint32)


def megabytes(line):
    for row in pathlib.Path("/proc/self/status").read_text().splitlines():
        if row.startswith(line):
            return int(row.split()[1]) / 1024
    return 0


def main():
    load_s, sizes, messages, now = arrays_of(int(sys.argv[1]))
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before_mb, start_s = megabytes("VmRSS:"), time.process_time()
    after = poise.plan("node:32 numa:2 core:16", poise.Workload(load_s, sizes, messages), now, sys.argv[2])
    cpu_s = time.process_time() - start_s
    checksum = int((np.arange(1, len(after) + 1, dtype=np.uint64) * after.astype(np.uint64)).sum())
    print(json.dumps({"cpu_s": round(cpu_s, 4), "megabytes": round(megabytes("VmHWM:") - before_mb, 1),
                      "checksum": checksum}))


if __name__ == "__main__":
    main()
