// SPDX-License-Identifier: BSD-3-Clause
// Graham's list scheduling: the longest task first, each on the place that finishes it first.
#pragma once

#include "poise/placement/problem.h"

namespace poise {

/// Places every movable task by load alone, whatever its current place. Ties: lower task, lower
/// place. O(n + n log p). Source and quality: strategies/greedy.cc.
Placement longest_first(const Problem& problem);

}  // namespace poise
