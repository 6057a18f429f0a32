// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/replay.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "poise/base/error.h"
#include "poise/placement/answer.h"
#include "poise/placement/metrics.h"
#include "poise/simulate/event_steps.h"
#include "poise/simulate/overlap.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

constexpr TaskId kNoTask = std::numeric_limits<TaskId>::max();
constexpr PlaceId kNoPlace = std::numeric_limits<PlaceId>::max();

/// Returns the place where an object starts, if `phase` is the first phase with this object: its
/// recorded place, or its ID modulo num_places if that place is unknown or does not exist.
PlaceId first_place(const Phase& phase, TaskId t, ObjectId object, std::uint32_t num_places) {
  const bool is_recorded = phase.placement.num_tasks() > 0;
  if (is_recorded && phase.placement.of(t) < num_places) return phase.placement.of(t);
  return object % num_places;
}

Placement placement_of(const std::vector<ObjectId>& objects, const std::vector<PlaceId>& places) {
  std::vector<PlaceId> place_of_task;
  place_of_task.reserve(objects.size());
  for (const ObjectId object : objects) place_of_task.push_back(places[object]);
  return Placement(std::move(place_of_task));
}

/// Returns a copy of the workload with only those columns on which the bounds on the makespan
/// depend.
Workload work_of(const Workload& workload) {
  Workload work;
  work.tasks = workload.tasks;
  work.background_s = workload.background_s;
  work.subphase_load_s = workload.subphase_load_s;
  work.subphase_rule = workload.subphase_rule;
  work.subphase_speed = workload.subphase_speed;
  return work;
}

/// Lower bound on the makespan if Juggle moves tasks while they run. Then several places may share
/// the work of a task, so the bounds for tasks that stay at one place do not hold.
double juggled_bound_s(const Workload& workload, const MakespanBounds& bounds) {
  double bound_s = std::max(bounds.average_s, bounds.largest_task_s);
  for (const double background_s : workload.background_s) bound_s = std::max(bound_s, background_s);
  return bound_s;
}

/// Computes means over steps. Without balancing, balanced_s is the mean over the same steps as with
/// balancing, so that runs with and without balancing can be compared although loads change.
void summarise(const ReplayPlan& plan, Replay& replay) {
  const std::uint64_t first = plan.every < plan.steps ? plan.every : 0;
  double idle_s = 0, since_s = 0;
  for (std::uint64_t step = 0; step < plan.steps; ++step) {
    const ReplayStep& result = replay.steps[step];
    idle_s += result.idle_share * result.iteration_s;
    if (step >= first) since_s += result.iteration_s;
  }
  replay.balanced_s = since_s / (plan.steps - first);
  replay.idle_share = replay.iteration_s > 0 ? idle_s / replay.iteration_s : 0;
}

}  // namespace

Replayer::Replayer(Trace trace, Machine machine, Placement start, const ReplayPlan& plan)
    : trace_(std::move(trace)), machine_(std::move(machine)), plan_(plan) {
  if (plan_.steps == 0) fail("the number of steps is 0; it must be at least 1");
  if (plan_.steps > simulate_tuning::kMaxSteps)
    fail("{} steps are too many; at most {} can be simulated", plan_.steps,
         simulate_tuning::kMaxSteps);
  if (plan_.every == 0)
    fail("the number of steps from one decision to the next is 0; it must be at least 1");
  if (trace_.phases.empty()) fail("the trace has no phases; at least 1 is needed");
  if (plan_.events) {
    plan_.events->routing.seed = plan_.seed;
    check_routing(machine_, plan_.events->routing);
  }
  const std::uint32_t num_places = machine_.num_places();
  check(start, trace_.phases.front().workload.num_tasks(), num_places);
  for (Phase& phase : trace_.phases) {
    Workload& workload = phase.workload;
    if (!workload.background_s.empty()) workload.background_s.resize(num_places, 0);
    if (!workload.place_bytes.empty()) workload.place_bytes.resize(num_places, 0);
    workload.subphase_rule = plan_.subphases;
    check(workload, num_places);
  }
  if (plan_.subphases != SubphaseRule::no_wait && (plan_.lending.is_on() || has_juggle()))
    fail(
        "a replay cannot simulate subphases together with lending or Juggle; leave out the "
        "subphases, or leave out lending and Juggle");
  if (plan_.lending.is_on() && has_juggle())
    fail("a replay cannot simulate both lending and Juggle; leave out one of them");
  if (plan_.events) poise::check(plan_.events->pressure, machine_);
  if (plan_.has_timeline && !plan_.events)
    fail("a timeline can be recorded only with the event engine; use --engine events");
  objects_ = objects_of(trace_);
  find_first_places(start);
  find_bounds();
}

