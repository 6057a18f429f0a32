# SPDX-License-Identifier: BSD-3-Clause

"""Draws the measured points of Juggle's figures together with the theory, as SVG."""

from drawing import COLOURS, line_plot

THEORY = "6 4"  # dash pattern


def period_s(row):
    words = row["balancer"].split()
    return float(words[words.index("--period") + 1].removesuffix("ms")) / 1e3


def period_over_phase(row):
    return period_s(row) / row["phase_s"]


# For each figure: the title, the label of the x axis, a function from a row to its x, and whether the x axis is
# logarithmic.
FIGURES = {
    "6": ("n threads on {cpus} cpus, one phase", "threads", lambda row: row["threads"], False),
    "8": ("{threads} threads on {cpus} cpus, one phase", "period / phase", period_over_phase, False),
    "9": ("{threads} threads on {cpus} cpus, one phase", "period / phase", period_over_phase, False),
    "11": ("{threads} threads on {cpus} cpus, {phases} phases", "period / phase", period_over_phase, False),
    "17": ("{threads} threads on {cpus} cpus, one phase", "period in ms", lambda row: 1e3 * period_s(row), True),
    "reactive": ("{threads} threads on {cpus} cpus, a period of 20 ms", "phase in ms", lambda row: 1e3 * row["phase_s"], True),
}
# Each balancer's measured points are drawn together with a curve of theory. This map gives the key of the curve's
# values for a balancer. For balancers that are not in the map, the key is `simulated`.
PROMISES = {"reactive": "reactive", "hybrid": "simulated_hybrid"}


def draw_one(rows, figure):
    title, x_label, x_of, is_log = FIGURES[figure]
    curves, marks = [], []
    # Only the figure `reactive` has one curve per policy of the balancer. In the other figures the balancers differ
    # only in their period, which is on the x axis.
    names = list(dict.fromkeys(row["runner"] for row in rows)) if figure == "reactive" else [""]
    for colour, name in zip(COLOURS, names):
        own = sorted((row for row in rows if name in ("", row["runner"])), key=x_of)
        if not name.endswith("polled"):
            promise = PROMISES.get(name, "simulated")
            curves.append({"label": f"{name} theory".strip(), "colour": colour, "dash": THEORY,
                           "points": [(x_of(row), row["theory"][promise]) for row in own]})
        marks.append({"label": name or "measured", "colour": colour,
                      "points": [(x_of(row), *row["speedup"]) for row in own]})
    return line_plot(f"Figure {figure}: " .replace("Figure reactive: ", "") + title.format_map(rows[0]), x_label,
                     "speed-up over static", curves, log_x=is_log, least_y=0.9, marks=marks)


def draw(rows):
    """Returns {figure: SVG}. Figures for which there are no measured rows are left out."""
    own = {figure: [row for row in rows if row["figure"] == figure] for figure in FIGURES}
    return {figure: draw_one(of, figure) for figure, of in own.items() if of}
