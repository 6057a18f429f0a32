// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/resources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::DoubleEq;
using testing::Pair;
using testing::UnorderedElementsAre;

/// A machine of two racks with two nodes each. A node has two memory domains and two network cards
/// of 1 GB/s.
struct TwoRacks {
  TwoRacks() {
    costs.formula = CostFormula::physical;
    costs.bus_bytes_per_s = 1e10;
    costs.inside.bus_crossings = 3;
    costs.network.bus_crossings = 1;
    costs.card_bytes_per_s = 1e9;
    costs.card_s_per_message = 1e-6;
    costs.cards = 2;
    costs.uplink_bytes_per_s = {5e8};
  }

  /// Returns how many seconds 10 messages with 1 MB in total occupy each resource, by its name.
  std::vector<std::pair<std::string, double>> seconds(DomainId from, DomainId to) const {
    const Resources resources(machine, costs);
    std::vector<std::pair<std::string, double>> found;
    resources.for_each_crossed(from, to, [&](ResourceId r, double per_message, double per_byte) {
      found.emplace_back(resources.name(r), 10 * per_message + 1e6 * per_byte);
    });
    return found;
  }

  Machine machine = machine_from_text("rack:2 node:2 numa:2 core:2");
  CostModel costs;
};

TEST(Resources, a_message_inside_a_domain_crosses_its_memory_bus_twice_as_it_is_read_and_written) {
  EXPECT_THAT(TwoRacks().seconds(1, 1),
              UnorderedElementsAre(Pair("memory bus of domain 1", DoubleEq(6e-4))));
}

TEST(Resources, a_message_between_nodes_uses_memory_buses_and_network_cards_at_both_ends) {
  EXPECT_THAT(TwoRacks().seconds(0, 3),
              UnorderedElementsAre(Pair("memory bus of domain 0", DoubleEq(1e-4)),
                                   Pair("memory bus of domain 3", DoubleEq(1e-4)),
                                   Pair("card out of node 0", DoubleEq(5e-6 + 5e-4)),
                                   Pair("card into node 1", DoubleEq(5e-6 + 5e-4))));
}

TEST(Resources, a_message_between_racks_also_crosses_the_uplinks_of_both_racks) {
  const auto found = TwoRacks().seconds(2, 5);
  ASSERT_EQ(found.size(), 6u);
  int uplinks = 0;
  for (const auto& [name, seconds] : found) uplinks += seconds == 1e6 / 5e8 ? 1 : 0;
  EXPECT_EQ(uplinks, 2) << "one up, one down";
}

TEST(Resources, a_bandwidth_of_0_means_unlimited_bandwidth) {
  TwoRacks racks;
  racks.costs.bus_bytes_per_s = racks.costs.card_bytes_per_s = racks.costs.card_s_per_message = 0;
  racks.costs.uplink_bytes_per_s = {0};
  EXPECT_TRUE(racks.seconds(2, 5).empty());
  racks.costs.shared_network_bytes_per_s = 1e8;
  const auto found = racks.seconds(2, 5);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_DOUBLE_EQ(found[0].second, 1e-2);
}

TEST(Resources, every_resource_of_a_machine_has_its_own_number_and_name) {
  const TwoRacks racks;
  const Resources resources(racks.machine, racks.costs);
  std::set<std::string> names;
  for (ResourceId r = 0; r < resources.count(); ++r) names.insert(resources.name(r));
  EXPECT_EQ(names.size(), resources.count());
  for (DomainId from = 0; from < racks.machine.num_domains(); ++from)
    for (DomainId to = 0; to < racks.machine.num_domains(); ++to) {
      std::set<ResourceId> crossed;
      int calls = 0;
      resources.for_each_crossed(from, to, [&](ResourceId r, double, double) {
        EXPECT_LT(r, resources.count());
        crossed.insert(r);
        ++calls;
      });
      EXPECT_EQ(crossed.size(), static_cast<std::size_t>(calls)) << from << " " << to;
    }
}

