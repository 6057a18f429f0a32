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

TEST(Traffic,
     a_message_between_rows_passes_the_uplinks_of_its_sender_and_the_downlinks_of_its_receiver) {
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
     combines_transfers_of_the_same_pair_and_lists_receivers_in_cyclic_order_after_the_sender) {
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

TEST(Traffic, a_flow_has_one_piece_per_message_or_more_pieces_if_messages_are_large) {
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

/// Two nodes: a message takes 1/8 s at each end, 1/4 s of latency and 1/2 s of gap.
constexpr const char* kWithGap =
    "node:2 core:1 factors:1,1 bus:0 copy:0 latency:0.25 overhead:0.125 gap:0.5";

TEST(Traffic, only_the_given_fraction_of_the_bytes_between_different_places_counts) {
  const Machine machine = machine_from_text(std::string(kWithGap) + " bandwidth:1000");
  Workload workload;
  workload.tasks = {{1}, {1}, {1}};
  workload.messages = {{0, 1, 4, 900}, {0, 2, 8, 700}, {1, 0, 0, 300}, {2, 1, 2, 100}};
  const Placement placement({0, 1, 0});
  const Traffic traffic = message_traffic(machine, workload, machine.costs(), placement, 64, 0.5);
  ASSERT_EQ(traffic.pairs().size(), 1u);
  const Traffic::Pair& pair = traffic.pairs()[0];
  EXPECT_EQ(pair.from, 0u);
  EXPECT_EQ(pair.to, 1u);
  EXPECT_DOUBLE_EQ(pair.sender_s, 3 * 0.125);
  EXPECT_DOUBLE_EQ(pair.receiver_s, 3 * 0.125);
  EXPECT_DOUBLE_EQ(pair.latency_s, 0.25);
  EXPECT_DOUBLE_EQ(pair.message_bytes, 500 / 3.0);
  EXPECT_DOUBLE_EQ(traffic.flows()[0].bytes, 500 + 3 * 500) << "a gap is as long as 500 bytes";
  EXPECT_EQ(traffic.flows()[0].pieces, 8u);
  EXPECT_DOUBLE_EQ(traffic.busiest_s(), 0.5 + 3 * 0.5);
  EXPECT_TRUE(
      message_traffic(machine, workload, machine.costs(), placement, 64, 0).pairs().empty());
  EXPECT_TRUE(traffic.detours().empty());
}

TEST(Traffic,
     each_message_occupies_a_card_for_the_duration_of_the_gap_even_if_its_bytes_take_no_time) {
  const Machine machine = machine_from_text(std::string(kWithGap) + " bandwidth:0");
  const Traffic traffic(machine, machine.costs(), {{0, 1, 6, 600}},
                        [](const Transfer&) { return EndTimes(); });
  EXPECT_DOUBLE_EQ(traffic.busiest_s(), 6 * 0.5);
}

TEST(Traffic, a_flow_without_bytes_has_one_piece) {
  const Machine machine = machine_from_text("core:2");
  const Traffic traffic(
      machine, machine.costs(), {{0, 1, 0.5, 0}, {1, 0, 1, 1e30}},
      [](const Transfer&) { return EndTimes(); }, 16);
  EXPECT_EQ(traffic.flows()[0].pieces, 1u);
  EXPECT_EQ(traffic.flows()[1].pieces, 4'000'000'000u);
}

TEST(Traffic, packing_and_unpacking_a_task_take_time_for_each_of_its_parts_and_bytes) {
  const Machine machine = machine_from_text("core:3");
  CostModel costs = machine.costs();
  costs.seconds_per_migrated_task = 0.5;
  costs.seconds_per_migrated_byte = 0.25;
  Workload workload;
  workload.tasks = {
      {.load_s = 1, .bytes = 12}, {.load_s = 1, .bytes = 20}, {.load_s = 1, .bytes = 7}};
  workload.tasks[1].parts = 3;
  const Placement before({0, 0, 1}), after({2, 2, 1});
  const std::vector<double> unpacking{9, 7, 3};
  const Traffic plain = migration_traffic(machine, workload, costs, before, after, 16),
                slowed = migration_traffic(machine, workload, costs, before, after, 16, unpacking);
  ASSERT_EQ(plain.pairs().size(), 1u);
  const double pack_s = (1 + 3) * 0.5 + (12 + 20) * 0.25;
  EXPECT_DOUBLE_EQ(plain.pairs()[0].sender_s, pack_s);
  EXPECT_DOUBLE_EQ(plain.pairs()[0].receiver_s, pack_s);
  EXPECT_DOUBLE_EQ(slowed.pairs()[0].sender_s, pack_s);
  EXPECT_DOUBLE_EQ(slowed.pairs()[0].receiver_s, 3 * pack_s);
  EXPECT_EQ(plain.flows()[0].pieces, 4u);
}

TEST(Traffic,
     adaptive_routing_gives_a_flow_a_detour_and_random_routing_adds_the_latency_of_a_detour) {
  const Machine machine = machine_from_text(
      "torus:9 core:1 factors:1,1 hop:1 latency:0.25 bandwidth:1000 bus:0 gap:0 copy:0");
  Routing routing{RoutingPolicy::random, 500, 0};
  while (NetworkRoutes(machine, machine.costs(), routing).detour(0, 3) == NetworkRoutes::kDirect)
    ++routing.seed;
  const auto traffic = [&](RoutingPolicy policy) {
    return Traffic(machine, machine.costs(), {{0, 3, 1, 1000}},
                   [](const Transfer&) { return EndTimes(); }, 4096, {policy, 500, routing.seed});
  };
  const NetworkRoutes network(machine, machine.costs(), routing);
  const std::uint32_t via = network.detour(0, 3);
  const double extra_s = network.extra_latency_s(0, 3, via);
  const Traffic direct = traffic(RoutingPolicy::minimal), random = traffic(RoutingPolicy::random),
                adaptive = traffic(RoutingPolicy::adaptive);
  EXPECT_DOUBLE_EQ(direct.pairs()[0].latency_s, 3 * 0.25);
  EXPECT_DOUBLE_EQ(random.pairs()[0].latency_s, 3 * 0.25 + extra_s);
  EXPECT_DOUBLE_EQ(adaptive.pairs()[0].latency_s, 3 * 0.25);
  EXPECT_TRUE(direct.detours().empty());
  EXPECT_TRUE(random.detours().empty());
  ASSERT_EQ(adaptive.detours().size(), 1u);
  EXPECT_DOUBLE_EQ(adaptive.detours()[0].extra_s, extra_s);
  EXPECT_NE(adaptive.detours()[0].route, adaptive.flows()[0].route);
  // A flow passes the network card of each node and three links.
  EXPECT_EQ(direct.routes().stops(0).size(), 2u + 3);
  EXPECT_EQ(adaptive.routes().stops(adaptive.flows()[0].route).size(), 2u + 3);
  EXPECT_DOUBLE_EQ(direct.busiest_s(), 2);
}

}  // namespace
}  // namespace poise
