// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/fluid.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <limits>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Routes routes_of(const std::vector<std::vector<RouteStop>>& routes) {
  Routes made;
  for (const auto& stops : routes) made.add(stops);
  return made;
}

/// Computes max-min fair rates for single flows: increases all rates together until a resource is
/// full, then keeps the rates of the flows through this resource and increases all other rates, and
/// so on. O(flows * resources) per resource.
std::vector<double> naive_rates(const Routes& routes, const std::vector<Flow>& flows,
                                const std::vector<bool>& is_active) {
  std::vector<double> rate(flows.size(), 0);
  std::vector<bool> grows = is_active;
  const auto use = [&](std::size_t f, std::uint32_t r) {
    double s_per_byte = 0;
    for (const RouteStop& stop : routes.stops(flows[f].route))
      if (stop.resource == r) s_per_byte += stop.s_per_byte;
    return s_per_byte;
  };
  while (std::find(grows.begin(), grows.end(), true) != grows.end()) {
    double growth = kInfinity;
    std::uint32_t full = 0;
    for (std::uint32_t r = 0; r < routes.num_resources(); ++r) {
      double left = 1, per_rate = 0;
      for (std::size_t f = 0; f < flows.size(); ++f) {
        if (is_active[f]) left -= rate[f] * use(f, r);
        if (grows[f]) per_rate += use(f, r);
      }
      if (per_rate > 0 && left / per_rate < growth) {
        growth = left / per_rate;
        full = r;
      }
    }
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (grows[f]) rate[f] += growth;
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (grows[f] && use(f, full) > 0) grows[f] = false;
  }
  return rate;
}

/// True if a byte of one more flow would need less time on the detour than on the usual route,
/// given the flows in flight.
bool is_sooner(const Routes& routes, const std::vector<Flow>& flows,
               const std::vector<bool>& in_flight, std::uint32_t detour, std::uint32_t usual) {
  const auto passing_s = [&](std::uint32_t route) {
    double seconds = 0;
    for (const RouteStop& stop : routes.stops(route)) {
      seconds += stop.s_per_byte;
      for (std::size_t f = 0; f < flows.size(); ++f)
        for (const RouteStop& other : routes.stops(flows[f].route))
          if (in_flight[f] && other.resource == stop.resource) seconds += other.s_per_byte;
    }
    return seconds;
  };
  return passing_s(detour) < passing_s(usual);
}

/// Returns the time at which each flow ends. Follows the definition of max-min fairness: computes
/// all rates anew whenever a flow starts or ends. If there are detours, no two flows may start at
/// the same time.
std::vector<double> naive_ends_s(const Routes& routes, std::vector<Flow> flows,
                                 const std::vector<Detour>& detours = {}) {
  std::vector<double> left(flows.size()), end_s(flows.size(), kInfinity), extra_s(flows.size(), 0);
  std::vector<bool> was_active(flows.size(), false);
  for (std::size_t f = 0; f < flows.size(); ++f) left[f] = flows[f].bytes;
  double now_s = 0;
  for (std::size_t ended = 0; ended < flows.size();) {
    std::vector<bool> is_active(flows.size());
    double next_s = kInfinity;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      is_active[f] = end_s[f] == kInfinity && flows[f].start_s <= now_s;
      if (flows[f].start_s > now_s) next_s = std::min(next_s, flows[f].start_s);
    }
    for (std::size_t f = 0; f < detours.size(); ++f) {
      if (!is_active[f] || was_active[f] || detours[f].route == Detour::kNone) continue;
      std::vector<bool> in_flight = is_active;
      in_flight[f] = false;
      if (!is_sooner(routes, flows, in_flight, detours[f].route, flows[f].route)) continue;
      flows[f].route = detours[f].route;
      extra_s[f] = detours[f].extra_s;
    }
    was_active = is_active;
    const std::vector<double> rate = naive_rates(routes, flows, is_active);
    for (std::size_t f = 0; f < flows.size(); ++f)
      if (is_active[f]) next_s = std::min(next_s, now_s + left[f] / rate[f]);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (!is_active[f]) continue;
      left[f] -= rate[f] * (next_s - now_s);
      if (left[f] > 1e-9 * flows[f].bytes) continue;
      end_s[f] = next_s;
      ++ended;
    }
    now_s = next_s;
  }
  for (std::size_t f = 0; f < flows.size(); ++f) end_s[f] += extra_s[f];
  return end_s;
}

struct RandomCase {
  Routes routes;
  std::vector<Flow> flows;
};

