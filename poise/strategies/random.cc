// SPDX-License-Identifier: BSD-3-Clause
/// Random: puts every task on a random place.
///
/// Charm++'s RandCentLB. It is a baseline, and a stress test for migration. Uses the problem's
/// seed; ignores loads, messages and speeds. O(n) for n tasks.
#include "poise/base/random.h"

#include "poise/strategies/strategy.h"

namespace poise {

Placement random(const Problem& problem, const Knobs&) {
  Random random(problem.seed);
  Placement placement = problem.current;
  for (TaskId t = 0; t < placement.num_tasks(); ++t)
    if (problem.workload.tasks[t].movable)
      placement.move(t, random.below(problem.machine.num_places()));
  return placement;
}

}  // namespace poise
