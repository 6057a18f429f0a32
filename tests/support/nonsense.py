# SPDX-License-Identifier: BSD-3-Clause

"""32 kinds of values that no user would choose, for tests of environment variables. A variable may accept some of
them nevertheless."""

import random

MAX_NAMES = 12
KINDS = [
    "", " ", "-1", "-0", "0", "1", "2", "1.5", "1,5", "+3", "0x10", "1e3", "1e400", "1e-400", "nan", "-inf",
    "99999999999999999999", "yes", "Auto", "auto ", ":", "a=b", "greedy:tolerance=", "a\nb", "\t", "\u00e9", "\udcff\udcfe",
    "%s%n%d", "x" * 10_000, "/", "/no/such/folder/x", "1e300s",
]


def draws(names, which, seed):
    """Returns pairs (variable, value). If `which` is "all", these are all values for each variable; if it is "some",
    one value for each of at most 12 variables. The seed determines the draw."""
    kinds = list(KINDS)
    draw = random.Random(seed)
    draw.shuffle(kinds)
    if which == "some":
        names = draw.sample(names, min(len(names), MAX_NAMES))
    return [(name, value) for i, name in enumerate(names)
            for value in (kinds if which == "all" else [kinds[i % len(kinds)]])]
