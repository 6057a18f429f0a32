// SPDX-License-Identifier: BSD-3-Clause
// A placement that ignores messages: each place gets a block of consecutive tasks.
#pragma once

#include "poise/placement/problem.h"

namespace poise {

/// Cuts the movable tasks into blocks of consecutive tasks, the i-th block for place i. The
/// makespan exceeds the shortest makespan of any such cut by at most 1/1000 of the longest task's
/// time. Of the cuts within this limit, takes the one nearest to the fair shares (fair_shares.h).
/// Many programs number tasks so that those with near numbers communicate most; then this placement
/// has little traffic. O(tasks + p log tasks).
///
/// Pinar and Aykanat, "Fast optimal load balancing algorithms for 1D partitioning", JPDC 2004.
Placement consecutive_shares(const Problem& problem);

}  // namespace poise
