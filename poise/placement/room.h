// SPDX-License-Identifier: BSD-3-Clause
// The room that places and domains have for tasks: memory and cores.
#pragma once

#include <cstdint>

#include "poise/placement/capacity.h"
#include "poise/placement/memory_room.h"
#include "poise/placement/problem.h"

namespace poise {

/// Keeps track of the limits on memory and on cores while tasks move. Costs nothing if there is no
/// limit.
class Room {
 public:
  /// A place_cap_bytes of 0 means that a place's memory has no cap.
  Room(const Problem& problem, const Placement& placement, std::uint64_t place_cap_bytes)
      : memory_(problem.machine, problem.workload, placement, place_cap_bytes),
        cores_(problem.machine, problem.workload, placement) {}

  /// True if places have limited numbers of cores. A full place can then only exchange tasks.
  bool has_few_cores() const { return cores_.is_limited(); }
  /// True if place `to` has room for task t, or if t is already at `to`.
  bool fits(TaskId t, PlaceId to) const { return cores_.fits(t, to) && memory_.fits(t, to); }
  /// True if the tasks t and u may exchange their places.
  bool fits_exchange(TaskId t, TaskId u) {
    return cores_.fits_exchange(t, u) && memory_.fits_exchange(t, u);
  }
  void move(TaskId t, PlaceId to) {
    memory_.move(t, to);
    cores_.move(t, to);
  }

 private:
  MemoryRoom memory_;
  CoreRoom cores_;
};

/// Returns the placement `wanted`, changed only as far as the limit on memory or on cores demands,
/// by within_memory() or within_capacity(). Throws Error if both limits are set, or if
/// within_capacity() throws.
Placement within_room(const Problem& problem, const Placement& wanted,
                      std::uint64_t place_cap_bytes);

}  // namespace poise
