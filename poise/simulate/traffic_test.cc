// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/traffic.h"

#include <gmock/gmock.h>
#include <string>

#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

/// Returns the names of the resources on a route through a machine of two rows with two racks each.
/// A rack has two nodes, and a node has two memory domains.
std::vector<std::string> route(DomainId from, DomainId to, bool shares_network = false) {
  const Machine machine = machine_from_text("row:2 rack:2 node:2 numa:2 core:1");
  CostModel costs;
  costs.formula = CostFormula::physical;
  costs.bus_bytes_per_s = 1e10;
  costs.inside.bus_crossings = 3;
  costs.network.bus_crossings = 1;
  costs.card_bytes_per_s = 1e9;
  costs.uplink_bytes_per_s = {1e9, 1e9};
  if (shares_network) costs.shared_network_bytes_per_s = 1e9;
  const Resources resources(machine, costs);
  std::vector<ResourceRates::Crossing> crossings;
  find_route(resources, from, to, crossings);
  std::vector<std::string> names;
  for (const auto& crossing : crossings) names.push_back(resources.name(resources.id_of(crossing)));
  return names;
}

TEST(Traffic, a_message_between_rows_passes_resources_outwards_and_then_inwards) {
  EXPECT_THAT(
      route(3, 12),
      ElementsAre("memory bus of domain 3", "card out of node 1", "uplink of group 0 in tier 1",
                  "uplink of group 0 in tier 0", "downlink of group 1 in tier 0",
                  "downlink of group 3 in tier 1", "card into node 6", "memory bus of domain 12"));
  EXPECT_THAT(
      route(12, 3, true),
      ElementsAre("memory bus of domain 12", "card out of node 6", "uplink of group 3 in tier 1",
                  "uplink of group 1 in tier 0", "shared network", "downlink of group 0 in tier 0",
                  "downlink of group 0 in tier 1", "card into node 1", "memory bus of domain 3"));
}

TEST(Traffic, a_message_inside_a_node_passes_the_link_between_the_memory_buses) {
  EXPECT_THAT(route(5, 4), ElementsAre("memory bus of domain 5", "link from domain 5 to domain 4",
                                       "memory bus of domain 4"));
}

TEST(Traffic,
     joins_the_transfers_of_a_pair_and_sorts_receivers_from_the_place_after_the_sender_on) {
  const Machine machine = machine_from_text("core:4");
  const auto ends = [](const Transfer& transfer) {
    return EndTimes{transfer.count, transfer.bytes};
  };
  const Traffic traffic(machine, CostModel(),
                        {{2, 1, 1, 10}, {2, 3, 1, 20}, {2, 0, 2, 40}, {2, 1, 3, 90}, {0, 1, 1, 5}},
                        ends, 16);
  ASSERT_EQ(traffic.pairs().size(), 4u);
  const Transfer joined[] = {{0, 1, 1, 5}, {2, 3, 1, 20}, {2, 0, 2, 40}, {2, 1, 4, 100}};
  for (std::size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    const Traffic::Pair& pair = traffic.pairs()[i];
    EXPECT_EQ(pair.from, joined[i].from);
    EXPECT_EQ(pair.to, joined[i].to);
    EXPECT_EQ(pair.sender_s, joined[i].count);
    EXPECT_EQ(pair.receiver_s, joined[i].bytes);
    EXPECT_EQ(pair.message_bytes, joined[i].bytes / joined[i].count);
    EXPECT_EQ(traffic.flows()[i].bytes, joined[i].bytes);
  }
  std::vector<std::size_t> first;
  for (PlaceId p = 0; p <= traffic.num_places(); ++p) first.push_back(traffic.first_pair(p));
  EXPECT_THAT(first, ElementsAre(0, 1, 1, 4, 4));
}

TEST(Traffic, a_flow_has_a_piece_per_message_or_more_if_a_piece_would_have_too_many_bytes) {
  const Traffic traffic(
      machine_from_text("core:2"), CostModel(), {{0, 1, 1, 16}, {1, 0, 3, 17}},
      [](const Transfer&) { return EndTimes(); }, 16);
  EXPECT_EQ(traffic.flows()[0].pieces, 1u);
  EXPECT_EQ(traffic.flows()[1].pieces, 3u);
  const Traffic large(
      machine_from_text("core:2"), CostModel(), {{0, 1, 1, 17}, {1, 0, 3, 65}},
      [](const Transfer&) { return EndTimes(); }, 16);
  EXPECT_EQ(large.flows()[0].pieces, 2u);
  EXPECT_EQ(large.flows()[1].pieces, 5u);
}

}  // namespace
}  // namespace poise
