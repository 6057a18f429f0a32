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

std::vector<std::uint64_t> ids_of(const std::vector<LinkStop>& links) {
  std::vector<std::uint64_t> ids;
  for (const LinkStop& link : links) ids.push_back(link.link);
  return ids;
}

/// The links of a sequence of neighbouring routers.
std::vector<std::uint64_t> ids_along(const Machine& machine, const std::vector<NodeId>& routers) {
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i + 1 < routers.size(); ++i)
    for (const LinkStop& link : links_of(machine, routers[i], routers[i + 1]))
      ids.push_back(link.link);
  return ids;
}

/// The routers of the route that passes the first dimension first.
std::vector<NodeId> grid_path(const Network& network, NodeId from, NodeId to) {
  std::vector<NodeId> path{from};
  NodeId stride = 1;
  for (const std::uint32_t size : network.dims) stride *= size;
  for (const std::uint32_t size : network.dims) {
    stride /= size;
    const std::uint32_t begin = from / stride % size, end = to / stride % size;
    const std::uint32_t up = (end + size - begin) % size, down = (begin + size - end) % size;
    const bool ascends = network.shape == Network::Shape::mesh ? end > begin
                         : up == down                          ? begin % 2 == 0
                                                               : up < down;
    for (std::uint32_t at = begin; at != end;) {
      const std::uint32_t next = ascends ? (at + 1) % size : (at + size - 1) % size;
      path.push_back(path.back() - at * stride + next * stride);
      at = next;
    }
  }
  return path;
}

TEST(Routing, minimal_routes_on_a_grid_pass_one_dimension_after_the_other) {
  for (const char* shape : {"torus:5", "torus:6", "torus:4x3", "torus:2x3x4", "mesh:4x3"}) {
    const Machine machine = machine_of(shape);
    std::set<std::uint64_t> single;
    std::size_t neighbours = 0;
    for (NodeId from = 0; from < machine.num_nodes(); ++from)
      for (NodeId to = 0; to < machine.num_nodes(); ++to) {
        const auto links = links_of(machine, from, to);
        EXPECT_EQ(ids_of(links), ids_along(machine, grid_path(machine.network(), from, to)))
            << shape << ", from " << from << " to " << to;
        for (const LinkStop& link : links) EXPECT_EQ(link.s_per_byte, 1 / kLink_bytes_per_s);
        if (links.size() != 1) continue;
        ++neighbours;
        single.insert(links[0].link);
      }
    EXPECT_EQ(single.size(), neighbours) << shape << ": each link connects two routers";
  }
}

/// Returns the router of `group` in a dragonfly that is linked to the group `other`. The groups
/// after `group` (group 0 follows the last one) are assigned to the routers of `group` in turn,
/// starting with the first router.
NodeId gateway_of(std::uint32_t groups, std::uint32_t routers, std::uint32_t group,
                  std::uint32_t other) {
  return group * routers + (other + groups - group - 1) % groups % routers;
}

TEST(Routing, minimal_routes_in_a_dragonfly_pass_the_two_routers_that_link_the_groups) {
  for (const auto& [groups, routers] : {std::pair{9u, 4u}, {5u, 3u}, {3u, 2u}}) {
    const Machine machine = machine_of(fmt::format("dragonfly:{}x{}", groups, routers));
    std::set<std::uint64_t> single;
    std::size_t linked = 0;
    for (NodeId from = 0; from < groups * routers; ++from)
      for (NodeId to = 0; to < groups * routers; ++to) {
        const std::uint32_t group_from = from / routers, group_to = to / routers;
        const auto links = links_of(machine, from, to);
        if (links.size() == 1) {
          ++linked;
          single.insert(links[0].link);
        }
        if (group_from == group_to) {
          EXPECT_EQ(links.size(), from == to ? 0u : 1u);
          continue;
        }
        EXPECT_EQ(ids_of(links),
                  ids_along(machine, {from, gateway_of(groups, routers, group_from, group_to),
                                      gateway_of(groups, routers, group_to, group_from), to}))
            << "from " << from << " to " << to;
      }
    EXPECT_EQ(single.size(), linked) << "each link connects two routers";
  }
}

