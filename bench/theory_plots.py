#!/usr/bin/env python3
"""Draws the figures of the Juggle paper's evaluation from `poise theory --figure`, as SVG.

    bench/theory_plots.py build/bin/poise OUT_FOLDER [FIGURE...]

Needs nothing but Python. Figure 10 also prints how long its data took."""

import base64
import csv
import io
import math
import pathlib
import struct
import subprocess
import sys
import time
import zlib

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 46, 56
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
SIMULATED, THEORY = "", "6 4"  # dash patterns


def data_of(poise, name):
    text = subprocess.run([poise, "theory", "--figure", name], check=True, capture_output=True,
                          text=True, timeout=600).stdout
    return [{key: float(value) for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(text))]


def curve(label, rows, x, y, colour, dash=SIMULATED):
    return {"label": label, "points": [(r[x], r[y]) for r in rows], "colour": colour, "dash": dash}


def curves_by(rows, keys, x, series):
    """One colour for each (threads, places); `series` is a list of (column, label, dash)."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(int(row[key]) for key in keys), []).append(row)
    found = []
    for colour, (group, members) in zip(COLOURS, groups.items()):
        name = ", ".join(map(str, group))
        for column, label, dash in series:
            found.append(curve(f"({name}) {label}".strip(), members, x, column, colour, dash))
    return found


def ticks(low, high, is_log):
    if is_log:
        return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
                if low * 0.999 <= 10.0 ** k <= high * 1.001]
    step = 10 ** math.floor(math.log10(high - low))
    step = next(s for s in (step / 5, step / 2, step, step * 2) if (high - low) / s <= 8)
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


class Axis:
    def __init__(self, values, start, end, is_log, least=None):
        self.low, self.high = min(values), max(values)
        if least is not None:
            self.low = min(self.low, least)
        if not is_log:
            self.high += 0.04 * (self.high - self.low)
        self.start, self.end, self.is_log = start, end, is_log

    def at(self, value):
        scale = math.log10 if self.is_log else float
        share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self):
        return ticks(self.low, self.high, self.is_log)


def text(x, y, words, anchor="middle", size=13, extra=""):
    words = words.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {extra}>{words}</text>'


def frame(title, x_label, y_label, x, y):
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text((LEFT + right) / 2, 24, title, size=15),
             text((LEFT + right) / 2, HEIGHT - 14, x_label),
             text(18, (TOP + bottom) / 2, y_label,
                  extra=f'transform="rotate(-90 18 {(TOP + bottom) / 2:.1f})"')]
    for value in x.ticks():
        parts.append(f'<path d="M{x.at(value):.1f} {TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(text(x.at(value), bottom + 18, f"{value:.4g}", size=12))
    for value in y.ticks():
        parts.append(f'<path d="M{LEFT} {y.at(value):.1f}H{right}" stroke="#ddd"/>')
        parts.append(text(LEFT - 8, y.at(value) + 4, f"{value:.4g}", "end", 12))
    parts.append(f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" '
                 'fill="none" stroke="#444"/>')
    return parts


def svg(parts):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" fill="#222">\n'
            + "\n".join(parts) + "\n</svg>\n")


def line_plot(title, x_label, y_label, curves, log_x=False, log_y=False, least_y=None):
    points = [point for c in curves for point in c["points"]]
    x = Axis([p[0] for p in points], LEFT, WIDTH - RIGHT, log_x)
    y = Axis([p[1] for p in points], HEIGHT - BOTTOM, TOP, log_y, least_y)
    parts = frame(title, x_label, y_label, x, y)
    # Dashed curves lie on top, so that a solid one under them stays visible.
    for index, c in sorted(enumerate(curves), key=lambda item: item[1]["dash"]):
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in c["points"])
        style = f'fill="none" stroke="{c["colour"]}" stroke-width="1.8" stroke-dasharray="{c["dash"]}"'
        parts.append(f'<polyline points="{path}" {style}/>')
        line = TOP + 10 + 19 * index
        parts.append(f'<path d="M{WIDTH - RIGHT + 10} {line}h26" {style}/>')
        parts.append(text(WIDTH - RIGHT + 42, line + 4, c["label"], "start", 12))
    return svg(parts)


def colour_of(share):
    """Dark blue to yellow, evenly lighter, as bytes."""
    stops = [(13, 8, 80), (90, 20, 140), (190, 50, 100), (240, 120, 50), (250, 230, 90)]
    place = min(max(share, 0), 1) * (len(stops) - 1)
    below = min(int(place), len(stops) - 2)
    return bytes(round(a + (b - a) * (place - below)) for a, b in zip(stops[below], stops[below + 1]))


def png(pixels):
    """Rows of 3-byte colours as a PNG."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 2, 0, 0, 0)
    raw = b"".join(b"\0" + b"".join(row) for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9))
            + chunk(b"IEND", b""))


