// SPDX-License-Identifier: BSD-3-Clause
/// Refine: places above a threshold give tasks away until no place is above it.
///
/// Charm++'s RefineLB. The threshold is `tolerance` times the average busy time or, if that is
/// larger, the lower bound on the makespan. If this threshold cannot be reached, a bisection finds
/// the lowest one that can, up to the current makespan. Few tasks move (search/relief.h), and none
/// if the current makespan is within the first threshold. Ignores messages. O(n + (p + moved log p)
/// log(1 / precision)) for n tasks, of which `moved` move, and p places.
#include <algorithm>

#include "poise/placement/metrics.h"
#include "poise/search/lowest_threshold.h"
#include "poise/search/relief.h"
#include "poise/strategies/strategy.h"
#include "poise/strategies/tuning.h"

namespace poise {

Placement refine(const Problem& problem, const Knobs& knobs) {
  const double average = average_s(problem.machine, problem.workload);
  const double hoped_s =
      std::max(knobs["tolerance"] * average,
               makespan_bound_s(problem.machine, problem.workload, problem.current));
  const Relief relief(problem, work_s(problem.machine, problem.workload, problem.current));
  const double now_s = relief.busiest_s();
  if (now_s <= hoped_s) return problem.current;
  return lowest_threshold(hoped_s, now_s, kStrategiesTuning.refine_precision * average,
                          problem.current,
                          [&](double threshold_s) { return relief.to(threshold_s); });
}

}  // namespace poise
