# SPDX-License-Identifier: BSD-3-Clause

"""Writes the sections of all papers as one Markdown and one HTML page. The HTML page has the style and the script of
the pages of `poise`: tables can be sorted, data can be saved, and colours follow the reader's light or dark theme."""

import html
import json
import pathlib

from verdicts import FAR, TOLERANCE, VERDICTS

PAGE = pathlib.Path(__file__).resolve().parents[2] / "apps" / "report"
COLOURS = dict(zip(VERDICTS, ["#00723f", "#0072b2", "#b03000", "#666666"]))
RULE = (f"A figure agrees within {TOLERANCE:.0%}. A section is *confirmed* if all its conclusions hold and all its "
        "figures agree, also with every assumed input halved and doubled; *contradicted* if a conclusion fails with all "
        f"these inputs, or a figure without a conclusion is off by more than a factor of {FAR:g}; *refined* if its "
        "conclusions hold and a figure is off, or some conclusions are open; *not decidable here* otherwise. What "
        "calibrated an input does not count. Intervals are 95 % over seeds.")
SIGNS = {"about": "≈", "above": ">", "below": "<"}


def number(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def ours_text(row):
    low, high = row["interval"]
    return number(row["ours"]) + ("" if low == high else f" [{number(low)}, {number(high)}]")


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


def checks_cells(row):
    """Returns the rows of a section's table of statements."""
    return [[check["says"], SIGNS[check["relation"]] + " " + number(check["theirs"]), ours_text(check),
             "" if check["varied"] is None else f"{number(check['varied'][0])} to {number(check['varied'][1])}",
             check["outcome"]] for check in row["checks"]]


MAX_POINTS = 60  # the page shows at most this number of points of a figure; the stored row has all


def figure_cells(row):
    """Returns (headings, rows) of the table of a section's figure. A longer figure shows evenly spaced points."""
    points = row["figure"]
    shown = points[::-(-len(points) // MAX_POINTS)]
    return list(points[0]), [[value if isinstance(value, str) else number(value) for value in point.values()] for point in shown]


HEADINGS = ["statement", "paper", "ours", "assumed inputs varied", "outcome"]


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
        lines += table(["section", "theirs", "ours", "ratio", "verdict"],
                       [[row["title"], number(row["theirs"]), number(row["ours"]), number(row["ratio"]), row["verdict"]]
                        for row in members])
        lines.append("")
        for row in members:
            lines += [f"### {row['title']}", "", f"**{row['verdict']}**. {row['sentence']}", ""]
            lines += (table(HEADINGS, checks_cells(row)) + [""]) if row["checks"] else []
            lines += (table(*figure_cells(row)) + [""]) if "figure" in row else []
            lines += [f"- {line}" for line in inputs_lines(row)]
            lines += [f"- sensitivity: {sensitivity_line(row)}"] if row["sensitivity"] else []
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


TOOLS = ('<p class="tools" hidden><button class="json">Save the data as JSON</button>\n'
         '<button class="csv">Save the tables as CSV</button></p>\n')


def html_cell(cell):
    """Returns the HTML of a table cell. `cell` is a text, or a pair (text, number). The page shows the
    text; its script uses the number when it sorts the table or saves the data."""
    text, value = cell if isinstance(cell, tuple) else (cell, None)
    return "<td>" + html.escape(str(text)) if value is None else f'<td data-v="{value}">' + html.escape(text)


def html_table(name, headings, lines):
    """Returns a table whose first column has the names of the rows."""
    head = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in headings)
    body = "".join(f'<tr><th scope="row">{html.escape(line[0])}</th>' + "".join(f"{html_cell(cell)}</td>" for cell in line[1:]) +
                   "</tr>\n" for line in lines)
    return (f'<div class="scroll" tabindex="0"><table class="sortable texts" data-name="{html.escape(name)}">\n'
            f"<tr>{head}</tr>\n{body}</table></div>\n")


def html_section(row):
    parts = [f'<h3 id="{html.escape(row["id"])}">{html.escape(row["title"])}</h3>\n',
             f'<p><b class="key" style="background:{COLOURS[row["verdict"]]}"></b><b>{row["verdict"]}</b>. '
             f'{html.escape(row["sentence"])}</p>\n']
    if row["checks"]:
        parts.append(html_table(row["id"], HEADINGS, checks_cells(row)))
    if "figure" in row:
        parts.append(html_table(f"{row['id']}-points", *figure_cells(row)))
    notes = inputs_lines(row) + ([f"sensitivity: {sensitivity_line(row)}"] if row["sensitivity"] else [])
    if notes:
        parts.append("<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in notes) + "</ul>\n")
    return "".join(parts)


def overview(rows):
    """Returns the table of all sections."""
    return html_table("sections", ["section", "paper", "theirs", "ours", "ratio", "verdict"],
                      [[row["title"], row["paper"], *((number(row[key]), row[key]) for key in ("theirs", "ours", "ratio")),
                        row["verdict"]] for row in rows])


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
