// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/decide.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "runtimes/objects/collectives.h"
#include "runtimes/objects/tuning.h"

#include "poise/base/random.h"
#include "poise/machine/slots.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise::objects {

namespace {

Mode chosen_mode(const JobLayout& layout, Mode asked) {
  if (asked != Mode::automatic) return asked;
  const bool is_large = layout.machine.num_places() > tuning::kMaxPlacesForOneLevel &&
                        layout.num_hosts > 1 && layout.machine.num_places() > layout.num_hosts;
  return is_large ? Mode::hierarchical : Mode::root;
}

std::uint64_t hash_of(const Placement& placement) {
  std::uint64_t hash = placement.num_tasks();
  for (const PlaceId p : placement.places()) hash = mix(hash ^ p);
  return hash;
}

/// Returns, on every rank, the text of the first rank that has one: the lowest rank whose text is
/// not empty. Collective.
std::string first_text(MPI_Comm comm, const std::string& text) {
  std::vector<char> row(text.begin(), text.end());
  if (!row.empty()) row.push_back('\0');
  const std::vector<char> all = allgather_rows(comm, row);
  return {all.begin(), std::find(all.begin(), all.end(), '\0')};
}

}  // namespace

Decider::Decider(MPI_Comm comm, const JobLayout& layout, const Options& options,
                 ObjectId num_objects, std::uint32_t threads_per_place)
    : comm_(comm),
      layout_(layout),
      options_(options),
      num_objects_(num_objects),
      threads_per_place_(threads_per_place),
      choice_(parse_strategy(options.strategy)),
      mode_(chosen_mode(layout, options.mode)) {
  if (mode_ != Mode::hierarchical) return;
  const auto host = static_cast<int>(layout.host_of_rank[static_cast<std::size_t>(layout.rank)]);
  MPI_Comm_split(comm, host, layout.rank, &host_);
  int rank_on_host = 0;
  MPI_Comm_rank(host_, &rank_on_host);
  MPI_Comm_split(comm, rank_on_host == 0 ? 0 : MPI_UNDEFINED, layout.rank, &leaders_);
}

Decider::~Decider() {
  if (host_ != MPI_COMM_NULL) MPI_Comm_free(&host_);
  if (leaders_ != MPI_COMM_NULL) MPI_Comm_free(&leaders_);
}

MeasuredPhase Decider::phase_from(const Measurements& all) const {
  return phase_of(all, num_objects_, layout_.machine.num_places(), options_.clock == Clock::wall,
                  threads_per_place_);
}

void Decider::remember(const MeasuredPhase& phase) {
  if (past_loads_s_.size() == tuning::kMaxPastPhases) past_loads_s_.erase(past_loads_s_.begin());
  auto& loads = past_loads_s_.emplace_back();
  for (const Task& task : phase.workload.tasks) loads.push_back(task.load_s);
}

Outcome Decider::run(const Machine& machine, const MeasuredPhase& phase) const {
  const bool knows_past = phase.workload.num_tasks() == num_objects_;
  return balance::run_strategy(
      std::make_shared<const balance::OwnedProblem>(balance::OwnedProblem{
          machine, phase, knows_past ? past_loads_s_ : decltype(past_loads_s_){}, choice_,
          options_.seed}),
      options_.budget_s);
}

Outcome Decider::on_root(const Measurements& own, Decision& decision) {
  const Measurements all = gather_measurements(comm_, own, 0);
  Outcome outcome;
  std::vector<PlaceId> places;
  if (layout_.rank == 0) {
    decision.phase = phase_from(all);
    outcome = run(layout_.machine, *decision.phase);
    remember(*decision.phase);
    places.assign(outcome.placement.places().begin(), outcome.placement.places().end());
  }
  broadcast_rows(comm_, places);
  outcome.placement = Placement(std::move(places));
  return outcome;
}

Outcome Decider::on_every_rank(const Measurements& own, Decision& decision) {
  const MeasuredPhase all = phase_from(gather_measurements(comm_, own, -1));
  Outcome outcome = run(layout_.machine, all);
  remember(all);
  const std::vector<std::uint64_t> hashes =
      allgather_rows(comm_, std::vector<std::uint64_t>{hash_of(outcome.placement)});
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) != hashes.end())
    outcome = {all.current, "the strategy returned different placements on different ranks"};
  if (layout_.rank == 0) decision.phase = all;
  return outcome;
}

