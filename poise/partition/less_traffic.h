// A placement that is even already: less traffic at the same loads.
#pragma once

#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// The same placement after moves and exchanges of tasks, and of clusters of tasks, while the
/// seconds of all messages fall and no place gets half a per cent more load than it has. What may
/// not move stays. O((n + m) log n).
Placement with_less_traffic(const Problem& problem, Placement placement,
                            const Tuning& tuning = kTuning);

}  // namespace poise
