#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause

"""Extracts the timelines of a report as one SVG that needs no other file: docs/demo.svg, which the README shows.

  ./dev demo && docs/demo_picture.py build/demo/report.html > docs/demo.svg"""
import re
import sys

STYLE = """text { font: 11px system-ui, sans-serif; fill: #1c2430; text-anchor: middle }
.start { text-anchor: start } .end { text-anchor: end } .faint { fill: #5d6978 } .rule { stroke: #d5dbe2 }
.work { fill: #2f6fb5 } .idle { fill: #d9dee5 } .deciding { fill: #7a1fa2 } .title { font-size: 13px }"""
KEY = (("work", "worked"), ("idle", "carried messages or waited"),
       ("deciding", "measured, decided and migrated"))


def key():
    out, x = "", 36
    for activity, words in KEY:
        out += (f'<rect x="{x}" y="10" width="10" height="10" class="{activity}"/>\n'
                f'<text x="{x + 15}" y="19" class="start">{words}</text>\n')
        x += 30 + 6 * len(words)
    return out


def picture(page):
    section = re.search(r'<section id="timelines">(.*?)</section>', page, re.DOTALL)[1]
    figures = re.findall(r"<svg viewBox=\"0 0 (\S+) (\S+)\"[^>]*>(.*?)</svg><figcaption>(.*?)<",
                         section.replace("<b>", "").replace("</b>", ""), re.DOTALL)
    y, body = 36, key()
    for _, height, content, caption in figures:
        if "share" in caption or "busiest" in caption:
            continue  # not a timeline
        title = (caption.replace("strategy keep", "as it starts")
                 .replace("strategy poise", "balanced by poise"))
        body += (f'<text x="36" y="{y + 8}" class="start title">{title}</text>\n'
                 f'<g transform="translate(0 {y + 14})">{content}</g>\n')
        y += float(height) + 26
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {y:g}" role="img" '
            'aria-label="What the ranks of two programs did over time, as they start and balanced">\n'
            f'<style>{STYLE}</style>\n<rect width="800" height="{y:g}" fill="#fff"/>\n{body}</svg>')


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(picture(file.read()))
