// SPDX-License-Identifier: BSD-3-Clause
// Replays the steps of a trace with a strategy that moves tasks every few steps.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/simulate/iteration.h"
#include "poise/simulate/lent_step.h"
#include "poise/simulate/load_model.h"
#include "poise/simulate/objects.h"
#include "poise/strategies/strategy.h"
#include "poise/trace/timeline.h"
#include "poise/trace/trace.h"

namespace poise {

/// Selects the phase that a step replays if there are more steps than phases.
enum class Beyond : std::uint8_t {
  hold,  // repeats the last phase of the trace
  cycle  // runs all phases, then begins again with the first
};

struct ReplayPlan {
  std::uint64_t steps = 0;
  std::uint64_t every = 1;  // number of steps between two decisions
  Beyond beyond = Beyond::hold;
  bool overlap = false;    // true: also simulates steps without barriers (overlap.h)
  std::uint64_t seed = 0;  // seed of strategies, of loads, and of random routes
  /// If given, every step is simulated event by event (iteration.h); otherwise it takes the time
  /// that the formula of metrics.h gives.
  std::optional<EngineOptions> events = {};
  std::optional<LoadModel> loads = {};  // changes of loads in addition to those in the trace
  /// Whether places lend tasks within every step, or run copies of other places' tasks
  /// (lent_step.h). If `events` is not given, lending only shortens the makespan and changes no
  /// other part of an iteration. Cannot be combined with Juggle.
  LendingOptions lending = {};
  /// How places wait for each other between subphases (workload.h). Traces do not contain this
  /// rule.
  SubphaseRule subphases = SubphaseRule::no_wait;
  bool has_timeline = false;  // true: records what every place does; needs `events`
};

/// The placement that a strategy computed, and the seconds that the computation took. The caller
/// measures these seconds, because the replay itself reads no clock.
struct TimedDecision {
  Placement placement;
  double decision_s = 0;
};
using Decide = std::function<TimedDecision(const Problem&)>;
/// Is called after every simulated step with the number of steps so far, to show progress.
using AfterStep = std::function<void(std::uint64_t)>;

struct ReplayStep {
  std::size_t phase = 0;   // index of the phase in the trace
  double iteration_s = 0;  // time of the iteration by the event engine or, without it, formula_s
  double formula_s = 0;    // time of the iteration by the formula of metrics.h
  double makespan_s = 0;
  /// Idle time of all places divided by their total time. Only the event engine computes it.
  double idle_share = 0;
  Loans loans;
  // Times of the decision before this step, of collecting the measurements for it, and of its
  // migrations; all are 0 if there was no decision. Only the event engine computes collection_s.
  double decision_s = 0, collection_s = 0, migration_s = 0;
  std::uint64_t migrations = 0, migrated_bytes = 0;
  /// The end of this step in seconds since the start of the run, if steps overlap (overlap.h).
  /// Includes decisions and migrations.
  double overlapped_end_s = 0;
};

struct Replay {
  std::vector<ReplayStep> steps;
  double total_s = 0;  // time of the whole run: the sum of the next four times
  double iteration_s = 0, migration_s = 0, decision_s = 0, collection_s = 0;
  double formula_s = 0;  // time of all iterations by the formula of metrics.h
  /// The mean time of the iterations that follow the first decision. A run without balancing takes
  /// the mean over the same iterations. A run that ends before the first decision takes the mean
  /// over all iterations.
  double balanced_s = 0;
  /// Idle time of all places divided by their total time. Only the event engine computes it.
  double idle_share = 0;
  Loans loans;
  /// Activities of each place, if the plan asks for a timeline.
  std::vector<std::vector<Span>> places;
  /// For each place, the number of messages that it receives from other places in the last step.
  std::vector<std::uint64_t> received_messages;
  double overlapped_s = 0;  // total_s if steps may overlap (overlap.h); 0: not simulated
  std::uint64_t decisions = 0, migrations = 0, migrated_bytes = 0;
};

/// A trace, a machine and a plan, to replay with one strategy after another.
///
/// Before every K-th step, where K is the plan's `every`, the strategy gets what was measured in
/// the previous step: tasks, loads, messages, background load and placement, and the loads of
/// earlier steps (up to 128 MB and 1000 steps). The strategy is told that its placement lasts K
/// steps, although the placement may last longer: if loads change, migrations that need more than K
/// steps to pay off are often wasted. The program stops for the decision and the migrations. Tasks
/// are identified by name. A new task starts at its place in the trace or, without one, at place
/// (object ID % places). A task that disappears and comes back is at the same place as before.
class Replayer {
 public:
  /// Starts from `start`, the placement of the first phase's tasks. Background loads of places that
  /// the machine does not have are ignored. Throws Error if the arguments do not fit together, the
  /// plan has no steps, or the machine has no links for the plan's routing.
  Replayer(Trace trace, Machine machine, Placement start, const ReplayPlan& plan);

  /// Replays with decisions, or without any if `decide` is empty. Throws whatever `decide` throws,
  /// and Error if a decision is not a valid placement. O(steps (tasks + messages)) if loads or
  /// placement change.
  Replay run(const Decide& decide, const AfterStep& after_step = {}) const;

  std::size_t phase_of(std::uint64_t step) const;

  /// Lower bound on the time of an iteration of this step under any placement: the
  /// makespan_bound_s() of its workload. If Juggle moves tasks while they run, some of the bounds
  /// in makespan_bound_s() do not hold; the result is then the largest of the others.
  double bound_s(std::uint64_t step) const { return bound_s_[bound_of(step)]; }
  /// All work of the step divided by the sum of the speeds of all places. If subphases overlap, the
  /// work of the longest subphase counts.
  double average_s(std::uint64_t step) const { return average_s_[bound_of(step)]; }
  double total_bound_s() const;
  double total_average_s() const;

  const Machine& machine() const { return machine_; }
  ObjectId num_objects() const { return objects_.count; }
  const ReplayPlan& plan() const { return plan_; }

 private:
  class Run;
  bool has_juggle() const { return plan_.events && plan_.events->juggle_period_s > 0; }
  void find_first_places(const Placement& start);
  std::vector<bool> movable_objects() const;
  void find_bounds();
  std::uint64_t bound_of(std::uint64_t step) const { return plan_.loads ? step : phase_of(step); }
  /// Sets the loads of `workload`, a copy of the step's phase, to those of the load model.
  void set_loads(std::uint64_t step, Workload& workload) const;

  Trace trace_;
  Machine machine_;
  ReplayPlan plan_;
  Objects objects_;
  std::vector<PlaceId> first_place_;  // per object
  /// One entry per phase or, with a model of loads, per step.
  std::vector<double> bound_s_, average_s_;
};

}  // namespace poise
