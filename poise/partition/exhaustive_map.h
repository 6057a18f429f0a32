// SPDX-License-Identifier: BSD-3-Clause
// The best map of a few ranks, by trying all maps that could be better than a given one.
#pragma once

#include <vector>

#include "poise/partition/swap_search.h"

namespace poise {

/// Replaces the map by one of least traffic; among those, one with the least bytes at the busiest
/// node. Vertices from `ranks` on have no edges. Branch and bound: a partial map is given up when
/// its traffic, with all other edges at the least distance, exceeds the best so far. Returns false
/// if that was not decided after `max_visits` partial maps; the map is then the best seen.
bool try_all_maps(const RankProblem& problem, graphs::Vertex ranks, std::size_t max_visits,
                  std::vector<Slot>& slot_of);

}  // namespace poise
