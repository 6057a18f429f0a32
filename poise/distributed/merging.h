// SPDX-License-Identifier: BSD-3-Clause
// Merges the vertices of a graph along heavy edges until few vertices remain.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/pieces.h"
#include "poise/partition/graph.h"

namespace poise {

/// Limits for merging the vertices of one leader. A merged vertex exceeds max_weight in two cases
/// only: if it consists of a single vertex, or if more than max_vertices vertices would be left
/// otherwise.
struct MergeLimits {
  double max_weight = 0;         // maximum weight of a merged vertex
  std::size_t max_vertices = 0;  // target number of vertices after merging
  std::size_t max_edges = 0;     // number of edges that are kept, the heaviest ones
};

/// Merges the vertices and returns the group of each vertex. Pinned vertices are merged only with
/// other pinned vertices; `is_pinned` may be empty. The graph is passed by value so that its memory
/// can be freed before the next, smaller graph is built. O(vertices + edges).
struct Merging {
  std::vector<std::uint32_t> group_of;
  std::uint32_t num_groups = 0;
};
Merging merge_heavy_edges(graphs::Graph graph, std::vector<std::uint32_t> is_pinned,
                          const MergeLimits& limits);

/// Merges the vertices of the piece that `rank` holds, along its heaviest edges. Edges to vertices
/// of other ranks are ignored.
Merging merge_piece(const Piece& piece, std::uint32_t rank, const MergeLimits& limits);
/// The merged vertices.
std::vector<PieceVertex> merged_vertices(const std::vector<PieceVertex>& vertices,
                                         const Merging& merging);

}  // namespace poise
