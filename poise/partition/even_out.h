// SPDX-License-Identifier: BSD-3-Clause
// Evens out the weights of parts by swapping vertices, as in the first step of TreeMatchLB.
#pragma once

#include <span>

#include "poise/partition/partition.h"

namespace poise::graphs {

/// Swaps or moves free vertices from the fullest part to the emptiest while a part exceeds its
/// share and tolerance and a swap helps. Looks at weights only. O(n log n + swaps log n).
void even_out_by_swaps(const Graph& graph, const Shares& shares, std::span<Part> part_of);

}  // namespace poise::graphs
