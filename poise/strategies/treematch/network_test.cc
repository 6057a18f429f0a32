// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/network.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise::tree_match {
namespace {

std::vector<Vertex> numbers(Vertex size) {
  std::vector<Vertex> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Vertex> shuffled(Vertex size, Random& random) {
  std::vector<Vertex> all = numbers(size);
  for (std::size_t i = size; i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

/// A periodic grid of groups of tasks, in which name[i] is the vertex at position i.
Graph grid(Vertex side, const std::vector<Vertex>& name) {
  Workload workload;
  workload.tasks.resize(name.size());
  for (Vertex g = 0; g < name.size(); ++g) {
    const Vertex x = g % side, y = g / side % side, z = g / side / side;
    for (const Vertex next :
         {(x + 1) % side + side * (y + side * z), x + side * ((y + 1) % side + side * z),
          x + side * (y + side * ((z + 1) % side))})
      workload.messages.push_back({name[g], name[next], 1, 1000});
  }
  return affinity_graph(workload, Affinity::bytes);
}

bool is_permutation(std::vector<Vertex> slot_of) {
  std::sort(slot_of.begin(), slot_of.end());
  return slot_of == numbers(static_cast<Vertex>(slot_of.size()));
}

/// Maps the graph to the nodes as strategy `treematch` does: halves the graph and the nodes
/// repeatedly, then swaps vertices.
std::vector<Vertex> mapped(const Graph& graph, const Machine& machine) {
  const Distance distance = node_distance(machine);
  std::vector<Vertex> slot_of = map_by_halving(graph, distance, node_coordinates(machine));
  const std::vector<std::uint32_t> kinds(slot_of.size(), 0);
  swap_closer(graph, kinds, distance, slot_of);
  return slot_of;
}

TEST(MapToNetwork, places_neighbours_of_a_shuffled_stencil_at_most_two_hops_apart) {
  for (const Vertex side : {4u, 8u}) {
    const Machine machine = machine_from_text(fmt::format("torus:{0}x{0}x{0} core:1", side));
    const Distance distance = node_distance(machine);
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      Random random(seed);
      const Graph graph = grid(side, shuffled(machine.num_nodes(), random));
      const double drawn = hop_affinity(graph, numbers(machine.num_nodes()), distance);
      const double least = std::accumulate(graph.affinity.begin(), graph.affinity.end(), 0.0) / 2;
      const std::vector<Vertex> slot_of = mapped(graph, machine);
      EXPECT_TRUE(is_permutation(slot_of));
      const double cost = hop_affinity(graph, slot_of, distance);
      EXPECT_LT(cost, 0.6 * drawn);
      EXPECT_LT(cost, 2.1 * least) << "side " << side << " seed " << seed;
    }
  }
}

TEST(MapToNetwork, on_small_networks_the_mapping_is_near_the_optimum) {
  for (const char* text : {"torus:2x3 core:1", "mesh:7 core:1", "dragonfly:2x3 core:1",
                           "torus:7 core:1", "mesh:2x2x2 core:1", "rack:2 node:4 core:1"}) {
    const Machine machine = machine_from_text(text);
    const Distance distance = node_distance(machine);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Random random(seed);
      Workload workload;
      workload.tasks.resize(machine.num_nodes());
      for (Vertex a = 0; a < machine.num_nodes(); ++a)
        for (Vertex b = 0; b < a; ++b)
          if (random.below(2) == 0) workload.messages.push_back({a, b, 1, 1 + random.below(100)});
      const Graph graph = affinity_graph(workload, Affinity::bytes);
      double least = std::numeric_limits<double>::infinity();
      std::vector<Vertex> slot_of = numbers(machine.num_nodes());
      do least = std::min(least, hop_affinity(graph, slot_of, distance));
      while (std::next_permutation(slot_of.begin(), slot_of.end()));
      const double cost = hop_affinity(graph, mapped(graph, machine), distance);
      EXPECT_GE(cost, least);
      EXPECT_LE(cost, 1.25 * least) << text << " seed " << seed;
    }
  }
}

TEST(MapToNetwork, only_vertices_on_nodes_of_the_same_kind_are_swapped) {
  const Machine machine = machine_from_text("mesh:8 core:1");
  Random random(4);
  const Graph graph = grid(2, shuffled(8, random));
  const std::vector<std::uint32_t> kinds = {0, 0, 1, 1, 0, 2, 0, 3};
  std::vector<Vertex> slot_of = numbers(8);
  swap_closer(graph, kinds, node_distance(machine), slot_of);
  EXPECT_TRUE(is_permutation(slot_of));
  for (Vertex g = 0; g < 8; ++g) EXPECT_EQ(kinds[slot_of[g]], kinds[g]);
  EXPECT_LE(hop_affinity(graph, slot_of, node_distance(machine)),
            hop_affinity(graph, numbers(8), node_distance(machine)));
}

TEST(MapToNetwork,
     in_a_matrix_network_the_distance_of_two_nodes_is_the_mean_factor_of_both_directions) {
  MachineParts parts;
  parts.places.resize(3);
  for (PlaceId p = 0; p < 3; ++p) parts.places[p].domain = p;
  parts.levels = {{.name = "node", .first_place = {0, 1, 2, 3}},
                  {.name = "core", .first_place = {0, 1, 2, 3}}};
  parts.kind_of_node = {0, 0, 0};
  parts.network.shape = Network::Shape::matrix;
  parts.network.matrix_nodes = 3;
  parts.network.matrix = {1, 2, 9, 4, 1, 5, 9, 5, 1};
  const Machine machine(std::move(parts));
  EXPECT_EQ(node_distance(machine)(0, 0), 0);
  EXPECT_EQ(node_distance(machine)(0, 1), 3);
  EXPECT_EQ(node_distance(machine)(2, 0), 9);
}

TEST(MapToNetwork, swapping_ends_when_no_swap_with_a_slot_of_the_same_kind_lowers_the_cost) {
  for (const char* text : {"torus:3x4 core:1", "mesh:12 core:1", "dragonfly:3x4 core:1",
                           "rack:3 node:4 core:1", "mesh:2x6 core:1"})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", text, seed));
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const Distance distance = tabulated(12, node_distance(machine));
      Workload workload;
      workload.tasks.resize(12);
      for (Vertex a = 0; a < 10; ++a)  // the last two vertices have no edges
        for (Vertex b = 0; b < a; ++b)
          if (random.below(3) == 0) workload.messages.push_back({a, b, 1, 1 + random.below(100)});
      const Graph graph = affinity_graph(workload, Affinity::bytes);
      std::vector<std::uint32_t> kinds(12, 0);
      if (seed % 2 == 1)
        for (std::uint32_t& kind : kinds) kind = random.below(2);
      std::vector<Vertex> slot_of = shuffled(12, random);
      const std::vector<Vertex> start = slot_of;
      swap_closer(graph, kinds, distance, slot_of);
      EXPECT_TRUE(is_permutation(slot_of));
      const double cost = hop_affinity(graph, slot_of, distance);
      EXPECT_LE(cost, hop_affinity(graph, start, distance));
      for (Vertex v = 0; v < 12; ++v) {
        EXPECT_EQ(kinds[slot_of[v]], kinds[start[v]]) << v;
        for (Vertex u = 0; u < v; ++u) {
          if (kinds[slot_of[v]] != kinds[slot_of[u]]) continue;
          std::swap(slot_of[v], slot_of[u]);
          EXPECT_GE(hop_affinity(graph, slot_of, distance), cost * (1 - 1e-6)) << v << " " << u;
          std::swap(slot_of[v], slot_of[u]);
        }
      }
    }
}

TEST(MapToNetwork,
     without_swaps_the_function_map_by_halving_keeps_neighbours_of_a_line_of_tasks_close) {
  for (const char* text : {"mesh:16 core:1", "torus:16 core:1", "mesh:9 core:1"})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(fmt::format("{} seed {}", text, seed));
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const Vertex size = machine.num_nodes();
      const std::vector<Vertex> name = shuffled(size, random);
      Workload workload;
      workload.tasks.resize(size);
      for (Vertex i = 0; i + 1 < size; ++i)
        workload.messages.push_back({name[i], name[i + 1], 1, 10});
      const Graph graph = affinity_graph(workload, Affinity::bytes);
      const Distance distance = node_distance(machine);
      for (const auto& coordinates :
           {node_coordinates(machine), std::vector<std::vector<std::uint32_t>>{}}) {
        const std::vector<Vertex> slot_of = map_by_halving(graph, distance, coordinates);
        EXPECT_TRUE(is_permutation(slot_of));
        EXPECT_LE(hop_affinity(graph, slot_of, distance), 1.5 * 10 * (size - 1));
      }
    }
}

