// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/rank_groups.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <vector>

#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> sizes(std::string_view machine, std::uint32_t width) {
  const RankGroups groups(machine_from_text(machine), width);
  std::vector<std::uint32_t> result;
  for (std::size_t level = 0; level < groups.num_levels(); ++level)
    result.push_back(groups.num_groups(level));
  return result;
}

TEST(RankGroups, ranks_are_grouped_by_the_levels_of_the_machine_such_as_nodes_and_racks) {
  EXPECT_THAT(sizes("core:1", 64), ElementsAre(1));
  EXPECT_THAT(sizes("node:4 core:16", 64), ElementsAre(64, 1));
  EXPECT_THAT(sizes("node:16 core:16", 64), ElementsAre(256, 16, 1));
  EXPECT_THAT(sizes("rack:8 node:32 core:32", 64), ElementsAre(8192, 256, 8, 1));
  EXPECT_THAT(sizes("node:4 numa:4 core:8", 8), ElementsAre(128, 16, 4, 1));
}

TEST(RankGroups, groups_that_are_too_large_are_split) {
  EXPECT_THAT(sizes("core:130", 64), ElementsAre(130, 3, 1));
  EXPECT_THAT(sizes("node:100 core:4", 16), ElementsAre(400, 100, 7, 1));
}

TEST(RankGroups,
     a_group_is_split_into_as_few_parts_as_possible_with_sizes_that_differ_by_at_most_one) {
  for (std::uint32_t ranks = 2; ranks < 120; ++ranks)
    for (std::uint32_t width = 2; width < 10; ++width) {
      const RankGroups groups(machine_from_text("core:" + std::to_string(ranks)), width);
      std::uint32_t before = ranks;
      for (std::size_t level = 1; level <= groups.top(); ++level) {
        const std::uint32_t expected = (before + width - 1) / width;
        ASSERT_EQ(groups.num_groups(level), expected) << ranks << " in groups of " << width;
        for (std::uint32_t g = 0; g < expected; ++g) {
          const std::size_t members = groups.children(level, groups.first(level)[g]).size() - 1;
          EXPECT_GE(members, before / expected);
          EXPECT_LE(members, (before + expected - 1) / expected);
        }
        before = expected;
      }
    }
}

TEST(RankGroups, a_group_of_ranks_never_combines_parts_of_different_nodes_or_of_different_racks) {
  for (const std::uint32_t width : {2u, 3u, 4u, 7u}) {
    const Machine machine = machine_from_text("rack:3 node:2 core:5");
    const RankGroups groups(machine, width);
    for (std::size_t level = 0; level <= groups.top(); ++level)
      for (std::uint32_t g = 0; g < groups.num_groups(level); ++g) {
        const std::uint32_t first = groups.first(level)[g], last = groups.first(level)[g + 1] - 1;
        const bool is_in_node = machine.node_of_place(first) == machine.node_of_place(last);
        const bool is_nodes = first % 5 == 0 && last % 5 == 4;
        EXPECT_TRUE(is_in_node || is_nodes) << first << " to " << last;
        if (first / 10 != last / 10) {
          EXPECT_TRUE(first % 10 == 0 && last % 10 == 9) << first << " to " << last;
        }
        EXPECT_EQ(groups.group_of(level, first), g);
        EXPECT_EQ(groups.group_of(level, last), g);
        EXPECT_EQ(groups.leader_of(level, last), first);
      }
  }
}

TEST(RankGroups, every_rank_finds_the_leader_of_its_group_and_the_first_ranks_of_its_subgroups) {
  const RankGroups groups(machine_from_text("node:3 core:4"), 4);
  EXPECT_EQ(groups.leader_of(0, 6), 6u);
  EXPECT_EQ(groups.leader_of(1, 6), 4u);
  EXPECT_EQ(groups.leader_of(2, 11), 0u);
  EXPECT_THAT(groups.children(1, 6), ElementsAre(4, 5, 6, 7, 8));
  EXPECT_THAT(groups.children(2, 6), ElementsAre(0, 4, 8, 12));
}

TEST(RankGroups, no_group_exceeds_the_requested_size) {
  for (const std::string_view text : {"core:1000", "node:37 core:11", "rack:3 node:70 core:5"})
    for (const std::uint32_t width : {2u, 3u, 64u}) {
      const Machine machine = machine_from_text(text);
      const RankGroups groups(machine, width);
      for (std::size_t level = 1; level < groups.num_levels(); ++level)
        for (std::uint32_t rank = 0; rank < machine.num_places(); ++rank) {
          EXPECT_LE(groups.children(level, rank).size() - 1, width);
          EXPECT_GE(groups.num_groups(level - 1), groups.num_groups(level));
        }
      EXPECT_EQ(groups.num_groups(groups.top()), 1u);
    }
}

}  // namespace
}  // namespace poise