TEST(Routing, a_detour_in_a_dragonfly_passes_a_third_group_or_another_router_of_the_same_group) {
  constexpr std::uint32_t kGroups = 5, kRouters = 3;
  const Machine machine = machine_of("dragonfly:5x3");
  std::set<std::uint32_t> in_group, through;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const NetworkRoutes routes(machine, machine.costs(), by(RoutingPolicy::random, seed));
    in_group.insert(routes.detour(3, 5));
    for (const auto& [from, to] : {std::pair{4u, 10u}, {10u, 4u}}) {
      const std::uint32_t via = routes.detour(from, to), group = via / kRouters;
      EXPECT_EQ(via, gateway_of(kGroups, kRouters, group, from / kRouters));
      through.insert(group);
    }
    EXPECT_EQ(routes.detour(4, 4), NetworkRoutes::kDirect);
  }
  EXPECT_THAT(in_group, testing::ElementsAre(4u, NetworkRoutes::kDirect));
  EXPECT_THAT(through, testing::ElementsAre(0u, 2u, 4u));
  const Machine two = machine_of("dragonfly:2x2");
  const NetworkRoutes routes(two, two.costs(), by(RoutingPolicy::random));
  EXPECT_EQ(routes.detour(0, 3), NetworkRoutes::kDirect) << "there is no third group";
}

// An uplink of a row has 4200 / 1000 links, rounded to 4. An uplink of a rack has 2600 / 1000
// links, rounded to 3.
TEST(Routing, a_route_in_a_tree_ascends_to_the_first_common_tier_and_descends_from_there) {
  const Machine machine = machine_of("row:2 rack:2 node:4 core:1 factors:1,1,1,1 uplink:4200,2600");
  const double row = 4 / 4200.0, rack = 3 / 2600.0;
  const auto s_per_byte = [&](NodeId from, NodeId to, std::uint32_t via = NetworkRoutes::kDirect) {
    std::vector<double> seconds;
    for (const LinkStop& link : links_of(machine, from, to, via))
      seconds.push_back(link.s_per_byte);
    return seconds;
  };
  EXPECT_THAT(s_per_byte(0, 3), testing::IsEmpty());
  EXPECT_THAT(s_per_byte(0, 7), testing::ElementsAre(rack, rack));
  EXPECT_THAT(s_per_byte(0, 15), testing::ElementsAre(rack, row, row, rack));
  std::set<std::uint64_t> all;
  for (NodeId from = 0; from < 16; ++from)
    for (NodeId to = 0; to < 16; ++to)
      for (const std::uint64_t id : ids_of(links_of(machine, from, to))) all.insert(id);
  // In each direction (up and down), each of the 4 racks has 3 links, and each of the 2 rows has 4.
  EXPECT_EQ(all.size(), 2u * (3 * 4 + 4 * 2));
  for (std::uint32_t via = 0; via < 12; ++via) {
    const auto links = ids_of(links_of(machine, 0, 15, via));
    const auto same = ids_of(links_of(machine, 1, 14, via));
    EXPECT_EQ(links, same) << "the root selects the link, not the nodes";
    EXPECT_EQ(links[0] == ids_of(links_of(machine, 0, 15, 0))[0], via % 3 == 0);
    EXPECT_EQ(links[1] == ids_of(links_of(machine, 0, 15, 0))[1], via % 4 == 0);
  }
  std::set<std::uint32_t> drawn;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    drawn.insert(
        NetworkRoutes(machine, machine.costs(), by(RoutingPolicy::random, seed)).detour(0, 15));
  EXPECT_THAT(drawn, testing::ElementsAre(0, 1, 2, 3)) << "as many roots as links of a row";
}

