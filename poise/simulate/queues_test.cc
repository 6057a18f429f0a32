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
