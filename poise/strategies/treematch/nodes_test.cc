// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/nodes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"

namespace poise::tree_match {
namespace {

/// Maps groups of one task each to the blocks. Task t is on the first place of block t.
std::vector<std::uint32_t> mapped(const Machine& machine, const Blocks& blocks,
                                  const Workload& workload, std::vector<double> shares) {
  const TaskId size = workload.num_tasks();
  std::vector<PlaceId> places;
  for (std::uint32_t block = 0; block < blocks.count(); ++block)
    places.push_back(blocks.first_place[block]);
  const Placement current(places);
  Demand demand{affinity_graph(workload, Affinity::bytes), std::move(shares)};
  demand.has_pinned = std::ranges::any_of(workload.tasks, [](Task t) { return !t.movable; });
  std::vector<std::uint32_t> group_of(size);
  for (TaskId t = 0; t < size; ++t) group_of[t] = t;
  return map_groups({machine, workload, current, machine.costs()}, demand, blocks, group_of);
}

/// Four tasks, two pairs of which exchange messages: 0 and 2, 1 and 3.
Workload two_pairs() {
  Workload workload;
  workload.tasks.resize(4);
  workload.messages = {{0, 2, 1, 100}, {1, 3, 1, 100}};
  return workload;
}

TEST(MapGroups, if_all_blocks_are_alike_groups_that_exchange_messages_are_mapped_to_nearby_blocks) {
  const Machine machine = machine_from_text("rack:2 node:2 core:1");
  const auto block_of = mapped(machine, all_nodes(machine), two_pairs(), {1, 1, 1, 1});
  EXPECT_EQ(block_of[0] / 2, block_of[2] / 2);
  EXPECT_EQ(block_of[1] / 2, block_of[3] / 2);
}

TEST(MapGroups, groups_keep_their_blocks_if_blocks_have_pinned_tasks_or_unequal_shares_or_sizes) {
  const std::vector<std::uint32_t> unchanged = {0, 1, 2, 3};
  const Machine machine = machine_from_text("rack:2 node:2 core:1");
  EXPECT_EQ(mapped(machine, all_nodes(machine), two_pairs(), {1, 2, 3, 4}), unchanged);

  Workload pinned = two_pairs();
  for (const TaskId t : {0u, 1u, 2u}) pinned.tasks[t].movable = false;
  EXPECT_EQ(mapped(machine, all_nodes(machine), pinned, {1, 1, 1, 1}), unchanged);

  MachineParts parts = machine_from_json(
                           R"({"poise_machine": 1, "levels": [{"name": "node", "count": 4},
                                             {"name": "core", "count": [1, 2, 3, 4]}]})",
                           "test")
                           .parts();
  parts.network = machine.network();
  const Machine uneven(std::move(parts));
  const std::vector<double> per_place = {12, 6, 6, 4, 4, 4, 3, 3, 3, 3};
  EXPECT_EQ(mapped(uneven, all_nodes(uneven), two_pairs(), per_place), unchanged);
}

TEST(MapGroups, three_groups_that_exchange_messages_share_the_larger_of_two_unequal_subtrees) {
  Workload workload;
  workload.tasks.resize(4);
  workload.messages = {{0, 1, 1, 100}, {1, 3, 1, 100}, {3, 0, 1, 100}};
  MachineParts parts = machine_from_text("rack:2 node:2 core:1").parts();
  parts.network.tiers[0].group_of_node = {0, 0, 0, 1};
  const Machine machine(std::move(parts));
  EXPECT_EQ(mapped(machine, all_nodes(machine), workload, {1, 1, 1, 1})[2], 3u);
}

TEST(MapGroups, of_two_mappings_with_equal_cost_chooses_the_one_that_migrates_fewer_bytes) {
  const Machine machine = machine_from_text("node:2 core:1");
  Workload workload;
  workload.tasks = {{.bytes = 1000}, {.bytes = 0}, {.bytes = 0}, {.bytes = 0}};
  const Placement current(std::vector<PlaceId>{1, 0, 0, 1});
  const Demand demand{affinity_graph(workload, Affinity::bytes), {1, 1}};
  EXPECT_EQ(map_groups({machine, workload, current, machine.costs()}, demand, all_nodes(machine),
                       {0, 0, 0, 1}),
            (std::vector<std::uint32_t>{1, 0}));
}