void Replayer::find_first_places(const Placement& start) {
  first_place_.assign(objects_.count, kNoPlace);
  for (TaskId t = 0; t < start.num_tasks(); ++t) first_place_[objects_.of_task[0][t]] = start.of(t);
  for (std::size_t i = 0; i < trace_.phases.size(); ++i) {
    const Phase& phase = trace_.phases[i];
    for (TaskId t = 0; t < phase.workload.num_tasks(); ++t) {
      const ObjectId object = objects_.of_task[i][t];
      if (first_place_[object] != kNoPlace) continue;
      first_place_[object] = first_place(phase, t, object, machine_.num_places());
    }
  }
}

/// Returns for each object whether it can move in at least one phase. Such an object counts as
/// movable in all phases, because it may have moved to any place before a phase in which it cannot
/// move.
std::vector<bool> Replayer::movable_objects() const {
  std::vector<bool> is_movable(objects_.count, false);
  for (std::size_t i = 0; i < trace_.phases.size(); ++i)
    for (TaskId t = 0; t < objects_.of_task[i].size(); ++t)
      if (trace_.phases[i].workload.tasks[t].movable) is_movable[objects_.of_task[i][t]] = true;
  return is_movable;
}

void Replayer::find_bounds() {
  const std::uint64_t count = plan_.loads ? plan_.steps : trace_.phases.size();
  const std::vector<bool> is_movable = movable_objects();
  Workload work;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t phase = plan_.loads ? phase_of(i) : i;
    const std::vector<ObjectId>& objects = objects_.of_task[phase];
    if (i == 0 || !plan_.loads || phase != phase_of(i - 1)) {
      work = work_of(trace_.phases[phase].workload);
      for (TaskId t = 0; t < objects.size(); ++t) work.tasks[t].movable = is_movable[objects[t]];
    }
    if (plan_.loads) set_loads(i, work);
    const MakespanBounds bounds =
        makespan_bounds(machine_, work, placement_of(objects, first_place_));
    bound_s_.push_back(has_juggle() ? juggled_bound_s(work, bounds) : bounds.largest_s());
    average_s_.push_back(bounds.average_s);
  }
}

void Replayer::set_loads(std::uint64_t step, Workload& workload) const {
  const std::size_t phase = phase_of(step);
  std::vector<double> factors(objects_.count);
  plan_.loads->set_factors(step, plan_.seed, factors);
  const std::vector<Task>& tasks = trace_.phases[phase].workload.tasks;
  for (TaskId t = 0; t < tasks.size(); ++t)
    workload.tasks[t].load_s = tasks[t].load_s * factors[objects_.of_task[phase][t]];
}

std::size_t Replayer::phase_of(std::uint64_t step) const {
  const std::size_t phases = trace_.phases.size();
  if (plan_.beyond == Beyond::cycle) return step % phases;
  return std::min<std::uint64_t>(step, phases - 1);
}

double Replayer::total_bound_s() const {
  double total_s = 0;
  for (std::uint64_t step = 0; step < plan_.steps; ++step) total_s += bound_s(step);
  return total_s;
}

double Replayer::total_average_s() const {
  double total_s = 0;
  for (std::uint64_t step = 0; step < plan_.steps; ++step) total_s += average_s(step);
  return total_s;
}

