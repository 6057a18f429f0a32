// SPDX-License-Identifier: BSD-3-Clause
// The input of every decision: the machine, the tasks, where they are now, and what moving costs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/workload/workload.h"

namespace poise {

/// Number of phases that a placement is expected to last if the caller knows nothing better.
constexpr double kUsualSteps = 10;

/// Everything that a strategy may use. The caller has checked that the members fit together, for
/// example that each task has a place of the machine.
struct Problem {
  const Machine& machine;
  const Workload& workload;
  const Placement& current;
  const CostModel& costs;
  std::uint64_t seed = 0;
  /// Loads of earlier phases, oldest first, with one load per task. Only strategies that predict
  /// use them.
  std::span<const std::vector<double>> past_loads_s = {};
  double steps = kUsualSteps;  // phases until the next decision
  /// The fraction of a decision's computing time that the strategy may take. It is below 1 if one
  /// decision calls several strategies.
  double share_of_effort = 1;
};

}  // namespace poise
