// SPDX-License-Identifier: BSD-3-Clause
// Evens out the weights of parts by swaps, as in the first step of the balancer TreeMatchLB.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Moves or swaps vertices between the part that exceeds its share plus tolerance most and the
/// emptiest part, until no part exceeds it or a swap does not help. If that part cannot be
/// relieved, relieving others would rarely shorten an iteration, but would cut more edges. Fixed
/// vertices stay. Edges are ignored; only weights count. O(n log n + swaps log n).
void even_out_by_swaps(const Graph& graph, const Shares& shares, std::span<Part> part_of);

}  // namespace poise::graphs
