# SPDX-License-Identifier: BSD-3-Clause

"""Medians with confidence intervals that assume nothing about the distribution of the samples."""

import math
import statistics


def rank_of_interval(count, confidence):
    """Returns the largest r for which the interval from the r-th smallest to the r-th largest of `count` samples
    contains the median of the distribution with at least this confidence. If there are too few samples, returns 1: the
    interval from the smallest to the largest sample."""
    outside, rank = 0.0, 0
    while rank < count // 2:
        outside += 2 * math.comb(count, rank) / 2**count
        if outside > 1 - confidence:
            break
        rank += 1
    return max(1, rank)


def median_interval(samples, confidence=0.95):
    """Returns [median, low, high]. The ends of the confidence interval are two of the samples, chosen by the binomial
    distribution. With fewer than six samples they are the smallest and the largest, and the confidence is less than
    95 %."""
    ordered = sorted(samples)
    rank = rank_of_interval(len(ordered), confidence)
    return [statistics.median(ordered), ordered[rank - 1], ordered[-rank]]


def quantile_interval(samples, quantile, confidence=0.95):
    """Returns [quantile, low, high]. The ends of the interval are two of the samples, chosen by the binomial
    distribution. If there are too few samples, the upper end is the largest sample, and the confidence is lower than
    asked for."""
    ordered, count = sorted(samples), len(samples)
    low, high, cumulated = 0, count - 1, 0.0
    for below in range(count + 1):  # adds the probability that `below` samples are below the quantile
        log_ways = math.lgamma(count + 1) - math.lgamma(below + 1) - math.lgamma(count - below + 1)
        cumulated += math.exp(log_ways + below * math.log(quantile) + (count - below) * math.log(1 - quantile))
        if cumulated <= (1 - confidence) / 2:
            low = below
        if cumulated >= (1 + confidence) / 2:
            high = min(high, below)
            break
    return [ordered[min(count - 1, int(quantile * count))], ordered[low], ordered[high]]


def are_apart(one, other):
    """True if two results of median_interval do not overlap."""
    return one[2] < other[1] or other[2] < one[1]


def is_near(predicted, interval, tolerance=0.1):
    """True if a prediction differs from the median of an interval by at most `tolerance` times the median, or by at most
    the width of the interval."""
    median, low, high = interval
    return abs(predicted - median) <= max(tolerance * median, high - low)


def verdict_of_gain(predicted, interval):
    """Compares the predicted gain of a remedy, as a fraction of the run time, with the interval of the measured gain. A
    measured gain is close to the prediction if the two differ by at most a quarter of the measured gain, or by at most
    3 % of the run time. Returns "right" if the median is close, "other gain" if no value in the interval is close, and
    otherwise "undecided"."""
    def is_close(gain):
        return abs(gain - predicted) <= max(abs(gain) / 4, 0.03)

    median, low, high = interval
    if is_close(median):
        return "right"
    is_apart = not is_close(low) and not is_close(high) and not low < predicted < high
    return "other gain" if is_apart else "undecided"
