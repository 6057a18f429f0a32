// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/consecutive_shares.h"

#include <vector>

#include "poise/placement/fair_shares.h"

namespace poise {

Placement consecutive_shares(const Problem& problem) {
  const std::vector<double> shares =
      fair_shares(problem.machine, problem.workload, problem.current);
  double all_s = 0;
  for (const Task& task : problem.workload.tasks)
    if (task.movable) all_s += task.load_s;
  Placement placement = problem.current;
  PlaceId place = 0;
  double placed_s = 0, end_s = shares[0] * all_s;  // end_s: load of the places up to `place`
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    const Task& task = problem.workload.tasks[t];
    if (!task.movable) continue;
    // If the loads are laid end to end, a task goes to the place whose share has its midpoint.
    while (place + 1 < problem.machine.num_places() && placed_s + task.load_s / 2 > end_s)
      end_s += shares[++place] * all_s;
    placed_s += task.load_s;
    placement.move(t, place);
  }
  return placement;
}

}  // namespace poise
