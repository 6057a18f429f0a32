// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/event_steps.h"

#include <algorithm>
#include <utility>

#include "poise/placement/metrics.h"
#include "poise/simulate/barrier.h"
#include "poise/simulate/threads.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

struct Share {
  double report_bytes = 0, answer_bytes = 0;
};

std::vector<Share> shares_of(const Workload& workload, const Placement& placement,
                             std::uint32_t num_places) {
  std::vector<Share> shares(num_places);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    shares[placement.of(t)].report_bytes += simulate_tuning::kReportBytesPerTask;
    shares[placement.of(t)].answer_bytes += simulate_tuning::kAnswerBytesPerTask;
  }
  for (const Message& message : workload.messages)
    shares[placement.of(message.from)].report_bytes += simulate_tuning::kReportBytesPerMessage;
  return shares;
}

/// Appends an iteration to the step. The iteration begins when all earlier iterations have ended.
void append(EventStep& step, const Iteration& next, bool has_spans) {
  Iteration& all = step.iteration;
  const double start_s = all.end_s;
  all.places.resize(next.places.size());
  if (has_spans) step.spans.resize(next.places.size());
  for (PlaceId p = 0; p < next.places.size(); ++p) {
    const PlaceRun& place = next.places[p];
    all.places[p].worked_s += place.worked_s;
    all.places[p].receiving_s += place.receiving_s;
    all.places[p].ends_s = start_s + place.ends_s;
    if (!has_spans) continue;
    auto& spans = step.spans[p];
    spans.push_back({start_s, start_s + place.sends_s, Activity::work, false});
    spans.push_back({start_s + place.sends_s, start_s + place.sent_s, Activity::wait, false});
    spans.push_back({start_s + place.sent_s, start_s + place.worked_s, Activity::work, false});
    spans.push_back({start_s + place.worked_s, start_s + next.end_s, Activity::wait, false});
  }
  all.end_s = start_s + next.end_s;
}

}  // namespace

EventSteps::EventSteps(const Machine& machine, const EngineOptions& options, StepLending lending,
                       std::size_t num_phases)
    : machine_(machine),
      options_(options),
      lending_(lending),
      traffic_(num_phases),
      steps_(num_phases) {}

Iteration EventSteps::iteration(const Traffic& traffic, std::span<const double> work_s,
                                double overlap) const {
  Iteration iteration = simulate_iteration(traffic, work_s, overlap, options_);
  if (!options_.has_barrier) return iteration;
  std::vector<double> ends_s;
  for (const PlaceRun& place : iteration.places) ends_s.push_back(place.ends_s);
  iteration.end_s = barrier_end_s(machine_, ends_s);
  return iteration;
}

/// The places lend tasks first, and send the messages of the step when all tasks have finished. If
/// the workload has an overlap, they send these messages earlier: after the share 1 - overlap of
/// the time that all tasks take. Messages about lending never compete with those of the step.
EventStep EventSteps::lent(const Traffic& traffic, const Workload& workload,
                           const Placement& placement) const {
  LendingScenario scenario =
      lending_scenario(machine_, workload, placement, lending_.options, LendingNetwork::links);
  scenario.has_spans = lending_.has_spans;
  LentStep lent = lent_step(scenario);
  std::vector<double> left_s;
  for (const SimulatedRank& place : lent.places) left_s.push_back(place.left_s);
  EventStep step{iteration(traffic, left_s, workload.overlap), lent.loans, lent.end_s};
  const double alone_s =
      iteration(traffic, work_s(machine_, workload, placement), workload.overlap).end_s;
  step.loans.saved_s = alone_s - step.iteration.end_s;
  for (PlaceId p = 0; p < left_s.size(); ++p) {
    step.iteration.places[p].idle_s = std::max(0.0, left_s[p] - lent.places[p].busy_s);
    if (lending_.has_spans) step.spans.push_back(std::move(lent.places[p].spans));
  }
  return step;
}

