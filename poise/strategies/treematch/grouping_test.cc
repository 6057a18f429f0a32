// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/grouping.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <utility>

#include "poise/partition/graph_testing.h"
#include "poise/partition/partition.h"
#include "poise/strategies/treematch/listing.h"

namespace poise::tree_match {
namespace {

double inside(const Graph& graph, const std::vector<Vertex>& group_of) {
  return std::accumulate(graph.affinity.begin(), graph.affinity.end(), 0.0) / 2 -
         cut(graph, group_of);
}

void expect_groups_of(std::uint32_t arity, const std::vector<Vertex>& group_of) {
  std::vector<std::uint32_t> size(group_of.size() / arity, 0);
  for (const Vertex group : group_of) ++size.at(group);
  for (const std::uint32_t members : size) EXPECT_EQ(members, arity);
}

TEST(Grouping, every_method_puts_each_clique_into_one_group_for_any_size_of_cliques) {
  // The cases cover each method of grouping: 12 elements in pairs (all divisions are listed), 14 in
  // pairs (edges in buckets), 30 in threes (all groups are listed), and 200 in tens (partitioning).
  const std::vector<std::pair<Vertex, std::uint32_t>> shapes = {
      {12, 2}, {14, 2}, {600, 2}, {9, 3}, {30, 3}, {200, 10}, {62, 31}, {620, 31}};
  for (const auto& [size, arity] : shapes) {
    SCOPED_TRACE(testing::Message() << size << " in groups of " << arity);
    Random random(size);
    std::vector<Vertex> clique_of;
    const Graph graph = cliques(size / arity, arity, random, clique_of);
    const std::vector<Vertex> group_of = group_by_affinity(graph, arity);
    expect_groups_of(arity, group_of);
    EXPECT_EQ(inside(graph, group_of), inside(graph, clique_of));
  }
}

TEST(Grouping,
     pairs_found_by_sorting_edges_keep_at_least_80_percent_of_the_optimal_weight_together) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Graph graph = drawn_graph(12, random);
    const double best = inside(graph, group_by_affinity(graph, 2));  // lists all groupings
    pad(graph, 14, 1);                                               // too many divisions to list
    const std::vector<Vertex> group_of = group_by_affinity(graph, 2);
    expect_groups_of(2, group_of);
    EXPECT_GE(inside(graph, group_of), 0.8 * best);
  }
}

TEST(Grouping, after_grouping_no_swap_of_two_elements_increases_the_affinity_inside_the_groups) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = drawn_graph(18, random);
    for (const std::uint32_t arity : {2u, 3u}) {
      std::vector<Vertex> group_of = group_by_affinity(graph, arity);
      const double found = inside(graph, group_of);
      for (Vertex v = 0; v < graph.num_vertices(); ++v)
        for (Vertex u = 0; u < v; ++u) {
          std::swap(group_of[u], group_of[v]);
          EXPECT_LE(inside(graph, group_of), found * (1 + 1e-9)) << u << " and " << v;
          std::swap(group_of[u], group_of[v]);
        }
    }
  }
}

TEST(Grouping, finds_the_groups_with_the_most_affinity_inside_if_there_are_few_elements) {
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const auto& [size, arity] :
         {std::pair<Vertex, std::uint32_t>{6, 2}, {6, 3}, {8, 2}, {8, 4}, {9, 3}, {6, 6}, {5, 1}}) {
      SCOPED_TRACE(testing::Message() << size << " in groups of " << arity << ", seed " << seed);
      Random random(seed);
      const Graph graph = drawn_graph(size, random);
      std::vector<Vertex> group_of(size);
      for (Vertex v = 0; v < size; ++v) group_of[v] = v / arity;
      double most = 0;
      do most = std::max(most, inside(graph, group_of));
      while (std::next_permutation(group_of.begin(), group_of.end()));
      group_of = group_by_affinity(graph, arity);
      expect_groups_of(arity, group_of);
      EXPECT_DOUBLE_EQ(inside(graph, group_of), most);
    }
}

TEST(Grouping,
     if_there_are_many_elements_groups_have_nearly_as_much_affinity_inside_as_the_best_groups) {
  double pairs = 0, best_pairs = 0, by_pairs = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Graph graph = drawn_graph(14, random);  // too many divisions to list
    pairs += inside(graph, group_by_affinity(graph, 2));
    double best = 0;
    for_each_grouping(Matrix(graph), 2,
                      [&](std::span<const Vertex>, double value) { best = std::max(best, value); });
    best_pairs += best;
    by_pairs += std::accumulate(graph.affinity.begin(), graph.affinity.end(), 0.0) / 2 / 13;
  }
  EXPECT_GE(pairs, 0.97 * best_pairs);
  EXPECT_LE(by_pairs, 0.6 * best_pairs) << "random pairs would do, too";
}

TEST(Grouping, large_groups_keep_more_affinity_inside_than_random_groups) {
  struct Case {
    Vertex size;
    std::uint32_t arity;
    double least;  // lower limit for the affinity inside groups, relative to random groups
  };
  for (const auto& [size, arity, least] :
       {Case{30, 3, 2.868}, Case{40, 8, 1.855}, Case{60, 20, 1.419}, Case{100, 10, 2.031},
        Case{90, 45, 1.199}}) {
    SCOPED_TRACE(testing::Message() << size << " in groups of " << arity);
    double ratio = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Random random(seed);
      const Graph graph = drawn_graph(size, random);
      const std::vector<Vertex> group_of = group_by_affinity(graph, arity);
      expect_groups_of(arity, group_of);
      const double all = std::accumulate(graph.affinity.begin(), graph.affinity.end(), 0.0) / 2;
      ratio += inside(graph, group_of) / all * (size - 1) / (arity - 1) / 5;
    }
    EXPECT_GE(ratio, least);
  }
}

TEST(Grouping, counts_elements_and_ignores_their_weights) {
  for (const auto& [size, arity] :
       {std::pair<Vertex, std::uint32_t>{8, 2}, {20, 2}, {30, 3}, {60, 20}, {100, 10}}) {
    SCOPED_TRACE(testing::Message() << size << " in groups of " << arity);
    Random random(size);
    Graph graph = drawn_graph(size, random);
    const std::vector<Vertex> group_of = group_by_affinity(graph, arity);
    for (double& weight : graph.weight) weight = 1 + random.below(100);
    EXPECT_EQ(group_by_affinity(graph, arity), group_of);
  }
}

}  // namespace
}  // namespace poise::tree_match
