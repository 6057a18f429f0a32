// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/rank_map.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"
#include "poise/partition/exhaustive_map.h"
#include "poise/placement/initial.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

Workload random_ranks(TaskId ranks, Random& random) {
  Workload workload;
  workload.tasks.resize(ranks);
  for (TaskId a = 0; a < ranks; ++a)
    for (TaskId b = 0; b < ranks; ++b)
      if (a != b && random.below(3) == 0)
        workload.messages.push_back({a, b, 1, 1 + random.below(1000)});
  return workload;
}

MapCost cost_of(const Machine& machine, const Workload& workload, const Placement& placement,
                Distance distance = Distance::hops) {
  return map_cost(machine, workload, placement, distance);
}

bool is_single(const Placement& placement) {
  const std::set<PlaceId> places(placement.places().begin(), placement.places().end());
  return places.size() == placement.num_tasks();
}

/// The least traffic of any map, found by trying all permutations of the places. The machine has
/// one place per rank.
double least_traffic(const Machine& machine, const Workload& workload, Distance distance) {
  std::vector<PlaceId> places(machine.num_places());
  std::iota(places.begin(), places.end(), 0);
  double least = cost_of(machine, workload, Placement(places), distance).traffic;
  while (std::next_permutation(places.begin(), places.end()))
    least = std::min(least, cost_of(machine, workload, Placement(places), distance).traffic);
  return least;
}

TEST(MapRanks, for_eight_ranks_the_map_has_the_least_possible_traffic) {
  for (const char* text : {"node:4 core:2 factors:7,1", "rack:2 node:2 numa:2 core:1",
                           "torus:4x2 core:1", "dragonfly:2x2 node:2 core:1 hop:2", "core:8"})
    for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(4); ++seed)
      for (const Distance distance : {Distance::hops, Distance::factors}) {
        SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
        Random random(seed);
        const Machine machine = machine_from_text(text);
        const Workload workload = random_ranks(8, random);
        const Placement map = map_ranks(machine, workload, nullptr, {.distance = distance});
        EXPECT_TRUE(is_single(map));
        EXPECT_NEAR(cost_of(machine, workload, map, distance).traffic,
                    least_traffic(machine, workload, distance), 1e-6);
      }
}

/// The least traffic of any map if there are fewer ranks than places. Tries all permutations of the
/// places; rank r is on the r-th place of the permutation.
double least_traffic_of_few(const Machine& machine, const Workload& workload, Distance distance) {
  std::vector<PlaceId> places(machine.num_places());
  std::iota(places.begin(), places.end(), 0);
  double least = std::numeric_limits<double>::infinity();
  do {
    const Placement map({places.begin(), places.begin() + workload.num_tasks()});
    least = std::min(least, cost_of(machine, workload, map, distance).traffic);
  } while (std::next_permutation(places.begin(), places.end()));
  return least;
}

TEST(MapRanks, for_few_ranks_the_search_tries_maps_to_all_nodes) {
  const std::string network =
      R"("network":{"source":"given","shape":"matrix","matrix":[[1,20,20],[20,1,2],[20,2,1]]})";
  for (const std::string& text :
       {std::string(R"([{"name":"node","count":3},{"name":"core","count":[2,1,3]}]})"),
        R"([{"name":"node","count":3},{"name":"core","count":1}],)" + network + "}",
        R"([{"name":"node","count":3},{"name":"core","count":[1,2,4]}],)" + network + "}"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_json(R"({"poise_machine":1,"levels":)" + text, "test");
    for (const Distance distance : {Distance::hops, Distance::factors})
      for (const TaskId ranks : {2, 3})
        for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(5); ++seed) {
          Random random(seed);
          Workload workload = random_ranks(ranks, random);
          workload.messages.push_back({0, ranks - 1, 1, 500});
          const TriedMap tried = try_maps(machine, workload, nullptr, {.distance = distance});
          EXPECT_TRUE(is_single(tried.placement));
          EXPECT_TRUE(tried.tried_all);
          EXPECT_EQ(tried.nodes, 3u);
          EXPECT_NEAR(cost_of(machine, workload, tried.placement, distance).traffic,
                      least_traffic_of_few(machine, workload, distance), 1e-6);
        }
  }
}

TEST(MapRanks,
     only_the_first_nodes_are_tried_if_there_are_very_many_nodes_or_each_used_node_must_be_filled) {
  POISE_SKIP_IF_SLOW();
  Random random(1);
  const Workload few = random_ranks(3, random), many = random_ranks(10, random);
  const auto tried = [](const char* text, const Workload& workload, RankShape shape = {}) {
    const TriedMap map = try_maps(machine_from_text(text), workload, nullptr, {.shape = shape});
    return std::pair(map.nodes, map.tried_all);
  };
  EXPECT_EQ(tried("node:1000 core:1", few), std::pair(3u, true));
  EXPECT_EQ(tried("node:100 core:2", few), std::pair(100u, true));
  EXPECT_EQ(tried("node:4 core:2", few, {.fills_nodes = true}), std::pair(2u, true));
  EXPECT_EQ(tried("node:8 core:2", many), std::pair(5u, false));
}

