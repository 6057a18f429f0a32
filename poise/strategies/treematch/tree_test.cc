// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/tree.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise::tree_match {
namespace {

/// A graph with random affinities. About a third of the pairs of vertices have no affinity.
Graph drawn_graph(Vertex size, Random& random) {
  Workload workload;
  workload.tasks.resize(size);
  for (Vertex a = 0; a < size; ++a)
    for (Vertex b = 0; b < a; ++b)
      if (random.below(3) > 0) workload.messages.push_back({a, b, 1, 1 + random.below(100)});
  return affinity_graph(workload, Affinity::bytes);
}

/// Number of tree edges on the path between two leaves, up and down.
double hops(Vertex a, Vertex b, const std::vector<std::uint32_t>& arities) {
  double edges = 0;
  for (auto arity = arities.rbegin(); arity != arities.rend() && a != b; ++arity, edges += 2) {
    a /= *arity;
    b /= *arity;
  }
  return edges;
}

double cost(const Graph& graph, const std::vector<Vertex>& leaf_of,
            const std::vector<std::uint32_t>& arities) {
  double sum = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      sum += graph.affinity[e] * hops(leaf_of[v], leaf_of[graph.to[e]], arities);
  return sum / 2;
}

Vertex count_leaves(const std::vector<std::uint32_t>& arities) {
  return std::accumulate(arities.begin(), arities.end(), Vertex{1}, std::multiplies<>());
}

/// Returns the smallest cost over all permutations of the leaves.
double least_cost(const Graph& graph, const std::vector<std::uint32_t>& arities) {
  std::vector<Vertex> leaf_of(count_leaves(arities));
  std::iota(leaf_of.begin(), leaf_of.end(), 0);
  double least = std::numeric_limits<double>::infinity();
  do least = std::min(least, cost(graph, leaf_of, arities));
  while (std::next_permutation(leaf_of.begin(), leaf_of.end()));
  return least;
}

void expect_different_leaves(std::vector<Vertex> leaf_of, Vertex leaves) {
  std::sort(leaf_of.begin(), leaf_of.end());
  EXPECT_EQ(std::adjacent_find(leaf_of.begin(), leaf_of.end()), leaf_of.end());
  EXPECT_LT(leaf_of.back(), leaves);
}

TEST(TreeMatch, splits_each_level_of_a_tree_into_levels_whose_arities_are_prime) {
  EXPECT_EQ(split_to_primes({{12, 1, 8, 7}}), (std::vector<std::uint32_t>{3, 2, 2, 2, 2, 2, 7}));
}

TEST(TreeMatch, finds_the_optimum_of_every_tree_of_up_to_eight_leaves) {
  POISE_SKIP_IF_SLOW();
  const std::vector<std::vector<std::uint32_t>> trees = {
      {2, 2}, {2, 3}, {3, 2}, {2, 2, 2}, {2, 4}, {4, 2}, {7}, {2, 1, 3}, {1, 2, 1, 2, 1}};
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    for (const auto& arities : trees) {
      SCOPED_TRACE(testing::Message()
                   << "seed " << seed << " tree " << testing::PrintToString(arities));
      Random random(seed);
      const Graph graph = drawn_graph(count_leaves(arities), random);
      const std::vector<Vertex> leaf_of = match_to_tree(graph, arities);
      expect_different_leaves(leaf_of, count_leaves(arities));
      EXPECT_EQ(cost(graph, leaf_of, arities), least_cost(graph, arities));
    }
}

TEST(TreeMatch, maps_a_graph_with_fewer_vertices_than_tree_leaves_at_the_lowest_possible_cost) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::vector<std::uint32_t> arities = {2, 2, 2};
    Graph graph = drawn_graph(5, random);
    const std::vector<Vertex> leaf_of = match_to_tree(graph, arities);
    ASSERT_EQ(leaf_of.size(), 5u);
    expect_different_leaves(leaf_of, 8);
    Graph padded = graph;
    pad(padded, 8, 0);
    EXPECT_EQ(cost(graph, leaf_of, arities), least_cost(padded, arities));
  }
}

/// All vertices exchange messages, and those whose leaves are close in a tree exchange many more
/// bytes. TreeMatch has to find this tree, although the vertices are numbered at random.
Graph hidden_tree(const std::vector<std::uint32_t>& arities, const std::vector<Vertex>& leaf_of) {
  Workload workload;
  workload.tasks.resize(leaf_of.size());
  for (Vertex a = 0; a < leaf_of.size(); ++a)
    for (Vertex b = 0; b < a; ++b) {
      const double far = hops(leaf_of[a], leaf_of[b], arities);
      workload.messages.push_back({a, b, 1, far <= 2 ? 10000u : far <= 4 ? 100u : 1u});
    }
  return affinity_graph(workload, Affinity::bytes);
}