/// One replay: the places of all objects, and cached results for the current places.
class Replayer::Run {
 public:
  explicit Run(const Replayer& replayer)
      : replayer_(replayer),
        place_of_(replayer.first_place_),
        clocks_(replayer.machine_.num_places()),
        known_(replayer.trace_.phases.size()) {
    const ReplayPlan& plan = replayer.plan_;
    const StepLending lending{plan.lending, plan.has_timeline};
    if (plan.events) events_.emplace(replayer.machine_, *plan.events, lending, known_.size());
    if (plan.has_timeline) spans_.resize(replayer.machine_.num_places());
  }

  /// Calls the strategy before step number `step`, with the measurements of the step before it.
  void balance(std::uint64_t step, const Decide& decide, ReplayStep& result) {
    const std::size_t phase = replayer_.phase_of(step - 1);
    const Workload& workload = workload_of(step - 1);
    const auto& objects = replayer_.objects_.of_task[phase];
    const Placement before = placement_of(objects, place_of_);
    const auto past = past_loads_s(step - 1);
    const CostModel& costs = replayer_.machine_.costs();
    const Problem problem{.machine = replayer_.machine_,
                          .workload = workload,
                          .current = before,
                          .costs = costs,
                          .seed = replayer_.plan_.seed,
                          .past_loads_s = past,
                          .steps = 1.0 * replayer_.plan_.every};
    const TimedDecision decision = decide(problem);
    check_answer(problem, decision.placement);
    const MigrationCost moved =
        migration_cost(replayer_.machine_, workload, costs, before, decision.placement);
    result.decision_s = decision.decision_s;
    result.migration_s = moved.seconds;
    result.migrations = moved.tasks;
    result.migrated_bytes = moved.bytes;
    if (events_) {
      result.collection_s = events_->collection_s(workload, before);
      result.migration_s = events_->migration_s(workload, before, decision.placement);
    }
    const double stop_s = result.decision_s + result.collection_s + result.migration_s;
    clocks_.synchronise(stop_s);
    record_balancing(stop_s);
    if (moved.tasks == 0) return;
    for (TaskId t = 0; t < objects.size(); ++t) place_of_[objects[t]] = decision.placement.of(t);
    for (auto& known : known_) known.reset();
    if (events_) events_->forget();
  }

  void run_step(std::uint64_t step, ReplayStep& result) {
    const std::size_t phase = replayer_.phase_of(step);
    const Workload& workload = workload_of(step);
    const auto& objects = replayer_.objects_.of_task[phase];
    result.phase = phase;
    if (!known_[phase]) {
      const Placement placement = placement_of(objects, place_of_);
      known_[phase] = known_of(phase, workload, placement);
    }
    const PhaseTimes& times = known_[phase]->times;
    result.iteration_s = result.formula_s = times.iteration_s;
    result.makespan_s = times.makespan_s;
    result.loans = known_[phase]->loans;
    if (events_) run_events(phase, workload, result);
    if (!replayer_.plan_.overlap) return;
    // If the set of tasks differs from that of the previous phase, a new section of the program
    // begins. All places start it together.
    if (step > 0 && objects != replayer_.objects_.of_task[replayer_.phase_of(step - 1)]) {
      clocks_.synchronise(0);
      clocks_.forget_messages();
    }
    result.overlapped_end_s = clocks_.run_step(
        replayer_.machine_, workload, replayer_.machine_.costs(), placement_of(objects, place_of_));
  }

  std::vector<std::vector<Span>> take_spans() { return std::move(spans_); }

  /// For each place, the number of messages that it receives from other places in a step.
  std::vector<std::uint64_t> received_messages(std::uint64_t step) {
    const auto& objects = replayer_.objects_.of_task[replayer_.phase_of(step)];
    std::vector<std::uint64_t> received(replayer_.machine_.num_places());
    for (const Message& message : workload_of(step).messages) {
      const PlaceId to = place_of_[objects[message.to]];
      if (to != place_of_[objects[message.from]]) received[to] += message.count;
    }
    return received;
  }