EventStep EventSteps::of_subphases(const Workload& workload, const Placement& placement,
                                   const Subphases& subphases) const {
  const std::uint32_t count = subphases.count();
  const std::vector<double> work = subphase_work_s(machine_, workload, subphases, placement);
  std::vector<double> work_s(machine_.num_places());
  EventStep step;
  for (std::uint32_t s = 0; s < count; ++s) {
    for (PlaceId p = 0; p < work_s.size(); ++p) work_s[p] = work[std::size_t{p} * count + s];
    const Traffic traffic =
        message_traffic(machine_, workload, machine_.costs(), placement, options_.piece_bytes,
                        subphases.part_of_rest(s), options_.routing);
    const Iteration part = iteration(traffic, work_s, workload.overlap);
    if (!subphases.overlap())
      append(step, part, lending_.has_spans);
    else if (s == 0)  // subphase 0 is the work of the cores; all messages belong to it
      step.iteration = part;
    else
      step.iteration.end_s = std::max(step.iteration.end_s, part.end_s);
  }
  return step;
}

const EventStep& EventSteps::step(std::size_t phase, const Workload& workload,
                                  const Placement& placement) {
  if (steps_[phase]) return *steps_[phase];
  if (const Subphases subphases(workload); subphases.count() > 1) {
    steps_[phase] = of_subphases(workload, placement, subphases);
    return *steps_[phase];
  }
  if (!traffic_[phase]) {
    if (held_ > simulate_tuning::kMaxCachedPairs) {
      for (auto& traffic : traffic_) traffic.reset();
      held_ = 0;
    }
    traffic_[phase] =
        std::make_unique<Traffic>(message_traffic(machine_, workload, machine_.costs(), placement,
                                                  options_.piece_bytes, 1, options_.routing));
    held_ += traffic_[phase]->pairs().size();
  }
  if (lending_.options.is_on()) {
    steps_[phase] = lent(*traffic_[phase], workload, placement);
    return *steps_[phase];
  }
  const double period_s = options_.juggle_period_s;
  const std::vector<double> worked_s =
      period_s > 0 ? run_threads(machine_, workload, placement, period_s).done_s
                   : work_s(machine_, workload, placement);
  steps_[phase] = {iteration(*traffic_[phase], worked_s, workload.overlap), {}};
  return *steps_[phase];
}

void EventSteps::forget() {
  forget_loads();
  for (auto& traffic : traffic_) traffic.reset();
  held_ = 0;
}

void EventSteps::forget_loads() {
  for (auto& step : steps_) step.reset();
}

double EventSteps::migration_s(const Workload& workload, const Placement& before,
                               const Placement& after) const {
  const std::vector<double> unpacking =
      unpacking_factors(machine_, workload, before, after, options_.pressure);
  return exchange_s(migration_traffic(machine_, workload, machine_.costs(), before, after,
                                      options_.piece_bytes, unpacking, options_.routing),
                    options_);
}

double EventSteps::collection_s(const Workload& workload, const Placement& placement) const {
  const CostModel& costs = machine_.costs();
  std::vector<Share> shares = shares_of(workload, placement, machine_.num_places());
  std::vector<PlaceId> leaders(machine_.num_places());
  for (PlaceId p = 0; p < leaders.size(); ++p) leaders[p] = p;
  const auto ends = [&](const Transfer& transfer) {
    return end_times(machine_, costs, LoadsInclude::none, transfer.count, transfer.bytes,
                     transfer.from, transfer.to);
  };
  double seconds = 0;
  const auto levels = machine_.levels();
  for (std::size_t level = levels.size() + 1; level-- > 0;) {
    std::vector<Transfer> up, down;
    std::vector<PlaceId> above;
    for (const PlaceId p : leaders) {
      // Place p sends to the first place of its group on the next coarser level. Above the top
      // level this group is the whole machine, whose first place is 0.
      const PlaceId to =
          level == 0 ? 0 : levels[level - 1].first_place[machine_.group_of(level - 1, p)];
      if (p == to) {
        above.push_back(p);
        continue;
      }
      up.push_back({p, to, 1, shares[p].report_bytes});
      down.push_back({to, p, 1, shares[p].answer_bytes});
      shares[to].report_bytes += shares[p].report_bytes;
      shares[to].answer_bytes += shares[p].answer_bytes;
    }
    leaders = std::move(above);
    for (auto* transfers : {&up, &down})
      seconds += exchange_s(Traffic(machine_, costs, std::move(*transfers), ends,
                                    options_.piece_bytes, options_.routing),
                            options_);
  }
  return seconds;
}

}  // namespace poise
