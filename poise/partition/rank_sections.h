// SPDX-License-Identifier: BSD-3-Clause
// Computes an initial map of ranks by halving the graph of ranks and the machine again and again.
#pragma once

#include <vector>

#include "poise/partition/swap_search.h"

namespace poise {

/// Returns the slot of each vertex. The slots are halved along the machine: between the groups of
/// the coarsest level that divides them, or across the longest side of a torus or mesh. The
/// vertices are cut into two sets of exactly as many vertices as the halves have slots
/// (multilevel_bisection.h); each vertex is drawn towards the half that is nearer to its partners
/// in other regions. The method is dual recursive bipartitioning (Pellegrini, "Static mapping by
/// dual recursive bipartitioning of process and architecture graphs", 1994). O((vertices + edges)
/// log slots).
std::vector<Slot> cut_into_slots(const RankProblem& problem, unsigned attempts);

/// Does the same, but treats all nodes as equally far apart. As a result, few bytes travel between
/// nodes, but some of them travel far.
std::vector<Slot> cut_into_nodes(const RankProblem& problem, unsigned attempts);

}  // namespace poise
