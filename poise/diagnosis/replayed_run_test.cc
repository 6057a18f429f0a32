// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/replayed_run.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "poise/diagnosis/example_testing.h"

namespace poise {
namespace {

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(replayed_run, replayed_messages_take_as_long_as_in_the_measured_run) {
  const Example example("node:2 core:2", {1, 1, 1, 1},
                        {{0, 2, 100, 1000000}, {2, 0, 100, 1000000}, {1, 3, 100, 2000}});
  const ReplayedRun replay(example.run, example.trace);
  ASSERT_TRUE(replay.is_possible());
  const double phases = replay.phases().size();
  for (const double exposed_s : {0.01, 1.0, 100.0}) {
    const double factor = replay.factor_for(example.loads_s(), exposed_s);
    EXPECT_NEAR(sum(replay.times_s(example.loads_s(), replay.own_places(), factor)),
                phases + exposed_s, 0.011 * exposed_s);
  }
  EXPECT_EQ(replay.factor_for(example.loads_s(), 0), 0);
}

TEST(replayed_run, messages_add_the_measured_time_to_phases_even_if_most_overlap_with_work) {
  const Example example("node:2 core:2", {10, 1, 1, 1},
                        {{0, 1, 1, 1000}, {1, 3, 1, 1000000}, {3, 1, 1, 1000000}});
  const ReplayedRun replay(example.run, example.trace);
  for (const double exposed_s : {0.01, 1.0, 100.0}) {
    const double factor = replay.factor_for(example.loads_s(), exposed_s);
    EXPECT_NEAR(sum(replay.times_s(example.loads_s(), replay.own_places(), factor)),
                10.0 * replay.phases().size() + exposed_s, 0.011 * exposed_s);
  }
}

TEST(replayed_run, the_cost_factor_for_messages_between_nodes_is_1_if_no_messages_cross_nodes) {
  const Example example("node:2 core:2", {1, 1, 1, 1}, {{0, 1, 1, 1000}, {2, 3, 1, 1000}});
  EXPECT_EQ(ReplayedRun(example.run, example.trace).factor_for(example.loads_s(), 1), 1);
}

TEST(replayed_run, a_slow_network_does_not_make_messages_inside_a_node_slower) {
  const Example example("node:2 core:2", {1, 1, 1, 1}, {{0, 2, 1, 1000000}, {1, 3, 1, 1000000}});
  const ReplayedRun replay(example.run, example.trace);
  const double factor = replay.factor_for(example.loads_s(), 80);
  const Placement near(std::vector<PlaceId>{0, 2, 1, 3});
  EXPECT_NEAR(sum(replay.times_s(example.loads_s(), near, factor)), replay.phases().size(), 0.1);
}

TEST(replayed_run, ranks_that_shared_a_core_by_chance_get_cores_of_their_own_on_the_same_node) {
  const Example example("node:2 core:3", {1, 1, 1, 1}, {}, {0, 0, 4, 4});
  const ReplayedRun replay(example.run, example.trace);
  EXPECT_EQ(replay.own_places(), Placement(std::vector<PlaceId>{0, 1, 4, 3}));
  const Example crowded("node:2 core:1", {1, 1, 1}, {}, {0, 0, 1});
  EXPECT_FALSE(ReplayedRun(crowded.run, crowded.trace).is_possible());
}

TEST(replayed_run, juggle_is_predicted_to_save_time_only_in_long_iterations) {
  for (const auto& [messages, shortest_s, longest_s] :
       {std::tuple{1, 1.5, 1.53}, std::tuple{1000, 2.0, 2.0}}) {
    const Example example("core:2", {1, 1, 1}, {{0, 1, std::uint64_t(messages), 0}}, {0, 1, 0});
    const ReplayedRun replay(example.run, example.trace);
    for (const double time_s : replay.juggled_times_s()) {
      EXPECT_GE(time_s, shortest_s * (1 - 1e-9));
      EXPECT_LE(time_s, longest_s * (1 + 1e-9));
    }
  }
}

TEST(replayed_run,
     values_of_phases_that_are_not_simulated_are_extrapolated_in_proportion_to_estimates) {
  const std::vector<double> estimates{1, 2, 3, 4}, values{2, 6};
  const std::vector<std::size_t> simulated{0, 2};
  const Seconds sum = sum_over_run(values, simulated, estimates);
  EXPECT_DOUBLE_EQ(sum.value, 20);
  EXPECT_DOUBLE_EQ(sum.half_width, 0);
  EXPECT_EQ(sum_over_run(values, simulated, std::vector<double>{0, 1, 0, 1}).value, 0);
}

TEST(replayed_run, the_extrapolated_sum_is_uncertain_only_if_some_phases_are_not_simulated) {
  // The simulated phases have the values 2 and 7 and the estimates 1 and 3. The sum of the values
  // is 9/4 of the sum of the estimates. From 9/4 of their own estimates, the values deviate by -1/4
  // and 1/4.
  const std::vector<double> values{2, 7};
  const std::vector<std::size_t> simulated{0, 2};
  const double half_width =
      sum_over_run(values, simulated, std::vector<double>{1, 2, 3, 4}).half_width;
  EXPECT_DOUBLE_EQ(half_width, 1.96 * 4 * std::sqrt((1 - 2.0 / 4) * (2.0 / 16) / (2 * (2 - 1))));
  const std::vector<std::size_t> all{0, 1};
  EXPECT_EQ(sum_over_run(values, all, std::vector<double>{1, 3}).half_width, 0);
  EXPECT_EQ(sum_over_run(values, all, std::vector<double>{1, 3}).value, 9);
}

}  // namespace
}  // namespace poise