TEST(MapRanks, for_nine_ranks_local_search_alone_nearly_always_finds_the_least_traffic) {
  POISE_SKIP_IF_SLOW();
  const Machine machine = machine_from_text("torus:3x3 core:1");
  constexpr std::uint64_t seeds = 10;
  std::uint64_t optimal = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Random random(seed);
    const Workload workload = random_ranks(9, random);
    const RankDistances distances(machine, Distance::hops);
    const std::vector<PlaceId> slots = rank_slots(machine, 9, {});
    const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
    const RankProblem problem{graph, machine, distances, slots};
    std::vector<Slot> map(9);
    std::iota(map.begin(), map.end(), 0);
    search_by_swaps(problem, {}, {}, map);
    optimal += traffic(problem, map) <= least_traffic(machine, workload, Distance::hops) + 1e-6;
  }
  EXPECT_GE(optimal, seeds * 8 / 10);
}

TEST(MapRanks, the_map_never_causes_more_traffic_than_the_block_order_of_ranks) {
  POISE_SKIP_IF_SLOW();
  for (const char* text : {"node:8 core:16", "rack:2 node:4 numa:2 core:8 factors:12,8,1.5,1",
                           "torus:4x4x8 core:1", "dragonfly:4x4 node:2 core:4 hop:2"})
    for (const char* recipe : {"stencil3d", "geometric", "rmat", "commbench"})
      for (const TaskId ranks : {120u, 128u}) {
        SCOPED_TRACE(std::string(recipe) + " on " + text);
        const Machine machine = machine_from_text(text);
        const Workload workload = generate(parse_recipe(recipe), ranks, 3).front();
        const Placement block = in_block_order(machine, workload, {});
        for (const Distance distance : {Distance::hops, Distance::factors}) {
          const Placement map =
              map_ranks(machine, workload, nullptr,
                        {.distance = distance, .effort = {.scans_per_edge = 500}});
          EXPECT_TRUE(is_single(map));
          const MapCost ours = cost_of(machine, workload, map, distance);
          const MapCost theirs = cost_of(machine, workload, block, distance);
          EXPECT_LE(ours.traffic, theirs.traffic);
          EXPECT_LE(ours.internode_bytes, theirs.internode_bytes);
          EXPECT_LE(ours.busiest_node_bytes, theirs.busiest_node_bytes);
          EXPECT_LE(ours.busiest_card_bytes, theirs.busiest_card_bytes);
        }
      }
}

TEST(MapRanks, the_busiest_node_never_sends_more_bytes_than_if_ranks_are_in_block_order) {
  POISE_SKIP_IF_SLOW();
  // The traffic of a map is the sum of bytes times distance. All pairs of ranks exchange bytes, so
  // the map with the least traffic may send more bytes from one node than block order does.
  int binding = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = machine_from_text("node:4 core:4 factors:10,1");
    const Workload workload = random_ranks(16, random);
    const MapCost block = cost_of(machine, workload, in_block_order(machine, workload, {}));
    const MapCost ours = cost_of(machine, workload, map_ranks(machine, workload, nullptr, {}));
    EXPECT_LE(ours.busiest_node_bytes, block.busiest_node_bytes);
    EXPECT_LE(ours.busiest_card_bytes, block.busiest_card_bytes);
    EXPECT_LE(ours.traffic, block.traffic);
    binding += ours.traffic < block.traffic;
  }
  EXPECT_GE(binding, 15);
}

