// What if: a trace's steps run again with a strategy that moves tasks every few of them.
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

/// Which phase a step runs when there are more steps than phases recorded.
enum class Beyond : std::uint8_t {
  hold,  // the last phase, again and again
  cycle  // all phases, from the first on
};

struct ReplayPlan {
  std::uint64_t steps = 0;
  std::uint64_t every = 1;  // steps between two decisions
  Beyond beyond = Beyond::hold;
  bool overlap = false;  // run the clocks of overlap.h as well
  std::uint64_t seed = 0;
};

/// What a strategy answered and how long it took; the library has no clock of its own.
struct TimedDecision {
  Placement placement;
  double decision_s = 0;
};
using Decide = std::function<TimedDecision(const Problem&)>;

struct ReplayStep {
  std::size_t phase = 0;   // its index in the trace
  double iteration_s = 0;  // by the formula of metrics.h
  double makespan_s = 0;
  // What happened before the step; all 0 where nothing was decided.
  double decision_s = 0, migration_s = 0;
  std::uint64_t migrations = 0, migrated_bytes = 0;
  double overlapped_end_s = 0;  // since the start, by overlap.h: with decisions and migrations
};

struct Replay {
  std::vector<ReplayStep> steps;
  double total_s = 0;  // iterations, migrations and decisions
  double iteration_s = 0, migration_s = 0, decision_s = 0;
  double overlapped_s = 0;  // the same by overlap.h, or 0
  std::uint64_t decisions = 0, migrations = 0, migrated_bytes = 0;
};

/// A trace, a machine and a plan, for the replay of one strategy after another.
///
/// Before step K, 2K, 3K, … the strategy sees what was measured in the step before: its tasks,
/// loads, messages and background, the placement they had, and the loads of the steps before that
/// one (as many as fit in 128 MB, 1000 at most). Its decision and the migrations stop the whole
/// program for as long as they take. Tasks are followed by name. One that appears starts where the
/// trace has it, or at the place of its number modulo the places; one that vanishes and comes back
/// is where it was.
class Replayer {
 public:
  /// Starts from `start`, the places of the first phase's tasks. Background loads of places that
  /// the machine lacks are left out. Throws Error when the parts do not fit together or a plan has
  /// no steps.
  Replayer(Trace trace, Machine machine, Placement start, const ReplayPlan& plan);

  /// Replays with decisions, or without any when there is nobody to decide. Throws what `decide`
  /// throws, and Error when a decision is no placement. O(steps (tasks + messages)) where loads or
  /// placement change.
  Replay run(const Decide& decide) const;

  std::size_t phase_of(std::uint64_t step) const;

  /// No placement has a smaller iteration in this step: makespan_bound_s of its phase.
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
