// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/swap_search.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/partition/graph_testing.h"
#include "poise/partition/rank_slots.h"
#include "poise/placement/map_cost.h"

namespace poise {
namespace {

using graphs::Graph;
using graphs::Vertex;

/// Machines with eight slots: some with one class of slots per domain; on the others, distances
/// differ from slot to slot.
constexpr const char* kMachines[] = {
    "node:2 core:4 factors:5,1", "rack:2 node:2 core:2", "node:2 numa:2 core:2 factors:9,3,1",
    "torus:2x4 core:1",          "mesh:8 core:1",        "mesh:4 core:2"};

std::vector<Slot> numbers(Slot size) {
  std::vector<Slot> slots(size);
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

struct Example {
  Machine machine;
  Graph graph;
  std::vector<PlaceId> slots;
  RankDistances distances;
  /// The affinity of each pair of vertices, and the distance of each pair of slots.
  double affinity[8][8] = {}, distance[8][8] = {};

  Example(const char* text, std::uint64_t seed)
      : machine(machine_from_text(text)),
        slots(rank_slots(machine, 8, {})),
        distances(machine, Distance::hops) {
    Random random(seed);
    graph = graphs::drawn_graph(seed % 2 == 0 ? 8 : 6, random);
    graphs::pad(graph, 8, 1);
    for (Vertex v = 0; v < 8; ++v) {
      for (std::size_t e = graph.first[v]; e < graph.first[v + 1]; ++e)
        affinity[v][graph.to[e]] = graph.affinity[e];
      for (Slot s = 0; s < 8; ++s) distance[v][s] = distances(slots[v], slots[s]);
    }
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  NodeId node(Slot slot) const { return distances.node_of(slots[slot]); }
  RankProblem problem() const { return {graph, machine, distances, slots}; }

  /// The sum of affinity times distance over all edges, from the definition.
  double cost(const std::vector<Slot>& map) const {
    double sum = 0;
    for (Vertex v = 0; v < 8; ++v)
      for (Vertex u = 0; u < v; ++u) sum += affinity[v][u] * distance[map[v]][map[u]];
    return sum;
  }

  /// The bytes of the node with the most traffic to and from other nodes, both directions added up.
  double busiest(const std::vector<Slot>& map) const {
    double bytes[8] = {};
    for (Vertex v = 0; v < 8; ++v)
      for (Vertex u = 0; u < 8; ++u)
        if (node(map[v]) != node(map[u])) bytes[node(map[v])] += affinity[v][u];
    return *std::max_element(std::begin(bytes), std::end(bytes));
  }

  /// The best of all maps that `is_allowed` accepts.
  std::vector<Slot> best(const std::function<bool(const std::vector<Slot>&)>& is_allowed) const {
    std::vector<Slot> map = numbers(8), best;
    double least = std::numeric_limits<double>::infinity();
    do {
      const double now = cost(map);
      if (now >= least || !is_allowed(map)) continue;
      least = now;
      best = map;
    } while (std::next_permutation(map.begin(), map.end()));
    return best;
  }
};

const auto kAnyMap = [](const std::vector<Slot>&) { return true; };

TEST(SearchBySwaps, the_traffic_of_a_map_is_the_sum_of_affinity_times_distance_over_all_edges) {
  for (const char* text : kMachines) {
    const Example example(text, 3);
    std::vector<Slot> map = {3, 1, 4, 0, 5, 7, 2, 6};
    EXPECT_DOUBLE_EQ(traffic(example.problem(), map), example.cost(map)) << text;
  }
}

TEST(SearchBySwaps, finds_a_map_of_eight_ranks_with_the_least_traffic_from_any_start) {
  for (const char* text : kMachines)
    for (std::uint64_t seed = 0; seed < fewer_if_sanitized(4); ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Example example(text, seed);
      const std::vector<Slot> best = example.best(kAnyMap);
      std::vector<Slot> reversed = numbers(8);
      std::reverse(reversed.begin(), reversed.end());
      for (const std::vector<Slot>& start : {numbers(8), reversed, best}) {
        std::vector<Slot> map = start;
        search_by_swaps(example.problem(), {}, {.seed = seed}, map);
        EXPECT_NEAR(example.cost(map), example.cost(best), 1e-6);
      }
    }
}

TEST(SearchBySwaps,
     without_annealing_maps_have_on_average_at_most_3_percent_more_traffic_than_the_optimum) {
  POISE_SKIP_IF_SLOW();
  double sum = 0, least = 0;
  for (const char* text : kMachines)
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Example example(text, seed);
      std::vector<Slot> map = numbers(8);
      search_by_swaps(example.problem(), {}, {.scans_per_edge = 0}, map);
      EXPECT_LE(example.cost(map), example.cost(numbers(8)));
      sum += example.cost(map);
      least += example.cost(example.best(kAnyMap));
    }
  EXPECT_LE(sum / least, 1.03);
}

TEST(SearchBySwaps,
     mostly_finds_the_least_traffic_of_all_maps_within_a_limit_on_the_bytes_per_node) {
  POISE_SKIP_IF_SLOW();
  int num_optimal = 0, num_within = 0, num_cases = 0, num_binding = 0;
  for (const char* text : kMachines)
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Example example(text, seed);
      // The lowest limit that any map respects, and the first map that respects it.
      double limit = std::numeric_limits<double>::infinity();
      std::vector<Slot> first;
      example.best([&](const std::vector<Slot>& map) {
        if (example.busiest(map) < limit) {
          limit = example.busiest(map);
          first = map;
        }
        return false;
      });
      const auto is_allowed = [&](const std::vector<Slot>& map) {
        return example.busiest(map) <= limit;
      };
      const std::vector<Slot> best = example.best(is_allowed);
      for (const std::vector<Slot>& start : {first, best}) {
        std::vector<Slot> map = start;
        search_by_swaps(example.problem(), {.node_bytes = limit}, {.seed = seed}, map);
        num_within += example.busiest(map) <= limit ? 1 : 0;
        EXPECT_LE(example.cost(map), example.cost(start) * (1 + 1e-9));
        num_optimal += example.cost(map) <= example.cost(best) * (1 + 1e-9) ? 1 : 0;
        ++num_cases;
      }
      num_binding += example.cost(example.best(kAnyMap)) < example.cost(best) * (1 - 1e-9) ? 1 : 0;
    }
  EXPECT_EQ(num_cases, 48);
  EXPECT_GE(num_within, 47);
  EXPECT_GE(num_optimal, 46);
  EXPECT_GE(num_binding, 5) << "the limits must matter, or this test shows little";
}

TEST(SearchBySwaps, usually_meets_the_lowest_possible_limit_on_the_bytes_of_the_busiest_node) {
  POISE_SKIP_IF_SLOW();
  int num_within = 0;
  for (const char* text : {"node:2 core:4 factors:5,1", "rack:2 node:2 core:2", "mesh:4 core:2"})
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Example example(text, seed);
      double least = std::numeric_limits<double>::infinity();
      example.best([&](const std::vector<Slot>& map) {
        least = std::min(least, example.busiest(map));
        return false;
      });
      std::vector<Slot> map = numbers(8);
      search_by_swaps(example.problem(), {.node_bytes = least}, {.seed = seed}, map);
      num_within += example.busiest(map) <= least ? 1 : 0;
    }
  EXPECT_GE(num_within, 15);
}

}  // namespace
}  // namespace poise