 private:
  /// The loads that `tasks` had in earlier steps: one list per step in `steps`, oldest step first.
  struct Past {
    std::vector<ObjectId> tasks = {};
    std::vector<std::uint64_t> steps = {};
    std::vector<std::vector<double>> loads_s = {};
    std::uint64_t end = 0;  // first step that has not been searched for loads
  };

  /// Returns the loads that the tasks of `step` had in earlier steps: one list per step, in the
  /// order of the tasks. Omits steps in which one of the tasks is missing. Keeps the lists, so that
  /// the next call only adds later steps, unless the tasks have changed.
  std::span<const std::vector<double>> past_loads_s(std::uint64_t step) {
    const std::vector<ObjectId>& tasks = replayer_.objects_.of_task[replayer_.phase_of(step)];
    if (tasks != past_.tasks) past_ = {.tasks = tasks};
    const std::uint64_t most =
        std::min(simulate_tuning::kMaxPastSteps,
                 simulate_tuning::kMaxPastLoads / std::max<std::size_t>(1, tasks.size()));
    const std::uint64_t first = step - std::min(step, most);
    for (std::uint64_t before = std::max(first, past_.end); before < step; ++before)
      if (auto loads_s = loads_of(tasks, before); !loads_s.empty()) {
        past_.steps.push_back(before);
        past_.loads_s.push_back(std::move(loads_s));
      }
    past_.end = step;
    const auto too_old =
        std::lower_bound(past_.steps.begin(), past_.steps.end(), first) - past_.steps.begin();
    past_.steps.erase(past_.steps.begin(), past_.steps.begin() + too_old);
    past_.loads_s.erase(past_.loads_s.begin(), past_.loads_s.begin() + too_old);
    return past_.loads_s;
  }

  /// Returns the loads that tasks had in a step, or nothing if one of them was missing.
  std::vector<double> loads_of(const std::vector<ObjectId>& tasks, std::uint64_t step) const {
    const std::size_t phase = replayer_.phase_of(step);
    const std::vector<ObjectId>& then = replayer_.objects_.of_task[phase];
    std::vector<TaskId> task_of(replayer_.objects_.count, kNoTask);
    for (TaskId t = 0; t < then.size(); ++t) task_of[then[t]] = t;
    if (std::any_of(tasks.begin(), tasks.end(), [&](ObjectId o) { return task_of[o] == kNoTask; }))
      return {};
    std::vector<double> loads_s;
    loads_s.reserve(tasks.size());
    for (const ObjectId object : tasks)
      loads_s.push_back(replayer_.trace_.phases[phase].workload.tasks[task_of[object]].load_s);
    if (!replayer_.plan_.loads) return loads_s;
    std::vector<double> factors(replayer_.objects_.count);
    replayer_.plan_.loads->set_factors(step, replayer_.plan_.seed, factors);
    for (std::size_t t = 0; t < tasks.size(); ++t) loads_s[t] *= factors[tasks[t]];
    return loads_s;
  }

  /// Returns the workload of a step. The reference is valid until the next call.
  const Workload& workload_of(std::uint64_t step) {
    const std::size_t phase = replayer_.phase_of(step);
    const Workload& recorded = replayer_.trace_.phases[phase].workload;
    if (!replayer_.plan_.loads) return recorded;
    if (changed_phase_ != phase) {
      changed_ = recorded;
      changed_phase_ = phase;
      changed_step_.reset();
    }
    if (changed_step_ != step) {
      replayer_.set_loads(step, changed_);
      changed_step_ = step;
      known_[phase].reset();
      if (events_) events_->forget_loads();
    }
    return changed_;
  }

