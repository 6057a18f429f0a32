// SPDX-License-Identifier: BSD-3-Clause
// Finds the best map of a few ranks by branch and bound over all maps.
#pragma once

#include <vector>

#include "poise/partition/swap_search.h"

namespace poise {

/// Replaces `map` by a map with the least traffic; among such maps, by one with the fewest bytes at
/// the busiest node. The first `ranks` vertices are ranks; the others represent free slots and have
/// no edges. Branch and bound: a partial map is abandoned if its traffic exceeds the best so far
/// even with all other edges at the smallest distance. Visits at most `max_visits` partial maps. If
/// that is too few, returns false, and `map` is the best map found so far.
bool try_all_maps(const RankProblem& problem, graphs::Vertex ranks, std::size_t max_visits,
                  std::vector<Slot>& slot_of);

}  // namespace poise
