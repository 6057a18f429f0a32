// SPDX-License-Identifier: BSD-3-Clause
/// Rotate: moves every task to the next place.
///
/// Charm++'s RotateLB, a test of migration. On places of equal speed the balance does not change.
/// O(n) for n tasks.
#include "poise/strategies/strategy.h"

namespace poise {

Placement rotate(const Problem& problem, const Knobs&) {
  Placement placement = problem.current;
  for (TaskId t = 0; t < placement.num_tasks(); ++t)
    if (problem.workload.tasks[t].movable)
      placement.move(t, (placement.of(t) + 1) % problem.machine.num_places());
  return placement;
}

}  // namespace poise