RandomCase random_case(std::uint64_t seed) {
  Random random(seed);
  RandomCase made;
  const auto resources = 1 + static_cast<std::uint32_t>(random.below(8));
  const auto routes = 1 + static_cast<std::uint32_t>(random.below(10));
  for (std::uint32_t i = 0; i < routes; ++i) {
    std::vector<RouteStop> stops;
    for (std::uint32_t r = 0; r < resources; ++r)
      if (stops.empty() || random.below(3) == 0)
        stops.push_back({static_cast<std::uint32_t>((r + random.below(2)) % resources),
                         static_cast<double>(1 + random.below(4)) / 4});
    made.routes.add(stops);
  }
  const std::uint64_t flows = 1 + random.below(25);
  for (std::uint64_t i = 0; i < flows; ++i)
    made.flows.push_back({static_cast<double>(random.below(12)) / 2,
                          static_cast<double>(1 + random.below(40)) / 2,
                          static_cast<std::uint32_t>(random.below(routes))});
  return made;
}

TEST(Fluid, flows_share_a_resource_equally) {
  const Routes routes = routes_of({{{0, 0.5}}});
  EXPECT_THAT(fluid_ends_s(routes, std::vector<Flow>{{0, 10, 0}}), ElementsAre(5));
  EXPECT_THAT(fluid_ends_s(routes, std::vector<Flow>{{0, 10, 0}, {0, 20, 0}}), ElementsAre(10, 15));
  // The first flow is alone for 2 s and then has half of the resource.
  EXPECT_THAT(fluid_ends_s(routes, std::vector<Flow>{{0, 10, 0}, {2, 20, 0}}), ElementsAre(8, 15));
}

TEST(Fluid, bandwidth_that_a_flow_cannot_use_goes_to_other_flows) {
  // Flow 0 has a slow resource of its own, so flow 1 gets three quarters of the shared resource.
  const Routes routes = routes_of({{{0, 1}, {1, 4}}, {{0, 1}}});
  EXPECT_THAT(fluid_ends_s(routes, std::vector<Flow>{{0, 3, 0}, {0, 9, 1}}), ElementsAre(12, 12));
}

TEST(Fluid, a_flow_that_hardly_uses_a_shared_resource_gets_all_that_the_other_flow_leaves) {
  // A byte occupies the shared resource for 1 s in flow 0, but for only 1e-13 s in flow 1. A double
  // that holds the sum of both times keeps only three digits of 1e-13 s. Flow 0 takes a quarter of
  // the resource.
  const Routes routes = routes_of({{{0, 1}, {1, 4}}, {{0, 1e-13}}});
  EXPECT_THAT(fluid_ends_s(routes, std::vector<Flow>{{0, 3, 0}, {0, 1.5e13, 1}}),
              Pointwise(DoubleNear(1e-9), std::vector<double>{12, 2}));
}

TEST(Fluid, a_flow_through_two_resources_gets_half_if_each_of_them_carries_another_flow) {
  // A linear network, in which the long flow shares one resource with each of the short flows.
  const Routes routes = routes_of({{{0, 1}, {1, 1}}, {{0, 1}}, {{1, 1}}});
  EXPECT_THAT(fluid_ends_s(routes, std::vector<Flow>{{0, 1, 0}, {0, 1, 1}, {0, 1, 2}}),
              ElementsAre(2, 2, 2));
}

TEST(Fluid, flows_without_bytes_or_resources_end_when_they_start) {
  const Routes routes = routes_of({{{0, 1}}, {}, {{0, 0}}});
  EXPECT_THAT(
      fluid_ends_s(routes, std::vector<Flow>{{1, 0, 0}, {2, 100, 1}, {3, 100, 2}, {4, 1, 0}}),
      ElementsAre(1, 2, 3, 5));
  EXPECT_TRUE(fluid_ends_s(routes, {}).empty());
}

TEST(Fluid, flows_on_random_networks_end_at_the_same_times_as_in_a_simple_simulation) {
  for (std::uint64_t seed = 1; seed <= num_seeds(300); ++seed) {
    const RandomCase made = random_case(seed);
    const auto expected_s = naive_ends_s(made.routes, made.flows);
    EXPECT_THAT(fluid_ends_s(made.routes, made.flows), Pointwise(DoubleNear(1e-6), expected_s))
        << "seed " << seed;
  }
}

