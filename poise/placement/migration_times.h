// SPDX-License-Identifier: BSD-3-Clause
// The time of migration, updated as tasks move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "poise/machine/resources.h"
#include "poise/placement/placement.h"
#include "poise/placement/problem.h"

namespace poise {

/// Seconds that a place at one end of a migration spends on one task: the packing time, or the time
/// for its bytes under the formula `nuco`.
double packing_s(const CostModel& costs, const Task& task);

/// Incremental form of migration_cost() in metrics.h. The home of a task is its place in the
/// problem's current placement. A task that is not at home migrates. For each place and resource,
/// this class adds up the time that all migrations take there. Construction takes O(places +
/// resources + tasks), a query or a move O(tiers).
class MigrationTimes {
 public:
  MigrationTimes(const Problem& problem, const Placement& placement);

  /// The time of the busiest place plus that of the busiest resource: an upper bound on the seconds
  /// of the migration, exact under the formula `nuco`. O(places + resources).
  double seconds() const { return busiest_place_s() + busiest_resource_s(); }

  /// True if task t may move to place `to` without exceeding limit_s. Only places and resources
  /// whose migration time the move increases count: the longest time of such a place plus the
  /// longest time of such a resource must be at most limit_s. Always true if `to` is t's home.
  bool fits(TaskId t, PlaceId to, double limit_s);
  /// Applies the test of fits() to an exchange of the places of tasks t and u. Unlike fits(), makes
  /// no exception for a task's home.
  bool fits_exchange(TaskId t, TaskId u, double limit_s);
  void move(TaskId t, PlaceId to);
  /// Upper bound on seconds(): the longest time that any place has had since construction, plus the
  /// longest that any resource has had. O(1).
  double most_so_far_s() const { return most_place_s_ + most_resource_s_; }

  double busiest_place_s() const;
  double busiest_resource_s() const;
  /// Returns the longest time, in seconds, that the migration of t takes on any resource whose time
  /// for all migrations is at least `least_s`.
  double resource_s_of(TaskId t, double least_s) const;

 private:
  using Index = std::size_t;

  template <typename Visit>
  void for_each_use(TaskId t, PlaceId at, const Visit& visit) const;
  void change(TaskId t, PlaceId at, double sign);
  bool is_within(double limit_s) const;

  const Machine& machine_;
  const Workload& workload_;
  const Placement& home_;
  const CostModel& costs_;
  std::optional<Resources> resources_;  // none under the formula `nuco`
  std::vector<PlaceId> places_;
  Index first_resource_;
  std::vector<double> seconds_;  // per place (nuco: as sender, then as receiver), then per resource
  double most_place_s_, most_resource_s_;          // maxima since construction
  std::vector<std::pair<Index, double>> changes_;  // scratch
};

}  // namespace poise
