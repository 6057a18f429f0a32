# SPDX-License-Identifier: BSD-3-Clause

"""Gives the objects of generated traces different amounts of memory."""

import json
import random

from lab import name_of


def footprints(count, domains, domain_bytes, fill, spread, seed):
    """Returns the size of each object in bytes. The initial placement puts one block of consecutive objects in each
    memory domain; the sizes are drawn so that each block fits in the memory of its domain."""
    draw, block = random.Random(seed), count // domains
    while True:
        sizes = [draw.lognormvariate(0, spread) for _ in range(count)]
        factor = fill * domains * domain_bytes / sum(sizes)
        sizes = [int(factor * size) for size in sizes]
        if all(sum(sizes[first:first + block]) <= domain_bytes for first in range(0, count, block)):
            return sizes


def with_footprints(lab, trace, places, sizes):
    """Writes the trace in vt's format with the memory of its objects, which `poise generate` leaves out. Returns the
    file."""
    stem = trace.removesuffix(".poise")
    lab.run("convert", trace, f"{stem}.json")
    written = name_of(stem, *sizes)
    for place in range(places):
        phase = json.loads((lab.folder / f"{stem}.{place}.json").read_text(encoding="utf-8"))
        for task in phase["phases"][0]["tasks"]:
            task["user_defined"]["task_footprint_bytes"] = sizes[task["entity"]["seq_id"]]
        (lab.folder / f"{written}.{place}.json").write_text(json.dumps(phase), encoding="utf-8")
    return written
