// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/merging.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
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

/// True if the vertex may be merged with one of its neighbours: both are pinned, or neither is.
bool has_partner(const graphs::Graph& graph, const std::vector<std::uint32_t>& is_pinned,
                 std::uint32_t v) {
  for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
    if (is_pinned[graph.to[e]] == is_pinned[v]) return true;
  return false;
}

/// Pairs vertices that the matching leaves unpaired and that have no neighbour with which they may
/// be merged: pinned ones with each other, and the others with each other.
void pair_without_edges(const graphs::Graph& graph, const std::vector<std::uint32_t>& is_pinned,
                        double max_weight, graphs::Matching& matching) {
  const bool is_mixed = std::adjacent_find(is_pinned.begin(), is_pinned.end(),
                                           std::not_equal_to<>()) != is_pinned.end();
  // If all vertices are pinned or none is, the matching itself has paired those without neighbours.
  if (!is_mixed) return;
  std::vector<std::uint32_t> size(matching.num_groups, 0);
  for (const std::uint32_t group : matching.group_of) ++size[group];
  // waiting[0] is a vertex that is not pinned and still needs a partner, waiting[1] a pinned vertex
  // that still needs one. Empty if no such vertex has been found yet.
  std::optional<std::uint32_t> waiting[2];
  std::vector<std::uint32_t> joins(matching.num_groups);
  std::iota(joins.begin(), joins.end(), 0u);
  for (std::uint32_t v = 0; v < graph.num_vertices(); ++v) {
    if (size[matching.group_of[v]] > 1 || has_partner(graph, is_pinned, v)) continue;
    std::optional<std::uint32_t>& other = waiting[is_pinned[v]];
    if (other && graph.weight[v] + graph.weight[*other] <= max_weight) {
      joins[matching.group_of[v]] = matching.group_of[*other];
      other.reset();
    } else {
      other = v;
    }
  }
  std::uint32_t num_groups = 0;
  for (std::uint32_t g = 0; g < matching.num_groups; ++g)
    joins[g] = joins[g] == g ? num_groups++ : joins[joins[g]];
  for (std::uint32_t& group : matching.group_of) group = joins[group];
  matching.num_groups = num_groups;
}

}  // namespace

Merging merge_heavy_edges(graphs::Graph graph, std::vector<std::uint32_t> is_pinned,
                          const MergeLimits& limits) {
  Merging merging{std::vector<std::uint32_t>(graph.num_vertices()), graph.num_vertices()};
  std::iota(merging.group_of.begin(), merging.group_of.end(), 0u);
  const double total_weight = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
  double max_weight = limits.max_weight;
  const auto is_too_small = [&](const graphs::Matching& matching) {
    return matching.num_groups > distributed_tuning::kMinShrink * merging.num_groups;
  };
  while (merging.num_groups > 1) {
    graphs::Matching matching = graphs::match_heavy_edges(graph, is_pinned, max_weight);
    if (is_too_small(matching)) {
      if (merging.num_groups <= limits.max_vertices) break;
      pair_without_edges(graph, is_pinned, max_weight, matching);
    }
    if (is_too_small(matching)) {
      // Merging ends if a higher weight limit would change nothing. A limit of 0 stays 0 when it is
      // multiplied. A limit far above the total weight of all vertices forbids no pair.
      if (max_weight == 0 || max_weight > 1e300) break;
      if (max_weight > 2 * total_weight && matching.num_groups == merging.num_groups) break;
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
