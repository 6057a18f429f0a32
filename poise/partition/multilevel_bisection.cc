// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/multilevel_bisection.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "poise/partition/coarsening.h"
#include "poise/partition/partition.h"

namespace poise::graphs {

namespace {

/// Converts the sides to which vertices are fixed to part numbers (left 0, right 1, either kFree).
/// Returns an empty list if no vertex is fixed.
std::vector<Part> parts_of(std::span<const Side> sides) {
  std::vector<Part> parts;
  if (std::ranges::all_of(sides, [](Side side) { return side == Side::either; })) return parts;
  parts.reserve(sides.size());
  for (const Side side : sides) parts.push_back(side == Side::either ? kFree : side == Side::right);
  return parts;
}

std::vector<Side> mapped(std::span<const Side> coarse, std::span<const Vertex> coarse_of) {
  std::vector<Side> fine(coarse_of.size());
  for (std::size_t v = 0; v < fine.size(); ++v) fine[v] = coarse[coarse_of[v]];
  return fine;
}

/// Returns the input for bisecting the contracted graph. A group is fixed to a side if one of its
/// members is. The pull_left of a group is the sum over its members.
Split coarsened(const Split& split, const Matching& matching) {
  Split coarse = split;
  coarse.fixed.assign(matching.num_groups, Side::either);
  if (!split.pull_left.empty()) coarse.pull_left.assign(matching.num_groups, 0);
  for (std::size_t v = 0; v < split.fixed.size(); ++v) {
    const Vertex group = matching.group_of[v];
    if (split.fixed[v] != Side::either) coarse.fixed[group] = split.fixed[v];
    if (!split.pull_left.empty()) coarse.pull_left[group] += split.pull_left[v];
  }
  return coarse;
}

/// A graph to be bisected, and the matching that merges its vertices into those of the next coarser
/// graph.
struct Level {
  Split split;
  Graph graph;  // empty if it was freed; also on the first level, whose graph the caller holds
  Matching matching = {};
};

/// Matches vertices of the graph, to merge them. Returns false if the graph is small already, or if
/// the merged graph would have too many vertices.
bool matches(const Graph& graph, const Split& split, const Tuning& tuning, Matching& matching) {
  if (graph.num_vertices() <= tuning.coarsest) return false;
  const double weight = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
  matching = match_heavy_edges(graph, parts_of(split.fixed),
                               tuning.heaviest_cluster * weight / tuning.coarsest);
  return matching.num_groups < tuning.max_kept * graph.num_vertices();
}

}  // namespace

std::vector<Side> multilevel_bisect(const Graph& given, const Split& split, const Tuning& tuning) {
  std::vector<Level> levels{{split, {}}};
  const auto graph_of = [&](std::size_t i) -> const Graph& {
    return i == 0 ? given : levels[i].graph;
  };
  const auto contracted = [&](std::size_t i) {
    return contract(graph_of(i), levels[i].matching.group_of, levels[i].matching.num_groups);
  };
  while (
      matches(graph_of(levels.size() - 1), levels.back().split, tuning, levels.back().matching)) {
    const std::size_t last = levels.size() - 1;
    levels.push_back({coarsened(levels[last].split, levels[last].matching), contracted(last)});
    // To save memory, every second graph is freed if it is large, and rebuilt from the next finer
    // graph when it is needed.
    if (last % 2 == 1 && levels[last].graph.to.size() > tuning.cached_entries)
      levels[last].graph = Graph();
  }
  std::vector<Side> sides = bisect(graph_of(levels.size() - 1), levels.back().split, tuning);
  while (levels.size() > 1) {
    levels.pop_back();
    const std::size_t last = levels.size() - 1;
    if (last > 0 && levels[last].graph.num_vertices() == 0)
      levels[last].graph = contracted(last - 1);
    sides = mapped(sides, levels[last].matching.group_of);
    improve(graph_of(last), levels[last].split, sides, tuning);
  }
  return sides;
}

}  // namespace poise::graphs
