// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/payoff.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Payoff, is_the_time_saved_in_the_remaining_steps_minus_the_cost_of_balancing) {
  // In ten steps the busiest place worked for 3 s, but the average place only for 2 s. So balancing
  // saves 1 s in ten steps, which is 5 s in the 50 steps that remain. It costs 4 s.
  const PayoffQuestion question{
      .busiest_s = 3, .average_s = 2, .steps = 10, .steps_to_come = 50, .cost_s = 4};
  EXPECT_DOUBLE_EQ(payoff_s(question), 1);
}

TEST(Payoff, predicts_that_balancing_will_reach_the_same_imbalance_as_last_time) {
  PayoffQuestion question{.busiest_s = 3, .average_s = 2, .steps = 10, .steps_to_come = 50};
  question.reachable_imbalance = 1.5;
  EXPECT_DOUBLE_EQ(payoff_s(question), 0);
  question.reachable_imbalance = 1.25;
  EXPECT_DOUBLE_EQ(payoff_s(question), 2.5);
}

TEST(Payoff, balancing_does_not_pay_without_measurements_or_if_no_steps_remain) {
  EXPECT_LE(payoff_s({.busiest_s = 3, .average_s = 2, .steps = 0, .steps_to_come = 9}), 0);
  EXPECT_LT(payoff_s({.busiest_s = 3, .average_s = 2, .steps = 9, .cost_s = 1e-3}), 0);
}

}  // namespace
}  // namespace poise
