# SPDX-License-Identifier: BSD-3-Clause

"""Draws line plots and heat maps as SVG with the standard library only."""

import base64
import math
import struct
import zlib

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 190, 46, 56
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


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


def marked(index, mark, x, y):
    """Draws measured points, each (x, median, low, high), as dots with bars, and their entry in the legend."""
    parts = []
    for a, median, low, high in mark["points"]:
        parts.append(f'<path d="M{x.at(a):.1f} {y.at(low):.1f}V{y.at(high):.1f}" stroke="{mark["colour"]}"/>')
        parts.append(f'<circle cx="{x.at(a):.1f}" cy="{y.at(median):.1f}" r="3.5" fill="{mark["colour"]}"/>')
    line = TOP + 10 + 19 * index
    parts.append(f'<circle cx="{WIDTH - RIGHT + 23}" cy="{line}" r="3.5" fill="{mark["colour"]}"/>')
    return [*parts, text(WIDTH - RIGHT + 42, line + 4, mark["label"], "start", 12)]


def line_plot(title, x_label, y_label, curves, log_x=False, log_y=False, least_y=None, marks=()):
    """Draws curves, and points with intervals (`marks`)."""
    points = [point for c in curves for point in c["points"]]
    bars = [point for mark in marks for point in mark["points"]]
    x = Axis([p[0] for p in points + bars], LEFT, WIDTH - RIGHT, log_x)
    y = Axis([p[1] for p in points] + [end for p in bars for end in p[2:]], HEIGHT - BOTTOM, TOP, log_y, least_y)
    parts = frame(title, x_label, y_label, x, y)
    # Dashed curves are drawn last, so that a solid curve at the same position stays visible.
    for index, c in sorted(enumerate(curves), key=lambda item: item[1]["dash"]):
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in c["points"])
        style = f'fill="none" stroke="{c["colour"]}" stroke-width="1.8" stroke-dasharray="{c["dash"]}"'
        parts.append(f'<polyline points="{path}" {style}/>')
        line = TOP + 10 + 19 * index
        parts.append(f'<path d="M{WIDTH - RIGHT + 10} {line}h26" {style}/>')
        parts.append(text(WIDTH - RIGHT + 42, line + 4, c["label"], "start", 12))
    for index, mark in enumerate(marks):
        parts += marked(len(curves) + index, mark, x, y)
    return svg(parts)


def colour_of(share):
    """Returns the colour of a value as bytes. The colour map goes from dark blue to yellow with uniformly increasing
    lightness."""
    stops = [(13, 8, 80), (90, 20, 140), (190, 50, 100), (240, 120, 50), (250, 230, 90)]
    place = min(max(share, 0), 1) * (len(stops) - 1)
    below = min(int(place), len(stops) - 2)
    return bytes(round(a + (b - a) * (place - below)) for a, b in zip(stops[below], stops[below + 1]))


def png(pixels):
    """Returns rows of 3-byte colours as a PNG."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 2, 0, 0, 0)
    raw = b"".join(b"\0" + b"".join(row) for row in pixels)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw, 9))
            + chunk(b"IEND", b""))


def heat_map(title, x_label, y_label, cells, x_values, y_values):
    """Draws a heat map. `cells` maps the column and the row of a cell to a mean speed-up. The first colour
    stands for a speed-up of 1, the last for 2."""
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
