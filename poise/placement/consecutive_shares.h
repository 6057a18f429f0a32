// SPDX-License-Identifier: BSD-3-Clause
// A placement that ignores messages: consecutive tasks, by number, on consecutive places.
#pragma once

#include "poise/placement/problem.h"

namespace poise {

/// Gives each place, in order, the next movable tasks until it has its fair share of the load
/// (fair_shares.h). Many programs number tasks so that those with near numbers communicate most;
/// then this placement has little traffic. O(tasks + p log p).
Placement consecutive_shares(const Problem& problem);

}  // namespace poise
