# SPDX-License-Identifier: BSD-3-Clause

"""Writes the sections of all papers as one Markdown and one HTML page. The HTML page has the style and the script of
the pages of `poise`: tables can be sorted, data can be saved, and colours follow the reader's light or dark theme."""

import html
import json
import pathlib
import urllib.parse

import drawing
from verdicts import FAR, TOLERANCE, VERDICTS

PAGE = pathlib.Path(__file__).resolve().parents[2] / "apps" / "report"
COLOURS = dict(zip(VERDICTS, ["#00723f", "#0072b2", "#b03000", "#666666"]))
RULE = (f"A figure agrees within {TOLERANCE:.0%}. A section is *confirmed* if all its conclusions hold and all its "
        "figures agree, also with every assumed input halved and doubled; *contradicted* if a conclusion fails with all "
        f"these inputs, or a figure without a conclusion is off by more than a factor of {FAR:g}; *refined* if its "
        "conclusions hold and a figure is off, or some conclusions are open; *not decidable here* otherwise. What "
        "calibrated an input does not count. Intervals are 95 % over seeds.")
SIGNS = {"about": "≈", "above": ">", "below": "<"}


MAX_DIGITS = 7


def number(value, digits=3):
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 10 ** digits else f"{value:.{digits}g}"


def digits_of(check):
    """Returns the number of significant digits to show, which is usually 3. If an inequality compares our value with
    the paper's, returns as many digits as are needed to show that the two differ."""
    digits = 3
    while check["relation"] != "about" and digits < MAX_DIGITS and check["ours"] != check["theirs"] and \
            number(check["ours"], digits) == number(check["theirs"], digits):
        digits += 1
    return digits


def ours_text(check):
    low, high = check["interval"]
    digits = digits_of(check)
    return number(check["ours"], digits) + ("" if low == high else f" [{number(low, digits)}, {number(high, digits)}]")


def summary(rows):
    return ", ".join(f"{sum(row['verdict'] == name for row in rows)} {name}" for name in VERDICTS)


def titled(rows):
    """Groups the rows by paper: returns [(paper, rows)] in the order of the papers."""
    names = list(dict.fromkeys(row["paper"] for row in rows))
    return [(name, [row for row in rows if row["paper"] == name]) for name in names]


def inputs_lines(row):
    return [f"{kind}: {'; '.join(row['inputs'][kind])}" for kind in ("stated", "assumed", "used") if row["inputs"][kind]]


def sensitivity_line(row):
    return "; ".join(f"{item['input']} = {item['value']:g}: {item['verdict']}" for item in row["sensitivity"])


def checks_table(row):
    """Returns (headings, rows) of a section's table of statements. If the section assumes no inputs, the column about
    them is left out."""
    cells = checks_cells(row)
    shown = [column for column in range(len(HEADINGS)) if column != VARIED or any(line[VARIED] for line in cells)]
    return [HEADINGS[column] for column in shown], [[line[column] for column in shown] for line in cells]


def checks_cells(row):
    """Returns the rows of a section's table of statements, with all columns."""
    return [[check["says"], SIGNS[check["relation"]] + " " + number(check["theirs"], digits_of(check)), ours_text(check),
             "" if check["varied"] is None else f"{number(check['varied'][0])} to {number(check['varied'][1])}",
             check["outcome"]] for check in row["checks"]]


MAX_POINTS = 60  # maximum number of points that the page shows of a figure; the stored row has all points