TEST(SearchBySwaps, lowers_the_traffic_without_exceeding_the_given_limits_on_bytes_sent) {
  POISE_SKIP_IF_SLOW();
  for (const char* text : {"torus:4x4 core:4", "node:4 numa:4 core:4 factors:10,3,1"})
    // With two slots per place, some slots have distance 0 from each other.
    for (const std::uint32_t per_place : {1u, 2u}) {
      SCOPED_TRACE(std::string(text) + " ranks per place: " + std::to_string(per_place));
      const Machine machine = machine_from_text(text);
      const TaskId ranks = 64 * per_place;
      Workload workload = generate(parse_recipe("geometric"), ranks, 3).front();
      std::erase_if(workload.messages, [](const Message& m) { return m.from % 3 == 0; });
      const std::vector<PlaceId> slots = rank_slots(machine, ranks, {.ranks_per_place = per_place});
      const RankDistances distances(machine, Distance::hops);
      const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
      std::vector<double> sent(ranks, 0);
      for (const Message& m : workload.messages)
        if (m.from != m.to) sent[m.from] += m.bytes;
      const auto searched = [&](double node, double internode, double card) {
        std::vector<Slot> map(ranks);
        std::iota(map.begin(), map.end(), 0);
        search_by_swaps({graph, machine, distances, slots}, {node, internode, card, sent}, {}, map);
        Placement placement(ranks);
        for (TaskId t = 0; t < ranks; ++t) placement.move(t, slots[map[t]]);
        return cost_of(machine, workload, placement);
      };
      const MapCost start = cost_of(machine, workload, Placement(slots));
      const MapCost end = searched(start.busiest_node_bytes, start.internode_bytes, 1e18);
      EXPECT_LT(end.traffic, start.traffic);
      EXPECT_LE(end.internode_bytes, start.internode_bytes);
      EXPECT_LE(end.busiest_node_bytes, start.busiest_node_bytes);
      const double card = 0.8 * start.busiest_card_bytes;
      EXPECT_LE(searched(1e18, 1e18, card).busiest_card_bytes, card);
      const double node = 0.8 * start.busiest_node_bytes;
      EXPECT_LE(searched(node, 1e18, 1e18).busiest_node_bytes, node);
    }
}

TEST(MapRanks, bytes_between_nodes_differ_by_at_most_5_percent_if_ranks_are_renumbered) {
  const Machine machine = machine_from_text("node:8 core:32");
  const Workload ordered = generate(parse_recipe("stencil3d"), 256, 3).front();
  double least = 0, most = 0;
  for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(8); ++seed) {
    Random random(seed);
    std::vector<TaskId> number(256);
    std::iota(number.begin(), number.end(), 0);
    for (std::size_t n = number.size(); n > 1; --n)
      std::swap(number[n - 1], number[random.below(n)]);
    Workload workload = ordered;
    for (Message& m : workload.messages) m.from = number[m.from], m.to = number[m.to];
    const Placement map =
        map_ranks(machine, workload, nullptr, {.effort = {.scans_per_edge = 100}});
    const double bytes = cost_of(machine, workload, map).internode_bytes;
    least = seed == 1 ? bytes : std::min(least, bytes);
    most = std::max(most, bytes);
  }
  EXPECT_LE(most, 1.05 * least);
}

TEST(MapRanks, divides_a_grid_of_ranks_into_square_blocks_even_if_ranks_are_shuffled) {
  POISE_SKIP_IF_SLOW();
  // A grid of 16 x 16 ranks on 4 nodes with 64 cores each. The best map cuts the grid along two
  // lines, which cross 32 edges of 10 bytes.
  Workload workload;
  workload.tasks.resize(256);
  std::vector<TaskId> name(256);
  std::iota(name.begin(), name.end(), 0);
  Random random(5);
  for (std::size_t i = 255; i > 0; --i) std::swap(name[i], name[random.below(i + 1)]);
  for (TaskId x = 0; x < 16; ++x)
    for (TaskId y = 0; y < 16; ++y) {
      if (x < 15) workload.messages.push_back({name[16 * x + y], name[16 * x + y + 16], 1, 10});
      if (y < 15) workload.messages.push_back({name[16 * x + y], name[16 * x + y + 1], 1, 10});
    }
  const Machine machine = machine_from_text("node:4 core:64 factors:10,1");
  const Placement map = map_ranks(machine, workload, nullptr, {});
  EXPECT_EQ(cost_of(machine, workload, map).internode_bytes, 320u);
}

/// Messages between neighbours on a torus of 8 x 8 ranks; rank name[8 * x + y] is at (x, y).
Workload torus_of_ranks(const std::vector<TaskId>& name) {
  Workload workload;
  workload.tasks.resize(64);
  for (TaskId x = 0; x < 8; ++x)
    for (TaskId y = 0; y < 8; ++y) {
      workload.messages.push_back({name[8 * x + y], name[8 * ((x + 1) % 8) + y], 1, 10});
      workload.messages.push_back({name[8 * x + y], name[8 * x + (y + 1) % 8], 1, 10});
    }
  return workload;
}

TEST(MapRanks, maps_shuffled_ranks_of_a_torus_nearly_as_well_as_ordered_ranks) {
  POISE_SKIP_IF_SLOW();
  // On a torus of 8 x 8 nodes, a map exists in which each edge has one hop.
  const Machine machine = machine_from_text("torus:8x8 core:1");
  std::vector<TaskId> name(64);
  std::iota(name.begin(), name.end(), 0);
  const double least = cost_of(machine, torus_of_ranks(name), Placement(name)).traffic;
  double sum = 0;
  constexpr std::uint64_t seeds = fewer_if_sanitized(20);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::iota(name.begin(), name.end(), 0);
    Random random(seed);
    for (std::size_t i = 63; i > 0; --i) std::swap(name[i], name[random.below(i + 1)]);
    const Workload workload = torus_of_ranks(name);
    sum += cost_of(machine, workload, map_ranks(machine, workload, nullptr, {})).traffic;
  }
  EXPECT_LE(sum / seeds, 1.08 * least);
}

