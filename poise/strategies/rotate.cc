// SPDX-License-Identifier: BSD-3-Clause
/// Rotate: every task moves to the next place.
///
/// Charm++'s RotateLB. A test of migration: every task moves, and on places of equal speed the
/// balance stays as it was. O(n).
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
