/// Greedy: heaviest task first, each to the place that will have finished it first.
///
/// Graham, "Bounds on multiprocessing timing anomalies", 1969; Charm++'s GreedyLB. On places of one
/// speed that is the least busy place so far, and the makespan is at most 4/3 - 1/(3 p) of the
/// optimum when nothing is pinned and there is no background load. Ignores messages and the current
/// placement, so nearly every task moves. Ties: lower task, lower place. O(n + n log p).
#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

Placement greedy(const Problem& problem, const Knobs&) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  FirstToFinish places(machine, fixed_work_s(machine, workload, problem.current));
  Placement placement = problem.current;
  for (const auto [t, load_s] : heaviest_first(workload.tasks)) {
    const PlaceId p = places.with(load_s);
    placement.move(t, p);
    places.add(p, load_s / machine.speed_of(p));
  }
  return placement;
}

}  // namespace poise
