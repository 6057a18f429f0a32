// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/joint_decision.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "runtimes/balance/run_strategy.h"
#include "runtimes/objects/collectives.h"

#include "poise/base/clock.h"
#include "poise/distributed/group_machine.h"
#include "poise/distributed/plan.h"
#include "poise/machine/slots.h"

namespace poise::objects {

namespace {

/// Returns a machine in which each rank is one place. The speed of a rank is the sum of the speeds
/// of its places.
Machine machine_of_ranks(const JobLayout& layout) {
  const std::uint32_t places = layout.places_per_rank();
  if (places == 1) return layout.machine;
  std::vector<PlaceRange> ranges;
  for (PlaceId p = 0; p < layout.machine.num_places(); p += places)
    ranges.push_back({p, p + places});
  return machine_of_groups(layout.machine, ranges);
}

/// The rows of `own` are sorted by id, and its messages by sender. `directory` knows the ranks of
/// all receivers, because it looked them up when the messages were exchanged at the end of each
/// step.
OwnArrays arrays_of(const Measurements& own, const ObjectDirectory& directory) {
  OwnArrays arrays;
  arrays.background_s = own.places[0].background_s;
  arrays.loads_include = LoadsInclude::send;  // a step's time includes packing messages
  auto message = own.messages.begin();
  for (const ObjectRow& row : own.rows) {
    arrays.ids.push_back(row.id);
    arrays.bytes.push_back(row.bytes);
    arrays.pinned.push_back(row.movable == 0);
    for (; message != own.messages.end() && message->from == row.id; ++message) {
      const JobLayout& layout = directory.layout();
      arrays.to.push_back(message->to);
      arrays.to_rank.push_back(layout.position_of(directory.rank_of(message->to)));
      arrays.counts.push_back(message->count);
      arrays.message_bytes.push_back(message->bytes);
    }
    arrays.first.push_back(arrays.to.size());
  }
  return arrays;
}

/// Returns the text of the lowest rank whose text is not empty, on every rank. Collective.
std::string first_text(MPI_Comm comm, const std::string& text) {
  std::vector<char> row(text.begin(), text.end());
  if (!row.empty()) row.push_back('\0');
  const std::vector<char> all = allgather_rows(comm, row);
  return {all.begin(), std::find(all.begin(), all.end(), '\0')};
}

}  // namespace

/// An object that is on this rank after the decision.
struct JointDecider::HereAfter {
  ObjectId id;
  PlaceId place;
  double load_s;
  bool movable;
};

JointDecider::JointDecider(MPI_Comm comm, Communicator& ranks, const ObjectDirectory& directory,
                           const CollectionOptions& options, std::uint32_t threads_per_place)
    : comm_(comm),
      ranks_(ranks),
      directory_(directory),
      layout_(directory.layout()),
      options_(options),
      threads_per_place_(threads_per_place),
      choice_(parse_strategy(options.strategy)),
      machine_(machine_of_ranks(layout_)) {}

JointDecision JointDecider::decide(const Measurements& own) const {
  JointDecision decision;
  std::string trouble;
  try {
    const double start_s = wall_now_s();
    agreed(ranks_, [&] {
      decision = decided(own);
      if (options_.budget_s > 0 && wall_now_s() - start_s > options_.budget_s)
        fail("the decision took longer than its budget of {} s (POISE_BUDGET)", options_.budget_s);
    });
    return decision;
  } catch (const OtherRankError&) {  // the rank that failed reports why
  } catch (const AgreedError& error) {
    trouble = error.what();
  }
  decision = unchanged(own);
  decision.trouble = first_text(comm_, trouble);
  return decision;
}

JointDecision JointDecider::unchanged(const Measurements& own) const {
  JointDecision decision;
  std::vector<HereAfter> here;
  for (const ObjectRow& row : own.rows) {
    decision.plan.places.push_back(row.place);
    here.push_back({row.id, row.place, load_s(row), row.movable != 0});
  }
  decision.imbalance_before = decision.imbalance_after =
      imbalance(own.places[0].background_s, here);
  return decision;
}

JointDecision JointDecider::decided(const Measurements& own) const {
  JointDecision decision = unchanged(own);
  std::vector<HereAfter> here = here_after(own, decision);
  if (layout_.places_per_rank() > 1) choose_places(own, here);
  decision.imbalance_after = imbalance(own.places[0].background_s, here);
  decision.plan.places.clear();
  for (const HereAfter& object : here) decision.plan.places.push_back(object.place);
  return decision;
}

/// Decides on which rank each object will run. Returns those that will be on this rank, sorted by
/// id.
std::vector<JointDecider::HereAfter> JointDecider::here_after(const Measurements& own,
                                                              JointDecision& decision) const {
  OwnArrays arrays = arrays_of(own, directory_);
  for (const ObjectRow& row : own.rows) arrays.load_s.push_back(load_s(row));
  const DistributedPlan planned =
      plan_distributed(ranks_, machine_, arrays.view(), choice_, options_.seed);
  std::vector<HereAfter> here;
  poise::Mail<double> loads_s;
  for (std::size_t i = 0; i < own.rows.size(); ++i) {
    const ObjectRow& row = own.rows[i];
    const std::uint32_t to = planned.rank_of_task[i];
    if (to == ranks_.rank()) {
      here.push_back({row.id, row.place, arrays.load_s[i], row.movable != 0});
    } else {
      decision.plan.leaving[layout_.rank_at(to)].push_back(row.id);
      loads_s[to].push_back(arrays.load_s[i]);
    }
  }
  const std::vector<PlaceId>& places = layout_.own_places();
  auto import = planned.imports.begin();  // the imports are in the same order as their loads
  for (const auto& [from, arriving] : ranks_.exchange(loads_s))
    for (const double arriving_s : arriving) {
      const std::size_t index = here.size() % places.size();
      here.push_back({static_cast<ObjectId>((import++)->id), places[index], arriving_s, true});
    }
  std::sort(here.begin(), here.end(),
            [](const HereAfter& a, const HereAfter& b) { return a.id < b.id; });
  decision.plan.num_arriving = planned.imports.size();
  decision.plan.num_migrations = ranks_.sum(std::uint64_t{planned.imports.size()});
  return here;
}

/// Distributes the objects of this rank over its places.
void JointDecider::choose_places(const Measurements& own, std::vector<HereAfter>& here) const {
  if (here.empty()) return;
  const std::vector<PlaceId>& places = layout_.own_places();
  balance::MeasuredPhase phase;
  phase.workload.loads_include = LoadsInclude::send;
  std::vector<PlaceId> current;
  std::map<ObjectId, TaskId> task_of;
  for (const HereAfter& object : here) {
    task_of[object.id] = phase.workload.num_tasks();
    phase.workload.tasks.push_back({object.load_s, 0, object.movable});
    current.push_back(object.place - places[0]);
  }
  for (const auto& [from, to, count, bytes] : own.messages)
    if (task_of.contains(from) && task_of.contains(to))
      phase.workload.messages.push_back({task_of[from], task_of[to], count, bytes});
  phase.workload.background_s.resize(places.size());
  phase.workload.background_s[0] = own.places[0].background_s;
  phase.current = Placement(std::move(current));
  const balance::Outcome outcome = balance::run_strategy(
      std::make_shared<const balance::OwnedProblem>(balance::OwnedProblem{
          slots_of(layout_.machine, places), std::move(phase), {}, choice_, options_.seed}),
      0);
  if (!outcome.trouble.empty()) fail("{}", outcome.trouble);
  for (TaskId t = 0; t < here.size(); ++t) here[t].place = outcome.placement.of(t) + places[0];
}

/// Returns the load of the busiest place divided by the average load of a place. Collective.
double JointDecider::imbalance(double background_s, std::span<const HereAfter> here) const {
  const Machine& machine = layout_.machine;
  const std::vector<PlaceId>& places = layout_.own_places();
  std::vector<double> work_s(places.size());
  work_s[0] = background_s * machine.speed_of(places[0]);
  for (const HereAfter& object : here) work_s[object.place - places[0]] += object.load_s;
  double busiest_s = 0, sum_s = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    busiest_s = std::max(busiest_s, work_s[i] / machine.speed_of(places[i]));
    sum_s += work_s[i];
  }
  const double average_s = ranks_.sum(sum_s) / machine.total_speed();
  busiest_s = ranks_.max(busiest_s);
  return average_s > 0 ? busiest_s / average_s : 1;
}

}  // namespace poise::objects
