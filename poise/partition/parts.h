// SPDX-License-Identifier: BSD-3-Clause
// Improves a k-way partition by moving single vertices.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Moves free vertices between adjacent parts to lower the affinity that is cut, while parts keep
/// to their shares. First, overweight parts give away the vertices whose moves cost least. Then
/// every vertex moves to the best part with room. Last, hill climbs follow (climb.h). A part may
/// exceed its share plus tolerance by the weight `spare`, because otherwise heavy vertices of
/// coarse graphs could not move. Makes a few passes of O((vertices + edges) log vertices).
void improve_parts(const Graph& graph, const Shares& shares, double spare, std::span<Part> part_of);

}  // namespace poise::graphs
