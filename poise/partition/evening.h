// TreeMatchLB's first step: groups of about equal load, by swapping tasks between them.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Swaps (or moves) free vertices from the fullest part to the emptiest while one is above its
/// share and tolerance and the swap helps. Looks at weights alone. O(n log n + swaps log n).
void even_out_by_swaps(const Graph& graph, const Shares& shares, std::span<Part> part_of);

}  // namespace poise::graphs