/// Decides the first of two levels: distributes the tasks over the hosts. Every host counts as one
/// place that is as fast as all its places together.
Outcome Decider::among_hosts(const MeasuredPhase& phase) const {
  const Machine& machine = layout_.machine;
  MachineParts parts;
  parts.name = "hosts";
  parts.levels.push_back({.name = "node"});
  parts.network = machine.network();
  parts.costs = machine.costs();
  MeasuredPhase coarse{phase.workload, {}};
  std::vector<double>& background_s = coarse.workload.background_s;
  background_s.assign(layout_.num_hosts, 0);
  for (NodeId n = 0; n < layout_.num_hosts; ++n) {
    parts.places.push_back({n, 0, 0});
    parts.levels[0].first_place.push_back(n);
    parts.kind_of_node.push_back(0);
  }
  parts.levels[0].first_place.push_back(layout_.num_hosts);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    parts.places[machine.node_of_place(p)].speed += machine.speed_of(p);
    background_s[machine.node_of_place(p)] += phase.workload.background_s[p] * machine.speed_of(p);
  }
  double fastest = 0;
  for (const Place& place : parts.places) fastest = std::max(fastest, place.speed);
  for (Place& place : parts.places) {
    background_s[place.domain] /= place.speed;
    place.speed /= fastest;
  }
  for (Task& task : coarse.workload.tasks) task.load_s /= fastest;
  std::vector<PlaceId> hosts;
  for (const PlaceId p : phase.current.places()) hosts.push_back(machine.node_of_place(p));
  coarse.current = Placement(std::move(hosts));
  return run(Machine(std::move(parts)), coarse);
}

/// Decides the second of two levels: distributes the tasks of this host over its places, and
/// ignores messages to and from other hosts.
Outcome Decider::within_host(const MeasuredPhase& phase, const Placement& host_of_task,
                             std::vector<TaskId>& tasks) const {
  const Machine& machine = layout_.machine;
  const NodeId host = layout_.host_of_rank[static_cast<std::size_t>(layout_.rank)];
  const PlaceId first = machine.first_place(machine.first_domain(host));
  std::vector<PlaceId> places;
  for (PlaceId p = first; p < machine.num_places() && machine.node_of_place(p) == host; ++p)
    places.push_back(p);
  MeasuredPhase own;
  own.workload.subphase_rule = phase.workload.subphase_rule;
  std::vector<PlaceId> current;
  std::vector<TaskId> index_of(num_objects_, num_objects_);
  for (TaskId t = 0; t < num_objects_; ++t) {
    if (host_of_task.of(t) != host) continue;
    const auto index = static_cast<TaskId>(tasks.size());
    const bool was_here = machine.node_of_place(phase.current.of(t)) == host;
    current.push_back(was_here ? phase.current.of(t) - first
                               : static_cast<PlaceId>(index % places.size()));
    index_of[t] = index;
    tasks.push_back(t);
    own.workload.tasks.push_back(phase.workload.tasks[t]);
    if (!phase.workload.positions.empty())
      own.workload.positions.push_back(phase.workload.positions[t]);
    if (!phase.workload.subphase_load_s.empty())
      own.workload.subphase_load_s.push_back(phase.workload.subphase_load_s[t]);
  }
  for (const auto& [from, to, count, bytes] : phase.workload.messages)
    if (index_of[from] < num_objects_ && index_of[to] < num_objects_)
      own.workload.messages.push_back({index_of[from], index_of[to], count, bytes});
  for (const PlaceId p : places)
    own.workload.background_s.push_back(phase.workload.background_s[p]);
  own.current = Placement(std::move(current));
  Outcome outcome = run(slots_of(machine, places), own);
  for (TaskId i = 0; i < outcome.placement.num_tasks(); ++i)
    outcome.placement.move(i, outcome.placement.of(i) + first);
  return outcome;
}

Outcome Decider::in_two_levels(const Measurements& own, Decision& decision) {
  const Measurements host = gather_measurements(host_, own, 0);
  Outcome outcome;
  std::vector<PlaceId> places;
  if (leaders_ != MPI_COMM_NULL) {
    const MeasuredPhase all = phase_from(gather_measurements(leaders_, host, -1));
    std::vector<PlaceId> hosts;
    std::string trouble;
    if (layout_.rank == 0) {
      const Outcome coarse = among_hosts(all);
      hosts.assign(coarse.placement.places().begin(), coarse.placement.places().end());
      trouble = coarse.trouble;
      decision.phase = all;
    }
    broadcast_rows(leaders_, hosts);
    std::vector<TaskId> tasks;
    outcome = within_host(all, Placement(std::move(hosts)), tasks);
    if (trouble.empty()) trouble = outcome.trouble;
    std::vector<Migration> found;
    for (TaskId i = 0; i < tasks.size(); ++i)
      found.push_back({tasks[i], 0, outcome.placement.of(i)});
    places.resize(num_objects_);
    for (const Migration& migration : allgather_rows(leaders_, found))
      places[migration.task] = migration.to;
    // If the strategy failed on the leader of one host, no object moves on any host.
    outcome.trouble = first_text(leaders_, trouble);
    if (!outcome.trouble.empty())
      places.assign(all.current.places().begin(), all.current.places().end());
  }
  broadcast_rows(host_, places);
  outcome.placement = Placement(std::move(places));
  return outcome;
}

Decision Decider::decide(const Measurements& own) {
  Decision decision;
  Outcome outcome = mode_ == Mode::root         ? on_root(own, decision)
                    : mode_ == Mode::replicated ? on_every_rank(own, decision)
                                                : in_two_levels(own, decision);
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
  if (layout_.rank == 0) decision.failure = std::move(outcome.trouble);
  return decision;
}

}  // namespace poise::objects
