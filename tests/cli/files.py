# SPDX-License-Identifier: BSD-3-Clause

"""Writes small traces and placements for the tests."""

import json

GRAPH = """4 3 111
100 3000 2 1000
100 2000 1 1000 3 500
100 2000 2 500 4 800
100 1000 3 800
"""


def vt_task(number, rank, load_s):
    return {"entity": {"id": number, "home": rank, "migratable": True, "type": "object"},
            "node": rank, "resource": "cpu", "time": load_s}


def vt_rank(rank, phases):
    """Returns the vt file of a rank. For each phase, `phases` lists the loads of this rank's tasks, whose ids are
    rank * 100 + i."""
    return {"type": "LBDatafile", "metadata": {"type": "LBDatafile", "rank": rank}, "phases": [
        {"id": number, "tasks": [vt_task(100 * rank + i, rank, load) for i, load in enumerate(loads)]}
        for number, loads in enumerate(phases)]}


def write_vt(folder, stem, ranks):
    for rank, phases in enumerate(ranks):
        (folder / f"{stem}.{rank}.json").write_text(json.dumps(vt_rank(rank, phases)))
