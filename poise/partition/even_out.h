// SPDX-License-Identifier: BSD-3-Clause
// Evens out the weights of parts by swaps, as in the first step of the balancer TreeMatchLB.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// A part's limit is its share plus tolerance. Each step moves a vertex from the part that exceeds
/// its limit most to the emptiest part, or swaps a vertex of one for a vertex of the other. Ends
/// when no part exceeds its limit, or when no step lowers the excess of the worst part: relieving
/// other parts would then rarely shorten an iteration, but would cut more edges. Fixed vertices
/// stay. Edges are ignored; only weights count. O(n log n + swaps log n).
void even_out_by_swaps(const Graph& graph, const Shares& shares, std::span<Part> part_of);

}  // namespace poise::graphs