def figure_cells(row):
    """Returns (headings, rows) of the table that lists the points of a section's figure. If there are more than
    MAX_POINTS points, the table has only some of them, evenly spaced."""
    points = row["figure"]
    shown = points[::-(-len(points) // MAX_POINTS)]
    return list(points[0]), [[value if isinstance(value, str) else number(value) for value in point.values()] for point in shown]


HEADINGS = ["statement", "paper", "ours", "ours, assumed inputs halved and doubled", "outcome"]
VARIED = 3  # index of the column that shows how much assumed inputs matter
OVERVIEW = ["section", "first statement", "theirs", "ours", "ratio", "verdict"]
DASHES = ["", "6 4", "2 3", "8 3 2 3"]


def first_statement(row):
    """Returns the text of the section's first check. The overview shows this text and the two numbers of the check."""
    return row["checks"][0]["says"] if row["checks"] else "–"


def values(points, plot, column):
    """Returns (x, value in `column`) for each point in which both are numbers."""
    return [(point[plot["x"]], point[column]) for point in points
            if isinstance(point[plot["x"]], (int, float)) and isinstance(point[column], (int, float))]


def picture(row):
    """Returns the SVG of a section's plot, or nothing if the section has none."""
    plot = row.get("plot")
    if not plot or not row.get("figure") or len({point[plot["x"]] for point in row["figure"]}) < 2:
        return ""
    groups = {}
    for point in row["figure"]:
        groups.setdefault(point[plot["by"]] if plot["by"] else None, []).append(point)
    curves, marks = [], []
    for g, (group, points) in enumerate(groups.items()):
        for c, column in enumerate(plot["columns"]):
            of_group = f"{plot['by']} {number(group)}" + (f": {column}" if len(plot["columns"]) > 1 else "") if plot["by"] else ""
            drawn = {"label": (of_group or column).replace("_", " "),
                     "colour": drawing.COLOURS[(g if plot["by"] else c) % len(drawing.COLOURS)],
                     "dash": DASHES[c % 4] if plot["by"] else "", "points": values(points, plot, column)}
            if f"{column}, low" in points[0]:
                drawn["points"] = [(x, y, low, high) for (x, y), (_, low), (_, high) in zip(
                    *(values(points, plot, column + end) for end in ("", ", low", ", high")))]
                marks.append(drawn)
            else:
                curves.append(drawn)
    return drawing.line_plot(row["title"], plot["x"].replace("_", " "), plot["label"], curves, marks=marks)


def escaped(cell):
    return str(cell).replace("|", "\\|").replace("\n", " ")


def table(headings, cells):
    return ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings),
            *("| " + " | ".join(map(escaped, line)) + " |" for line in cells)]


def markdown(rows, headlines, stamp):
    lines = ["# Five papers beside Poise", "", f"{len(rows)} tables and plots: {summary(rows)}.", "", RULE, "",
             f"Computed on {stamp['date']}, commit {stamp['commit']}; {stamp['machine']}.", ""]
    lines += ["## Does the conclusion hold?", "", *(f"- **{name}**: {text}" for name, text in headlines.items()), ""]
    for name, members in titled(rows):
        lines += [f"## {name}", ""]
        lines += table(OVERVIEW, [[row["title"], first_statement(row), number(row["theirs"]), number(row["ours"]),
                                   number(row["ratio"]), row["verdict"]] for row in members])
        lines.append("")
        for row in members:
            lines += [f"### {row['title']}", "", f"**{row['verdict']}**. {row['sentence']}", ""]
            lines += (table(*checks_table(row)) + [""]) if row["checks"] else []
            lines += (table(*figure_cells(row)) + [""]) if "figure" in row else []
            lines += [f"- {line}" for line in inputs_lines(row)]
            lines += [f"- sensitivity: {sensitivity_line(row)}"] if row["sensitivity"] else []
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


TOOLS = ('<p class="tools" hidden><button class="json">Save the data as JSON</button>\n'
         '<button class="csv">Save the tables as CSV</button></p>\n')


def html_cell(cell, kind=""):
    """Returns the HTML of a table cell. `cell` is a text, or a pair (text, number). The page shows the
    text; its script uses the number when it sorts the table or saves the data."""
    text, value = cell if isinstance(cell, tuple) else (cell, None)
    return f"<td{kind}>" + html.escape(str(text)) if value is None else f'<td data-v="{value}">' + html.escape(text)


