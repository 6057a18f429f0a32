// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/group_machine.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
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

TEST(GroupMachine, each_group_of_a_level_becomes_a_place_with_the_sum_of_its_resources) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = random_machine(random);
    const Level& level = machine.levels()[random.below(machine.levels().size())];
    std::vector<PlaceRange> ranges;
    std::set<NodeId> nodes;
    std::set<DomainId> domains;
    double counted = 0, num_places = 0, num_domains = 0, num_nodes = 0;
    for (std::uint32_t g = 0; g < level.num_groups(); ++g) {
      const PlaceId first = level.first_place[g], last = level.first_place[g + 1] - 1;
      ranges.push_back({first, last + 1, g > 0 && random.below(4) == 0});
      nodes.insert(machine.node_of_place(first));
      domains.insert(machine.domain_of(first));
      if (ranges.back().is_port) continue;
      ++counted;
      for (PlaceId p = first; p <= last; ++p) {
        ++num_places;
        num_domains += p == first || machine.domain_of(p) != machine.domain_of(p - 1);
        num_nodes += p == first || machine.node_of_place(p) != machine.node_of_place(p - 1);
      }
    }
    const Machine groups = machine_of_groups(machine, ranges);
    ASSERT_EQ(groups.num_places(), ranges.size());
    EXPECT_EQ(groups.num_nodes(), nodes.size());
    EXPECT_EQ(groups.num_domains(), domains.size());
    for (PlaceId p = 0; p < ranges.size(); ++p) {
      double speed = 0;
      for (PlaceId q = ranges[p].first; q < ranges[p].end; ++q) speed += machine.speed_of(q);
      EXPECT_DOUBLE_EQ(groups.speed_of(p), ranges[p].is_port ? 1e-9 : speed);
      for (PlaceId q = 0; q < ranges.size(); ++q) {
        EXPECT_EQ(groups.message_factor(p, q),
                  machine.message_factor(ranges[p].first, ranges[q].first));
        EXPECT_EQ(groups.byte_factor(p, q), machine.byte_factor(ranges[p].first, ranges[q].first));
      }
    }
    const CostModel &now = groups.costs(), &old = machine.costs();
    const double places = num_places / counted;
    for (double CostModel::*cost :
         {&CostModel::seconds_per_message, &CostModel::seconds_per_byte,
          &CostModel::seconds_per_migrated_byte, &CostModel::seconds_per_migrated_task})
      EXPECT_DOUBLE_EQ(now.*cost, old.*cost / places);
    for (TransportCosts CostModel::*transport : {&CostModel::inside, &CostModel::network})
      for (double TransportCosts::*cost :
           {&TransportCosts::send_s, &TransportCosts::receive_s, &TransportCosts::copy_s_per_byte})
        EXPECT_DOUBLE_EQ(now.*transport.*cost, old.*transport.*cost / places);
    EXPECT_EQ(now.network.latency_s, old.network.latency_s);
    EXPECT_DOUBLE_EQ(now.bus_bytes_per_s,
                     old.bus_bytes_per_s * std::max(1.0, num_domains / counted));
    EXPECT_DOUBLE_EQ(now.card_bytes_per_s,
                     old.card_bytes_per_s * std::max(1.0, num_nodes / counted));
    EXPECT_DOUBLE_EQ(now.card_s_per_message,
                     old.card_s_per_message / std::max(1.0, num_nodes / counted));
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
