// SPDX-License-Identifier: BSD-3-Clause
// Evens out the weights of parts by swaps, as in the first step of the balancer TreeMatchLB.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Moves or swaps vertices between the fullest and the emptiest part, as long as a part exceeds its
/// share plus tolerance and a swap helps. Fixed vertices stay. Edges are ignored; only weights
/// count. O(n log n + swaps log n).
void even_out_by_swaps(const Graph& graph, const Shares& shares, std::span<Part> part_of);

}  // namespace poise::graphs