TEST(MapRanks, maps_a_grid_of_ranks_onto_a_torus_of_nodes_as_well_as_a_map_made_by_hand) {
  POISE_SKIP_IF_SLOW();
  // In the map made by hand, each node gets a block of 4 x 4 ranks, and the grid of 8 x 8 blocks is
  // folded twice to fit on the torus. All bytes between nodes then travel one hop.
  const Machine machine = machine_from_text("torus:4x4x4 core:16");
  Workload workload;
  workload.tasks.resize(1024);
  Placement by_hand(1024);
  const auto folded = [](PlaceId node) { return node < 4 ? node : 7 - node; };
  // Each quarter of the grid is mapped to one layer of the torus.
  constexpr PlaceId layer[2][2] = {{0, 1}, {3, 2}};
  for (TaskId x = 0; x < 32; ++x)
    for (TaskId y = 0; y < 32; ++y) {
      const TaskId rank = 32 * x + y;
      if (x < 31) workload.messages.push_back({rank, rank + 32, 1, 10});
      if (y < 31) workload.messages.push_back({rank, rank + 1, 1, 10});
      const PlaceId i = x / 4, j = y / 4;
      const PlaceId node = 16 * folded(i) + 4 * folded(j) + layer[i / 4][j / 4];
      by_hand.move(rank, 16 * node + 4 * (x % 4) + y % 4);
    }
  RankMapOptions options;
  options.effort.scans_per_edge = 1000;
  const Placement map = map_ranks(machine, workload, nullptr, options);
  EXPECT_LE(cost_of(machine, workload, map).traffic, cost_of(machine, workload, by_hand).traffic);
}

TEST(MapRanks, nodes_of_a_torus_may_have_unequal_numbers_of_cores) {
  const Machine machine = machine_from_json(
      R"({"poise_machine": 1,
          "levels": [{"name": "node", "count": 8}, {"name": "core", "count": ["7 x 1", 8]}],
          "network": {"shape": "torus", "dims": [8]}})",
      "test");
  Random random(1);
  const Workload workload = random_ranks(15, random);
  const Placement map = map_ranks(machine, workload, nullptr, {});
  EXPECT_TRUE(is_single(map));
  EXPECT_LE(cost_of(machine, workload, map).traffic,
            cost_of(machine, workload, in_block_order(machine, workload, {})).traffic);
}

TEST(MapRanks, the_map_of_two_ranks_is_no_worse_than_block_order_if_costs_depend_on_direction) {
  const Machine machine = machine_from_json(
      R"({"poise_machine": 1, "levels": [{"name": "numa", "count": 3}, {"name": "core", "count": 1}],
          "numa": {"source": "given", "latency_factor": [[1, 2, 3], [5, 1, 4], [2, 4, 1]]}})",
      "test");
  Workload workload;
  workload.tasks.resize(2);
  for (const Message message : {Message{0, 1, 1, 1000}, Message{1, 0, 1, 1000}}) {
    workload.messages = {message};
    const Placement block = in_block_order(machine, workload, {});
    const Placement other(std::vector<PlaceId>{1, 0});
    for (const Placement* const start : {&block, &other}) {
      const Placement map = map_ranks(machine, workload, start, {.distance = Distance::factors});
      for (const Placement* const least : {&block, start})
        EXPECT_LE(cost_of(machine, workload, map, Distance::factors).traffic,
                  cost_of(machine, workload, *least, Distance::factors).traffic);
    }
  }
}

TEST(MapRanks, starts_from_the_current_map_if_one_is_given) {
  const Machine machine = machine_from_text("node:4 core:8 factors:10,1");
  const Workload workload = generate(parse_recipe("geometric"), 32, 3).front();
  const Placement best = map_ranks(machine, workload, nullptr, {});
  const Placement again = map_ranks(machine, workload, &best, {.effort = {.max_scans = 0}});
  EXPECT_LE(cost_of(machine, workload, again).traffic, cost_of(machine, workload, best).traffic);
}

