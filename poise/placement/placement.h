// SPDX-License-Identifier: BSD-3-Clause
// A placement: the place of each task; and the migrations from one placement to another.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// The place of each task.
class Placement {
 public:
  Placement() = default;
  explicit Placement(TaskId num_tasks, PlaceId place = 0) : places_(num_tasks, place) {}
  explicit Placement(std::vector<PlaceId> places) : places_(std::move(places)) {}

  PlaceId of(TaskId t) const { return places_[t]; }
  void move(TaskId t, PlaceId to) { places_[t] = to; }

  TaskId num_tasks() const { return static_cast<TaskId>(places_.size()); }
  std::span<const PlaceId> places() const { return places_; }

  friend bool operator==(const Placement&, const Placement&) = default;

 private:
  std::vector<PlaceId> places_;
};

struct Migration {
  TaskId task = 0;
  PlaceId from = 0, to = 0;
  friend bool operator==(const Migration&, const Migration&) = default;
};

/// The tasks that have different places in the two placements, by increasing task number.
std::vector<Migration> migrations(const Placement& before, const Placement& after);

/// Throws Error unless the placement has one place per task, all of them places of the machine.
void check(const Placement& placement, TaskId num_tasks, std::uint32_t num_places);

/// Puts task t on place t mod num_places.
Placement round_robin(TaskId num_tasks, std::uint32_t num_places);

/// Assigns blocks of consecutive tasks whose sizes differ by at most one.
Placement blocked(TaskId num_tasks, std::uint32_t num_places);

}  // namespace poise
