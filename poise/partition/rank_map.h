// SPDX-License-Identifier: BSD-3-Clause
// Maps ranks to slots (groups of cores, one per rank) with little traffic over long distances.
#pragma once

#include <cstdint>
#include <optional>

#include "poise/partition/rank_slots.h"
#include "poise/partition/swap_search.h"
#include "poise/placement/map_cost.h"

namespace poise {

/// Options of a map: the measure of distance, the cores per rank, and the effort of the search.
struct RankMapOptions {
  Distance distance = Distance::hops;
  RankShape shape = {};
  SwapEffort effort = {};
};

/// Puts rank r into slot r. Launchers fill nodes in this order.
Placement in_block_order(const Machine& machine, const Workload& workload, const RankShape& shape);

/// True if every rank of the placement has a slot of its own.
bool is_one_per_slot(const Machine& machine, const Placement& placement, const RankShape& shape);

/// Returns the place of each rank (the first of its cores); no slot is used twice. Minimises the
/// sum of bytes times distance: it cuts the graph along the machine in several ways
/// (rank_sections.h), then swaps ranks of the best result, or of the best few results if the graph
/// is small (swap_search.h). On a torus, mesh or dragonfly, it also divides the ranks into nodes
/// first and then maps the nodes, and returns the better map. The search uses the slots that
/// rank_slots() returns: those of the first nodes with room, and of the nodes that `current` uses.
///
/// With at most 9 ranks, every map is tried by branch and bound, with the mean of the distances of
/// both directions: first on these slots, and then, unless a launcher must fill the nodes or the
/// machine has very many slots, on all nodes. Each of the two searches ends early if it takes too
/// long (max_visits in tuning.h). The sum is then at most that of `current` and at most that of
/// block order. With more ranks, four values are at most those of `current`, or those of block
/// order if `current` is null or uses a slot twice: the sum, the bytes between nodes, the bytes of
/// the busiest node, and the bytes of the busiest network card. Loads are ignored. Throws Error if
/// the machine has too few slots. O((ranks + messages) log ranks).
Placement map_ranks(const Machine& machine, const Workload& workload, const Placement* current,
                    const RankMapOptions& options);

/// A map of ranks, and which maps were tried to find it.
struct TriedMap {
  Placement placement;
  bool tried_all = false;  // every map on `nodes` nodes was tried
  NodeId nodes = 0;        // number of nodes on which maps were tried
};

/// Like map_ranks(), but also tells which maps were tried.
TriedMap try_maps(const Machine& machine, const Workload& workload, const Placement* current,
                  const RankMapOptions& options);

/// Makes a map from a placement that may use slots twice, or places without a slot. Of several
/// ranks on one slot, the one that exchanges most bytes keeps the slot; the others take the nearest
/// free slots. A placement that fits already is returned unchanged.
Placement one_per_slot(const Machine& machine, const Workload& workload, const Placement& placement,
                       const RankMapOptions& options);

}  // namespace poise