TEST(MapRanks, gives_every_rank_the_requested_number_of_cores) {
  const Machine machine = machine_from_text("node:3 numa:2 core:9 factors:10,1.5,1");
  const Workload workload = generate(parse_recipe("stencil2d"), 9, 3).front();
  const Placement map = map_ranks(machine, workload, nullptr, {.shape = {.cores_per_rank = 4}});
  std::set<PlaceId> used;
  for (const PlaceId first : map.places())
    for (PlaceId core = first; core < first + 4; ++core) {
      EXPECT_TRUE(used.insert(core).second) << "core " << core;
      EXPECT_EQ(machine.domain_of(core), machine.domain_of(first));
    }
}

TEST(MapRanks, several_ranks_may_share_a_place_up_to_its_capacity) {
  const Machine machine = machine_from_text("node:2 core:4 factors:10,1");
  const Workload workload = generate(parse_recipe("stencil2d"), 23, 3).front();
  const Placement map = map_ranks(machine, workload, nullptr, {.shape = {.ranks_per_place = 3}});
  std::vector<int> ranks(8, 0);
  for (const PlaceId place : map.places()) ++ranks[place];
  EXPECT_LE(*std::ranges::max_element(ranks), 3);
  EXPECT_THROW(map_ranks(machine, workload, nullptr, {}), Error);
}

TEST(RankSlots, a_place_has_no_more_slots_than_there_are_ranks) {
  const Machine machine = machine_from_text("core:2");
  EXPECT_EQ(rank_slots(machine, 3, {.ranks_per_place = 1'000'000}).size(), 6u);
  EXPECT_EQ(rank_slots(machine, 3, {.ranks_per_place = 2}).size(), 4u);
}

