// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/flows.h"

#include <gmock/gmock.h>

namespace poise {
namespace {

using testing::ElementsAre;

TEST(Flows, a_route_merges_entries_of_the_same_resource_and_omits_those_without_effect) {
  Routes routes;
  EXPECT_EQ(routes.count(), 0u);
  EXPECT_EQ(routes.add(std::vector<RouteStop>{{7, 0}, {4, 0.5}, {6, -1}, {2, 3}, {4, 0.25}}), 0u);
  EXPECT_EQ(routes.add(std::vector<RouteStop>{{4, 2}, {1, 5}}), 1u);
  EXPECT_EQ(routes.add({}), 2u);
  EXPECT_EQ(routes.count(), 3u);
  EXPECT_EQ(routes.num_resources(), 5u);
  EXPECT_EQ(routes.num_stops(), 4u);
  std::vector<std::vector<std::pair<std::uint32_t, double>>> stops(3);
  for (std::uint32_t route = 0; route < 3; ++route)
    for (const RouteStop& stop : routes.stops(route))
      stops[route].emplace_back(stop.resource, stop.s_per_byte);
  EXPECT_THAT(stops[0], ElementsAre(std::pair(4u, 0.75), std::pair(2u, 3.0)));
  EXPECT_THAT(stops[1], ElementsAre(std::pair(4u, 2.0), std::pair(1u, 5.0)));
  EXPECT_TRUE(stops[2].empty());
}

TEST(Flows, the_busiest_resource_is_occupied_by_the_bytes_of_all_flows_that_pass_it) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 2}, {1, 3}});
  routes.add(std::vector<RouteStop>{{1, 0.5}, {2, 4}});
  EXPECT_EQ(busiest_s(routes, std::vector<Flow>{{9, 10, 0}, {0, 6, 1}}), 10 * 3 + 6 * 0.5);
  EXPECT_EQ(busiest_s(routes, std::vector<Flow>{{9, 1, 0}, {0, 6, 1}}), 6 * 4);
  EXPECT_EQ(busiest_s(Routes(), {}), 0);
}

TEST(Flows, flows_that_start_at_the_same_time_are_ordered_by_their_index) {
  std::vector<std::uint32_t> numbers{3, 2, 1, 0};
  sort_by_start(std::vector<Flow>{{5}, {2}, {5}, {1}}, numbers);
  EXPECT_THAT(numbers, ElementsAre(3, 1, 0, 2));
}

}  // namespace
}  // namespace poise
