/// Poise: refines the current placement until its busiest places cannot hand anything on.
///
/// This project's own. Neither a new partition nor list scheduling is best at load, communication
/// and few migrations at once: what wins is to descend on the predicted iteration. Steps are judged
/// first by a blunt potential that all busy places feel, then by a sharp one that is the busiest
/// place alone (relaxation.h). Where that
/// leaves much above the bound on the makespan, and the phases to come would pay for the look, the
/// same is tried from greedy_comm (large tasks shut in by small ones) and from treematch (messages
/// weigh). Tasks then return home where that costs nothing, and all stay where the seconds saved
/// over `steps` phases are fewer than the migrations take. Never worse than the current placement.
/// O((n + E) log p) in practice: a visit looks at one place's tasks and their neighbours, and there
/// are a few visits per place. Ignores memory.
#include <utility>

#include "poise/placement/metrics.h"
#include "poise/strategies/relaxation.h"

namespace poise {

namespace {

constexpr Relaxation::Stage kStages[] = {
    {.exponent = 8, .floor = 0.9, .least_gain = 0.01, .swaps = false, .visits = 4},
    {.exponent = 48, .floor = 0.98, .least_gain = 1e-3, .swaps = true, .visits = 4},
};

/// Where the makespan stays this far above its bound, a large task is shut in by smaller ones and a
/// start that balances anew is worth a look.
constexpr double kFarFromBound = 1.1;

/// Where messages make the iteration so much longer than the makespan, so is a start that groups
/// tasks by affinity.
constexpr double kMessagesWeigh = 1.02;

/// A look from another start must promise to save about what it takes, per task; and it must win
/// by kClearly, since it moves more.
constexpr double kSecondsPerTask = 2e-6;
constexpr double kClearly = 0.98;

struct Result {
  Placement placement;
  Metrics metrics;
};

Placement placed_by(std::string_view strategy, const Problem& problem) {
  return parse_strategy(strategy).rebalance(problem);
}

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
  Result best = refine_from(problem, problem.current);
  const auto try_from = [&](std::string_view strategy) {
    const double hoped_s =
        knobs["steps"] * (best.metrics.iteration_s - best.metrics.makespan_bound_s);
    if (hoped_s < kSecondsPerTask * problem.workload.num_tasks()) return;
    Result other = refine_from(problem, placed_by(strategy, problem));
    if (total_s(other.metrics) < kClearly * total_s(best.metrics)) best = std::move(other);
  };
  if (best.metrics.makespan_s > kFarFromBound * best.metrics.makespan_bound_s)
    try_from("greedy_comm");
  if (best.metrics.iteration_s > kMessagesWeigh * best.metrics.makespan_s)
    try_from("treematch:only_better=0");
  const Metrics now =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, problem.current);
  return total_s(best.metrics) < total_s(now) ? best.placement : problem.current;
}

}  // namespace poise
