// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/routing.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <set>

#include "poise/base/error.h"
#include "poise/machine/text.h"
#include "poise/simulate/fluid.h"
#include "poise/simulate/iteration.h"
#include "poise/simulate/queues.h"

namespace poise {
namespace {

constexpr double kLink_bytes_per_s = 1000;

/// Network cards and buses are infinitely fast here, so that only links limit the bandwidth.
constexpr const char* kOnlyLinks = " bandwidth:0 bus:0 gap:0 copy:0 latency:0 overhead:0";

Machine machine_of(const std::string& shape) { return machine_from_text(shape + kOnlyLinks); }

Routing by(RoutingPolicy policy, std::uint64_t seed = 1) {
  return {policy, kLink_bytes_per_s, seed};
}

/// Every place sends 1000 bytes, which take 1 s on a link, to the place with the same position on
/// another node.
Traffic traffic_of(const Machine& machine, const std::function<NodeId(NodeId)>& receiver_of,
                   const Routing& routing) {
  const std::uint32_t per_node = machine.num_places() / machine.num_nodes();
  std::vector<Transfer> transfers;
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    transfers.push_back({p, receiver_of(p / per_node) * per_node + p % per_node, 1, 1000});
  return {machine, machine.costs(), transfers, [](const Transfer&) { return EndTimes(); },
          4096,    routing};
}

/// Time of the exchange in seconds, divided by the number of places per node.
double seconds(const Machine& machine, const std::function<NodeId(NodeId)>& receiver_of,
               const Routing& routing) {
  const EngineOptions options{.eager_bytes = 1'000'000, .precision = 0};
  return exchange_s(traffic_of(machine, receiver_of, routing), options) * machine.num_nodes() /
         machine.num_places();
}

std::vector<LinkStop> links_of(const Machine& machine, NodeId from, NodeId to,
                               std::uint32_t via = NetworkRoutes::kDirect) {
  std::vector<LinkStop> links;
  NetworkRoutes(machine, machine.costs(), by(RoutingPolicy::minimal)).find(from, to, via, links);
  return links;
}

/// Number of hops from a router to every router of a torus or mesh, by breadth-first search.
std::vector<std::uint32_t> searched_hops(const Network& network, std::uint32_t from) {
  std::uint32_t routers = 1;
  for (const std::uint32_t size : network.dims) routers *= size;
  std::vector<std::uint32_t> hops(routers, routers), queue{from};
  hops[from] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    std::uint32_t stride = 1;
    for (auto size = network.dims.rbegin(); size != network.dims.rend(); stride *= *size, ++size) {
      const std::uint32_t at = queue[i] / stride % *size;
      for (const std::uint32_t to : {(at + 1) % *size, (at + *size - 1) % *size}) {
        if (network.shape == Network::Shape::mesh && (at > to ? at - to : to - at) > 1) continue;
        const std::uint32_t router = queue[i] + (to - at) * stride;
        if (hops[router] < routers) continue;
        hops[router] = hops[queue[i]] + 1;
        queue.push_back(router);
      }
    }
  }
  return hops;
}

TEST(Routing, minimal_routes_have_as_many_links_as_a_search_of_the_network_finds) {
  for (const char* shape : {"torus:5", "torus:4x3", "torus:2x3x4", "mesh:4x3", "mesh:3x2x2"}) {
    const Machine machine = machine_of(shape);
    for (NodeId from = 0; from < machine.num_nodes(); ++from) {
      const auto hops = searched_hops(machine.network(), from);
      for (NodeId to = 0; to < machine.num_nodes(); ++to)
        EXPECT_EQ(links_of(machine, from, to).size(), hops[to]) << shape << from << " " << to;
    }
  }
}

TEST(Routing,
     a_minimal_route_in_a_dragonfly_has_one_link_between_groups_and_at_most_one_inside_each_group) {
  const Machine machine = machine_of("dragonfly:9x4");
  std::set<std::uint64_t> between;
  for (NodeId from = 0; from < 36; ++from) {
    for (NodeId to = 0; to < 36; ++to) {
      const auto links = links_of(machine, from, to);
      EXPECT_EQ(links.size(), machine.network().router_hops(from, to));
      for (const LinkStop& stop : links)
        if (stop.link >= 9 * 4 * 4) between.insert(stop.link);
    }
  }
  EXPECT_EQ(between.size(), 9 * 8);  // two links for each pair of groups, one per direction
}

TEST(Routing, a_detour_consists_of_the_route_to_a_router_and_the_route_from_there) {
  const Machine machine = machine_of("torus:5x5");
  for (const std::uint32_t via : {3U, 7U, 24U})
    EXPECT_EQ(links_of(machine, 0, 12, via).size(),
              links_of(machine, 0, via).size() + links_of(machine, via, 12).size());
}

TEST(Routing, messages_share_a_link_only_if_they_go_in_the_same_direction) {
  const Machine machine = machine_of("mesh:2 core:6");
  const Routing minimal = by(RoutingPolicy::minimal);
  EXPECT_DOUBLE_EQ(seconds(
                       machine, [](NodeId node) { return 1 - node; }, minimal),
                   1);
  EXPECT_DOUBLE_EQ(traffic_of(
                       machine, [](NodeId) { return 1; }, minimal)
                       .busiest_s(),
                   6);
}

TEST(Routing, if_every_node_of_a_ring_sends_to_the_next_node_no_link_is_shared) {
  const auto next = [](NodeId node) { return (node + 1) % 8; };
  EXPECT_DOUBLE_EQ(seconds(machine_of("torus:8"), next, by(RoutingPolicy::minimal)), 1);
}

// The ring has 9 routers; each sends to the one 4 hops away. By minimal routes every link in one
// direction carries the traffic of 4 routers. A random detour consists of two trips: to a random
// router, and from there to the receiver. A trip has on average (1 + 2 + 3 + 4) / 9 = 10/9 hops in
// each direction, so that a link carries the traffic of 20/9 routers. (Dally and Towles,
// "Principles and practices of interconnection networks", 2004, sections 3 and 9.1.)
TEST(Routing, tornado_traffic_on_a_ring_takes_80_percent_longer_by_minimal_than_by_random_routes) {
  const Machine machine = machine_of("torus:9 core:400");
  const auto tornado = [](NodeId node) { return (node + 4) % 9; };
  EXPECT_DOUBLE_EQ(traffic_of(machine, tornado, by(RoutingPolicy::minimal)).busiest_s(), 1600);
  const double random_s = traffic_of(machine, tornado, by(RoutingPolicy::random)).busiest_s();
  EXPECT_NEAR(random_s, 400 * 20.0 / 9, 0.1 * 400 * 20.0 / 9);
}

TEST(Routing, adaptive_routing_takes_detours_for_tornado_traffic_but_not_between_neighbours) {
  const Machine machine = machine_of("torus:9 core:20");
  const auto tornado = [](NodeId node) { return (node + 4) % 9; };
  const auto next = [](NodeId node) { return (node + 1) % 9; };
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const double minimal_s = seconds(machine, tornado, by(RoutingPolicy::minimal, seed));
    EXPECT_DOUBLE_EQ(minimal_s, 4);
    EXPECT_LT(seconds(machine, tornado, by(RoutingPolicy::adaptive, seed)), 0.85 * minimal_s);
    EXPECT_GT(seconds(machine, next, by(RoutingPolicy::random, seed)), 1.5);
    EXPECT_LE(seconds(machine, next, by(RoutingPolicy::adaptive, seed)), 1.2);
  }
}

