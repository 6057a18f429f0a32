// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/profile/reorder_plan.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise::profile {
namespace {

RankSite site(const char* host, int package = -1, int core = -1) {
  RankSite made{.package = package, .core = core};
  std::strncpy(made.host, host, sizeof made.host - 1);
  return made;
}

/// The summed weights of the edges that connect different hosts, if ranks have the order `rank_at`.
int between_hosts(const std::vector<RankSite>& sites, const TopologyEdges& edges,
                  const std::vector<std::uint32_t>& rank_at) {
  const auto host = [&](int rank) {
    return std::string(sites[rank_at[static_cast<std::size_t>(rank)]].host);
  };
  int sum = 0;
  for (const TopologyEdge& edge : edges)
    if (host(edge.from) != host(edge.to)) sum += edge.weight;
  return sum;
}

bool is_permutation_of_ranks(std::vector<std::uint32_t> order) {
  std::ranges::sort(order);
  for (std::uint32_t i = 0; i < order.size(); ++i)
    if (order[i] != i) return false;
  return true;
}

TEST(ReorderPlan, neighbours_in_a_grid_are_placed_on_the_same_host) {
  // 16 ranks are assigned to 4 hosts round-robin. A 4 x 4 grid has 24 edges. If each host has a
  // block of 2 x 2, only 8 edges cross hosts.
  std::vector<RankSite> sites;
  for (int r = 0; r < 16; ++r) sites.push_back(site(fmt::format("n{}", r % 4).c_str()));
  const auto edges = *cart_edges(std::vector{4, 4}, std::vector{0, 0}, 16);
  const ReorderPlan plan = plan_order(seats_of(sites, {}), edges);
  EXPECT_TRUE(is_permutation_of_ranks(plan.rank_at));
  EXPECT_EQ(between_hosts(sites, edges, plan.rank_at), 8);
  // In the round-robin order, each column of the grid is on one host. So the 12 edges along columns
  // stay inside hosts, and the 12 edges along rows cross hosts. An edge has 2 hops inside a host
  // and 4 between hosts.
  EXPECT_EQ(plan.before, 12 * 2 + 12 * 4);
  EXPECT_EQ(plan.after, 16 * 2 + 8 * 4);
}

TEST(ReorderPlan, cpu_packages_are_ignored_unless_the_package_of_every_rank_is_known) {
  std::vector<RankSite> sites = {site("a", 0, 0), site("a", 1, 4), site("a", 0, 1),
                                 site("a", 1, 5)};
  const TopologyEdges edges = {{0, 1}, {2, 3}};
  EXPECT_EQ(plan_order(seats_of(sites, {}), edges).before, 8);  // over packages
  EXPECT_EQ(plan_order(seats_of(sites, {}), edges).after, 4);
  sites[3].package = -1;
  const ReorderPlan plan = plan_order(seats_of(sites, {}), edges);
  EXPECT_FALSE(plan.is_better());
  EXPECT_EQ(plan.rank_at, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(ReorderPlan, network_switches_are_ignored_unless_the_switch_of_every_host_is_known) {
  const std::vector<RankSite> sites = {site("a.site"), site("b"), site("c"), site("d")};
  std::vector<JobHost> hosts = {{.name = "a", .leaf_switch = "s"},
                                {.name = "b", .leaf_switch = "t"},
                                {.name = "c", .leaf_switch = "s"},
                                {.name = "d", .leaf_switch = "t"}};
  const TopologyEdges edges = {{0, 1}, {2, 3}};
  EXPECT_TRUE(plan_order(seats_of(sites, hosts), edges).is_better());
  hosts[2].leaf_switch.clear();
  EXPECT_FALSE(plan_order(seats_of(sites, hosts), edges).is_better());
}

TEST(ReorderPlan, the_part_of_a_machine_that_ranks_use_has_the_same_hop_counts_as_the_whole) {
  const Machine machine = machine_from_text("torus:4x4 core:2");
  const std::vector<std::int32_t> places = {31, 0, 9, 8, 30, 2, 17, 5};
  const Seats seats = seats_on(machine, places);
  ASSERT_EQ(seats.machine.num_places(), places.size());
  for (PlaceId a = 0; a < places.size(); ++a)
    for (PlaceId b = 0; b < places.size(); ++b)
      EXPECT_EQ(seats.machine.hops(a, b),
                machine.hops(static_cast<PlaceId>(places[seats.rank_on[a]]),
                             static_cast<PlaceId>(places[seats.rank_on[b]])));
  EXPECT_THROW(seats_on(machine, std::vector<std::int32_t>{0, 32}), Error);
  EXPECT_THROW(seats_on(machine, std::vector<std::int32_t>{-1}), Error);
  EXPECT_THROW(seats_on(machine, std::vector<std::int32_t>{3, 3}), Error);
}

TEST(ReorderPlan, finds_the_best_of_all_orders_for_up_to_8_ranks) {
  Random random(7);
  for (int trial = 0; trial < 12; ++trial) {
    const Machine machine =
        machine_from_text(trial % 2 == 0 ? "node:3 numa:2 core:2" : "torus:4x3 core:1");
    std::vector<std::int32_t> places(12);
    std::iota(places.begin(), places.end(), 0);
    for (std::size_t i = places.size(); i > 1; --i)
      std::swap(places[i - 1], places[random.below(i)]);
    places.resize(7);
    TopologyEdges edges;
    for (int i = 0; i < 12; ++i)
      edges.push_back({static_cast<int>(random.below(7)), static_cast<int>(random.below(7)),
                       1 + static_cast<int>(random.below(9))});
    const auto cost = [&](const std::vector<std::uint32_t>& rank_at) {
      double sum = 0;
      for (const TopologyEdge& edge : edges)
        sum +=
            edge.weight *
            machine.hops(static_cast<PlaceId>(places[rank_at[static_cast<std::size_t>(edge.from)]]),
                         static_cast<PlaceId>(places[rank_at[static_cast<std::size_t>(edge.to)]]));
      return sum;
    };
    std::vector<std::uint32_t> order(7);
    std::iota(order.begin(), order.end(), 0);
    const double own = cost(order);
    double best = own;
    do best = std::min(best, cost(order));
    while (std::ranges::next_permutation(order).found);
    const ReorderPlan plan = plan_order(seats_on(machine, places), edges);
    EXPECT_EQ(plan.before, own);
    EXPECT_EQ(plan.after, best);
    EXPECT_EQ(cost(plan.rank_at), best);
  }
}

TEST(ReorderPlan, the_new_order_is_never_worse_than_the_old_order) {
  Random random(3);
  for (std::uint64_t trial = 0; trial < fewer_if_sanitized(8); ++trial) {
    const std::size_t size = 10 + random.below(20);
    std::vector<RankSite> sites;
    for (std::size_t r = 0; r < size; ++r)
      sites.push_back(
          site(fmt::format("n{}", random.below(5)).c_str(), static_cast<int>(random.below(2))));
    TopologyEdges edges;
    for (std::size_t i = 0; i < 3 * size; ++i)
      edges.push_back(
          {static_cast<int>(random.below(size)), static_cast<int>(random.below(size)), 1});
    const ReorderPlan plan = plan_order(seats_of(sites, {}), edges);
    EXPECT_TRUE(is_permutation_of_ranks(plan.rank_at));
    EXPECT_LE(plan.after, plan.before);
    std::vector<std::uint32_t> own(size);
    std::iota(own.begin(), own.end(), 0);
    EXPECT_LE(between_hosts(sites, edges, plan.rank_at), between_hosts(sites, edges, own));
  }
}

}  // namespace
}  // namespace poise::profile
