// SPDX-License-Identifier: BSD-3-Clause
// Multistep: predicts each task's load from earlier phases, then lets another strategy decide.
//
// Charm++'s MultistepLB, compared with TreeMatchLB by Jeannot, Mercier and Tessier, COMHPC 2016.
// The predictors are in workload/predict.h. Messages, background load and the current placement are
// passed on unchanged. The knobs of the inner strategy have their default values. Without earlier
// phases the result is that of the inner strategy. Takes O(n window) for n tasks, plus the time of
// the inner strategy.
#include "poise/strategies/strategy.h"
#include "poise/workload/predict.h"

namespace poise {

Placement multistep(const Problem& problem, const Knobs& knobs) {
  const Predictor& predictor = kPredictors[static_cast<std::size_t>(knobs["predictor"])];
  const std::vector<double> loads_s =
      predict_loads(predictor, problem.past_loads_s, problem.workload.tasks,
                    static_cast<std::size_t>(knobs["window"]), knobs["smoothing"]);
  Workload predicted = problem.workload;
  for (TaskId t = 0; t < predicted.num_tasks(); ++t) predicted.tasks[t].load_s = loads_s[t];
  const Strategy& inner = strategies()[static_cast<std::size_t>(knobs["inner"])];
  return inner.rebalance({problem.machine, predicted, problem.current, problem.costs, problem.seed,
                          problem.past_loads_s, problem.steps, problem.share_of_effort},
                         Knobs(inner.knobs, inner.tuning));
}

}  // namespace poise
