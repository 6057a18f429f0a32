// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/within.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"
#include "poise/partition/graph_testing.h"

namespace poise::tree_match {
namespace {

using Arities = std::vector<std::uint32_t>;

TEST(Subtree, has_the_arities_of_all_levels_from_its_root_down) {
  const Machine machine = machine_from_text("node:2 numa:2 core:3");
  const auto arities = [&](PlaceId first, PlaceId last) {
    return subtree(machine, first, last).arities;
  };
  EXPECT_EQ(arities(0, 12), Arities({2, 2, 3}));
  EXPECT_EQ(arities(0, 6), Arities({1, 2, 3}));
  EXPECT_EQ(arities(6, 12), Arities({1, 2, 3}));
  EXPECT_EQ(arities(0, 3), Arities({1, 3}));
  EXPECT_EQ(arities(9, 12), Arities({1, 3}));
  EXPECT_EQ(arities(4, 5), Arities({1}));
  EXPECT_EQ(subtree(machine_from_text("core:4"), 0, 4).arities, Arities({4}));
  const Subtree last = subtree(machine, 6, 12);
  EXPECT_EQ(last.first, 6u);
  EXPECT_EQ(last.last, 12u);
}

TEST(Subtree, has_no_arities_if_groups_of_one_of_its_levels_differ_in_size) {
  const Machine machine = machine_from_json(
      R"({"poise_machine": 1, "levels": [{"name": "node", "count": 2}, {"name": "l3", "count": 2},
                                         {"name": "core", "count": [2, 3, 2, 2]}]})",
      "test");
  EXPECT_EQ(subtree(machine, 0, 5).arities, std::nullopt);
  EXPECT_EQ(subtree(machine, 5, 9).arities, Arities({1, 2, 2}));
  EXPECT_EQ(subtree(machine, 0, 9).arities, std::nullopt);
  EXPECT_EQ(subtree(machine, 2, 5).arities, Arities({1, 3}));
}

/// The input for vertices that are all on other nodes now.
Inside newcomers(Graph graph, std::vector<double> shares) {
  const Vertex size = graph.num_vertices();
  return {std::move(graph),
          std::vector<Part>(size, kFree),
          {},
          std::vector<double>(size, 1),
          std::move(shares),
          0.02};
}

/// The sum of affinity times hops over all edges.
double hop_bytes(const Machine& machine, const Graph& graph, const std::vector<Part>& place_of) {
  double twice = 0;
  for (Vertex v = 0; v < graph.num_vertices(); ++v)
    for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
      twice += graph.affinity[e] * machine.hops(place_of[v], place_of[graph.to[e]]);
  return twice / 2;
}

TEST(PlaceInside, maps_at_most_one_vertex_to_each_open_place_and_minimises_the_hop_bytes) {
  const Machine machine = machine_from_text("numa:2 l3:2 core:2");
  const Subtree tree = subtree(machine, 0, 8);
  for (std::uint64_t seed = 0; seed < fewer_if_sanitized(8); ++seed)
    for (const Vertex size : {4u, 7u, 8u}) {
      SCOPED_TRACE(testing::Message() << size << " vertices, seed " << seed);
      Random random(seed);
      const Graph graph = drawn_graph(size, random);
      const std::vector<Part> place_of =
          place_inside(machine, tree, newcomers(graph, std::vector<double>(8, 1)));
      ASSERT_EQ(place_of.size(), size);
      std::vector<Part> sorted = place_of;
      std::ranges::sort(sorted);
      EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
      double least = 1e18;
      std::vector<Part> map(8);
      std::iota(map.begin(), map.end(), 0);
      do least = std::min(least, hop_bytes(machine, graph, map));
      while (std::ranges::next_permutation(map).found);
      EXPECT_EQ(hop_bytes(machine, graph, place_of), least);
    }
}

TEST(PlaceInside, leaves_closed_places_empty_and_fixed_vertices_on_their_places) {
  const Machine machine = machine_from_text("numa:2 core:4");
  const Subtree tree = subtree(machine, 0, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const Vertex size : {3u, 6u, 60u}) {
      SCOPED_TRACE(testing::Message() << size << " vertices, seed " << seed);
      Random random(seed);
      Inside inside = newcomers(drawn_graph(size, random), {1, 1, 0, 1, 1, 1, 0, 1});
      inside.fixed.assign(size, kFree);
      inside.fixed[1] = 4;
      const std::vector<Part> place_of = place_inside(machine, tree, inside);
      ASSERT_EQ(place_of.size(), size);
      EXPECT_EQ(place_of[1], 4u);
      std::vector<Vertex> count(8, 0);
      for (const Part place : place_of) ++count.at(place);
      EXPECT_EQ(count[2] + count[6], 0u);
      EXPECT_LE(*std::ranges::max_element(count), (size + 5) / 6);
    }
}

TEST(PlaceInside, groups_of_vertices_return_to_the_places_where_most_of_their_weight_is_now) {
  // Each of the four cliques of five vertices has a home place. Two vertices of the clique are at
  // this place now, with large anchors.
  const Machine machine = machine_from_text("core:4");
  const Subtree tree = subtree(machine, 0, 4);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Vertex> clique_of;
    Inside inside = newcomers(cliques(4, 5, random, clique_of), {1, 1, 1, 1});
    std::vector<int> seen(4, 0);
    const std::vector<Part> home = {2, 0, 3, 1};  // per clique
    for (Vertex v = 0; v < 20; ++v) {
      const int number = seen[clique_of[v]]++;
      // The other three vertices of a clique are at the next place now, with small anchors.
      if (number < 2) inside.current[v] = home[clique_of[v]];
      if (number >= 2) inside.current[v] = (home[clique_of[v]] + 1) % 4;
      inside.anchor[v] = number < 2 ? 10 : 1;
    }
    const std::vector<Part> place_of = place_inside(machine, tree, inside);
    for (Vertex v = 0; v < 20; ++v) EXPECT_EQ(place_of[v], home[clique_of[v]]) << v;
  }
}

}  // namespace
}  // namespace poise::tree_match