TEST(Blocks, are_the_nodes_or_the_groups_of_a_level_of_the_machine) {
  const Machine machine = machine_from_text("node:2 numa:2 core:2");
  const std::vector<PlaceId> nodes = {0, 4, 8}, domains = {0, 2, 4, 6, 8}, all = {0, 8};
  EXPECT_EQ(all_nodes(machine).first_place, nodes);
  EXPECT_EQ(all_nodes(machine).of_place, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_TRUE(all_nodes(machine).are_nodes);
  EXPECT_EQ(blocks_at(machine, 0).first_place, all);
  EXPECT_FALSE(blocks_at(machine, 0).are_nodes);
  EXPECT_EQ(blocks_at(machine, 1).first_place, nodes);
  EXPECT_TRUE(blocks_at(machine, 1).are_nodes);
  EXPECT_EQ(blocks_at(machine, 2).first_place, domains);
  EXPECT_FALSE(blocks_at(machine, 2).are_nodes);
  const auto first_places = [](const char* text) {
    std::vector<std::vector<PlaceId>> firsts;
    for (const Blocks& blocks : possible_blocks(machine_from_text(text)))
      firsts.push_back(blocks.first_place);
    return firsts;
  };
  EXPECT_EQ(first_places("node:2 numa:2 core:2"),
            (std::vector<std::vector<PlaceId>>{nodes, all, domains}));
  EXPECT_EQ(first_places("numa:2 core:2"), (std::vector<std::vector<PlaceId>>{{0, 4}, {0, 2, 4}}));
  EXPECT_EQ(first_places("core:3"), (std::vector<std::vector<PlaceId>>{{0, 3}}));
}

/// The weights of the groups into which tasks are divided.
std::vector<double> weights_of(const Demand& demand, const std::vector<std::uint32_t>& group_of,
                               std::uint32_t num_groups) {
  std::vector<double> weights(num_groups, 0);
  for (TaskId t = 0; t < group_of.size(); ++t) weights.at(group_of[t]) += demand.graph.weight[t];
  return weights;
}

TEST(GroupPerBlock, follows_the_shares_of_the_blocks_and_leaves_pinned_tasks_in_their_blocks) {
  const Machine machine = machine_from_text("node:3 core:2");
  for (const bool keeps_groups : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (keeps_groups ? " keeps groups" : ""));
      Random random(seed);
      Workload workload;
      Placement current(120);
      for (TaskId t = 0; t < 120; ++t) {
        workload.tasks.push_back({.load_s = 1, .movable = random.below(8) != 0});
        workload.messages.push_back({t, static_cast<TaskId>(random.below(120)), 1, 10});
        current.move(t, random.below(6));
      }
      Demand demand{affinity_graph(workload, Affinity::bytes), {1, 2, 1, 0, 1, 1}, 0.05, true};
      demand.open_places = 5;
      const std::vector<std::uint32_t> group_of = group_per_block(
          {machine, workload, current, machine.costs()}, demand, all_nodes(machine), keeps_groups);
      for (TaskId t = 0; t < 120; ++t)
        if (!workload.tasks[t].movable) {
          EXPECT_EQ(group_of[t], current.of(t) / 2) << t;
        }
      const std::vector<double> weights = weights_of(demand, group_of, 3);
      EXPECT_LE(weights[0], 63);
      EXPECT_LE(weights[1], 22);
      EXPECT_LE(weights[2], 42);
    }
}

TEST(GroupPerBlock, gives_each_block_at_most_as_many_tasks_as_it_has_open_places) {
  const Machine machine = machine_from_text("node:3 core:3");
  for (const bool keeps_groups : {false, true})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << (keeps_groups ? " keeps groups" : ""));
      Random random(seed);
      const TaskId size = 4 + random.below(5);
      Workload workload;
      Placement current(size);
      for (TaskId t = 0; t < size; ++t) {
        workload.tasks.push_back({.load_s = 1});
        workload.messages.push_back({t, static_cast<TaskId>(random.below(size)), 1, 10});
        current.move(t, random.below(9));
      }
      Demand demand{affinity_graph(workload, Affinity::bytes), {1, 1, 5, 1, 0, 1, 2, 1, 1}};
      demand.one_each = true;
      demand.open_places = 8;
      const std::vector<std::uint32_t> group_of = group_per_block(
          {machine, workload, current, machine.costs()}, demand, all_nodes(machine), keeps_groups);
      ASSERT_EQ(group_of.size(), size);
      const std::vector<double> weights = weights_of(demand, group_of, 3);
      EXPECT_LE(weights[0], 3);
      EXPECT_LE(weights[1], 2);
      EXPECT_LE(weights[2], 3);
    }
}

}  // namespace
}  // namespace poise::tree_match
