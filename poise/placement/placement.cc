// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/placement.h"

#include "poise/base/error.h"
#include "poise/placement/initial.h"

namespace poise {

std::vector<Migration> migrations(const Placement& before, const Placement& after) {
  std::vector<Migration> moved;
  for (TaskId t = 0; t < before.num_tasks(); ++t)
    if (before.of(t) != after.of(t)) moved.push_back({t, before.of(t), after.of(t)});
  return moved;
}

void check(const Placement& placement, TaskId num_tasks, std::uint32_t num_places) {
  if (placement.num_tasks() != num_tasks)
    fail("the placement has {} tasks, but the workload has {} tasks", placement.num_tasks(),
         num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    if (placement.of(t) >= num_places)
      fail("placement: task {} is at place {}, but the machine has {} places", t, placement.of(t),
           num_places);
}

Placement round_robin(TaskId num_tasks, std::uint32_t num_places) {
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t) placement.move(t, t % num_places);
  return placement;
}

Placement blocked(TaskId num_tasks, std::uint32_t num_places) {
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t) placement.move(t, blocked_place(t, num_tasks, num_places));
  return placement;
}

}  // namespace poise
