/// Random: every task to a place drawn at random.
///
/// Charm++'s RandCentLB. A baseline: it shows what knowing nothing costs, and stresses migration.
/// The problem's seed decides; ignores loads, messages and speeds. O(n).
#include "poise/base/random.h"

#include "poise/strategies/strategy.h"

namespace poise {

Placement random(const Problem& problem, const Knobs&) {
  Random random(problem.seed);
  Placement placement = problem.current;
  for (TaskId t = 0; t < placement.num_tasks(); ++t)
    if (problem.workload.tasks[t].movable)
      placement.move(t, static_cast<PlaceId>(random.below(problem.machine.num_places())));
  return placement;
}

}  // namespace poise
