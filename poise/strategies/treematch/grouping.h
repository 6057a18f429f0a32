// SPDX-License-Identifier: BSD-3-Clause
// One step of TreeMatch: divides elements by affinity into groups of equal size.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// Divides the vertices into num_vertices / arity groups of exactly `arity` vertices, with large
/// affinity inside the groups, and returns the group of each vertex. `arity` must divide the number
/// of vertices.
///
/// Jeannot and Mercier, "Near-optimal placement of MPI processes on hierarchical NUMA
/// architectures", Euro-Par 2010. If there are at most 30,000 ways to divide the vertices, returns
/// the best of them. Otherwise the method depends on `arity`. Pairs are taken from the list of
/// edges, heaviest first. Larger groups are taken from the list of all possible groups, best first,
/// if that list has at most 30,000 entries; if it has more, k-way partitioning makes the groups.
/// Finally, exchanges of vertices between groups improve the result.
std::vector<Vertex> group_by_affinity(const Graph& graph, std::uint32_t arity);

}  // namespace poise::tree_match
