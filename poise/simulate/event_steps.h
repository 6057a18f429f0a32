// SPDX-License-Identifier: BSD-3-Clause
// Steps of a replay by the event engine: iterations, migrations, and the collection of measurements
// for a decision.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "poise/simulate/iteration.h"

namespace poise {

/// Refers to the machine. Remembers the traffic and the iteration of each phase at the current
/// places.
class EventSteps {
 public:
  EventSteps(const Machine& machine, const EngineOptions& options, std::size_t num_phases);

  /// The iteration of a phase. Call forget() before tasks have other places, and forget_loads()
  /// before they have other loads.
  const Iteration& iteration(std::size_t phase, const Workload& workload,
                             const Placement& placement);
  void forget();
  void forget_loads();

  /// Seconds of moving the tasks.
  double migration_s(const Workload& workload, const Placement& before,
                     const Placement& after) const;

  /// Seconds of collecting measurements at place 0 and of sending out the placement: up the levels
  /// of the machine, from the first place of each group to that of the group around it, and down
  /// again. All places wait.
  double collection_s(const Workload& workload, const Placement& placement) const;

 private:
  const Machine& machine_;
  EngineOptions options_;
  std::vector<std::unique_ptr<Traffic>> traffic_;     // per phase
  std::vector<std::optional<Iteration>> iterations_;  // per phase
  std::size_t held_ = 0;                              // pairs in traffic_
};

}  // namespace poise
