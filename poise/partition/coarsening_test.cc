// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/coarsening.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "poise/base/random.h"
#include "poise/partition/partition.h"

namespace poise::graphs {
namespace {

/// A reference implementation of match_heavy_edges() that follows its description.
class NaiveMatching {
 public:
  NaiveMatching(const Graph& graph, const std::vector<Part>& fixed, double max_weight)
      : graph_(graph), fixed_(fixed), max_weight_(max_weight), mate_(graph.num_vertices()) {}

  std::vector<Vertex> group_of() {
    const Vertex size = graph_.num_vertices();
    Vertex num_matched = 0;
    for (Vertex v = 0; v < size; ++v) {
      if (mate_[v]) continue;
      if (const auto u = heaviest(v, true)) match(v, *u);
    }
    for (const auto& mate : mate_) num_matched += mate ? 1 : 0;
    if (num_matched < size / 10 * 8) match_strays();
    std::vector<Vertex> groups(size);
    Vertex next = 0;
    for (Vertex v = 0; v < size; ++v)
      groups[v] = mate_[v] && *mate_[v] < v ? groups[*mate_[v]] : next++;
    return groups;
  }

 private:
  bool may_match(Vertex a, Vertex b) const {
    const bool is_allowed =
        fixed_.empty() || fixed_[a] == kFree || fixed_[b] == kFree || fixed_[a] == fixed_[b];
    return is_allowed && graph_.weight[a] + graph_.weight[b] <= max_weight_;
  }

  /// The neighbour with the greatest affinity; ties: the lightest one, then the first one.
  std::optional<Vertex> heaviest(Vertex v, bool only_possible) const {
    std::optional<std::tuple<double, double, std::size_t>> best;
    for (std::size_t e = graph_.first[v]; e < graph_.first[v + 1]; ++e) {
      const Vertex u = graph_.to[e];
      if (only_possible && (mate_[u] || !may_match(v, u))) continue;
      const std::tuple candidate{-graph_.affinity[e], graph_.weight[u], e};
      if (!best || candidate < *best) best = candidate;
    }
    return best ? std::optional(graph_.to[std::get<2>(*best)]) : std::nullopt;
  }

  /// Matches each unmatched vertex with the nearest unmatched vertex before it that has the same
  /// heaviest neighbour, or that has no neighbours if it has none itself.
  void match_strays() {
    std::map<std::optional<Vertex>, Vertex> last_with;
    for (Vertex v = 0; v < graph_.num_vertices(); ++v) {
      if (mate_[v]) continue;
      const std::optional<Vertex> hub = heaviest(v, false);
      const auto last = last_with.find(hub);
      if (last != last_with.end() && may_match(v, last->second)) {
        match(v, last->second);
        last_with.erase(last);
      } else {
        last_with[hub] = v;
      }
    }
  }

  void match(Vertex a, Vertex b) {
    mate_[a] = b;
    mate_[b] = a;
  }

  const Graph& graph_;
  const std::vector<Part>& fixed_;
  const double max_weight_;
  std::vector<std::optional<Vertex>> mate_;
};

TEST(Coarsening, matches_the_same_vertices_as_a_reference_implementation) {
  int num_alone = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Workload workload;
    const TaskId size = 2 + random.below(40);
    for (TaskId t = 0; t < size; ++t) workload.tasks.push_back({.load_s = 1.0 + random.below(3)});
    // In every second graph, all edges lead to the first few vertices.
    const TaskId num_hubs = seed % 2 == 0 ? size : 1 + random.below(3);
    for (std::uint64_t m = random.below(3 * size); m > 0; --m)
      workload.messages.push_back({static_cast<TaskId>(random.below(num_hubs)),
                                   static_cast<TaskId>(random.below(size)), 1,
                                   1 + random.below(4)});
    const Graph graph = affinity_graph(workload, Affinity::bytes);
    std::vector<Part> fixed;
    if (random.below(2) == 0)
      for (Vertex v = 0; v < size; ++v)
        fixed.push_back(random.below(2) == 0 ? kFree : static_cast<Part>(random.below(3)));
    const double max_weight = 3 + random.below(4);
    const Matching matching = match_heavy_edges(graph, fixed, max_weight);
    const std::vector<Vertex> expected = NaiveMatching(graph, fixed, max_weight).group_of();
    EXPECT_EQ(matching.group_of, expected);
    EXPECT_EQ(matching.num_groups, 1 + *std::max_element(expected.begin(), expected.end()));
    num_alone += matching.num_groups > size * 6 / 10 ? 1 : 0;
  }
  EXPECT_GT(num_alone, 20) << "few graphs need the second way to match";
}

}  // namespace
}  // namespace poise::graphs
