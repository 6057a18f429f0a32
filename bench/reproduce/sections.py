# SPDX-License-Identifier: BSD-3-Clause

"""Defines a section per result table or plot of a paper: its inputs, its computation, and the row that is stored."""

import dataclasses
import subprocess
import typing

from lab import Trouble
from verdicts import CONFIRMED, CONTRADICTED, REFINED, UNDECIDED, outcome, verdict


@dataclasses.dataclass(frozen=True)
class Assumed:
    """An input that the paper does not state. Each such input is also tried at half and at twice its value, but not
    below `least` or above `most`."""
    name: str
    value: float
    unit: str
    why: str
    least: float = 0
    most: float = float("inf")

    def variants(self):
        wanted = [min(max(self.value * factor, self.least), self.most) for factor in (0.5, 2)]
        return [value for value in wanted if value != self.value]


@dataclasses.dataclass(frozen=True)
class Plot:
    """How the page draws the points of a section. The x axis shows the column `x`. Each column in `columns` is drawn
    as one curve or, if `by` names a column, as one curve for each value in that column. If there are columns "c, low"
    and "c, high" beside a column "c", then "c" is drawn as points with intervals."""
    x: str
    columns: tuple
    label: str  # label of the y axis
    by: str = ""


@dataclasses.dataclass(frozen=True)
class Section:
    """A section. `compute(lab, inputs)` returns the checks; `inputs` maps the name of each item of `assumed` to a
    value. The page shows two numbers of the first check: "theirs" (the paper's) and "ours". Without `compute`, the
    section cannot be decided, and `why_not` says why. `figure(lab, inputs)` returns the points of a plot or the rows of a
    table, as dictionaries with the same keys, for the page and for the stored row. `plot` says how to draw them."""
    id: str
    title: str
    compute: typing.Callable | None = None
    stated: tuple = ()
    assumed: tuple = ()
    used: tuple = ()
    remark: str = ""
    why_not: str = ""
    figure: typing.Callable | None = None
    plot: Plot | None = None


@dataclasses.dataclass(frozen=True)
class Paper:
    name: str
    citation: str
    sections: tuple
    headline: typing.Callable  # headline(lab) -> one sentence


def inputs_of(section):
    return {item.name: item.value for item in section.assumed}


def computed(section, lab):
    """Returns (checks, [(name, value, checks)]). The first element holds the checks with the chosen inputs. The list
    has an entry for each other value of each assumed input: the input's name, this value, and the checks with this
    value."""
    chosen = inputs_of(section)
    checks = section.compute(lab, chosen)
    varied = []
    for item in section.assumed:
        for value in item.variants():
            varied.append((item.name, value, section.compute(lab, {**chosen, item.name: value})))
    return checks, varied


def said(check, held):
    words = {True: "holds", False: "fails", None: "is open"} if check.is_conclusion else \
        {True: "agrees", False: "differs"}
    return "calibrated an input" if check.is_used else words[held]


def kept_check(check, others):
    held = outcome(check, others)
    spread = [other.ours.mean for other in others]
    return {"says": check.says, "relation": check.relation, "theirs": check.theirs, "ours": check.ours.mean,
            "interval": [check.ours.low, check.ours.high], "varied": [min(spread), max(spread)] if spread else None,
            "outcome": said(check, held)}


def sentence_of(decided, rows):
    """Returns how many statements of the rows hold, and which ones do not, in a sentence or two."""
    named = {word: [row["says"] for row in rows if row["outcome"] == word]
             for word in ("holds", "fails", "is open", "agrees", "differs")}
    counted = sum(map(len, named.values()))
    if decided == CONFIRMED:
        return f"All {counted} statements hold." if counted > 1 else "The statement holds."
    parts = [f"{heading}: {'; '.join(named[word])}." for word, heading in
             (("fails", "Fails"), ("differs", "Differs"), ("is open", "Open")) if named[word]]
    good = len(named["holds"]) + len(named["agrees"])
    return f"{good} of {counted} statements hold. " + " ".join(parts) if counted else "Nothing is left to decide."


def undecided(section, paper, sentence):
    return {"paper": paper.name, "id": section.id, "title": section.title, "theirs": None, "ours": None, "ratio": None,
            "verdict": UNDECIDED, "sentence": sentence, "checks": [], "sensitivity": [], "inputs": listed(section)}


def listed(section):
    return {"stated": list(section.stated), "used": list(section.used),
            "assumed": [f"{item.name} = {item.value:g} {item.unit}".strip() + f": {item.why}" for item in section.assumed]}


def row_of(section, paper, lab):
    """Returns the row that is stored for a section. If an input of the section is invalid, the verdict is "not
    decidable here", and the row says why."""
    if section.compute is None:
        return undecided(section, paper, section.why_not)
    try:
        checks, varied = computed(section, lab)
        points = section.figure(lab, inputs_of(section)) if section.figure else []
        decided = verdict(checks, [other for _, _, other in varied])
    except (Trouble, ValueError, KeyError, IndexError, ZeroDivisionError, subprocess.SubprocessError) as failed:
        return undecided(section, paper, f"Broken input: {type(failed).__name__}: {failed}")
    rows = [kept_check(check, [other[i] for _, _, other in varied]) for i, check in enumerate(checks)]
    first = checks[0]
    sensitivity = [{"input": name, "value": value, "verdict": verdict(other)} for name, value, other in varied]
    sentence = f"{sentence_of(decided, rows)} {section.remark}".strip()
    return undecided(section, paper, sentence) | {
        "theirs": first.theirs, "ours": first.ours.mean,
        "ratio": first.ours.mean / first.theirs if first.theirs else None,
        "verdict": decided, "checks": rows, "sensitivity": sensitivity} | ({"figure": points} if points else {}) | (
        {"plot": dataclasses.asdict(section.plot)} if section.plot else {})


def is_decided(row):
    return row["verdict"] in (CONFIRMED, REFINED, CONTRADICTED)