TEST(RankSlots, lie_on_the_first_nodes_that_together_hold_all_ranks) {
  const Machine machine = machine_from_text("node:4 core:2");
  EXPECT_EQ(rank_slots(machine, 3, {}), (std::vector<PlaceId>{0, 1, 2, 3}));
  EXPECT_EQ(rank_slots(machine, 4, {}), (std::vector<PlaceId>{0, 1, 2, 3}));
  EXPECT_EQ(rank_slots(machine, 5, {}), (std::vector<PlaceId>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(rank_slots(machine, 3, {.fills_nodes = true}), (std::vector<PlaceId>{0, 1, 2}));
}

TEST(RankSlots, include_all_slots_of_the_nodes_that_the_given_map_uses) {
  const Machine machine = machine_from_text("node:4 core:2");
  const Placement start(std::vector<PlaceId>{7, 0, 1});
  EXPECT_EQ(rank_slots(machine, 3, {}, &start), (std::vector<PlaceId>{0, 1, 2, 3, 6, 7}));
}

TEST(RankSlots,
     throw_for_0_cores_per_rank_or_0_ranks_per_place_or_shared_places_with_2_cores_per_rank) {
  const Machine machine = machine_from_text("core:4");
  EXPECT_THROW(rank_slots(machine, 1, {.cores_per_rank = 0}), Error);
  EXPECT_THROW(rank_slots(machine, 1, {.ranks_per_place = 0}), Error);
  EXPECT_THROW(rank_slots(machine, 1, {.cores_per_rank = 2, .ranks_per_place = 2}), Error);
}

TEST(RankSlots, cross_the_border_of_a_domain_only_if_no_domain_has_enough_cores) {
  const Machine machine = machine_from_text("node:2 numa:2 core:3");
  EXPECT_EQ(rank_slots(machine, 4, {.cores_per_rank = 2}), (std::vector<PlaceId>{0, 3, 6, 9}));
  EXPECT_EQ(rank_slots(machine, 4, {.cores_per_rank = 3}), (std::vector<PlaceId>{0, 3, 6, 9}));
  EXPECT_EQ(rank_slots(machine, 2, {.cores_per_rank = 4}), (std::vector<PlaceId>{0, 6}));
  EXPECT_THROW(rank_slots(machine, 3, {.cores_per_rank = 4}), Error);
}

TEST(TryAllMaps, finds_the_least_traffic_and_breaks_ties_by_the_bytes_of_the_busiest_node) {
  for (const char* text : {"node:3 numa:2 core:1 factors:10,3,1", "numa:3 core:2 factors:3,1"})
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
      const Machine machine = machine_from_text(text);
      const std::vector<PlaceId> slots = rank_slots(machine, 6, {});
      const RankDistances distances(machine, Distance::factors);
      Random random(seed);
      Workload workload = random_ranks(5, random);
      for (Message& message : workload.messages)
        message.bytes = 100;  // so that many maps are equally good
      graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
      graphs::pad(graph, 6, 1);
      const auto quality = [&](const std::vector<Slot>& map) {
        const Placement placement({map.begin(), map.begin() + 5});
        const MapCost cost = cost_of(machine, workload, placement, Distance::factors);
        return std::pair(cost.traffic, cost.busiest_node_bytes);
      };
      std::vector<Slot> map(6);
      std::iota(map.begin(), map.end(), 0);
      auto best = quality(map);
      while (std::next_permutation(map.begin(), map.end())) best = std::min(best, quality(map));
      std::iota(map.rbegin(), map.rend(), 0);
      EXPECT_TRUE(try_all_maps({graph, machine, distances, slots}, 5, 1'000'000, map));
      EXPECT_EQ(quality(map), best);
    }
}

TEST(TryAllMaps, tries_only_one_of_several_maps_that_differ_by_an_exchange_of_equivalent_slots) {
  const Machine machine = machine_from_text("core:4");
  Workload workload;
  workload.tasks.resize(4);
  for (TaskId t = 0; t < 4; ++t) workload.messages.push_back({t, (t + 1) % 4, 1, 100});
  const std::vector<PlaceId> slots = rank_slots(machine, 4, {});
  const RankDistances distances(machine, Distance::hops);
  const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
  const RankProblem problem{graph, machine, distances, slots};
  // All maps are equivalent. So the search visits five partial maps: one in which no rank has a
  // slot, one in which a single rank has a slot, and so on up to four ranks.
  std::vector<Slot> map = {3, 2, 1, 0};
  EXPECT_TRUE(try_all_maps(problem, 4, 6, map));
  EXPECT_FALSE(try_all_maps(problem, 4, 4, map));
  EXPECT_EQ(map, (std::vector<Slot>{3, 2, 1, 0}));
}

TEST(MapRanks, gives_the_same_map_on_every_call) {
  POISE_SKIP_IF_SLOW();
  const Machine machine = machine_from_text("node:8 numa:2 core:8 factors:10,1.5,1");
  const Workload workload = generate(parse_recipe("rmat"), 128, 3).front();
  EXPECT_EQ(map_ranks(machine, workload, nullptr, {}), map_ranks(machine, workload, nullptr, {}));
}

TEST(OnePerSlot, moves_only_ranks_that_share_a_place_and_keeps_them_on_their_node) {
  const Machine machine = machine_from_text("node:2 core:4 factors:10,1");
  const Workload workload = generate(parse_recipe("stencil2d"), 8, 3).front();
  const Placement crowded(std::vector<PlaceId>{0, 0, 1, 2, 5, 5, 6, 7});
  const Placement single = one_per_slot(machine, workload, crowded, {});
  EXPECT_TRUE(is_single(single));
  for (const TaskId t : {2u, 3u, 6u, 7u}) EXPECT_EQ(single.of(t), crowded.of(t));
  EXPECT_EQ(machine.node_of_place(single.of(0)), 0u);
  EXPECT_EQ(machine.node_of_place(single.of(5)), 1u);
  EXPECT_EQ(one_per_slot(machine, workload, single, {}), single);
}

TEST(OnePerSlot, the_ranks_that_exchange_most_bytes_keep_their_places) {
  Workload workload;
  workload.tasks.resize(5);
  workload.messages = {{0, 1, 1, 10}, {2, 3, 1, 200}, {3, 4, 1, 100}};
  const Machine machine = machine_from_text("core:5");
  EXPECT_EQ(
      one_per_slot(machine, workload, Placement(std::vector<PlaceId>{0, 1, 2, 2, 3}), {}).of(3),
      2u);
  // If two ranks may share a place, ranks 0 and 1 stay at place 0, although all other ranks
  // exchange more bytes.
  const Placement crowded(std::vector<PlaceId>{0, 0, 1, 1, 1});
  EXPECT_EQ(one_per_slot(machine_from_text("core:3"), workload, crowded,
                         {.shape = {.ranks_per_place = 2}}),
            Placement(std::vector<PlaceId>{0, 0, 1, 1, 2}));
}

/// A reference implementation of one_per_slot() for ranks with one core each: of the ranks on a
/// place, the one that exchanges most bytes stays. The others take the nearest free places, first
/// those that exchange more bytes.
Placement naive_single(const Machine& machine, const Workload& workload, const Placement& placement,
                       Distance distance) {
  const TaskId ranks = workload.num_tasks();
  std::vector<double> bytes(ranks, 0);
  for (const Message& message : workload.messages)
    if (message.from != message.to) {
      bytes[message.from] += message.bytes;
      bytes[message.to] += message.bytes;
    }
  std::vector<TaskId> order(ranks);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](TaskId a, TaskId b) { return bytes[a] > bytes[b]; });
  Placement single(ranks);
  std::set<PlaceId> taken;
  std::vector<TaskId> waiting;
  for (const TaskId rank : order)
    if (taken.insert(placement.of(rank)).second)
      single.move(rank, placement.of(rank));
    else
      waiting.push_back(rank);
  for (const TaskId rank : waiting) {
    std::optional<std::pair<double, PlaceId>> nearest;
    for (const PlaceId p : rank_slots(machine, ranks, {}, &placement)) {
      if (taken.contains(p)) continue;
      const double mean = (distance_between(machine, distance, p, placement.of(rank)) +
                           distance_between(machine, distance, placement.of(rank), p)) /
                          2;
      if (!nearest || std::pair(mean, p) < *nearest) nearest = {mean, p};
    }
    taken.insert(nearest->second);
    single.move(rank, nearest->second);
  }
  return single;
}

