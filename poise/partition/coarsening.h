// SPDX-License-Identifier: BSD-3-Clause
// One step of graph coarsening: merges pairs of vertices with large affinity.
#pragma once

#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::graphs {

struct Matching {
  std::vector<Vertex> group_of;  // per vertex
  Vertex num_groups = 0;
};

/// Matches each vertex with the unmatched neighbour of greatest affinity, unless the two would
/// weigh more than max_weight together. If that leaves many vertices unmatched (as in stars, or
/// without edges), vertices with the same heaviest neighbour are matched too. Vertices fixed to
/// different parts are never matched; `fixed` may be empty. O(vertices + edges).
Matching match_heavy_edges(const Graph& graph, std::span<const Vertex> fixed, double max_weight);

}  // namespace poise::graphs