  /// The times of a step by the formula of metrics.h. With lending, the makespan is the simulated
  /// one.
  struct Known {
    PhaseTimes times;
    Loans loans;
  };
  Known known_of(std::size_t phase, const Workload& workload, const Placement& placement) {
    const Machine& machine = replayer_.machine_;
    Known known{phase_times(workload, place_times(machine, workload, machine.costs(), placement)),
                {}};
    if (!replayer_.plan_.lending.is_on()) return known;
    const LentStep lent =
        events_
            ? LentStep{.end_s = events_->step(phase, workload, placement).lent_s}
            : lent_step(lending_scenario(machine, workload, placement, replayer_.plan_.lending));
    known.loans = lent.loans;
    known.loans.saved_s = known.times.makespan_s - lent.end_s;
    known.times.iteration_s -= known.loans.saved_s;
    known.times.makespan_s = lent.end_s;
    return known;
  }

  void run_events(std::size_t phase, const Workload& workload, ReplayStep& result) {
    const Placement placement = placement_of(replayer_.objects_.of_task[phase], place_of_);
    const EventStep& step = events_->step(phase, workload, placement);
    const Iteration& iteration = step.iteration;
    result.iteration_s = iteration.end_s;
    result.idle_share = iteration.idle_share();
    result.loans = step.loans;
    for (PlaceId p = 0; p < spans_.size(); ++p) {
      const PlaceRun& place = iteration.places[p];
      double did_s = 0;  // end of the last span that is recorded for this place
      if (step.spans.empty()) {
        record(p, now_s_, now_s_ + place.sends_s, Activity::work);
        record(p, now_s_ + place.sends_s, now_s_ + place.sent_s, Activity::wait);
        record(p, now_s_ + place.sent_s, now_s_ + place.worked_s, Activity::work);
        did_s = place.worked_s;
      } else {
        for (const Span& span : step.spans[p]) {
          record(p, now_s_ + span.start_s, now_s_ + span.end_s, span.activity, span.is_borrowed);
          did_s = span.end_s;
        }
      }
      record(p, now_s_ + did_s, now_s_ + iteration.end_s, Activity::wait);
    }
    now_s_ += iteration.end_s;
  }

  void record_balancing(double seconds) {
    for (PlaceId p = 0; p < spans_.size(); ++p)
      record(p, now_s_, now_s_ + seconds, Activity::balance);
    now_s_ += seconds;
  }

  void record(PlaceId place, double start_s, double end_s, Activity activity,
              bool is_borrowed = false) {
    if (end_s > start_s) spans_[place].push_back({start_s, end_s, activity, is_borrowed});
  }

  const Replayer& replayer_;
  std::vector<PlaceId> place_of_;  // per object
  OverlapClocks clocks_;
  std::vector<std::optional<Known>> known_;  // results per phase, for the current places
  std::optional<EventSteps> events_;
  // With a model of loads, changed_ is a copy of phase number changed_phase_, with the loads that
  // the model gives for step changed_step_.
  Workload changed_;
  std::optional<std::size_t> changed_phase_;
  std::optional<std::uint64_t> changed_step_;
  Past past_;
  double now_s_ = 0;
  std::vector<std::vector<Span>> spans_;  // per place
};

Replay Replayer::run(const Decide& decide, const AfterStep& after_step) const {
  Run run(*this);
  Replay replay;
  replay.steps.resize(plan_.steps);
  for (std::uint64_t step = 0; step < plan_.steps; ++step) {
    ReplayStep& result = replay.steps[step];
    if (decide && step > 0 && step % plan_.every == 0) {
      run.balance(step, decide, result);
      ++replay.decisions;
    }
    run.run_step(step, result);
    replay.iteration_s += result.iteration_s;
    replay.formula_s += result.formula_s;
    replay.migration_s += result.migration_s;
    replay.decision_s += result.decision_s;
    replay.collection_s += result.collection_s;
    replay.migrations += result.migrations;
    replay.migrated_bytes += result.migrated_bytes;
    replay.loans += result.loans;
    if (after_step) after_step(step + 1);
  }
  replay.total_s =
      replay.iteration_s + replay.migration_s + replay.decision_s + replay.collection_s;
  replay.overlapped_s = replay.steps.back().overlapped_end_s;
  summarise(plan_, replay);
  replay.places = run.take_spans();
  replay.received_messages = run.received_messages(plan_.steps - 1);
  return replay;
}

}  // namespace poise
