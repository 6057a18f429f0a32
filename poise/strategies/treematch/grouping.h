// SPDX-License-Identifier: BSD-3-Clause
// One step of TreeMatch: divides elements into groups of equal size by affinity.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// All ways to divide the elements into groups are listed if there are at most this many; likewise
/// all possible groups.
constexpr double kMaxListed = 30000;

/// Returns the group of each vertex: num_vertices / arity groups of exactly `arity` vertices, with
/// large affinity inside. `arity` must divide the number of vertices.
///
/// Jeannot and Mercier, "Near-optimal placement of MPI processes on hierarchical NUMA
/// architectures", Euro-Par 2010. If there are at most 30,000 groupings, returns the best.
/// Otherwise chooses disjoint groups, best first: from all C(n, arity) groups if there are at most
/// 30,000; for pairs, from the edges, which are sorted in buckets as needed; else by k-way
/// partitioning. Exchanges of elements then improve the result.
std::vector<Vertex> group_by_affinity(const Graph& graph, std::uint32_t arity);

}  // namespace poise::tree_match