def html_table(name, headings, lines, targets=(), words=()):
    """Returns a table whose first column has the names of the rows. If `targets` has the ids of sections, the names are
    links to them. The columns whose indices are in `words` hold words and are aligned left."""
    left = [' class="why" style="text-align:left"' if column in words else "" for column in range(len(headings))]
    head = "".join(f'<th scope="col"{kind}>{html.escape(word)}</th>' for word, kind in zip(headings, left))
    names = [html.escape(line[0]) for line in lines]
    names = [f'<a href="#{html.escape(target)}">{name}</a>' for target, name in zip(targets, names)] or names
    body = "".join(f'<tr><th scope="row">{name}</th>' + "".join(
        f"{html_cell(cell, kind)}</td>" for cell, kind in zip(line[1:], left[1:])) + "</tr>\n" for name, line in zip(names, lines))
    return (f'<div class="scroll" tabindex="0"><table class="sortable texts" data-name="{html.escape(name)}">\n'
            f"<tr>{head}</tr>\n{body}</table></div>\n")


def html_section(row):
    parts = [f'<h3 id="{html.escape(row["id"])}">{html.escape(row["title"])}</h3>\n',
             f'<p><b class="key" style="background:{COLOURS[row["verdict"]]}"></b><b>{row["verdict"]}</b>. '
             f'{html.escape(row["sentence"])}</p>\n']
    if row["checks"]:
        parts.append(html_table(row["id"], *checks_table(row)))
    if drawn := picture(row):
        # The plot is embedded as an image, so that the style of the page does not apply to it.
        source = urllib.parse.quote(drawn, safe=" ='/:;,.()")
        parts.append(f'<figure class="ranking"><img style="max-width:100%" alt="{html.escape(row["title"])}" '
                     f'src="data:image/svg+xml,{source}"/></figure>\n')
    if "figure" in row:
        points = html_table(f"{row['id']}-points", *figure_cells(row))
        parts.append(f"<details><summary>{len(row['figure'])} points of the plot</summary>{points}</details>\n"
                     if drawn else points)
    notes = inputs_lines(row) + ([f"sensitivity: {sensitivity_line(row)}"] if row["sensitivity"] else [])
    if notes:
        parts.append("<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in notes) + "</ul>\n")
    return "".join(parts)


def overview(rows):
    """Returns the table of all sections."""
    return html_table("sections", ["section", "paper", *OVERVIEW[1:]],
                      [[row["title"], row["paper"], first_statement(row),
                        *((number(row[key]), row[key]) for key in ("theirs", "ours", "ratio")), row["verdict"]] for row in rows],
                      [row["id"] for row in rows], words=(1, 2, 6))


def page(rows, headlines, stamp):
    rule = html.escape(RULE.replace("*", ""))
    data = json.dumps({"measured": stamp, "headlines": headlines, "sections": rows}).replace("<", "\\u003c")
    style, script = ((PAGE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    parts = ['<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
             '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
             f"<title>Five papers beside Poise</title>\n<style>{style}</style>\n</head>\n<body>\n"
             f"<h1>Five papers beside Poise</h1>\n<p>{len(rows)} tables and plots: {summary(rows)}.</p>\n{TOOLS}"
             f'<script type="application/json" id="data">{data}</script>\n',
             f'<p class="faint">{rule}</p>\n<p class="faint">Computed on {stamp["date"]}, commit {stamp["commit"]}; '
             f"{html.escape(stamp['machine'])}.</p>\n<h2>Does the conclusion hold?</h2>\n<ul>\n",
             *(f"<li><b>{html.escape(name)}</b>: {html.escape(text)}</li>\n" for name, text in headlines.items()), "</ul>\n",
             "<h2>All sections</h2>\n", overview(rows)]
    for name, members in titled(rows):
        parts += [f"<h2>{html.escape(name)}</h2>\n", *map(html_section, members)]
    return "".join(parts) + f"<script>{script}</script>\n</body>\n</html>\n"