TEST(OnePerSlot, gives_the_same_map_as_a_reference_implementation_on_random_placements) {
  for (const char* text :
       {"node:3 numa:2 core:3 factors:10,1.5,1", "torus:3x3 core:2", "core:9", "node:4 core:4"})
    for (std::uint64_t seed = 0; seed < 40; ++seed)
      for (const Distance distance : {Distance::hops, Distance::factors}) {
        SCOPED_TRACE(std::string(text) + " seed " + std::to_string(seed));
        Random random(seed);
        const Machine machine = machine_from_text(text);
        const Workload workload = random_ranks(2 + random.below(machine.num_places() - 1), random);
        Placement placement(workload.num_tasks());
        for (TaskId t = 0; t < workload.num_tasks(); ++t)
          placement.move(t, random.below(machine.num_places()));
        const Placement single = one_per_slot(machine, workload, placement, {.distance = distance});
        EXPECT_TRUE(is_single(single));
        EXPECT_EQ(single, naive_single(machine, workload, placement, distance));
        EXPECT_EQ(is_one_per_slot(machine, placement, {}), is_single(placement));
      }
}

TEST(OnePerSlot, a_rank_on_a_core_inside_a_slot_moves_to_the_first_core_of_the_slot) {
  const Machine machine = machine_from_text("node:2 core:8");
  Workload workload;
  workload.tasks.resize(3);
  const Placement inside(std::vector<PlaceId>{3, 7, 13});
  const RankShape shape{.cores_per_rank = 3};  // each node has slots at 0 and 3, and two cores left
  EXPECT_FALSE(is_one_per_slot(machine, inside, shape));
  EXPECT_EQ(one_per_slot(machine, workload, inside, {.shape = shape}),
            Placement(std::vector<PlaceId>{3, 0, 11}));
  EXPECT_TRUE(is_one_per_slot(machine, Placement(std::vector<PlaceId>{3, 0, 11}), shape));
}

TEST(IsOnePerSlot,
     is_true_if_each_rank_is_on_the_first_core_of_a_slot_and_no_place_has_too_many_ranks) {
  const Machine machine = machine_from_text("core:4");
  const auto fits = [&](std::vector<PlaceId> places, const RankShape& shape) {
    return is_one_per_slot(machine, Placement(std::move(places)), shape);
  };
  EXPECT_TRUE(fits({0, 3, 1}, {}));
  EXPECT_FALSE(fits({0, 3, 0}, {}));
  EXPECT_TRUE(fits({0, 3, 0}, {.ranks_per_place = 2}));
  EXPECT_FALSE(fits({0, 0, 0}, {.ranks_per_place = 2}));
  EXPECT_TRUE(fits({3, 3, 0, 0}, {.ranks_per_place = 2}));
  EXPECT_TRUE(fits({2, 0}, {.cores_per_rank = 2}));
  EXPECT_FALSE(fits({1, 3}, {.cores_per_rank = 2}));
  EXPECT_FALSE(fits({3, 0}, {.cores_per_rank = 2}));
}

TEST(MapRanks, more_than_nine_ranks_get_nearly_as_little_traffic_as_with_far_more_search_effort) {
  POISE_SKIP_IF_SLOW();
  double sum = 0, least = 0;
  for (const char* text : {"node:4 core:4 factors:7,1", "torus:4x4 core:1", "torus:2x3 core:3",
                           "dragonfly:3x2 core:2", "node:2 numa:3 core:2"})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const Workload workload = random_ranks(machine.num_places() - seed % 2, random);
      const auto traffic_with = [&](const SwapEffort& effort) {
        const Placement map = map_ranks(machine, workload, nullptr, {.effort = effort});
        EXPECT_TRUE(is_single(map));
        return cost_of(machine, workload, map).traffic;
      };
      sum += traffic_with({.scans_per_edge = 300});
      least += traffic_with({.scans_per_edge = 4000});
    }
  EXPECT_LE(sum / least, 1.002);
}

