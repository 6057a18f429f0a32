// When balancing pays: what it would save from now on against what it costs.
#pragma once

#include <cstdint>

namespace poise {

/// What a runtime knows without collecting everything: seconds of work since the last decision, and
/// what decisions cost and reached so far.
struct PayoffQuestion {
  double busiest_s = 0, average_s = 0;  // over places, of `steps`
  std::uint64_t steps = 0;
  std::uint64_t steps_to_come = 0;
  double reachable_imbalance = 1;  // what the last decision expected to be left
  double cost_s = 0;               // of the last one: deciding and moving
};

/// The seconds that the steps to come would be shorter if balancing reached what it reached before,
/// less its cost; it pays when above 0.
inline double payoff_s(const PayoffQuestion& question) {
  if (question.steps == 0) return -question.cost_s;
  const double saved_s = question.busiest_s - question.reachable_imbalance * question.average_s;
  return saved_s / static_cast<double>(question.steps) *
             static_cast<double>(question.steps_to_come) -
         question.cost_s;
}

}  // namespace poise
