/// Poise: refines the current placement until its busiest places cannot hand anything on.
///
/// This project's own. Neither a new partition nor list scheduling is best at load, communication
/// and few migrations at once: what wins is to start from the current placement and to descend on
/// the predicted iteration, first on a blunt potential that all busy places feel, then on a sharp
/// one that is the busiest place alone (relaxation.h). Tasks then return home where that costs
/// nothing, and all stay where the seconds saved over `steps` phases are fewer than the migrations
/// take. The result is never worse than the current placement. O((n + E) log p) in practice: a step
/// looks at one place's tasks and their neighbours. Ignores memory.
#include "poise/placement/metrics.h"
#include "poise/strategies/relaxation.h"

namespace poise {

namespace {

constexpr Relaxation::Stage kStages[] = {
    {.exponent = 8, .floor = 0.5, .least_gain = 0.01, .swaps = false},
    {.exponent = 48, .floor = 0.98, .least_gain = 1e-3, .swaps = true},
};

}  // namespace

Placement poise_strategy(const Problem& problem, const Knobs& knobs) {
  Relaxation relaxation(problem);
  for (const auto& stage : kStages) relaxation.run(stage);
  relaxation.send_home();
  const Placement placement = relaxation.placement();
  const auto metrics = [&](const Placement& after) {
    return evaluate(problem.machine, problem.workload, problem.costs, problem.current, after);
  };
  const Metrics now = metrics(problem.current), then = metrics(placement);
  const double saved_s = knobs["steps"] * (now.iteration_s - then.iteration_s);
  return saved_s > then.migration_s ? placement : problem.current;
}

}  // namespace poise
