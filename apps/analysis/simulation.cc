// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/simulation.h"

#include <exception>
#include <fmt/format.h>
#include <utility>

#include "apps/analysis/decision.h"
#include "apps/analysis/sizes.h"
#include "apps/text/output.h"

namespace poise::apps {

Simulation begin_simulation(const Replayer& replayer, const AfterStep& after_step) {
  Simulation simulation;
  simulation.machine = replayer.machine().name();
  simulation.plan = replayer.plan();
  for (std::uint64_t step = 0; step < simulation.plan.steps; ++step)
    simulation.bound_s.push_back(replayer.bound_s(step));
  simulation.total_bound_s = replayer.total_bound_s();
  simulation.total_average_s = replayer.total_average_s();
  simulation.rows.push_back({"no balancing", {}, replayer.run({}, after_step)});
  return simulation;
}

void add_row(Simulation& simulation, const Replayer& replayer, const Contender& contender,
             DecisionCost cost, const AfterStep& after_step) {
  const Decide timed = [&](const Problem& problem) {
    Decision decision = decide(contender, problem);
    return TimedDecision{std::move(decision.placement), cost.value_or(decision.wall_s)};
  };
  Simulation::Row row{contender.name, {}, {}};
  try {
    row.replay = replayer.run(timed, after_step);
    if (row.replay.total_s < simulation.rows[simulation.best].replay.total_s)
      simulation.best = simulation.rows.size();
  } catch (const std::exception& error) {
    row.error = reason(error);
  }
  simulation.rows.push_back(std::move(row));
}

Timeline timeline_of(const Replayer& replayer, const Simulation::Row& row,
                     const Contender* contender) {
  std::uint64_t step = 0;
  const Decide again = [&](const Problem& problem) {
    step += replayer.plan().every;
    return TimedDecision{decide(*contender, problem).placement, row.replay.steps[step].decision_s};
  };
  Replay replay = replayer.run(contender ? again : Decide());
  const std::string lent =
      replayer.plan().lending.is_on() ? fmt::format(", {} tasks lent", replay.loans.tasks) : "";
  return {row.strategy + lent, std::move(replay.places)};
}

double efficiency(const Simulation& simulation, const Replay& replay) {
  return replay.total_s > 0 ? simulation.total_average_s / replay.total_s : 1;
}

bool knows_migrations(const Simulation& simulation, const Replay& replay) {
  return knows_migration_cost(replay.migrations, simulation.has_sizes);
}

std::vector<double> step_times_s(const Replay& replay) {
  std::vector<double> times_s;
  for (const ReplayStep& step : replay.steps)
    times_s.push_back(step.decision_s + step.collection_s + step.migration_s + step.iteration_s);
  return times_s;
}

}  // namespace poise::apps
