// SPDX-License-Identifier: BSD-3-Clause
// Graham's list scheduling: the longest tasks first, each on the place that would finish it first.
#pragma once

#include "poise/placement/problem.h"

namespace poise {

/// Places every movable task by its load only, ignoring the current placement. Of equal tasks and
/// of equal places, the one with the lower id comes first. O(n + n log p) for n tasks and p places.
/// For source and quality see strategies/greedy.cc.
Placement longest_first(const Problem& problem);

}  // namespace poise