TEST(Routing,
     an_uplink_of_finite_bandwidth_has_at_least_one_link_and_an_unlimited_uplink_has_none) {
  const Machine thin = machine_of("row:2 rack:2 node:2 core:1 factors:1,1,1,1 uplink:300,0");
  const auto links = links_of(thin, 0, 7);
  ASSERT_EQ(links.size(), 2u);
  EXPECT_EQ(links[0].s_per_byte, 1 / 300.0);
  const NetworkRoutes routes(thin, thin.costs(), by(RoutingPolicy::random));
  EXPECT_TRUE(routes.has_links());
  EXPECT_TRUE(routes.divides_uplinks());
  EXPECT_EQ(routes.detour(0, 7), NetworkRoutes::kDirect) << "there is only one root";
  EXPECT_EQ(routes.extra_latency_s(0, 7, 1), 0);
  EXPECT_FALSE(NetworkRoutes(thin, thin.costs(), {{}, 1000, 1}).has_links());
  const Machine without = machine_of("rack:2 node:2 core:1 factors:1,1,1");
  EXPECT_FALSE(
      NetworkRoutes(without, without.costs(), by(RoutingPolicy::random)).divides_uplinks());
}

TEST(Routing, links_have_the_bandwidth_of_all_cards_of_a_node_if_no_link_bandwidth_is_given) {
  const Machine machine = machine_from_text("torus:4 core:1 bandwidth:500 cards:3");
  std::vector<LinkStop> links;
  const NetworkRoutes routes(machine, machine.costs(), {});
  EXPECT_TRUE(routes.has_links());
  EXPECT_FALSE(routes.divides_uplinks());
  EXPECT_EQ(routes.policy(), RoutingPolicy::minimal);
  routes.find(0, 1, NetworkRoutes::kDirect, links);
  ASSERT_EQ(links.size(), 1u);
  EXPECT_DOUBLE_EQ(links[0].s_per_byte, 1 / 1500.0);
  const Machine unlimited = machine_from_text("torus:4 core:1 bandwidth:0");
  EXPECT_FALSE(NetworkRoutes(unlimited, unlimited.costs(), {}).has_links());
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
TEST(Routing,
     tornado_traffic_on_a_ring_takes_80_percent_longer_on_minimal_routes_than_on_random_ones) {
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

// In each group g, all nodes send to group g + 1. With minimal routing, the only link between these
// two groups carries the traffic of all 4 routers of g. Detours divide this traffic among the 7
// other groups, and links inside groups become the busiest. A router with links to groups g and h
// receives detoured messages from both, and forwards them to the router of its own group that has
// links to g + 1 and h + 1. With 300 places on each router, the link between these two routers
// carries 2 * 1200 / 7 messages in transit, 300 * 2 / 7 that leave the group, and 300 * 2 / 7 that
// arrive.
TEST(Routing, detours_relieve_the_link_between_two_groups_of_a_dragonfly) {
  const Machine machine = machine_of("dragonfly:9x4 core:300");
  const auto next_group = [](NodeId node) { return (node + 4) % 36; };
  EXPECT_DOUBLE_EQ(traffic_of(machine, next_group, by(RoutingPolicy::minimal)).busiest_s(), 1200);
  const double random_s = traffic_of(machine, next_group, by(RoutingPolicy::random)).busiest_s();
  EXPECT_NEAR(random_s, 300 * 12.0 / 7, 0.1 * 300 * 12.0 / 7);
}

// In the machine of this test, each uplink has 4 links of 1000 bytes/s.
TEST(Routing,
     in_a_tree_the_index_of_the_receiving_node_selects_one_of_the_parallel_links_of_an_uplink) {
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

TEST(Routing, a_flow_takes_the_detour_if_the_minimal_route_is_busier) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 1}});
  routes.add(std::vector<RouteStop>{{1, 1}, {2, 1}});
  const std::vector<Flow> flows(3, Flow{0, 1, 0, 1});
  const std::vector<Detour> detours(3, Detour{1, 0.5});
  // For flow 1, both routes are equally fast, so flow 1 takes the minimal route. Flow 2 takes the
  // detour.
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
    EXPECT_THROW(check_routing(machine, {RoutingPolicy::random, 0, 1}), Error) << text;
    EXPECT_THROW(check_routing(machine, {{}, kLink_bytes_per_s, 1}), Error) << text;
  }
  for (const char* text : {"torus:4", "dragonfly:3x2", "rack:2 node:2 core:2 uplink:1e9"})
    EXPECT_NO_THROW(check_routing(machine_from_text(text), by(RoutingPolicy::random))) << text;
}

}  // namespace
}  // namespace poise
