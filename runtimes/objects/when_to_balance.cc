// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/when_to_balance.h"

#include <algorithm>

#include "runtimes/objects/tuning.h"

#include "poise/placement/payoff.h"

namespace poise::objects {

std::uint64_t first_check() { return tuning::kStepsToFirstCheck; }

BalanceVerdict when_to_balance(const RunState& state) {
  const std::uint64_t steps_to_come = state.expected_steps > state.total_steps
                                          ? state.expected_steps - state.total_steps
                                          : state.total_steps;
  const bool pays = payoff_s({.busiest_s = state.busiest_s,
                              .average_s = state.average_s,
                              .steps = state.steps,
                              .steps_to_come = steps_to_come,
                              .reachable_imbalance = state.reachable_imbalance,
                              .cost_s = state.cost_s}) > 0;
  if (pays) return {true, first_check()};
  return {false, state.steps + std::min(state.steps, tuning::kMaxStepsBetweenChecks)};
}

}  // namespace poise::objects
