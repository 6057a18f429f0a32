/// Poise: refines the current placement until its busiest places cannot hand anything on.
///
/// This project's own. Neither a new partition nor list scheduling is best at load, communication
/// and few migrations at once: what wins is to start from the current placement and to descend on
/// the predicted iteration, first on a blunt potential that all busy places feel, then on a sharp
/// one that is the busiest place alone (relaxation.h). Tasks then return home where that costs
/// nothing, and all stay where the seconds saved over `steps` phases are fewer than the migrations
/// take. The result is never worse than the current placement. O((n + E) log p) in practice: a step
/// looks at one place's tasks and their neighbours. Ignores memory.
#include <utility>

#include "poise/placement/metrics.h"
#include "poise/strategies/relaxation.h"

namespace poise {

namespace {

constexpr Relaxation::Stage kStages[] = {
    {.exponent = 8, .floor = 0.5, .least_gain = 0.01, .swaps = false},
    {.exponent = 48, .floor = 0.98, .least_gain = 1e-3, .swaps = true},
};

/// Where the makespan stays this far above its bound, a large task is shut in by smaller ones and a
/// start that balances anew is worth a look; it must then win by kClearly, since it moves more.
constexpr double kFarFromBound = 1.1;
constexpr double kClearly = 0.98;

struct Result {
  Placement placement;
  Metrics metrics;
};

Result refine_from(const Problem& problem, const Placement& start) {
  Relaxation relaxation(problem, start);
  for (const auto& stage : kStages) relaxation.run(stage);
  relaxation.send_home();
  Placement placement = relaxation.placement();
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, placement);
  return {std::move(placement), metrics};
}

}  // namespace

Placement poise_strategy(const Problem& problem, const Knobs& knobs) {
  const auto total_s = [&](const Metrics& metrics) {
    return knobs["steps"] * metrics.iteration_s + metrics.migration_s;
  };
  const Metrics now =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, problem.current);
  Result best = refine_from(problem, problem.current);
  if (best.metrics.makespan_s > kFarFromBound * best.metrics.makespan_bound_s) {
    const Choice anew = parse_strategy("greedy_comm");
    Result other = refine_from(problem, anew.rebalance(problem));
    if (total_s(other.metrics) < kClearly * total_s(best.metrics)) best = std::move(other);
  }
  return total_s(best.metrics) < total_s(now) ? best.placement : problem.current;
}

}  // namespace poise
