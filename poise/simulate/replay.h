// Replays the steps of a trace with a strategy that moves tasks every few steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/objects.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/trace.h"

namespace poise {

/// Which phase a step replays if there are more steps than phases.
enum class Beyond : std::uint8_t {
  hold,  // the last phase, repeatedly
  cycle  // all phases, then again from the first
};

struct ReplayPlan {
  std::uint64_t steps = 0;
  std::uint64_t every = 1;  // number of steps between two decisions
  Beyond beyond = Beyond::hold;
  bool overlap = false;  // also simulate with overlap.h
  std::uint64_t seed = 0;
};

/// A strategy's placement and the seconds it took; the library itself reads no clock.
struct TimedDecision {
  Placement placement;
  double decision_s = 0;
};
using Decide = std::function<TimedDecision(const Problem&)>;

struct ReplayStep {
  std::size_t phase = 0;   // its index in the trace
  double iteration_s = 0;  // by the formula of metrics.h
  double makespan_s = 0;
  // Before the step; both are 0 without a decision.
  double decision_s = 0, migration_s = 0;
  std::uint64_t migrations = 0, migrated_bytes = 0;
  double overlapped_end_s = 0;  // since the start, with decisions and migrations (overlap.h)
};

struct Replay {
  std::vector<ReplayStep> steps;
  double total_s = 0;  // iterations, migrations and decisions
  double iteration_s = 0, migration_s = 0, decision_s = 0;
  double overlapped_s = 0;  // the same according to overlap.h; 0: not simulated
  std::uint64_t decisions = 0, migrations = 0, migrated_bytes = 0;
};

/// A trace, a machine and a plan, to replay with one strategy after another.
///
/// Before steps K, 2K, 3K, ... the strategy gets what was measured in the step before: tasks,
/// loads, messages, background load and placement, and the loads of earlier steps (up to 128 MB and
/// 1000 steps). The program stops for the decision and the migrations. Tasks are identified by
/// name. A new task starts at its place in the trace, or at its number modulo the places; one that
/// disappears and comes back is where it was.
class Replayer {
 public:
  /// Starts from `start`, the placement of the first phase's tasks. Background loads of places that
  /// the machine does not have are ignored. Throws Error if the parts do not fit together or the
  /// plan has no steps.
  Replayer(Trace trace, Machine machine, Placement start, const ReplayPlan& plan);

  /// Replays with decisions, or without any if `decide` is empty. Throws what `decide` throws, and
  /// Error if a decision is no valid placement. O(steps (tasks + messages)) if loads or placement
  /// change.
  Replay run(const Decide& decide) const;

  std::size_t phase_of(std::uint64_t step) const;

  /// Lower bound on the iteration of this step for any placement: makespan_bound_s() of its phase.
  double bound_s(std::uint64_t step) const { return bound_s_[phase_of(step)]; }
  /// All work of the step over all speed.
  double average_s(std::uint64_t step) const { return average_s_[phase_of(step)]; }
  double total_bound_s() const;
  double total_average_s() const;

  const Machine& machine() const { return machine_; }
  const ReplayPlan& plan() const { return plan_; }

 private:
  class Run;
  std::vector<std::vector<double>> past_loads_s(std::uint64_t step) const;

  Trace trace_;
  Machine machine_;
  ReplayPlan plan_;
  Objects objects_;
  std::vector<PlaceId> first_place_;         // per object
  std::vector<double> bound_s_, average_s_;  // per phase
};

}  // namespace poise
