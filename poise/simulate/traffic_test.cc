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

}  // namespace
}  // namespace poise
