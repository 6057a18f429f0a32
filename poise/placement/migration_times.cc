// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/migration_times.h"

#include <algorithm>

namespace poise {

double packing_s(const CostModel& costs, const Task& task) {
  const double bytes_s = task.bytes * costs.seconds_per_migrated_byte;
  return costs.formula == CostFormula::physical
             ? task.parts * costs.seconds_per_migrated_task + bytes_s
             : bytes_s;
}

MigrationTimes::MigrationTimes(const Problem& problem, const Placement& placement)
    : machine_(problem.machine),
      workload_(problem.workload),
      home_(problem.current),
      costs_(problem.costs),
      places_(placement.places().begin(), placement.places().end()),
      first_resource_(machine_.num_places()) {
  if (costs_.formula == CostFormula::physical)
    resources_.emplace(machine_, costs_);
  else
    first_resource_ *= 2;
  seconds_.assign(first_resource_ + (resources_ ? resources_->count() : 0), 0);
  for (TaskId t = 0; t < workload_.num_tasks(); ++t)
    for_each_use(t, places_[t], [&](Index i, double seconds) { seconds_[i] += seconds; });
  most_place_s_ = busiest_place_s();
  most_resource_s_ = busiest_resource_s();
}

/// Calls visit(index, seconds) for each place and resource on which the migration of t from its
/// home (its place in the current placement) to place `at` takes time.
template <typename Visit>
void MigrationTimes::for_each_use(TaskId t, PlaceId at, const Visit& visit) const {
  const PlaceId home = home_.of(t);
  if (home == at) return;
  const double bytes = workload_.tasks[t].bytes, parts = workload_.tasks[t].parts;
  const double pack_s = packing_s(costs_, workload_.tasks[t]);
  visit(Index{home}, pack_s);
  visit(resources_ ? Index{at} : Index{machine_.num_places()} + at, pack_s);
  if (!resources_) return;
  resources_->for_each_crossed(machine_.domain_of(home), machine_.domain_of(at),
                               [&](ResourceId r, double s_per_message, double s_per_byte) {
                                 visit(first_resource_ + r,
                                       parts * s_per_message + bytes * s_per_byte);
                               });
}

/// Adds to changes_ the seconds that the migration of t from its home to place `at` takes on places
/// and resources. Subtracts them if `sign` is -1.
void MigrationTimes::change(TaskId t, PlaceId at, double sign) {
  for_each_use(t, at, [&](Index i, double seconds) {
    const auto known = std::find_if(changes_.begin(), changes_.end(),
                                    [i](const auto& change) { return change.first == i; });
    if (known == changes_.end())
      changes_.push_back({i, sign * seconds});
    else
      known->second += sign * seconds;
  });
}

bool MigrationTimes::is_within(double limit_s) const {
  double place_s = 0, resource_s = 0;
  for (const auto& [i, seconds] : changes_) {
    if (seconds <= 0) continue;
    double& most_s = i < first_resource_ ? place_s : resource_s;
    most_s = std::max(most_s, seconds_[i] + seconds);
  }
  return place_s + resource_s <= limit_s;
}

double MigrationTimes::busiest_place_s() const {
  const auto first = seconds_.begin() + first_resource_;
  return std::max(0.0, *std::max_element(seconds_.begin(), first));
}

double MigrationTimes::busiest_resource_s() const {
  const auto first = seconds_.begin() + first_resource_;
  return first == seconds_.end() ? 0 : std::max(0.0, *std::max_element(first, seconds_.end()));
}

double MigrationTimes::resource_s_of(TaskId t, double least_s) const {
  double most_s = 0;
  for_each_use(t, places_[t], [&](Index i, double seconds) {
    if (i >= first_resource_ && seconds_[i] >= least_s) most_s = std::max(most_s, seconds);
  });
  return most_s;
}

bool MigrationTimes::fits(TaskId t, PlaceId to, double limit_s) {
  if (to == home_.of(t)) return true;
  changes_.clear();
  change(t, places_[t], -1);
  change(t, to, 1);
  return is_within(limit_s);
}

bool MigrationTimes::fits_exchange(TaskId t, TaskId u, double limit_s) {
  // For each task, the time of its present migration is subtracted, and then the time of its
  // migration after the exchange is added. In this order, two equal times cancel exactly, without a
  // rounding error.
  changes_.clear();
  change(t, places_[t], -1);
  change(t, places_[u], 1);
  change(u, places_[u], -1);
  change(u, places_[t], 1);
  return is_within(limit_s);
}

void MigrationTimes::move(TaskId t, PlaceId to) {
  changes_.clear();
  change(t, places_[t], -1);
  change(t, to, 1);
  places_[t] = to;
  for (const auto& [i, seconds] : changes_) {
    seconds_[i] += seconds;
    double& most_s = i < first_resource_ ? most_place_s_ : most_resource_s_;
    most_s = std::max(most_s, seconds_[i]);
  }
}

}  // namespace poise
