// SPDX-License-Identifier: BSD-3-Clause
// Improves a k-way partition by moving single vertices.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Moves free vertices between adjacent parts to lower the cut affinity, while parts keep to their
/// shares. First, overweight parts give away the vertices that cost least. Then every vertex moves
/// to the best part with room. Last, hill climbs follow (climb.h). A part may exceed its tolerance
/// by the weight `spare`, without which coarse vertices could not move. O((vertices + edges) log
/// vertices), a few passes.
void improve_parts(const Graph& graph, const Shares& shares, double spare, std::span<Part> part_of);

}  // namespace poise::graphs
