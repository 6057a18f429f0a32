// Halving a graph: vertices with much affinity become one.
#pragma once

#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::graphs {

struct Matching {
  std::vector<Vertex> group_of;  // per vertex
  Vertex num_groups = 0;
};

/// Pairs each vertex with the free neighbour it has most affinity with, unless they would weigh
/// more than max_weight together. Where that leaves many alone (stars, vertices without edges),
/// those with the same heaviest neighbour are paired too. Vertices fixed to different parts stay
/// apart; `fixed` may be empty. O(vertices + edges).
Matching match_heavy_edges(const Graph& graph, std::span<const Vertex> fixed, double max_weight);

}  // namespace poise::graphs
