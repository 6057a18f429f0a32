// SPDX-License-Identifier: BSD-3-Clause
// The steps of a replay by the event engine: iterations, migrations, and the gathering of
// measurements for a decision.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "poise/placement/subphases.h"
#include "poise/simulate/iteration.h"
#include "poise/simulate/lent_step.h"

namespace poise {

/// How places lend tasks to one another, and whether a record is kept of what each place does.
struct StepLending {
  LendingOptions options = {};
  bool has_spans = false;
};

struct EventStep {
  Iteration iteration;
  Loans loans;
  double lent_s = 0;  // time at which all tasks had finished, if places lend tasks
  /// What each place did. If places lend tasks, the list ends when all tasks have finished; if
  /// subphases follow each other, it covers the whole step. It is empty in other steps, and if
  /// StepLending::has_spans is false.
  std::vector<std::vector<Span>> spans = {};
};

/// Simulates steps on one machine, to which it keeps a reference. For each phase it caches the
/// traffic, which depends on the placement, and the simulated step, which also depends on the
/// loads.
class EventSteps {
 public:
  EventSteps(const Machine& machine, const EngineOptions& options, StepLending lending,
             std::size_t num_phases);

  /// Simulates one iteration of a phase. If the phase has subphases (placement/subphases.h), it
  /// simulates them one after the other, each with its part of the messages. If the placement has
  /// changed since the last call, call forget() first; if only loads have changed, call
  /// forget_loads().
  const EventStep& step(std::size_t phase, const Workload& workload, const Placement& placement);
  void forget();
  void forget_loads();

  /// Returns the seconds that it takes to move the tasks from their places in `before` to their
  /// places in `after`.
  double migration_s(const Workload& workload, const Placement& before,
                     const Placement& after) const;

  /// Returns the seconds that it takes to gather the measurements at place 0 and to send out the
  /// placement. Both travel through the levels of the machine: from the first place of each group
  /// to the first place of the enclosing group, and back. All places wait meanwhile.
  double collection_s(const Workload& workload, const Placement& placement) const;

 private:
  /// Simulates one iteration, and the barrier after it if the options ask for one.
  Iteration iteration(const Traffic& traffic, std::span<const double> work_s, double overlap) const;
  EventStep of_subphases(const Workload& workload, const Placement& placement,
                         const Subphases& subphases) const;
  EventStep lent(const Traffic& traffic, const Workload& workload,
                 const Placement& placement) const;

  const Machine& machine_;
  EngineOptions options_;
  StepLending lending_;
  std::vector<std::unique_ptr<Traffic>> traffic_;  // per phase
  std::vector<std::optional<EventStep>> steps_;    // per phase
  std::size_t held_ = 0;                           // pairs in traffic_
};

}  // namespace poise
