// One step of TreeMatch: elements put into groups of equal size by affinity.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // graph.h and what stands on it

/// Up to here every possibility is listed: of grouping all elements, or of forming one group.
constexpr double kMaxListed = 30000;

/// The group of each vertex: num_vertices / arity groups of exactly `arity`, with much affinity
/// inside them. `arity` must divide the number of vertices.
///
/// Jeannot and Mercier, "Near-optimal placement of MPI processes on hierarchical NUMA
/// architectures", 2010: the best of all groupings where at most 30,000 exist; else the best
/// disjoint ones of all C(n, arity) groups, where there are at most 30,000 of those; else, for
/// pairs, edges taken from the heaviest down, sorted bucket by bucket and only as far as needed;
/// else k-way partitioning. All but the first are then improved by exchanging elements.
std::vector<Vertex> group_by_affinity(const Graph& graph, std::uint32_t arity);

}  // namespace poise::tree_match