def heat_map(title, x_label, y_label, cells, x_values, y_values):
    """`cells` maps (column, row) to the mean speed-up there; colours run from 1 to 2."""
    blank = b"\xf0\xf0\xf0"
    pixels = [[colour_of(cells[c, r] - 1) if (c, r) in cells else blank
               for c in range(len(x_values))] for r in reversed(range(len(y_values)))]
    image = base64.b64encode(png(pixels)).decode()
    x = Axis(x_values, LEFT, WIDTH - RIGHT, False)
    y = Axis(y_values, HEIGHT - BOTTOM, TOP, False)
    x.high, y.high = x_values[-1], y_values[-1]
    parts = frame(title, x_label, y_label, x, y)
    picture = (f'<image x="{LEFT}" y="{TOP}" width="{WIDTH - RIGHT - LEFT}" '
               f'height="{HEIGHT - BOTTOM - TOP}" preserveAspectRatio="none" '
               f'style="image-rendering:pixelated" href="data:image/png;base64,{image}"/>')
    parts.insert(1, picture)
    for step in range(100):
        line = HEIGHT - BOTTOM - (step + 1) * (HEIGHT - BOTTOM - TOP) / 100
        parts.append(f'<rect x="{WIDTH - RIGHT + 40}" y="{line:.1f}" width="22" height="4" '
                     f'fill="#{colour_of(step / 99).hex()}"/>')
    for step in range(0, 11, 2):
        line = HEIGHT - BOTTOM - step * (HEIGHT - BOTTOM - TOP) / 10
        parts.append(text(WIDTH - RIGHT + 68, line + 4, f"{1 + step / 10:.1f}", "start", 12))
    parts.append(text(WIDTH - RIGHT + 51, TOP - 10, "speed-up", size=12))
    return svg(parts)


def mean_cells(rows, column_of, row_of):
    sums = {}
    for row in rows:
        cell = column_of(row), row_of(row)
        total, count = sums.get(cell, (0.0, 0))
        sums[cell] = total + row["simulated"], count + 1
    return {cell: total / count for cell, (total, count) in sums.items()}


def figure_6(rows):
    names = {"ideal": THEORY, "simulated": SIMULATED, "simulated_two_domains": SIMULATED,
             "reactive": THEORY}
    return {"6": line_plot("8 to 16 threads on 8 places, e = 30 s, period 100 ms", "threads",
                           "speed-up over static",
                           [curve(name.replace("_two_domains", ", 2 domains"), rows, "threads", name,
                                  colour, dash)
                            for (name, dash), colour in zip(names.items(), COLOURS)], least_y=1)}


def figure_7(rows):
    curves = [curve(f"{int(m)} places", [r for r in rows if r["places"] == m], "threads_per_place",
                    "ideal", colour)
              for m, colour in zip(sorted({r["places"] for r in rows}), COLOURS)]
    return {"7": line_plot("One thread more than an equal share", "floor(n/m)",
                           "ideal speed-up over static", curves, least_y=1)}


def figure_8(rows, name="8", title="One phase, n/m below 2"):
    curves = curves_by(rows, ["threads", "places"], "period_over_phase",
                       [("simulated", "", SIMULATED), ("upper_bound", "bound", THEORY)])
    return {name: line_plot(title + ": (threads, places)", "period / phase",
                            "speed-up over static", curves, least_y=1)}


def figure_9(rows):
    return figure_8(rows, "9", "One phase, n/m above 2")


def figure_10(rows):
    by_share = mean_cells(rows, lambda r: min(int(r["threads"] / r["places"] * 10) - 10, 89),
                          lambda r: round(r["period_over_phase"] * 100) - 1)
    tenth = [r for r in rows if round(r["period_over_phase"] * 100) == 10]
    by_pair = mean_cells(tenth, lambda r: int(r["places"]) - 2, lambda r: int(r["threads"]) - 3)
    return {"10": heat_map("Mean simulated speed-up, 3 to 64 threads", "n/m (10 and above: last column)",
                           "period / phase", by_share, [1 + i / 10 for i in range(91)],
                           [i / 100 for i in range(501)][1:]),
            "10_pairs": heat_map("Simulated speed-up, period / phase = 0.1", "places", "threads",
                                 by_pair, list(range(2, 64)), list(range(3, 65)))}


def figure_11(rows):
    series = [("approximation", "(16), (17)", THEORY), ("simulated", "simulated", SIMULATED),
              ("simulated_jittered", "period +-10%", SIMULATED)]
    curves = [curve(label, rows, "period_over_phase", column, colour, dash)
              for (column, label, dash), colour in zip(series, COLOURS)]
    return {"11": line_plot("8 threads on 7 places, 600 phases", "period / phase",
                            "speed-up over static", curves, least_y=1)}


def figure_16(rows):
    curves = curves_by(rows, ["threads", "places"], "period_over_phase",
                       [("migrations_per_s", "", SIMULATED)])
    return {"16": line_plot("Migrations by swaps, e = 30 s: (threads, places)", "period / phase",
                            "migrations per second", curves, log_x=True, log_y=True)}


def table_1(rows):
    lines = ["| n | m | static s | ideal s | simulated s | in two domains s |", "|---" * 6 + "|"]
    for row in rows:
        cells = [f"{value:.0f}" for value in list(row.values())[:2]]
        cells += [f"{value:.1f}" for value in list(row.values())[2:]]
        lines.append("| " + " | ".join(cells) + " |")
    return {"table1": "\n".join(lines) + "\n"}


DRAWINGS = {"6": figure_6, "7": figure_7, "8": figure_8, "9": figure_9, "10": figure_10,
            "11": figure_11, "16": figure_16, "table1": table_1}


def main():
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(DRAWINGS):
        sys.exit(f"usage: {sys.argv[0]} POISE OUT_FOLDER [{'|'.join(DRAWINGS)}]...")
    poise, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:] or DRAWINGS:
        start = time.monotonic()
        rows = data_of(poise, name)
        print(f"figure {name}: {len(rows)} rows in {time.monotonic() - start:.1f} s")
        for stem, document in DRAWINGS[name](rows).items():
            suffix = ".md" if name.startswith("table") else ".svg"
            (folder / f"theory_{stem}{suffix}").write_text(document)


if __name__ == "__main__":
    main()
