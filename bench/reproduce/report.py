# SPDX-License-Identifier: BSD-3-Clause

"""Writes the sections of all papers as one Markdown page and one HTML page."""

import html

from verdicts import FAR, TOLERANCE, VERDICTS

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
            lines += [f"- {line}" for line in inputs_lines(row)]
            lines += [f"- sensitivity: {sensitivity_line(row)}"] if row["sensitivity"] else []
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


STYLE = """body{font:15px/1.45 sans-serif;max-width:68em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.6em 0}td,th{border:1px solid #ccc;padding:.2em .5em;text-align:left}
th{background:#f3f3f3}.v{font-weight:bold}ul{color:#555}"""


def html_table(headings, cells):
    head = "".join(f"<th>{html.escape(word)}</th>" for word in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in line) + "</tr>\n" for line in cells)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"


def html_section(row):
    parts = [f'<h3 id="{html.escape(row["id"])}">{html.escape(row["title"])}</h3>\n',
             f'<p><span class="v" style="color:{COLOURS[row["verdict"]]}">{row["verdict"]}</span>. '
             f'{html.escape(row["sentence"])}</p>\n']
    if row["checks"]:
        parts.append(html_table(HEADINGS, checks_cells(row)))
    notes = inputs_lines(row) + ([f"sensitivity: {sensitivity_line(row)}"] if row["sensitivity"] else [])
    if notes:
        parts.append("<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in notes) + "</ul>\n")
    return "".join(parts)


def page(rows, headlines, stamp):
    rule = html.escape(RULE.replace("*", ""))
    parts = ['<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>Five papers beside Poise</title>\n',
             f"<style>{STYLE}</style></head>\n<body>\n<h1>Five papers beside Poise</h1>\n",
             f"<p>{len(rows)} tables and plots: {summary(rows)}.</p>\n<p>{rule}</p>\n",
             f"<p>Computed on {stamp['date']}, commit {stamp['commit']}; {html.escape(stamp['machine'])}.</p>\n",
             "<h2>Does the conclusion hold?</h2>\n<ul>\n",
             *(f"<li><b>{html.escape(name)}</b>: {html.escape(text)}</li>\n" for name, text in headlines.items()), "</ul>\n"]
    for name, members in titled(rows):
        parts += [f"<h2>{html.escape(name)}</h2>\n", *map(html_section, members)]
    return "".join(parts) + "</body>\n</html>\n"
