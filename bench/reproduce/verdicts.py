# SPDX-License-Identifier: BSD-3-Clause

"""Compares what a paper says with our results, and derives a verdict by one rule.

A *figure* is a number in the paper. A *conclusion* is a sentence of the paper, written as an inequality. Both are
checked with the chosen inputs, and again with every assumed input halved and doubled.

- contradicted: some conclusion fails with the chosen inputs and with all varied ones; or there are only figures, and
  with the chosen inputs one of our figures differs from the paper's by more than the factor FAR.
- confirmed: with the chosen inputs and with all varied ones, all conclusions hold and all figures are within TOLERANCE.
- refined: no conclusion fails with all inputs, but a figure differs with some inputs, or a conclusion is open.
- not decidable here: there is nothing to check, or every conclusion is open.

A conclusion is open if our results do not tell whether it holds: the confidence interval of our result over seeds
contains the paper's number, or the conclusion holds with some values of an assumed input and fails with others.

Statements that were used to calibrate an input are marked `used` and do not count."""

import dataclasses
import math
import statistics

CONFIRMED, REFINED, CONTRADICTED = "confirmed", "refined", "contradicted"
UNDECIDED = "not decidable here"
VERDICTS = [CONFIRMED, REFINED, CONTRADICTED, UNDECIDED]
# Our figure agrees with the paper's if they differ by at most this fraction. The fraction is that large because papers
# state times only with a precision of about 5 %.
TOLERANCE = 0.10
FAR = 2.0  # without conclusions, one figure that differs from ours by more than this factor means "contradicted"
ABOUT, ABOVE, BELOW = "about", "above", "below"
# 0.975 quantiles of Student's t-distribution, by degrees of freedom.
STUDENT = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
           2.131, 2.120, 2.110, 2.101, 2.093]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % confidence interval. A value from theory, or from a simulation that does not
    depend on a seed, is a single sample, whose interval has no width."""
    mean: float
    low: float
    high: float

    @staticmethod
    def of(samples):
        samples = [samples] if isinstance(samples, (int, float)) else list(samples)
        if not samples or not all(math.isfinite(sample) for sample in samples):
            raise ValueError(f"samples must be finite numbers, not {samples}")
        mean = statistics.fmean(samples)
        if len(samples) == 1:
            return Estimate(mean, mean, mean)
        quantile = STUDENT[len(samples) - 1] if len(samples) <= len(STUDENT) else 1.96
        half = quantile * statistics.stdev(samples) / math.sqrt(len(samples))
        return Estimate(mean, mean - half, mean + half)


@dataclasses.dataclass(frozen=True)
class Check:
    """One statement of a paper: our result should be about the paper's number, or above it, or below it."""
    says: str
    ours: Estimate
    relation: str
    theirs: float
    is_used: bool = False

    @property
    def is_conclusion(self):
        return self.relation != ABOUT

    def holds(self):
        """Returns True if the statement holds with these inputs, otherwise False. Returns None if the statement is an
        inequality and the paper's number lies within our confidence interval over seeds."""
        if self.relation == ABOUT:
            return abs(self.ours.mean - self.theirs) <= TOLERANCE * abs(self.theirs) * (1 + 1e-9)
        low, high = self.ours.low, self.ours.high
        if self.relation == BELOW:
            low, high = -high, -low
        limit = self.theirs if self.relation == ABOVE else -self.theirs
        return True if low > limit else False if high <= limit else None

    def is_far(self):
        if self.theirs == 0 or self.ours.mean / self.theirs <= 0:
            return self.ours.mean != self.theirs
        return not 1 / FAR <= self.ours.mean / self.theirs <= FAR


def about(says, theirs, samples, is_used=False):
    return Check(says, Estimate.of(samples), ABOUT, theirs, is_used)


def above(says, theirs, samples, is_used=False):
    return Check(says, Estimate.of(samples), ABOVE, theirs, is_used)


def below(says, theirs, samples, is_used=False):
    return Check(says, Estimate.of(samples), BELOW, theirs, is_used)


def claim(gain, theirs):
    """Returns the verdict on a paper's claim about a gain, with the reason. `gain` is the estimate of our gain (0.2 for
    20 %), `theirs` is the gain that the paper states."""
    if gain.low <= 0:
        return f"{CONTRADICTED} (no gain)" if gain.high <= 0 else f"{UNDECIDED} (the interval contains 0)"
    if gain.mean < (1 - TOLERANCE) * theirs:
        return f"{REFINED} (less)"
    return f"{REFINED} (more)" if gain.mean > (1 + TOLERANCE) * theirs else CONFIRMED


def outcome(check, others):
    """Returns whether a statement of a paper holds. `check` is its check with the chosen inputs, `others` are its
    checks with varied inputs. For a figure (a number of the paper), returns True if all checks agree with it, otherwise
    False. For a conclusion (an inequality), returns the answer that all checks have in common, or None if their answers
    differ."""
    answers = {check.holds()} | {other.holds() for other in others}
    if not check.is_conclusion:
        return answers == {True}
    return answers.pop() if len(answers) == 1 else None


def verdict(checks, varied=()):
    """Returns the verdict. `checks` are the checks with the chosen inputs. `varied` has one list for each varied value
    of an input: the same checks in the same order, with that value."""
    for other in varied:
        if [c.says for c in other] != [c.says for c in checks]:
            raise ValueError("a varied input changed which statements are checked")
    counted = [i for i, check in enumerate(checks) if not check.is_used]
    outcomes = {i: outcome(checks[i], [other[i] for other in varied]) for i in counted}
    conclusions = [outcomes[i] for i in counted if checks[i].is_conclusion]
    if not counted or (conclusions and all(held is None for held in conclusions)):
        return UNDECIDED
    if False in conclusions or (not conclusions and any(checks[i].is_far() for i in counted)):
        return CONTRADICTED
    return CONFIRMED if all(outcomes.values()) else REFINED