TEST(MapRanks, lowers_the_traffic_of_shuffled_ranks_on_every_kind_of_machine) {
  struct Case {
    const char *machine, *recipe;
    RankShape shape;
    double most;  // maximum traffic, relative to block order
  };
  for (const auto& [text, recipe, shape, most] :
       {Case{"node:4 core:8 factors:10,1", "stencil2d", {}, 0.706},
        Case{"rack:2 node:2 numa:2 core:4 factors:12,8,1.5,1", "geometric", {}, 0.543},
        Case{"torus:4x2x2 core:2", "stencil3d", {}, 0.6895},
        Case{"torus:6x5 core:1", "stencil2d", {}, 0.677},
        Case{"dragonfly:4x2 node:2 core:2", "rmat", {}, 0.8065},
        Case{"mesh:3x4 core:4", "geometric", {.cores_per_rank = 2}, 0.6785},
        Case{"node:3 numa:2 core:3", "stencil2d", {.ranks_per_place = 2}, 0.4045}}) {
    SCOPED_TRACE(std::string(recipe) + " on " + text);
    const Machine machine = machine_from_text(text);
    const auto ranks =
        static_cast<TaskId>(machine.num_places() / shape.cores_per_rank * shape.ranks_per_place);
    double ratio = 0;
    for (const std::uint64_t seed : {1, 2, 3}) {
      Random random(seed);
      std::vector<TaskId> name(ranks);
      std::iota(name.begin(), name.end(), 0);
      for (std::size_t i = ranks; i > 1; --i) std::swap(name[i - 1], name[random.below(i)]);
      Workload workload = generate(parse_recipe(recipe), ranks, seed).front();
      ASSERT_LE(workload.num_tasks(), ranks);
      for (Message& m : workload.messages)
        m = {name[m.from] % workload.num_tasks(), name[m.to] % workload.num_tasks(), 1,
             1 + random.below(1000)};
      const RankMapOptions options{.shape = shape, .effort = {.scans_per_edge = 1000}};
      const Placement map = map_ranks(machine, workload, nullptr, options);
      EXPECT_TRUE(is_one_per_slot(machine, map, shape));
      const Placement block = in_block_order(machine, workload, shape);
      ratio +=
          cost_of(machine, workload, map).traffic / cost_of(machine, workload, block).traffic / 3;
    }
    EXPECT_LE(ratio, most);
  }
}

TEST(TryAllMaps, visits_few_partial_maps_because_those_that_cannot_become_the_best_are_abandoned) {
  // Eight ranks have 40,320 maps and 109,601 partial maps.
  std::size_t sum = 0;
  for (const char* text : {"torus:8 core:1", "node:4 core:2 factors:9,1", "mesh:2x4 core:1"})
    for (std::uint64_t seed = 1; seed <= fewer_if_sanitized(4); ++seed) {
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const std::vector<PlaceId> slots = rank_slots(machine, 8, {});
      const RankDistances distances(machine, Distance::factors);
      const graphs::Graph graph =
          graphs::affinity_graph(random_ranks(8, random), graphs::Affinity::bytes);
      const RankProblem problem{graph, machine, distances, slots};
      std::vector<Slot> best(8);
      std::iota(best.begin(), best.end(), 0);
      std::vector<Slot> swapped = best;
      search_by_swaps(problem, {}, {}, swapped);
      EXPECT_TRUE(try_all_maps(problem, 8, 1'000'000, best));
      EXPECT_LE(traffic(problem, best), traffic(problem, swapped) * (1 + 1e-9));
      // Finds the smallest limit on visits with which try_all_maps(), starting from the best map,
      // finishes.
      std::size_t too_few = 0, enough = 1'000'000;
      while (enough - too_few > 1) {
        std::vector<Slot> map = best;
        const std::size_t middle = (too_few + enough) / 2;
        (try_all_maps(problem, 8, middle, map) ? enough : too_few) = middle;
        EXPECT_DOUBLE_EQ(traffic(problem, map), traffic(problem, best));
      }
      sum += enough;
    }
  EXPECT_LE(sum, 215132u);
}

TEST(MapRanks, a_search_with_zero_effort_keeps_a_current_map_that_is_better_than_the_map_it_finds) {
  POISE_SKIP_IF_SLOW();
  // On a single node, no bytes travel between nodes, so only the traffic decides.
  const Machine machine = machine_from_text("package:2 numa:2 core:6");
  int num_better = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Workload workload = random_ranks(24, random);
    const auto mapped = [&](const Placement* current, double scans_per_edge) {
      const SwapEffort effort{.scans_per_edge = scans_per_edge};
      return map_ranks(machine, workload, current, {.effort = effort});
    };
    const Placement best = mapped(nullptr, 2000), hurried = mapped(nullptr, 0);
    num_better += cost_of(machine, workload, best).traffic <
                          cost_of(machine, workload, hurried).traffic * (1 - 1e-6)
                      ? 1
                      : 0;
    EXPECT_EQ(mapped(&best, 0), best);
  }
  EXPECT_GE(num_better, 1);
}

}  // namespace
}  // namespace poise
