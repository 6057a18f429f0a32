// SPDX-License-Identifier: BSD-3-Clause
// Balances the load of each subphase of a placement, not only that of the whole phase.
#pragma once

#include "poise/placement/placement.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// Strategies balance the load of a whole phase. But if all places wait for each other after every
/// subphase, the iteration takes the sum, over the subphases, of the busiest place's time.
/// (ChaNGa's MultistepLB solves the same problem.) If subphases overlap, the iteration takes the
/// longest of these times. Moves or exchanges tasks between pairs of places while that shortens the
/// iteration. Returns the new placement if its predicted iteration, messages included, is shorter.
///
/// The total load of the busiest place increases little, because no place's total exceeds the sum,
/// over the subphases, of the busiest place's time. A move or exchange must gain more than its
/// additional messages cost. Tasks that are not movable stay. Returns the placement unchanged if
/// loads per subphase are unknown, if tasks have limits on memory or cores, or if the gain is
/// small. O((tasks + places) * subphases).
Placement even_in_subphases(Placement placement, const Problem& problem,
                            const Tuning& tuning = kTuning);

}  // namespace poise
