#include "poise/placement/payoff.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Payoff, is_the_time_saved_in_the_steps_to_come_less_the_cost) {
  // Ten steps took 3 s where 2 s would do: 0.1 s a step, 50 steps to come.
  const PayoffQuestion question{
      .busiest_s = 3, .average_s = 2, .steps = 10, .steps_to_come = 50, .cost_s = 4};
  EXPECT_DOUBLE_EQ(payoff_s(question), 1);
}

TEST(Payoff, expects_no_more_than_was_reached_before) {
  PayoffQuestion question{.busiest_s = 3, .average_s = 2, .steps = 10, .steps_to_come = 50};
  question.reachable_imbalance = 1.5;
  EXPECT_DOUBLE_EQ(payoff_s(question), 0);
  question.reachable_imbalance = 1.25;
  EXPECT_DOUBLE_EQ(payoff_s(question), 2.5);
}

TEST(Payoff, nothing_measured_or_nothing_to_come_does_not_pay) {
  EXPECT_LE(payoff_s({.busiest_s = 3, .average_s = 2, .steps = 0, .steps_to_come = 9}), 0);
  EXPECT_LT(payoff_s({.busiest_s = 3, .average_s = 2, .steps = 9, .cost_s = 1e-3}), 0);
}

}  // namespace
}  // namespace poise
