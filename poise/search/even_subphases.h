// SPDX-License-Identifier: BSD-3-Clause
// Balances the load of each subphase of a placement, not only that of the whole phase.
#pragma once

#include "poise/placement/placement.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// Strategies balance the load of a whole phase. If all places wait for each other after every
/// subphase, the iteration takes the sum of the busiest times of the subphases instead; ChaNGa's
/// MultistepLB solves the same problem. If subphases overlap, it takes the longest of them. This
/// function moves or exchanges tasks between pairs of places while that time decreases, and returns
/// the placement with the shorter iteration.
///
/// The makespan increases little, because the sum is an upper bound of it. A step must gain more
/// than its additional messages cost. Tasks that are not movable stay. Returns the placement
/// unchanged if loads per subphase are unknown, if tasks have limits on memory or cores, or if the
/// gain is small. O((tasks + places) * subphases).
Placement even_in_subphases(Placement placement, const Problem& problem,
                            const Tuning& tuning = kTuning);

}  // namespace poise