// All nodes of a group send to the next group. By minimal routes, the only link between the two
// groups carries the traffic of 4 routers. Detours divide this traffic among 7 other groups. Then
// links inside groups are the busiest: a router receives messages from the 2 groups to which it is
// linked, and passes them on to the router that is linked to the groups after those. With 300
// places on each router, such a link carries 2 * 1200 / 7 messages in transit, 300 * 2 / 7 that
// leave the group, and 300 * 2 / 7 that arrive.
TEST(Routing, detours_relieve_the_link_between_two_groups_of_a_dragonfly) {
  const Machine machine = machine_of("dragonfly:9x4 core:300");
  const auto next_group = [](NodeId node) { return (node + 4) % 36; };
  EXPECT_DOUBLE_EQ(traffic_of(machine, next_group, by(RoutingPolicy::minimal)).busiest_s(), 1200);
  const double random_s = traffic_of(machine, next_group, by(RoutingPolicy::random)).busiest_s();
  EXPECT_NEAR(random_s, 300 * 12.0 / 7, 0.1 * 300 * 12.0 / 7);
}

// In the machine of this test, each uplink has 4 links of 1000 bytes/s.
TEST(Routing, in_a_tree_the_index_of_the_receiving_node_selects_one_of_the_links_of_an_uplink) {
  const Machine machine = machine_of("rack:2 node:8 core:1 factors:1,1,1 uplink:4000");
  const Routing even{{}, kLink_bytes_per_s, 0}, minimal = by(RoutingPolicy::minimal);
  const auto first_four = [](NodeId node) { return node < 4 ? node + 8 : node; };
  const auto every_fourth = [](NodeId node) { return node % 4 == 0 ? (node + 8) % 16 : node; };
  EXPECT_DOUBLE_EQ(seconds(machine, first_four, minimal), 1);
  EXPECT_DOUBLE_EQ(seconds(machine, every_fourth, minimal), 2);
  EXPECT_DOUBLE_EQ(seconds(machine, every_fourth, even), 0.5);
  std::set<double> random_s, adaptive_s;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    random_s.insert(seconds(machine, every_fourth, by(RoutingPolicy::random, seed)));
    adaptive_s.insert(seconds(machine, every_fourth, by(RoutingPolicy::adaptive, seed)));
  }
  EXPECT_THAT(random_s, testing::IsSubsetOf({1.0, 2.0}));
  EXPECT_THAT(adaptive_s, testing::IsSubsetOf({1.0, 2.0}));
  EXPECT_EQ(random_s.size(), 2U);
}

