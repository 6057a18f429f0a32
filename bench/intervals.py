# SPDX-License-Identifier: BSD-3-Clause

"""Medians with intervals that assume nothing about the distribution of the samples."""

import math
import statistics


def rank_of_interval(count, confidence):
    """The largest r such that the median lies between the r-th least and the r-th greatest of `count`
    samples with this confidence; 1 (least to greatest) where the samples are too few for it."""
    outside, rank = 0.0, 0
    while rank < count // 2:
        outside += 2 * math.comb(count, rank) / 2**count
        if outside > 1 - confidence:
            break
        rank += 1
    return max(1, rank)


def median_interval(samples, confidence=0.95):
    """[median, low, high]: the interval of order statistics, by the binomial distribution. Below six
    samples it is least to greatest, whose confidence is less than 95 %."""
    ordered = sorted(samples)
    rank = rank_of_interval(len(ordered), confidence)
    return [statistics.median(ordered), ordered[rank - 1], ordered[-rank]]


def are_apart(one, other):
    """True if two results of median_interval do not touch."""
    return one[2] < other[1] or other[2] < one[1]
