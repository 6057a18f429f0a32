// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/merging.h"

#include <numeric>
#include <utility>

#include "poise/distributed/tuning.h"
#include "poise/partition/coarsening.h"

namespace poise {

namespace {

/// Returns for each group whether its vertices are pinned, or nothing if `is_pinned` is empty.
std::vector<std::uint32_t> of_groups(const std::vector<std::uint32_t>& is_pinned,
                                     const graphs::Matching& matching) {
  std::vector<std::uint32_t> result(is_pinned.empty() ? 0 : matching.num_groups);
  for (std::size_t v = 0; v < is_pinned.size(); ++v) result[matching.group_of[v]] = is_pinned[v];
  return result;
}

}  // namespace

Merging merge_heavy_edges(graphs::Graph graph, std::vector<std::uint32_t> is_pinned,
                          const MergeLimits& limits) {
  Merging merging{std::vector<std::uint32_t>(graph.num_vertices()), graph.num_vertices()};
  std::iota(merging.group_of.begin(), merging.group_of.end(), 0u);
  double max_weight = limits.max_weight;
  while (merging.num_groups > 1) {
    const graphs::Matching matching = graphs::match_heavy_edges(graph, is_pinned, max_weight);
    if (matching.num_groups > distributed_tuning::kMinShrink * merging.num_groups) {
      if (merging.num_groups <= limits.max_vertices) break;
      // Merging ends if a higher weight limit would change nothing: a limit of 0 stays 0 when it is
      // multiplied, and a limit above 1e300 excludes no vertex.
      if (max_weight == 0 || max_weight > 1e300) break;
      max_weight *= distributed_tuning::kHeavier;
    }
    if (matching.num_groups == merging.num_groups) continue;
    graph = graphs::contract(graph, matching.group_of, matching.num_groups);
    is_pinned = of_groups(is_pinned, matching);
    for (std::uint32_t& group : merging.group_of) group = matching.group_of[group];
    merging.num_groups = matching.num_groups;
  }
  return merging;
}

Merging merge_piece(const Piece& piece, std::uint32_t rank, const MergeLimits& limits) {
  graphs::Graph graph;
  std::vector<std::uint32_t> is_pinned;
  for (const PieceVertex& vertex : piece.vertices) {
    graph.weight.push_back(vertex.weight);
    is_pinned.push_back(vertex.is_pinned);
  }
  graph.first.assign(piece.vertices.size() + 1, 0);
  for (const PieceEdge& edge : piece.out)
    if (edge.other.rank == rank) ++graph.first[edge.own + 1], ++graph.first[edge.other.index + 1];
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  graph.to.resize(graph.first.back());
  graph.affinity.resize(graph.first.back());
  std::vector<std::size_t> next(graph.first.begin(), graph.first.end() - 1);
  for (const PieceEdge& edge : piece.out) {
    if (edge.other.rank != rank) continue;
    for (const auto& [from, to] :
         {std::pair(edge.own, edge.other.index), {edge.other.index, edge.own}}) {
      graph.to[next[from]] = to;
      graph.affinity.set(next[from]++, edge.bytes + edge.count);
    }
  }
  return merge_heavy_edges(std::move(graph), std::move(is_pinned), limits);
}

std::vector<PieceVertex> merged_vertices(const std::vector<PieceVertex>& vertices,
                                         const Merging& merging) {
  std::vector<PieceVertex> merged(merging.num_groups);
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    PieceVertex& into = merged[merging.group_of[v]];
    into.load_s += vertices[v].load_s;
    into.weight += vertices[v].weight;
    into.bytes += vertices[v].bytes;
    into.num_tasks += vertices[v].num_tasks;
    into.is_pinned |= vertices[v].is_pinned;
  }
  return merged;
}

}  // namespace poise
