// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/when_to_balance.h"

#include <gtest/gtest.h>

#include "runtimes/objects/tuning.h"

namespace poise::objects {
namespace {

/// Over ten steps, the busiest rank worked 2 s in total and the average rank 1 s, so balancing
/// saves 0.1 s per step.
RunState unbalanced() {
  return {.steps = 10, .busiest_s = 2, .average_s = 1, .total_steps = 10, .expected_steps = 110};
}

TEST(WhenToBalance, balances_if_the_time_saved_in_the_remaining_steps_exceeds_the_cost) {
  RunState state = unbalanced();
  state.cost_s = 9.9;  // balancing saves 10 s in the 100 remaining steps
  EXPECT_TRUE(when_to_balance(state).balance_now);
  state.cost_s = 10.1;
  EXPECT_FALSE(when_to_balance(state).balance_now);
}

TEST(WhenToBalance,
     assumes_as_many_further_steps_as_have_been_done_if_the_total_is_unknown_or_exceeded) {
  for (const std::uint64_t expected_steps : {0, 5, 10}) {
    RunState state = unbalanced();
    state.expected_steps = expected_steps;
    state.cost_s = 0.9;  // balancing saves 1 s in the 10 remaining steps
    EXPECT_TRUE(when_to_balance(state).balance_now);
    state.cost_s = 1.1;
    EXPECT_FALSE(when_to_balance(state).balance_now);
  }
}

TEST(WhenToBalance, does_not_balance_if_balancing_is_not_expected_to_reduce_the_imbalance) {
  RunState state = unbalanced();
  state.reachable_imbalance = 1.9;
  EXPECT_TRUE(when_to_balance(state).balance_now);
  state.reachable_imbalance = 2;
  EXPECT_FALSE(when_to_balance(state).balance_now);
}

TEST(WhenToBalance, doubles_the_interval_after_each_check_at_which_balancing_does_not_pay) {
  RunState state = unbalanced();
  state.busiest_s = state.average_s;
  for (const std::uint64_t steps : {4, 8, 16, 32, 64}) {
    state.steps = steps;
    EXPECT_EQ(when_to_balance(state).next_check, 2 * steps);
  }
  state.steps = 1000;
  EXPECT_EQ(when_to_balance(state).next_check, 1000 + tuning::kMaxStepsBetweenChecks);
}

TEST(WhenToBalance, a_decision_resets_the_check_interval_to_its_initial_value) {
  EXPECT_EQ(when_to_balance(unbalanced()).next_check, first_check());
}

}  // namespace
}  // namespace poise::objects
