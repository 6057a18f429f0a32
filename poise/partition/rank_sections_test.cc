// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_sections.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"
#include "poise/partition/graph_testing.h"
#include "poise/partition/rank_slots.h"

namespace poise {
namespace {

using graphs::Graph;
using graphs::Vertex;

std::vector<Slot> numbers(std::size_t size) {
  std::vector<Slot> all(size);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Slot> shuffled(std::size_t size, Random& random) {
  std::vector<Slot> all = numbers(size);
  for (std::size_t i = size; i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
  return all;
}

bool is_permutation(std::vector<Slot> slot_of) {
  std::sort(slot_of.begin(), slot_of.end());
  return slot_of == numbers(slot_of.size());
}

/// One rank per place of a machine. `hidden` is a map of the ranks in which close ranks exchange
/// more bytes.
struct Hidden {
  Machine machine;
  RankDistances distances;
  std::vector<PlaceId> slots;
  std::vector<Slot> hidden;
  Graph graph;

  template <typename Bytes>
  Hidden(Machine of, std::uint64_t seed, const Bytes& bytes)
      : machine(std::move(of)),
        distances(machine, Distance::hops),
        slots(rank_slots(machine, machine.num_places(), {})) {
    Random random(seed);
    hidden = shuffled(slots.size(), random);
    Workload workload;
    workload.tasks.resize(slots.size());
    for (TaskId a = 0; a < slots.size(); ++a)
      for (TaskId b = 0; b < a; ++b)
        if (const std::uint64_t sent = bytes(hidden[a], hidden[b]); sent > 0)
          workload.messages.push_back({a, b, 1, sent});
    graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
  }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

  RankProblem problem() const { return {graph, machine, distances, slots}; }
  double least() const { return traffic(problem(), hidden); }
};

TEST(RankSections,
     finds_the_map_with_the_least_traffic_if_ranks_far_apart_in_a_tree_exchange_fewer_bytes) {
  for (const char* text : {"node:4 numa:2 core:4", "rack:2 node:3 core:3", "core:16",
                           "node:5 core:3", "package:3 numa:2 l3:2 core:2"})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Machine machine = machine_from_text(text);
      const Hidden hidden(machine, seed, [&](Slot a, Slot b) {
        std::uint64_t bytes = 1'000'000;
        for (std::uint32_t hops = machine.hops(a, b); hops > 2; hops -= 2) bytes /= 30;
        return bytes;
      });
      const std::vector<Slot> map = cut_into_slots(hidden.problem(), 4);
      EXPECT_TRUE(is_permutation(map));
      EXPECT_LE(traffic(hidden.problem(), map), hidden.least() * (1 + 1e-9));
    }
}

TEST(RankSections, neighbours_in_a_shuffled_grid_are_mapped_close_together_on_a_torus_or_mesh) {
  for (const auto& [text, most] : {std::pair{"mesh:8 core:1", 1.0},
                                   {"mesh:4x4 core:1", 1.142},
                                   {"torus:4x4 core:1", 1.063},
                                   {"torus:2x3x4 core:1", 1.132},
                                   {"mesh:3x6 core:2", 1.04},
                                   {"torus:16 core:1", 1.15}}) {
    double sum = 0, least = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const Machine machine = machine_from_text(text);
      const Hidden hidden(machine, seed, [&](Slot a, Slot b) {
        return machine.node_of_place(a) == machine.node_of_place(b) ? 50u
               : machine.network().hops(machine.node_of_place(a), machine.node_of_place(b)) == 1
                   ? 10u
                   : 0u;
      });
      const std::vector<Slot> map = cut_into_slots(hidden.problem(), 4);
      EXPECT_TRUE(is_permutation(map));
      sum += traffic(hidden.problem(), map);
      least += hidden.least();
    }
    EXPECT_LE(sum / least, most * (1 + 1e-9)) << text;
  }
}

TEST(RankSections,
     the_function_cut_into_nodes_puts_each_clique_of_ranks_on_one_node_of_any_network) {
  for (const char* text : {"torus:2x3 core:4", "dragonfly:2x2 core:6", "mesh:5 core:3"})
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Machine machine = machine_from_text(text);
      const Hidden hidden(machine, seed, [&](Slot a, Slot b) {
        return machine.node_of_place(a) == machine.node_of_place(b) ? 1000u : 1u;
      });
      const std::vector<Slot> map = cut_into_nodes(hidden.problem(), 4);
      EXPECT_TRUE(is_permutation(map));
      for (Vertex a = 0; a < map.size(); ++a)
        for (Vertex b = 0; b < a; ++b)
          EXPECT_EQ(
              machine.node_of_place(map[a]) == machine.node_of_place(map[b]),
              machine.node_of_place(hidden.hidden[a]) == machine.node_of_place(hidden.hidden[b]))
              << a << " and " << b;
    }
}

TEST(RankSections, give_every_rank_a_slot_of_its_own_even_if_nodes_have_unequal_numbers_of_cores) {
  const Machine uneven = machine_from_json(
      R"({"poise_machine": 1, "levels": [{"name": "node", "count": 6},
                                         {"name": "core", "count": [1, 2, 5, 3, 1, 1]}],
          "network": {"shape": "torus", "dims": [2, 3]}})",
      "test");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Hidden drawn(uneven, seed, [&](Slot, Slot) { return random.below(100); });
    EXPECT_TRUE(is_permutation(cut_into_slots(drawn.problem(), 2)));
    EXPECT_TRUE(is_permutation(cut_into_nodes(drawn.problem(), 2)));
  }
}

}  // namespace
}  // namespace poise