TEST(ResourceRates, messages_take_the_time_of_the_slowest_resource_that_they_cross) {
  const TwoRacks racks;
  const ResourceRates rates(racks.machine, racks.costs);
  EXPECT_DOUBLE_EQ(rates.slowest_s(0, 3, 10, 1e6), 5e-6 + 5e-4);  // the cards
  EXPECT_DOUBLE_EQ(rates.slowest_s(0, 3, 1e6, 10), 0.5 + 5e-9);
  EXPECT_DOUBLE_EQ(rates.slowest_s(0, 6, 10, 1e6), 2e-3);  // the uplinks
  EXPECT_DOUBLE_EQ(rates.slowest_s(0, 0, 10, 1e6), 6e-4);  // the bus
}

TEST(Resources,
     are_numbered_in_the_order_of_buses_then_cards_then_shared_network_then_uplinks_then_links) {
  const Machine machine = machine_from_text("hall:2 rack:2 node:1 numa:2 core:1");
  CostModel costs;
  costs.uplink_bytes_per_s = {1e9, 2e9};
  std::vector<std::string> expected;
  for (int d = 0; d < 8; ++d) expected.push_back(fmt::format("memory bus of domain {}", d));
  for (int n = 0; n < 4; ++n) expected.push_back(fmt::format("card out of node {}", n));
  for (int n = 0; n < 4; ++n) expected.push_back(fmt::format("card into node {}", n));
  expected.emplace_back("shared network");
  for (int tier = 0; tier < 2; ++tier)
    for (const char* direction : {"uplink", "downlink"})
      for (int group = 0; group < 2 * (tier + 1); ++group)
        expected.push_back(fmt::format("{} of group {} in tier {}", direction, group, tier));
  for (int node = 0; node < 4; ++node)
    for (int from = 2 * node; from < 2 * node + 2; ++from)
      for (int to = 2 * node; to < 2 * node + 2; ++to)
        expected.push_back(fmt::format("link from domain {} to domain {}", from, to));
  const Resources resources(machine, costs);
  ASSERT_EQ(resources.count(), expected.size());
  for (ResourceId r = 0; r < resources.count(); ++r) EXPECT_EQ(resources.name(r), expected[r]);
}

TEST(Resources,
     a_message_crosses_the_resources_of_the_domains_and_nodes_and_groups_at_its_two_ends) {
  TwoRacks racks;
  racks.costs.shared_network_bytes_per_s = 1e8;
  EXPECT_THAT(racks.seconds(6, 1),
              UnorderedElementsAre(Pair("memory bus of domain 6", DoubleEq(1e-4)),
                                   Pair("memory bus of domain 1", DoubleEq(1e-4)),
                                   Pair("card out of node 3", DoubleEq(5e-6 + 5e-4)),
                                   Pair("card into node 0", DoubleEq(5e-6 + 5e-4)),
                                   Pair("shared network", DoubleEq(1e-2)),
                                   Pair("uplink of group 1 in tier 0", DoubleEq(2e-3)),
                                   Pair("downlink of group 0 in tier 0", DoubleEq(2e-3))));
  EXPECT_THAT(racks.seconds(3, 2),
              UnorderedElementsAre(Pair("memory bus of domain 3", DoubleEq(3e-4)),
                                   Pair("memory bus of domain 2", DoubleEq(3e-4)),
                                   Pair("link from domain 3 to domain 2", DoubleEq(1e-4))));
}

TEST(Resources, tiers_without_a_bandwidth_and_bandwidths_without_a_tier_are_ignored) {
  TwoRacks racks;
  racks.costs.uplink_bytes_per_s = {5e8, 1e8};
  EXPECT_EQ(ResourceRates(racks.machine, racks.costs).num_tiers(), 1u);
  EXPECT_EQ(racks.seconds(2, 5).size(), 6u);
  racks.costs.uplink_bytes_per_s = {};
  EXPECT_EQ(ResourceRates(racks.machine, racks.costs).num_tiers(), 0u);
  EXPECT_EQ(racks.seconds(2, 5).size(), 4u);
}

}  // namespace
}  // namespace poise
