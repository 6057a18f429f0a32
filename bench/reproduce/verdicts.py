# SPDX-License-Identifier: BSD-3-Clause

"""What a paper says beside what we find, and the rule that turns the comparison into a verdict.

The rule is here once and is applied by code. A *figure* is a number of the paper, and a *conclusion* is a sentence of
it as an inequality. Both are checked with the chosen inputs, and again with every assumed input halved and doubled.

- contradicted: some conclusion fails with all inputs; or there are only figures, and one is further off than FAR.
- confirmed: all conclusions hold and all figures are within TOLERANCE, with all inputs.
- refined: conclusions hold, but a figure is off, or depends on what was assumed, or some conclusions are open.
- not decidable here: nothing to check, or every conclusion is open. A conclusion is open if its interval over seeds
  contains the limit, or if an assumed input decides whether it holds.

What calibrated an input is marked `used` and does not count."""

import dataclasses
import math
import statistics

CONFIRMED, REFINED, CONTRADICTED = "confirmed", "refined", "contradicted"
UNDECIDED = "not decidable here"
VERDICTS = [CONFIRMED, REFINED, CONTRADICTED, UNDECIDED]
TOLERANCE = 0.10  # relative difference at which a figure agrees; the papers' own intervals are 5 % of a time
FAR = 2.0  # factor beyond which a figure alone contradicts
ABOUT, ABOVE, BELOW = "about", "above", "below"
# Quantiles 0.975 of Student's distribution by degrees of freedom.
STUDENT = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
           2.131, 2.120, 2.110, 2.101, 2.093]


@dataclasses.dataclass(frozen=True)
class Estimate:
    """A mean over seeds with its 95 % interval. One sample is exact: theory, or a simulation without a seed."""
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
    """One statement of a paper: `ours` should be about `theirs`, or above it, or below it."""
    says: str
    ours: Estimate
    relation: str
    theirs: float
    is_used: bool = False

    @property
    def is_conclusion(self):
        return self.relation != ABOUT

    def holds(self):
        """True or False; None if the interval over seeds contains the limit of a conclusion."""
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


def outcome(check, others):
    """Whether a statement holds with the chosen inputs and with all `others`: True, False, or None where it is open.
    A figure has no open state: it agrees with all inputs, or it does not."""
    answers = {check.holds()} | {other.holds() for other in others}
    if not check.is_conclusion:
        return answers == {True}
    return answers.pop() if len(answers) == 1 else None


def verdict(checks, varied=()):
    """`varied` holds the same checks, in the same order, once per varied input."""
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
