# SPDX-License-Identifier: BSD-3-Clause

"""Plots how time and memory of decisions grow with the number of tasks, from bench/results/decide.json, as SVG."""

import math

from drawing import COLOURS, line_plot

# If there are more strategies than colours, the colours repeat with the next pattern: first solid lines, then dashes.
DASHES = ["", "6 4", "2 3"]


def curves_of(results, value_of):
    """Returns a curve for each strategy: value_of(row) over the number of tasks. Uses the rows whose
    names begin with growth/STRATEGY/TASKS."""
    points = {}
    for row in results:
        group, strategy, tasks, *_ = row["name"].split("/")
        if group == "growth" and strategy != "keep" and not row.get("error_occurred"):
            points.setdefault(strategy, []).append((float(tasks), value_of(row)))
    return [{"label": strategy, "points": sorted(found), "colour": COLOURS[i % len(COLOURS)],
             "dash": DASHES[i // len(COLOURS) % len(DASHES)]}
            for i, (strategy, found) in enumerate(points.items()) if len(found) > 1]


def n_log_n(points, label="n log n"):
    """Returns a curve that starts at the first point and grows in proportion to n log n."""
    (first, start_s), *_ = points
    return {"label": label, "colour": "#888", "dash": "1 4", "points":
            [(n, start_s * n * math.log(n) / (first * math.log(first))) for n, _ in points]}


def draw_memory(results):
    """Returns the plot of memory as SVG. Values below 0.01 MB are drawn at 0.01 MB."""
    curves = curves_of(results, lambda row: max(0.01, row.get("decision_MB", 0)))
    return line_plot("Memory of one decision: 3-D stencil, 30 tasks a place", "tasks", "MB beside the workload", curves,
                     log_x=True, log_y=True)


def draw(results):
    """Returns the plot of times as SVG. For comparison, a curve of grey dots starts at the first point of the strategy
    nuco and grows like n log n."""
    curves = curves_of(results, lambda row: row["cpu_time"] / 1e3)
    curves += [n_log_n(curve["points"]) for curve in curves if curve["label"] == "nuco"]
    return line_plot("One decision: 3-D stencil, 30 tasks a place", "tasks", "CPU seconds", curves,
                     log_x=True, log_y=True)
