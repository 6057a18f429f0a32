// SPDX-License-Identifier: BSD-3-Clause
// An oracle for tests: finds the best placement of a tiny problem by trying every placement.
#pragma once

#include <algorithm>
#include <limits>

#include "poise/placement/metrics.h"
#include "poise/placement/problem.h"

namespace poise {

inline double iteration_s(const Problem& problem, const Placement& placement) {
  return evaluate(problem.machine, problem.workload, problem.costs, problem.current, placement)
      .iteration_s;
}

/// Returns the shortest iteration time over all placements of the movable tasks from `t` on. Tasks
/// before `t` stay where `placement` puts them. The call changes `placement`, but restores it at
/// the end.
inline double least_iteration_s(const Problem& problem, TaskId t, Placement& placement) {
  if (t == problem.workload.num_tasks()) return iteration_s(problem, placement);
  if (!problem.workload.tasks[t].movable) return least_iteration_s(problem, t + 1, placement);
  const PlaceId before = placement.of(t);
  double least_s = std::numeric_limits<double>::infinity();
  for (PlaceId p = 0; p < problem.machine.num_places(); ++p) {
    placement.move(t, p);
    least_s = std::min(least_s, least_iteration_s(problem, t + 1, placement));
  }
  placement.move(t, before);
  return least_s;
}

}  // namespace poise
