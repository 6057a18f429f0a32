// SPDX-License-Identifier: BSD-3-Clause
// Bisection of a large graph: bisects a coarser graph, then improves the result on finer ones.
#pragma once

#include <vector>

#include "poise/partition/bisection.h"

namespace poise::graphs {

/// Returns the side of each vertex, by multilevel bisection (Karypis and Kumar, "A fast and high
/// quality multilevel scheme for partitioning irregular graphs", 1998). O((vertices + edges) log
/// vertices).
std::vector<Side> multilevel_bisect(const Graph& graph, const Split& split,
                                    const Tuning& tuning = kTuning);

}  // namespace poise::graphs
