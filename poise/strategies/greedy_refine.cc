// SPDX-License-Identifier: BSD-3-Clause
/// Greedy refine: like greedy, but a task stays if its place remains within a threshold.
///
/// After Charm++'s GreedyRefine. Heaviest task first. The threshold is `tolerance` times the
/// average busy time or, if that is larger, the lower bound on the makespan of any placement. A
/// task that cannot stay goes to the place that would finish it first. The makespan is nearly that
/// of greedy, but most tasks stay. The result is never worse than the current placement. Of equally
/// good places the current one is chosen, else the one with the lower id; of equal tasks, the one
/// with the lower id comes first. Ignores messages. O(n + n log p) for n tasks and p places.
#include <algorithm>

#include "poise/placement/first_to_finish.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/heaviest_first.h"

namespace poise {

namespace {

double makespan_s(const Problem& problem, const Placement& placement) {
  const auto busy_s = work_s(problem.machine, problem.workload, placement);
  return *std::max_element(busy_s.begin(), busy_s.end());
}

}  // namespace

Placement greedy_refine(const Problem& problem, const Knobs& knobs) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const double threshold_s = std::max(knobs["tolerance"] * average_s(machine, workload),
                                      makespan_bound_s(machine, workload, problem.current));
  const double before_s = makespan_s(problem, problem.current);
  if (before_s <= threshold_s) return problem.current;

  FirstToFinish places(machine, fixed_work_s(machine, workload, problem.current));
  Placement placement = problem.current;
  for (const auto [task, load_s] : heaviest_first(workload.tasks)) {
    const PlaceId home = placement.of(task), first = places.with(load_s);
    const double at_home_s = places.busy_s(home) + load_s / machine.speed_of(home);
    const double elsewhere_s = places.busy_s(first) + load_s / machine.speed_of(first);
    const bool stays = at_home_s <= threshold_s || at_home_s <= elsewhere_s;
    placement.move(task, stays ? home : first);
    places.set(placement.of(task), stays ? at_home_s : elsewhere_s);
  }
  return makespan_s(problem, placement) < before_s ? placement : problem.current;
}

}  // namespace poise
