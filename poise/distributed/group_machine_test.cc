// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/group_machine.h"

#include <gtest/gtest.h>
#include <vector>

#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(GroupMachine, if_every_group_has_one_place_the_coarser_machine_equals_the_original) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = random_machine(random);
    std::vector<PlaceRange> ranges;
    for (PlaceId p = 0; p < machine.num_places(); ++p) ranges.push_back({p, p + 1});
    const Machine same = machine_of_groups(machine, ranges);
    ASSERT_EQ(same.num_places(), machine.num_places());
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      EXPECT_EQ(same.speed_of(p), machine.speed_of(p));
      for (PlaceId q = 0; q < machine.num_places(); ++q) {
        EXPECT_EQ(same.message_factor(p, q), machine.message_factor(p, q));
        EXPECT_EQ(same.byte_factor(p, q), machine.byte_factor(p, q));
      }
    }
    EXPECT_EQ(same.costs().network.send_s, machine.costs().network.send_s);
    EXPECT_EQ(same.costs().card_bytes_per_s, machine.costs().card_bytes_per_s);
  }
}

TEST(GroupMachine, a_machine_with_a_subset_of_the_places_keeps_the_distances_between_them) {
  Random random(7);
  for (int i = 0; i < 60; ++i) {
    const Machine machine = random_machine(random);
    std::vector<PlaceRange> ranges;
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      if (random.below(3) > 0 || p + 1 == machine.num_places()) ranges.push_back({p, p + 1});
    const Machine part = machine_of_groups(machine, ranges);
    for (PlaceId p = 0; p < ranges.size(); ++p)
      for (PlaceId q = 0; q < ranges.size(); ++q)
        EXPECT_EQ(part.message_factor(p, q),
                  machine.message_factor(ranges[p].first, ranges[q].first));
  }
}

TEST(GroupMachine, a_range_of_places_becomes_one_place_with_the_sum_of_their_speeds) {
  const Machine machine = machine_from_text("rack:2 node:3 numa:2 core:4");
  const Machine nodes = machine_of_groups(
      machine, std::vector<PlaceRange>{{0, 8}, {8, 16}, {16, 24}, {24, 48, true}});
  EXPECT_EQ(nodes.num_places(), 4u);
  EXPECT_EQ(nodes.num_nodes(), 4u);
  EXPECT_EQ(nodes.speed_of(0), 8);
  EXPECT_LT(nodes.speed_of(3), 1e-6);
  EXPECT_EQ(nodes.latency_factor(0, 1), machine.latency_factor(0, 2));
  EXPECT_EQ(nodes.latency_factor(0, 3), machine.latency_factor(0, 6));
  EXPECT_DOUBLE_EQ(nodes.costs().network.send_s, machine.costs().network.send_s / 8);
  EXPECT_DOUBLE_EQ(nodes.costs().bus_bytes_per_s, machine.costs().bus_bytes_per_s * 2);
  EXPECT_DOUBLE_EQ(nodes.costs().card_bytes_per_s, machine.costs().card_bytes_per_s);
  const Machine racks = machine_of_groups(machine, std::vector<PlaceRange>{{0, 24}, {24, 48}});
  EXPECT_EQ(racks.num_nodes(), 2u);
  EXPECT_DOUBLE_EQ(racks.costs().card_bytes_per_s, machine.costs().card_bytes_per_s * 3);
}

}  // namespace
}  // namespace poise
