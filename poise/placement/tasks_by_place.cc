// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/tasks_by_place.h"

#include <numeric>

namespace poise {

TasksByPlace::TasksByPlace(const Workload& workload, const Placement& placement,
                           std::uint32_t num_places)
    : first_(num_places + 2, 0) {
  const std::vector<LoadedTask> order = heaviest_first(workload.tasks);
  for (const LoadedTask& loaded : order) ++first_[placement.of(loaded.task) + 2];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  // While rows are filled, first_[p + 1] is the write index of row p; at the end it is the start of
  // row p + 1.
  tasks_.resize(order.size());
  for (const LoadedTask& loaded : order) tasks_[first_[placement.of(loaded.task) + 1]++] = loaded;
}

}  // namespace poise