TEST(Fluid, merging_nearly_simultaneous_ends_of_flows_hardly_changes_when_the_last_flow_ends) {
  for (std::uint64_t seed = 1; seed <= num_seeds(100); ++seed) {
    const RandomCase made = random_case(seed);
    const auto exact_s = fluid_ends_s(made.routes, made.flows);
    const auto ends_s = fluid_ends_s(made.routes, made.flows, 0.05);
    const double last_s = *std::max_element(exact_s.begin(), exact_s.end());
    EXPECT_NEAR(*std::max_element(ends_s.begin(), ends_s.end()), last_s, 0.03 * last_s)
        << "seed " << seed;
    for (std::size_t f = 0; f < ends_s.size(); ++f) EXPECT_GE(ends_s[f], made.flows[f].start_s);
  }
}

TEST(Fluid, flows_that_start_less_than_half_a_window_apart_count_as_starting_together) {
  const Routes routes = routes_of({{{0, 0.5}}});
  const std::vector<Flow> flows{{0, 10, 0}, {0.25, 10, 0}};
  EXPECT_THAT(fluid_ends_s(routes, flows), ElementsAre(9.75, 10));
  EXPECT_THAT(fluid_ends_s(routes, flows, 1), ElementsAre(10, 10));
}

TEST(Fluid, a_flow_takes_its_detour_if_the_detour_needs_less_time_per_byte_when_the_flow_starts) {
  const Routes routes = routes_of({{{0, 1}}, {{1, 2}}});
  const Detour detour{.route = 1, .extra_s = 0.5};
  const std::vector<Flow> flows{{0, 10, 0}, {0, 10, 0}, {0, 10, 0}, {0, 10, 0}, {40, 10, 0}};
  // Flows 0 to 3 would need 1, 2, 3 and 3 s per byte on the usual route, and 2, 2, 2 and 4 s per
  // byte on the detour, so only flow 2 takes the detour. Flow 4 starts when the others have ended.
  EXPECT_THAT(fluid_ends_s(routes, flows, 0, std::vector<Detour>(5, detour)),
              ElementsAre(30, 30, 20.5, 30, 50));
  const Detour none;
  EXPECT_THAT(fluid_ends_s(routes, flows, 0, std::vector<Detour>{none, none, none, none, detour}),
              ElementsAre(40, 40, 40, 40, 50));
}

TEST(Fluid, flows_with_random_detours_end_at_the_same_times_as_in_a_simple_simulation) {
  for (std::uint64_t seed = 1; seed <= num_seeds(200); ++seed) {
    RandomCase made = random_case(seed);
    Random random(seed);
    std::vector<Detour> detours(made.flows.size());
    for (std::size_t f = 0; f < made.flows.size(); ++f) {
      made.flows[f].start_s = random.uniform(0, 20);
      if (random.below(3) == 0) continue;
      detours[f].route = static_cast<std::uint32_t>(random.below(made.routes.count()));
      detours[f].extra_s = detours[f].route == made.flows[f].route ? 0 : random.uniform();
    }
    EXPECT_THAT(fluid_ends_s(made.routes, made.flows, 0, detours),
                Pointwise(DoubleNear(1e-6), naive_ends_s(made.routes, made.flows, detours)))
        << "seed " << seed;
  }
}

TEST(Fluid, starts_and_ends_at_most_half_a_window_apart_count_as_simultaneous) {
  const Routes routes = routes_of({{{0, 1}}, {{1, 1}}});
  // Flow 2 has a route of its own.
  const std::vector<Flow> flows{{0, 4, 0}, {0.5, 4, 0}, {0, 8.25, 1}};
  EXPECT_THAT(fluid_ends_s(routes, flows, 0), ElementsAre(7.5, 8, 8.25));
  EXPECT_THAT(fluid_ends_s(routes, flows, 1), ElementsAre(8, 8, 8.25));
  const std::vector<Flow> late{{0, 4, 0}, {4.5, 1, 0}};
  EXPECT_THAT(fluid_ends_s(routes, late, 0.5), ElementsAre(4, 5.5));
}

TEST(Fluid, the_busiest_resource_is_never_idle_if_all_flows_use_it) {
  const Routes routes = routes_of({{{0, 1}, {1, 0.5}}, {{0, 1}, {2, 1}}});
  const std::vector<Flow> flows{{0, 3, 0}, {0, 4, 1}, {0, 5, 0}};
  EXPECT_EQ(busiest_s(routes, flows), 12);
  const auto ends_s = fluid_ends_s(routes, flows);
  EXPECT_DOUBLE_EQ(*std::max_element(ends_s.begin(), ends_s.end()), 12);
}

}  // namespace
}  // namespace poise
