// SPDX-License-Identifier: BSD-3-Clause
// Decides whether balancing pays: compares the time that it would save with its cost.
#pragma once

#include <cstdint>

namespace poise {

/// The data that a runtime has without gathering anything from all ranks: seconds of work since the
/// last decision, and the cost and the result of earlier decisions.
struct PayoffQuestion {
  /// Seconds of work in the last `steps` steps. `busiest_s` is the work of the busiest place, and
  /// `average_s` is the average over all places.
  double busiest_s = 0, average_s = 0;
  std::uint64_t steps = 0;
  std::uint64_t steps_to_come = 0;
  double reachable_imbalance = 1;  // imbalance that the last decision predicted
  double cost_s = 0;               // seconds that the last decision and its migrations took
};

/// Seconds that balancing would save over the remaining steps, minus its cost, if it reaches the
/// imbalance that was predicted last time. Balancing pays if the result is above 0.
inline double payoff_s(const PayoffQuestion& question) {
  if (question.steps == 0) return -question.cost_s;
  const double saved_s = question.busiest_s - question.reachable_imbalance * question.average_s;
  return saved_s / question.steps * question.steps_to_come - question.cost_s;
}

}  // namespace poise
