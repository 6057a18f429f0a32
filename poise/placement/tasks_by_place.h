// SPDX-License-Identifier: BSD-3-Clause
// The movable tasks of each place, stored like the rows of a sparse matrix in CSR format.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "poise/placement/placement.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

/// The movable tasks of each place, heaviest first (ties: lower id). O(tasks + places) time and
/// memory.
class TasksByPlace {
 public:
  TasksByPlace(const Workload& workload, const Placement& placement, std::uint32_t num_places);

  std::span<const LoadedTask> on(PlaceId p) const {
    return {tasks_.data() + first_[p], first_[p + 1] - first_[p]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<LoadedTask> tasks_;
};

}  // namespace poise
