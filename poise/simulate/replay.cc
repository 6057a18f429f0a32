#include "poise/simulate/replay.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "poise/base/error.h"
#include "poise/placement/metrics.h"
#include "poise/simulate/overlap.h"

namespace poise {

namespace {

constexpr TaskId kNoTask = std::numeric_limits<TaskId>::max();
constexpr PlaceId kNoPlace = std::numeric_limits<PlaceId>::max();
constexpr std::size_t kMaxPastLoads = std::size_t{1} << 24;  // 128 MB
constexpr std::size_t kMaxPastSteps = 1000;

/// The place of an object when it first appears in a phase.
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

}  // namespace

Replayer::Replayer(Trace trace, Machine machine, Placement start, const ReplayPlan& plan)
    : trace_(std::move(trace)), machine_(std::move(machine)), plan_(plan) {
  if (plan_.steps == 0) fail("steps is 0; it must be at least 1");
  if (plan_.every == 0) fail("every is 0; there must be at least 1 step between decisions");
  if (trace_.phases.empty()) fail("the trace has no phases; at least 1 is needed");
  const std::uint32_t num_places = machine_.num_places();
  check(start, trace_.phases.front().workload.num_tasks(), num_places);
  for (Phase& phase : trace_.phases) {
    Workload& workload = phase.workload;
    if (!workload.background_s.empty()) workload.background_s.resize(num_places, 0);
    if (!workload.place_bytes.empty()) workload.place_bytes.resize(num_places, 0);
    check(workload, num_places);
  }
  objects_ = objects_of(trace_);
  first_place_.assign(objects_.count, kNoPlace);
  for (TaskId t = 0; t < start.num_tasks(); ++t) first_place_[objects_.of_task[0][t]] = start.of(t);
  for (std::size_t i = 0; i < trace_.phases.size(); ++i) {
    const Phase& phase = trace_.phases[i];
    for (TaskId t = 0; t < phase.workload.num_tasks(); ++t) {
      const ObjectId object = objects_.of_task[i][t];
      if (first_place_[object] != kNoPlace) continue;
      first_place_[object] = first_place(phase, t, object, num_places);
    }
    const Placement placement = placement_of(objects_.of_task[i], first_place_);
    bound_s_.push_back(makespan_bound_s(machine_, phase.workload, placement));
    average_s_.push_back(poise::average_s(machine_, phase.workload));
  }
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

/// The loads of the steps before `step`, in the order of its tasks. Steps that lack one of its
/// tasks are omitted.
std::vector<std::vector<double>> Replayer::past_loads_s(std::uint64_t step) const {
  const std::vector<ObjectId>& tasks = objects_.of_task[phase_of(step)];
  const std::size_t most =
      std::min(kMaxPastSteps, kMaxPastLoads / std::max<std::size_t>(1, tasks.size()));
  std::vector<std::vector<double>> past;
  std::vector<TaskId> task_of(objects_.count, kNoTask);
  for (std::uint64_t before = step - std::min<std::uint64_t>(step, most); before < step; ++before) {
    const std::size_t phase = phase_of(before);
    const std::vector<ObjectId>& then = objects_.of_task[phase];
    std::fill(task_of.begin(), task_of.end(), kNoTask);
    for (TaskId t = 0; t < then.size(); ++t) task_of[then[t]] = t;
    if (std::any_of(tasks.begin(), tasks.end(), [&](ObjectId o) { return task_of[o] == kNoTask; }))
      continue;
    auto& loads_s = past.emplace_back();
    loads_s.reserve(tasks.size());
    for (const ObjectId object : tasks)
      loads_s.push_back(trace_.phases[phase].workload.tasks[task_of[object]].load_s);
  }
  return past;
}

/// One replay: the places of all objects, and cached results for the current places.
class Replayer::Run {
 public:
  explicit Run(const Replayer& replayer)
      : replayer_(replayer),
        place_of_(replayer.first_place_),
        clocks_(replayer.machine_.num_places()),
        known_(replayer.trace_.phases.size()) {}

  /// Calls the strategy with the measurements of step - 1.
  void balance(std::uint64_t step, const Decide& decide, ReplayStep& result) {
    const std::size_t phase = replayer_.phase_of(step - 1);
    const Workload& workload = replayer_.trace_.phases[phase].workload;
    const auto& objects = replayer_.objects_.of_task[phase];
    const Placement before = placement_of(objects, place_of_);
    const auto past = replayer_.past_loads_s(step - 1);
    const CostModel& costs = replayer_.machine_.costs();
    const TimedDecision decision =
        decide({replayer_.machine_, workload, before, costs, replayer_.plan_.seed, past});
    check(decision.placement, workload.num_tasks(), replayer_.machine_.num_places());
    const Metrics metrics =
        evaluate(replayer_.machine_, workload, costs, before, decision.placement);
    result.decision_s = decision.decision_s;
    result.migration_s = metrics.migration_s;
    result.migrations = metrics.migrations;
    result.migrated_bytes = metrics.migrated_bytes;
    clocks_.synchronise(result.decision_s + result.migration_s);
    if (metrics.migrations == 0) return;
    for (TaskId t = 0; t < objects.size(); ++t) place_of_[objects[t]] = decision.placement.of(t);
    for (auto& known : known_) known.reset();
  }

  void run_step(std::uint64_t step, ReplayStep& result) {
    const std::size_t phase = replayer_.phase_of(step);
    const Workload& workload = replayer_.trace_.phases[phase].workload;
    const auto& objects = replayer_.objects_.of_task[phase];
    result.phase = phase;
    if (!known_[phase]) {
      const Placement placement = placement_of(objects, place_of_);
      known_[phase] = phase_times(
          replayer_.machine_, workload, placement,
          place_times(replayer_.machine_, workload, replayer_.machine_.costs(), placement));
    }
    result.iteration_s = known_[phase]->iteration_s;
    result.makespan_s = known_[phase]->makespan_s;
    if (!replayer_.plan_.overlap) return;
    // A different set of tasks means a different section of the program, which all places start
    // together.
    if (step > 0 && objects != replayer_.objects_.of_task[replayer_.phase_of(step - 1)]) {
      clocks_.synchronise(0);
      clocks_.forget_messages();
    }
    result.overlapped_end_s = clocks_.run_step(
        replayer_.machine_, workload, replayer_.machine_.costs(), placement_of(objects, place_of_));
  }

 private:
  const Replayer& replayer_;
  std::vector<PlaceId> place_of_;  // per object
  OverlapClocks clocks_;
  std::vector<std::optional<PhaseTimes>> known_;  // per phase, at the current places
};

Replay Replayer::run(const Decide& decide) const {
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
    replay.migration_s += result.migration_s;
    replay.decision_s += result.decision_s;
    replay.migrations += result.migrations;
    replay.migrated_bytes += result.migrated_bytes;
  }
  replay.total_s = replay.iteration_s + replay.migration_s + replay.decision_s;
  replay.overlapped_s = replay.steps.back().overlapped_end_s;
  return replay;
}

}  // namespace poise
