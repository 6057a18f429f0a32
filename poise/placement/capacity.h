// SPDX-License-Identifier: BSD-3-Clause
// The capacity of places and memory domains: the number of cores that the tasks there may take
// together. Checks whether placements respect it, and repairs them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"
#include "poise/placement/problem.h"
#include "poise/workload/workload.h"

namespace poise {

/// The cores in use at each place and domain, while tasks move. Without a capacity
/// (Workload::capacity), everything fits. All functions take O(1).
class CoreRoom {
 public:
  /// Takes O(tasks + places) time if there is a capacity, otherwise O(1).
  CoreRoom(const Machine& machine, const Workload& workload, const Placement& placement);

  bool is_limited() const { return is_limited_; }
  bool is_over(PlaceId p) const;
  /// True if place `to` and its domain have enough free cores for task t, or t is already at `to`.
  bool fits(TaskId t, PlaceId to) const { return !is_limited_ || has_room(t, to); }
  /// True if the places of tasks t and u, and their domains, have enough cores after an exchange.
  bool fits_exchange(TaskId t, TaskId u) const { return !is_limited_ || has_room_for_both(t, u); }
  void move(TaskId t, PlaceId to) {
    if (is_limited_) carry(t, to);
  }

 private:
  bool has_room(TaskId t, PlaceId to) const;
  bool has_room_for_both(TaskId t, TaskId u) const;
  void carry(TaskId t, PlaceId to);

  const Machine& machine_;
  const Capacity& capacity_;
  bool is_limited_;
  std::vector<PlaceId> places_;  // per task
  /// Free cores of each place; negative if it is over its capacity.
  std::vector<std::int64_t> free_;
  /// Free cores of each domain; empty if domains have no limit of their own.
  std::vector<std::int64_t> free_here_;
};

/// Returns the placement `wanted`, changed only as far as capacities demand. Tasks that are not
/// movable stay at their current place. If a place has too few cores for all movable tasks that
/// `wanted` gives it, these tasks get cores in this order: those that are there now, then those
/// that need more cores, then those with more load. Each task that does not fit goes to the
/// smallest group of places around its wanted place that has room, and there to the place with most
/// free cores. If a task then finds no room, returns the current placement. If that exceeds a
/// capacity, returns a placement that ignores `wanted`: it places the tasks that need most cores
/// first, each on the place with the most free cores. Returns `wanted` itself if there is no
/// capacity. Throws Error if a task finds no room in that placement either, or if tasks that are
/// not movable exceed a capacity. O(tasks * (log tasks + levels * log places)).
Placement within_capacity(const Problem& problem, const Placement& wanted);

}  // namespace poise