TEST(TreeMatch, recovers_a_tree_of_any_arity_if_message_sizes_follow_the_tree) {
  POISE_SKIP_IF_SLOW();
  const std::vector<std::vector<std::uint32_t>> trees = {
      {4, 4, 4}, {3, 5, 2}, {8, 8}, {2, 2, 12}, {2, 3, 31}, {16, 2}, {2, 300, 2}};
  for (const auto& arities : trees) {
    SCOPED_TRACE(testing::PrintToString(arities));
    std::vector<Vertex> hidden(count_leaves(arities));
    std::iota(hidden.begin(), hidden.end(), 0);
    Random random(7);
    for (std::size_t i = hidden.size(); i > 1; --i)
      std::swap(hidden[i - 1], hidden[random.below(i)]);
    const Graph graph = hidden_tree(arities, hidden);
    const std::vector<Vertex> leaf_of = match_to_tree(graph, arities);
    expect_different_leaves(leaf_of, count_leaves(arities));
    EXPECT_EQ(cost(graph, leaf_of, arities), cost(graph, hidden, arities));
  }
}

TEST(TreeMatch, reordering_subtrees_reduces_migrations_and_leaves_the_cost_of_messages_unchanged) {
  const std::vector<std::uint32_t> arities = {2, 3, 2};
  Random random(11);
  const Graph graph = drawn_graph(12, random);
  const std::vector<Vertex> home = match_to_tree(graph, arities);
  std::vector<std::vector<Anchor>> anchors;
  for (const Vertex leaf : home) anchors.push_back({{leaf, 1}});
  std::vector<Vertex> mirrored;
  for (const Vertex leaf : home) mirrored.push_back(11 - leaf);
  EXPECT_EQ(cost(graph, mirrored, arities), cost(graph, home, arities));
  EXPECT_EQ(turn_to_anchors(mirrored, arities, anchors), home);
}

TEST(TreeMatch,
     the_subtree_with_the_heaviest_anchors_is_first_to_get_the_position_that_it_prefers) {
  // A tree of one level: each vertex is a child of the root. A vertex wishes for each position at
  // which it has anchors; the weight of the wish is the sum of the weights of these anchors. Wishes
  // are granted in descending order of weight, unless the vertex already has a position or the
  // position is taken. The remaining vertices get the first free positions.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Vertex size = 2 + random.below(6);
    std::vector<Vertex> leaf_of(size);
    std::iota(leaf_of.begin(), leaf_of.end(), 0);
    for (std::size_t i = size; i > 1; --i) std::swap(leaf_of[i - 1], leaf_of[random.below(i)]);
    std::vector<std::vector<Anchor>> anchors(size);
    std::map<std::pair<Vertex, Vertex>, double> weight;  // key: leaf of a vertex, wanted leaf
    for (Vertex v = 0; v < size; ++v)
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        anchors[v].push_back({static_cast<Vertex>(random.below(size)), 1.0 + random.below(4)});
        weight[{leaf_of[v], anchors[v].back().leaf}] += anchors[v].back().weight;
      }
    std::vector<std::tuple<double, Vertex, Vertex>> wishes;
    for (const auto& [wish, sum] : weight) wishes.push_back({-sum, wish.first, wish.second});
    std::sort(wishes.begin(), wishes.end());
    std::vector<Vertex> position(size, size);
    const auto is_free = [&](Vertex p) {
      return std::find(position.begin(), position.end(), p) == position.end();
    };
    for (const auto& [sum, leaf, wanted] : wishes)
      if (position[leaf] == size && is_free(wanted)) position[leaf] = wanted;
    for (Vertex& p : position)
      for (Vertex q = 0; p == size; ++q)
        if (is_free(q)) p = q;
    const std::vector<Vertex> turned = turn_to_anchors(leaf_of, {{size}}, anchors);
    for (Vertex v = 0; v < size; ++v) EXPECT_EQ(turned[v], position[leaf_of[v]]) << v;
  }
}

TEST(TreeMatch, reordering_subtrees_restores_the_order_after_any_permutation_of_subtrees) {
  for (const std::vector<std::uint32_t>& arities :
       {std::vector<std::uint32_t>{2, 3, 2}, {4, 3}, {3, 1, 2, 2}, {1, 5}, {2, 2, 2, 2}})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << testing::PrintToString(arities) << " seed " << seed);
      Random random(seed);
      // Permutes the children of each inner vertex, from the root down.
      const Vertex leaves = count_leaves(arities);
      std::vector<Vertex> permuted(leaves);
      std::iota(permuted.begin(), permuted.end(), 0);
      Vertex size = leaves;
      for (const std::uint32_t arity : arities) {
        for (Vertex first = 0; first < leaves; first += size)
          for (Vertex child = arity; child > 1; --child) {
            const Vertex other = random.below(child), below = size / arity;
            if (other + 1 == child) continue;
            const auto begin = permuted.begin() + first;
            std::swap_ranges(begin + other * below, begin + (other + 1) * below,
                             begin + (child - 1) * below);
          }
        size /= arity;
      }
      // Some leaves have no vertex.
      std::vector<Vertex> leaf_of, home;
      std::vector<std::vector<Anchor>> anchors;
      for (Vertex leaf = 0; leaf < leaves; ++leaf) {
        if (random.below(5) == 0) continue;
        leaf_of.push_back(permuted[leaf]);
        home.push_back(leaf);
        anchors.push_back({{leaf, 1.0 + random.below(3)}});
      }
      const std::vector<Vertex> turned = turn_to_anchors(leaf_of, arities, anchors);
      EXPECT_EQ(turned, home);
    }
}

}  // namespace
}  // namespace poise::tree_match
