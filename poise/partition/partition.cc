// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/partition.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "poise/partition/bisection.h"
#include "poise/partition/coarsening.h"
#include "poise/partition/parts.h"
#include "poise/partition/tuning.h"

namespace poise::graphs {

namespace {

double sum(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double mean_weight(const Graph& graph) { return sum(graph.weight) / graph.num_vertices(); }

/// Computes the initial partition (the partition of the coarsest graph) by recursive bisection.
class InitialParts {
 public:
  InitialParts(const Shares& shares, std::vector<Part>& part_of)
      : shares_(shares),
        part_of_(part_of),
        slack_(kPartitionTuning.slack_of_bisection * shares.tolerance) {}

  /// Divides the vertices of a subgraph among the parts [first, last). names[v] is the number of
  /// vertex v in the whole graph.
  void split(const Graph& graph, std::span<const Vertex> names, Part first, Part last) {
    if (last - first == 1) {
      for (const Vertex name : names) part_of_[name] = first;
      return;
    }
    const Part middle = first + (last - first) / 2;
    const std::vector<Side> sides = bisect(graph, split_at(graph, names, first, middle, last));
    std::vector<Vertex> side_of(graph.num_vertices());
    for (Vertex v = 0; v < graph.num_vertices(); ++v) side_of[v] = sides[v] == Side::right;
    const Groups groups = arrange(side_of, 2);
    for (const Vertex side : {0u, 1u}) {
      std::vector<Vertex> side_names;
      for (const Vertex v : groups.of(side)) side_names.push_back(names[v]);
      split(subgraph(graph, groups, side), side_names, side == 0 ? first : middle,
            side == 0 ? middle : last);
    }
  }

 private:
  Split split_at(const Graph& graph, std::span<const Vertex> names, Part first, Part middle,
                 Part last) const {
    const std::span<const double> of_part = shares_.of_part;
    const double left = sum(of_part.subspan(first, middle - first));
    const double right = sum(of_part.subspan(middle, last - middle));
    const double weight = sum(graph.weight);
    const double fraction = left + right > 0 ? left / (left + right) : 0.5;
    Split split{std::vector<Side>(names.size(), Side::either), weight * fraction,
                slack_ * weight * std::min(fraction, 1 - fraction), shares_.attempts};
    if (shares_.fixed.empty()) return split;
    for (std::size_t v = 0; v < names.size(); ++v)
      if (const Part part = shares_.fixed[names[v]]; part != kFree)
        split.fixed[v] = part < middle ? Side::left : Side::right;
    return split;
  }

  const Shares& shares_;
  std::vector<Part>& part_of_;
  double slack_;
};

/// The sequence of ever coarser graphs; the last one is the coarsest.
struct Hierarchy {
  std::vector<Graph> graphs;  // graphs[i]: the graph after i + 1 steps of coarsening
  /// coarse_of[i][v] is the vertex of graphs[i] into which vertex v of graphs[i - 1] was merged
  /// (for i = 0, vertex v of the input).
  std::vector<std::vector<Vertex>> coarse_of;
  /// For each graph, the parts to which vertices are fixed. Empty if all vertices are free.
  std::vector<std::vector<Part>> fixed;
};

std::vector<Part> fixed_groups(std::span<const Part> fixed, const Matching& matching) {
  if (fixed.empty()) return {};
  std::vector<Part> groups(matching.num_groups, kFree);
  for (std::size_t v = 0; v < fixed.size(); ++v)
    if (fixed[v] != kFree) groups[matching.group_of[v]] = fixed[v];
  return groups;
}

Hierarchy coarsen(const Graph& graph, const Shares& shares) {
  const Vertex parts = shares.of_part.size();
  const Vertex wanted =
      std::max(kPartitionTuning.min_coarse, kPartitionTuning.coarse_per_part * parts);
  const double max_weight = kPartitionTuning.max_weight_of_vertex * sum(graph.weight) / wanted;
  Hierarchy hierarchy;
  const Graph* finest = &graph;
  const std::vector<Part>* fixed = &shares.fixed;
  while (finest->num_vertices() > wanted) {
    Matching matching = match_heavy_edges(*finest, *fixed, max_weight);
    if (matching.num_groups > kPartitionTuning.max_kept_of_level * finest->num_vertices()) break;
    hierarchy.fixed.push_back(fixed_groups(*fixed, matching));
    hierarchy.graphs.push_back(contract(*finest, matching.group_of, matching.num_groups));
    hierarchy.coarse_of.push_back(std::move(matching.group_of));
    finest = &hierarchy.graphs.back();
    fixed = &hierarchy.fixed.back();
  }
  return hierarchy;
}

std::vector<Part> multilevel(const Graph& graph, const Shares& shares) {
  Hierarchy hierarchy = coarsen(graph, shares);
  const Graph& coarsest = hierarchy.graphs.empty() ? graph : hierarchy.graphs.back();
  Shares level_shares = shares;
  if (!hierarchy.fixed.empty()) level_shares.fixed = hierarchy.fixed.back();
  std::vector<Part> part_of(coarsest.num_vertices());
  std::vector<Vertex> names(coarsest.num_vertices());
  std::iota(names.begin(), names.end(), 0);
  InitialParts(level_shares, part_of).split(coarsest, names, 0, shares.of_part.size());
  for (;;) {
    const bool is_input = hierarchy.graphs.empty();
    const Graph& at = is_input ? graph : hierarchy.graphs.back();
    level_shares.fixed = is_input ? shares.fixed : hierarchy.fixed.back();
    improve_parts(at, level_shares, is_input ? 0 : mean_weight(at), part_of);
    if (is_input) return part_of;
    const std::vector<Vertex>& coarse_of = hierarchy.coarse_of.back();
    std::vector<Part> finer(coarse_of.size());
    for (std::size_t v = 0; v < finer.size(); ++v) finer[v] = part_of[coarse_of[v]];
    part_of = std::move(finer);
    hierarchy.graphs.pop_back();
    hierarchy.coarse_of.pop_back();
    hierarchy.fixed.pop_back();
  }
}

/// Divides the parts into chunks of consecutive parts. The graph is divided among the chunks first;
/// then the subgraph of each chunk is divided further, in as many stages as needed. The size of a
/// chunk is chosen such that each stage makes about the same number of parts.
struct Chunks {
  Part size, count;
  explicit Chunks(Part parts) {
    const int halvings = std::bit_width(parts - 1);
    const int stages = (halvings + 5) / 6;
    size = Part{1} << (halvings - (halvings + stages - 1) / stages);
    count = (parts + size - 1) / size;
  }
};

std::vector<Part> in_stages(const Graph& graph, const Shares& shares) {
  const Part parts = shares.of_part.size();
  const Chunks chunks(parts);
  const double tolerance = shares.tolerance / 2;
  Shares coarse{std::vector<double>(chunks.count, 0), tolerance, shares.fixed, shares.attempts};
  for (Part p = 0; p < parts; ++p) coarse.of_part[p / chunks.size] += shares.of_part[p];
  for (Part& part : coarse.fixed)
    if (part != kFree) part /= chunks.size;
  std::vector<Part> part_of = multilevel(graph, coarse);

  const Groups groups = arrange(part_of, chunks.count);
  for (Part chunk = 0; chunk < chunks.count; ++chunk) {
    const Part first = chunk * chunks.size, last = std::min(parts, first + chunks.size);
    Shares fine{{shares.of_part.begin() + first, shares.of_part.begin() + last}, tolerance, {}};
    if (!shares.fixed.empty())
      for (const Vertex v : groups.of(chunk))
        fine.fixed.push_back(shares.fixed[v] == kFree ? kFree : shares.fixed[v] - first);
    const std::vector<Part> within = partition(subgraph(graph, groups, chunk), fine);
    for (std::size_t i = 0; i < within.size(); ++i)
      part_of[groups.of(chunk)[i]] = first + within[i];
  }
  improve_parts(graph, shares, 0, part_of);
  return part_of;
}

}  // namespace

std::vector<Part> partition(const Graph& graph, const Shares& shares) {
  const std::size_t parts = shares.of_part.size();
  if (parts == 1) return std::vector<Part>(graph.num_vertices(), 0);
  return parts <= kPartitionTuning.max_ways ? multilevel(graph, shares) : in_stages(graph, shares);
}

double cut(const Graph& graph, std::span<const Part> part_of) {
  double twice = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      if (part_of[v] != part_of[graph.to[e]]) twice += graph.affinity[e];
  return twice / 2;
}

}  // namespace poise::graphs