TEST(MapToNetwork, cost_is_the_sum_of_affinity_times_distance_with_each_edge_counted_once) {
  Workload workload;
  workload.tasks.resize(4);
  workload.messages = {{0, 1, 1, 10}, {1, 0, 1, 1}, {2, 1, 1, 100}};
  const Graph graph = affinity_graph(workload, Affinity::bytes);
  const Distance distance = [](Vertex a, Vertex b) { return a > b ? a - b : 2.0 * (b - a); };
  // The edge of 11 bytes joins slots 3 and 1; the edge of 100 bytes joins slots 1 and 0. The
  // distance from slot a to slot b differs from that from b to a; what counts is their mean, 1.5
  // times |a - b|.
  EXPECT_EQ(hop_affinity(graph, std::vector<Vertex>{3, 1, 0, 2}, distance), 1.5 * (2 * 11 + 100));
}

TEST(MapToNetwork, nodes_of_a_torus_or_mesh_have_the_coordinates_of_their_routers) {
  using Coordinates = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(node_coordinates(machine_from_text("torus:2x3 core:2")),
            (Coordinates{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(
      node_coordinates(machine_from_text("mesh:2x1x2 node:2 core:1")),
      (Coordinates{
          {0, 0, 0}, {0, 0, 0}, {0, 0, 1}, {0, 0, 1}, {1, 0, 0}, {1, 0, 0}, {1, 0, 1}, {1, 0, 1}}));
  MachineParts parts = machine_from_text("torus:2x3 core:2").parts();
  parts.network.router_of_node = {5, 0, 2, 4, 1, 3};
  EXPECT_EQ(node_coordinates(Machine(std::move(parts))),
            (Coordinates{{1, 2}, {0, 0}, {0, 2}, {1, 1}, {0, 1}, {1, 0}}));
  EXPECT_TRUE(node_coordinates(machine_from_text("dragonfly:2x3 core:1")).empty());
  EXPECT_TRUE(node_coordinates(machine_from_text("rack:2 node:2 core:1")).empty());
}

TEST(MapToNetwork,
     all_nodes_are_equally_far_apart_without_tiers_or_if_there_are_at_most_two_nodes) {
  for (const auto& [text, uniform] : {std::pair{"core:4", true},
                                      {"node:5 core:1", true},
                                      {"rack:2 node:2 core:1", false},
                                      {"rack:1 node:2 core:1", true},
                                      {"torus:3 core:1", false},
                                      {"torus:2 core:1", true},
                                      {"dragonfly:2x2 core:1", false}})
    EXPECT_EQ(is_uniform(machine_from_text(text)), uniform) << text;
}

TEST(MapToNetwork, a_table_of_distances_gives_the_distance_of_every_pair_in_both_directions) {
  const Distance distance = [](Vertex a, Vertex b) { return 10.0 * a + b; };
  const Distance table = tabulated(5, distance);
  for (Vertex a = 0; a < 5; ++a)
    for (Vertex b = 0; b < 5; ++b) EXPECT_EQ(table(a, b), distance(a, b));
}

}  // namespace
}  // namespace poise::tree_match
