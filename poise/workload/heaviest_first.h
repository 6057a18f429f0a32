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

/// The movable tasks, heaviest first (ties: lower id). A radix sort on the bits of the loads: O(n),
/// or O(n log n) if loads agree in the leading 32 bits of their differences.
std::vector<LoadedTask> heaviest_first(std::span<const Task> tasks);

}  // namespace poise
