// SPDX-License-Identifier: BSD-3-Clause
// Maps ranks to slots: one rank per slot, little traffic over long distances.
#pragma once

#include <cstdint>
#include <optional>

#include "poise/partition/rank_slots.h"
#include "poise/partition/swap_search.h"
#include "poise/placement/map_cost.h"

namespace poise {

/// What the map is for.
struct RankMapOptions {
  Distance distance = Distance::hops;
  RankShape shape = {};
  SwapEffort effort = {};
};

/// Rank r in the r-th slot: the order in which launchers fill nodes.
Placement in_block_order(const Machine& machine, const Workload& workload, const RankShape& shape);

/// The place of each rank (the first of its cores), no slot used twice. Minimises the sum of bytes
/// times distance: cuts the graph along the machine (rank_sections.h), then swaps ranks
/// (swap_search.h). With at most 9 ranks every map is tried; otherwise neither bytes between nodes
/// nor those of the busiest node exceed those of block order, nor does the sum exceed that of block
/// order or of `current` (where it is given and uses no slot twice). Loads are ignored. Throws
/// Error if the machine has too few slots. O((ranks + messages) log ranks).
Placement map_ranks(const Machine& machine, const Workload& workload, const Placement* current,
                    const RankMapOptions& options);

/// The map nearest to a placement that uses slots twice or places without a slot: of the ranks on
/// a place, those with most traffic there keep it, the others take the nearest free slots. A
/// placement that fits already is returned as it is.
Placement one_per_slot(const Machine& machine, const Workload& workload, const Placement& placement,
                       const RankMapOptions& options);

}  // namespace poise
