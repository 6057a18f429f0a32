// SPDX-License-Identifier: BSD-3-Clause
// Finds the best map of a few ranks by trying all maps that could be better than a given one.
#pragma once

#include <vector>

#include "poise/partition/swap_search.h"

namespace poise {

/// Replaces the map by one with the least traffic; among those, by one with the fewest bytes at the
/// busiest node. The first `ranks` vertices are ranks; the others stand for free slots and have no
/// edges. Branch and bound: a partial map is abandoned if its traffic, with all other edges at the
/// smallest distance, exceeds the best so far. If more than `max_visits` partial maps would be
/// needed, returns false and leaves the best map seen.
bool try_all_maps(const RankProblem& problem, graphs::Vertex ranks, std::size_t max_visits,
                  std::vector<Slot>& slot_of);

}  // namespace poise
