// The order in which list schedulers take tasks.
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

/// The movable tasks, heaviest first; of equal loads the lower id first. A radix sort on the bits
/// of the loads: O(n) unless loads agree in their leading 32 bits of difference, then O(n log n).
std::vector<LoadedTask> heaviest_first(std::span<const Task> tasks);

}  // namespace poise
