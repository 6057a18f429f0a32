// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/queues.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::ElementsAre;

TEST(Queues, serve_flows_in_the_order_of_their_arrival) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 1}});
  EXPECT_THAT(queue_ends_s(routes, std::vector<Flow>{{2, 3, 0}, {0, 4, 0}, {2, 1, 0}}),
              ElementsAre(7, 4, 8));
}

TEST(Queues, a_message_in_one_piece_crosses_its_resources_one_after_the_other) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 1}, {1, 2}, {2, 1}});
  EXPECT_THAT(queue_ends_s(routes, std::vector<Flow>{{1, 8, 0, 1}}), ElementsAre(1 + 8 + 16 + 8));
}

TEST(Queues, pieces_of_a_message_form_a_pipeline_that_the_slowest_resource_limits) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 1}, {1, 2}, {2, 1}});
  // The flow has four pieces of 2 bytes: 2 s to fill the pipeline, 4 * 4 s in the slowest stage,
  // and 2 s to drain it.
  EXPECT_THAT(queue_ends_s(routes, std::vector<Flow>{{0, 8, 0, 4}}), ElementsAre(2 + 16 + 2));
}

TEST(Queues, flows_without_bytes_or_resources_end_when_they_start) {
  Routes routes;
  routes.add(std::vector<RouteStop>{{0, 1}});
  routes.add({});
  EXPECT_THAT(queue_ends_s(routes, std::vector<Flow>{{1, 0, 0}, {2, 9, 1}}), ElementsAre(1, 2));
}

/// Computes the end times of flows by the rules of queue_ends_s(). To find the next arrival at a
/// resource, searches all flows.
std::vector<double> naive_ends_s(const Routes& routes, const std::vector<Flow>& flows,
                                 const std::vector<Detour>& detours) {
  std::vector<double> free_s(routes.num_resources(), 0), arrives_s, end_s;
  std::vector<std::size_t> next_stop(flows.size(), 0);
  std::vector<std::uint32_t> route;
  for (const Flow& flow : flows) {
    arrives_s.push_back(flow.start_s);
    end_s.push_back(flow.start_s);
    route.push_back(flow.route);
  }
  while (true) {
    std::size_t first = flows.size();
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (next_stop[f] < routes.stops(route[f]).size() &&
          (first == flows.size() || arrives_s[f] < arrives_s[first]))
        first = f;
    if (first == flows.size()) return end_s;
    const Flow& flow = flows[first];
    const auto expected_s = [&](std::uint32_t on) {
      double seconds = 0;
      for (const RouteStop& stop : routes.stops(on))
        seconds +=
            std::max(0.0, free_s[stop.resource] - flow.start_s) + flow.bytes * stop.s_per_byte;
      return seconds;
    };
    const bool may_detour = detours[first].route != Detour::kNone;
    if (next_stop[first] == 0 && may_detour &&
        expected_s(detours[first].route) < expected_s(flow.route))
      route[first] = detours[first].route;
    const auto stops = routes.stops(route[first]);
    const RouteStop& stop = stops[next_stop[first]];
    const double begin_s = std::max(arrives_s[first], free_s[stop.resource]);
    const double served_s = flow.bytes * stop.s_per_byte;
    free_s[stop.resource] = begin_s + served_s;
    end_s[first] = std::max(begin_s + served_s, end_s[first] + served_s / flow.pieces);
    arrives_s[first] = begin_s + served_s / flow.pieces;
    if (++next_stop[first] == stops.size() && route[first] != flow.route)
      end_s[first] += detours[first].extra_s;
  }
}

TEST(Queues, flows_on_random_routes_and_detours_end_at_the_same_times_as_in_a_simple_simulation) {
  for (std::uint64_t seed = 1; seed <= num_seeds(200); ++seed) {
    Random random(seed);
    Routes routes;
    for (int i = 0; i < 8; ++i) {
      std::vector<RouteStop> stops;
      for (std::uint32_t r = 0; r < 6; ++r)
        if (stops.empty() || random.below(2))
          stops.push_back({static_cast<std::uint32_t>((r * 5 + seed) % 6), random.uniform(0.1, 2)});
      routes.add(stops);
    }
    std::vector<Flow> flows;
    std::vector<Detour> detours;
    for (int i = 0; i < 25; ++i) {
      flows.push_back({random.below(3) ? random.uniform(0, 30) : 4, random.uniform(0.5, 9),
                       static_cast<std::uint32_t>(random.below(8)),
                       1 + static_cast<std::uint32_t>(random.below(4))});
      detours.emplace_back();
      if (random.below(3)) continue;
      detours.back().route = (flows.back().route + 1) % 8;
      detours.back().extra_s = random.uniform();
    }
    EXPECT_THAT(queue_ends_s(routes, flows, detours),
                testing::Pointwise(testing::DoubleNear(1e-9), naive_ends_s(routes, flows, detours)))
        << "seed " << seed;
  }
}

TEST(Queues, the_last_flow_cannot_end_before_the_busiest_resource_has_served_all_its_bytes) {
  for (std::uint64_t seed = 1; seed <= num_seeds(200); ++seed) {
    Random random(seed);
    Routes routes;
    for (int i = 0; i < 5; ++i)
      routes.add(std::vector<RouteStop>{{static_cast<std::uint32_t>(random.below(4)), 1},
                                        {4 + static_cast<std::uint32_t>(random.below(4)), 0.5}});
    std::vector<Flow> flows;
    for (int i = 0; i < 20; ++i)
      flows.push_back({0, static_cast<double>(1 + random.below(9)),
                       static_cast<std::uint32_t>(random.below(5)),
                       1 + static_cast<std::uint32_t>(random.below(3))});
    const auto ends_s = queue_ends_s(routes, flows);
    double sum_s = 0;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      EXPECT_GE(ends_s[f], flows[f].bytes) << "seed " << seed;
      sum_s += 1.5 * flows[f].bytes;
    }
    const double last_s = *std::max_element(ends_s.begin(), ends_s.end());
    EXPECT_GE(last_s, busiest_s(routes, flows) - 1e-9) << "seed " << seed;
    EXPECT_LE(last_s, sum_s) << "seed " << seed;
  }
}

}  // namespace
}  // namespace poise
