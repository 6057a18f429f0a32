// SPDX-License-Identifier: BSD-3-Clause
// Graham's list scheduling: the longest task first, each on the place that finishes it first.
#pragma once

#include "poise/placement/problem.h"

namespace poise {

/// Places every movable task by its load only, ignoring the current placement. Among equals, the
/// task and then the place with the lower id are chosen. O(n + n log p). For source and quality see
/// strategies/greedy.cc.
Placement longest_first(const Problem& problem);

}  // namespace poise