TEST(Routing, a_flow_takes_the_detour_if_the_minimal_route_is_more_occupied) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 1}});
  routes.add(std::vector<RouteStop>{{1, 1}, {2, 1}});
  const std::vector<Flow> flows(3, Flow{0, 1, 0, 1});
  const std::vector<Detour> detours(3, Detour{1, 0.5});
  // For flow 1, both routes are equally fast, and it takes the direct one. Flow 2 takes the detour.
  EXPECT_THAT(fluid_ends_s(routes, flows, 0, detours), testing::ElementsAre(2, 2, 1.5));
  EXPECT_THAT(queue_ends_s(routes, flows, detours), testing::ElementsAre(1, 2, 2.5));
}

TEST(Routing, hops_of_a_detour_add_latency) {
  const Machine machine = machine_from_text("torus:9 core:1 factors:1,1 hop:1 latency:0.25");
  const NetworkRoutes routes(machine, machine.costs(), by(RoutingPolicy::random));
  EXPECT_DOUBLE_EQ(routes.extra_latency_s(0, 1, 4), (4 + 3 - 1) * 0.25);
  EXPECT_EQ(routes.extra_latency_s(0, 1, NetworkRoutes::kDirect), 0);
}

// In a dragonfly the minimal route takes the only link between the groups of its ends. A detour
// through a third group has fewer hops if its links happen to begin and end at the right routers.
TEST(Routing, a_detour_through_a_dragonfly_with_fewer_hops_than_the_minimal_route_saves_latency) {
  const Machine machine = machine_from_text("dragonfly:9x4 core:1 factors:1,1 hop:1 latency:0.25");
  const NetworkRoutes routes(machine, machine.costs(), by(RoutingPolicy::random));
  std::set<double> extra_s;
  for (PlaceId from = 0; from < machine.num_places(); ++from)
    for (PlaceId to = 0; to < machine.num_places(); ++to) {
      const NodeId node_from = machine.node_of_place(from), node_to = machine.node_of_place(to);
      const std::uint32_t via = routes.detour(from, to);
      if (via == NetworkRoutes::kDirect) continue;
      const double links = links_of(machine, node_from, node_to, via).size();
      const double fewest = links_of(machine, node_from, node_to).size();
      const double latency_s = routes.extra_latency_s(node_from, node_to, via);
      EXPECT_DOUBLE_EQ(latency_s, 0.25 * (links - fewest));
      extra_s.insert(latency_s);
    }
  EXPECT_EQ(*extra_s.begin(), -0.25);
}

TEST(Routing, the_seed_determines_random_routes) {
  const Machine machine = machine_of("torus:5x5");
  std::set<std::uint32_t> drawn;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const NetworkRoutes routes(machine, machine.costs(), by(RoutingPolicy::random, seed));
    EXPECT_EQ(routes.detour(0, 12), routes.detour(0, 12));
    drawn.insert(routes.detour(0, 12));
  }
  // Any router but the sender's may be drawn; if it is the receiver's, the route has no detour.
  EXPECT_EQ(drawn.size(), 24U);
}

TEST(Routing, each_policy_is_found_by_its_name) {
  for (const char* name : {"minimal", "random", "adaptive"})
    EXPECT_EQ(name_of(routing_named(name)), name);
  EXPECT_THROW(routing_named("shortest"), Error);
}

TEST(Routing, a_routing_policy_is_refused_on_machines_whose_network_has_no_links) {
  for (const char* text : {"node:4 core:2", "core:8", "rack:2 node:2 core:2 factors:3,2,1"}) {
    const Machine machine = machine_from_text(text);
    EXPECT_NO_THROW(check_routing(machine, {}));
    EXPECT_THROW(check_routing(machine, by(RoutingPolicy::minimal)), Error) << text;
  }
  for (const char* text : {"torus:4", "dragonfly:3x2", "rack:2 node:2 core:2 uplink:1e9"})
    EXPECT_NO_THROW(check_routing(machine_from_text(text), by(RoutingPolicy::random))) << text;
}

}  // namespace
}  // namespace poise
