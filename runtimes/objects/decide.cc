// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/decide.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/tuning.h"

#include "poise/base/random.h"
#include "poise/placement/metrics.h"

namespace poise::objects {

namespace {

std::uint64_t hash_of(const Placement& placement) {
  std::uint64_t hash = placement.num_tasks();
  for (const PlaceId p : placement.places()) hash = mix(hash ^ p);
  return hash;
}

}  // namespace

Mode chosen_mode(const JobLayout& layout, const CollectionOptions& options) {
  if (options.mode != Mode::automatic) return options.mode;
  const std::uint32_t places = layout.machine.num_places();
  const bool is_large =
      places > tuning::kMaxPlacesForRoot && layout.num_hosts > 1 && places > layout.num_hosts;
  // Some strategies, and decisions with subphases, need the data of all objects on one rank. Then
  // rank 0 decides, even in a large job.
  const bool is_divisible =
      parse_strategy(options.strategy).strategy->needs.empty() && !options.subphase_of_step;
  return is_large && is_divisible ? Mode::hierarchical : Mode::root;
}

Decider::Decider(MPI_Comm comm, Communicator& ranks, const ObjectDirectory& directory,
                 const CollectionOptions& options, std::uint32_t threads_per_place)
    : comm_(comm),
      directory_(directory),
      layout_(directory.layout()),
      options_(options),
      threads_per_place_(threads_per_place),
      choice_(parse_strategy(options.strategy)) {
  if (options.mode == Mode::hierarchical)
    joint_.emplace(comm, ranks, directory, options_, threads_per_place);
}

MeasuredPhase Decider::phase_from(const Measurements& all) const {
  return phase_of(all, directory_.num_objects(), layout_.machine.num_places(),
                  options_.clock == Clock::wall, threads_per_place_);
}

void Decider::remember(const MeasuredPhase& phase) {
  // Only the strategy multistep uses the loads of past phases. For other strategies they are not
  // stored, because they take up to 512 MB per million objects.
  if (choice_.strategy->name != "multistep") return;
  if (past_loads_s_.size() == tuning::kMaxPastPhases) past_loads_s_.erase(past_loads_s_.begin());
  auto& loads = past_loads_s_.emplace_back();
  for (const Task& task : phase.workload.tasks) loads.push_back(task.load_s);
}

Outcome Decider::run(const MeasuredPhase& phase) {
  if (phase.workload.tasks.empty()) return {phase.current};  // strategies refuse such a workload
  return balance::run_strategy(std::make_shared<const balance::OwnedProblem>(balance::OwnedProblem{
                                   layout_.machine, phase, past_loads_s_, choice_, options_.seed}),
                               options_.budget_s, &overdue_);
}

Outcome Decider::on_root(const Measurements& own, Decision& decision) {
  const Measurements all = gather_measurements(comm_, own, 0);
  Outcome outcome;
  std::vector<PlaceId> places;
  if (layout_.rank == 0) {
    decision.phase = phase_from(all);
    outcome = run(*decision.phase);
    remember(*decision.phase);
    places.assign(outcome.placement.places().begin(), outcome.placement.places().end());
  }
  broadcast_rows(comm_, places);
  outcome.placement = Placement(std::move(places));
  return outcome;
}

Outcome Decider::on_every_rank(const Measurements& own, Decision& decision) {
  const MeasuredPhase all = phase_from(gather_measurements(comm_, own, -1));
  Outcome outcome = run(all);
  remember(all);
  const std::vector<std::uint64_t> hashes =
      allgather_rows(comm_, std::vector<std::uint64_t>{hash_of(outcome.placement)});
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) != hashes.end())
    outcome = {all.current, "the strategy returned different placements on different ranks"};
  if (layout_.rank == 0) decision.phase = all;
  return outcome;
}

Decision Decider::by_all_ranks(const Measurements& own) const {
  Decision decision;
  if (!options_.trace.empty()) {
    const Measurements all = gather_measurements(comm_, own, 0);
    if (layout_.rank == 0) decision.phase = phase_from(all);
  }
  JointDecision joint = joint_->decide(own);
  decision.plan = std::move(joint.plan);
  decision.imbalance_before = joint.imbalance_before;
  decision.imbalance_after = joint.imbalance_after;
  if (layout_.rank == 0) decision.failure = std::move(joint.trouble);
  return decision;
}

Decision Decider::decide(const Measurements& own) {
  if (joint_) return by_all_ranks(own);
  Decision decision;
  Outcome outcome =
      options_.mode == Mode::root ? on_root(own, decision) : on_every_rank(own, decision);
  std::vector<double> imbalances{1, 1};
  if (decision.phase) {
    const auto& [workload, current] = *decision.phase;
    const Machine& machine = layout_.machine;
    imbalances[0] = evaluate(machine, workload, machine.costs(), current, current).imbalance;
    imbalances[1] =
        evaluate(machine, workload, machine.costs(), current, outcome.placement).imbalance;
  }
  broadcast_rows(comm_, imbalances);
  decision.imbalance_before = imbalances[0];
  decision.imbalance_after = imbalances[1];
  decision.placement = std::move(outcome.placement);
  decision.plan = plan_migrations(directory_, decision.placement);
  if (layout_.rank == 0) decision.failure = std::move(outcome.trouble);
  return decision;
}

}  // namespace poise::objects
