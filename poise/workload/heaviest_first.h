// SPDX-License-Identifier: BSD-3-Clause
// Sorts tasks by load, heaviest first, for list scheduling.
#pragma once

#include <span>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

struct LoadedTask {
  TaskId task;
  double load_s;
  friend bool operator==(const LoadedTask&, const LoadedTask&) = default;
};

/// The movable tasks, heaviest first; of equal loads, the lower id comes first. A radix sort on the
/// bits of the loads: O(n), or O(n log n) if many loads have the same 32-bit key.
std::vector<LoadedTask> heaviest_first(std::span<const Task> tasks);

}  // namespace poise
