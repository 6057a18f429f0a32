// SPDX-License-Identifier: BSD-3-Clause
// Lowers the traffic of a balanced placement without changing its balance.
#pragma once

#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// Moves and exchanges tasks, and clusters of tasks, as long as the sum of message times decreases.
/// The load of a place may increase by at most the fraction tuning.tolerance. Tasks that are not
/// movable stay. O((n + m) log n).
Placement with_less_traffic(const Problem& problem, Placement placement,
                            const Tuning& tuning = kTuning);

}  // namespace poise
