// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/multilevel_bisection.h"

#include <numeric>
#include <span>

#include "poise/partition/coarsening.h"
#include "poise/partition/partition.h"

namespace poise::graphs {

namespace {

Part part_of(Side side) { return side == Side::either ? kFree : side == Side::right; }

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

}  // namespace

std::vector<Side> multilevel_bisect(const Graph& graph, const Split& split, const Tuning& tuning) {
  if (graph.num_vertices() <= tuning.coarsest) return bisect(graph, split, tuning);
  std::vector<Part> fixed;
  for (const Side side : split.fixed) fixed.push_back(part_of(side));
  const double weight = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
  const Matching matching =
      match_heavy_edges(graph, fixed, tuning.heaviest_cluster * weight / tuning.coarsest);
  if (matching.num_groups >= tuning.max_kept * graph.num_vertices())
    return bisect(graph, split, tuning);
  const Graph coarse = contract(graph, matching.group_of, matching.num_groups);
  std::vector<Side> sides =
      mapped(multilevel_bisect(coarse, coarsened(split, matching), tuning), matching.group_of);
  improve(graph, split, sides, tuning);
  return sides;
}

}  // namespace poise::graphs
