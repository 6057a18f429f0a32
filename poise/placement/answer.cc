// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/answer.h"

#include "poise/base/error.h"

namespace poise {

void check_answer(const Problem& problem, const Placement& after) {
  const auto& tasks = problem.workload.tasks;
  check(after, problem.workload.num_tasks(), problem.machine.num_places());
  for (TaskId t = 0; t < tasks.size(); ++t)
    if (!tasks[t].movable && after.of(t) != problem.current.of(t))
      fail("task {} is pinned to place {}, but the new placement has it at place {}", t,
           problem.current.of(t), after.of(t));
}

}  // namespace poise
