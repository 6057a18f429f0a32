// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/simulation_json.h"

#include <utility>

namespace poise::apps {

namespace {

using Json = nlohmann::ordered_json;

/// Adds two lists to the JSON: for each step, the number of lent tasks, and the time that lending
/// saved.
void add_loans(Json& series, const Replay& replay) {
  Json tasks = Json::array(), saved_s = Json::array();
  for (const ReplayStep& step : replay.steps) {
    tasks.push_back(step.loans.tasks);
    saved_s.push_back(step.loans.saved_s);
  }
  series["lent_tasks"] = std::move(tasks);
  series["lending_saved_s"] = std::move(saved_s);
}

Json series_of(const Replay& replay, const ReplayPlan& plan, bool knows_sizes) {
  Json iteration_s = Json::array(), makespan_s = Json::array(), end_s = Json::array();
  Json decisions = Json::array();
  for (std::size_t step = 0; step < replay.steps.size(); ++step) {
    const ReplayStep& result = replay.steps[step];
    iteration_s.push_back(result.iteration_s);
    makespan_s.push_back(result.makespan_s);
    end_s.push_back(result.overlapped_end_s);
    if (replay.decisions == 0 || step == 0 || step % plan.every != 0) continue;
    decisions.push_back(
        {{"before_step", step},
         {"decision_s", result.decision_s},
         {"migration_s", result.migration_s},
         {"migrations", result.migrations},
         {"migrated_bytes", knows_sizes ? Json(result.migrated_bytes) : Json(nullptr)}});
    if (plan.events) decisions.back()["collection_s"] = result.collection_s;
  }
  Json series{{"iteration_s", std::move(iteration_s)},
              {"makespan_s", std::move(makespan_s)},
              {"decisions", std::move(decisions)}};
  if (plan.overlap) series["overlapped_end_s"] = std::move(end_s);
  return series;
}

}  // namespace

Json json_of(const Simulation::Row& row, const Simulation& simulation) {
  if (!row.error.empty()) return {{"strategy", row.strategy}, {"error", row.error}};
  const Replay& replay = row.replay;
  const bool knows_cost = knows_migrations(simulation, replay);
  const bool is_balanced = &row != &simulation.rows.front();
  Json json{{"strategy", is_balanced ? Json(row.strategy) : Json(nullptr)},
            {"total_s", replay.total_s},
            {"iteration_s", replay.iteration_s},
            {"balanced_s", replay.balanced_s},
            {"migration_s", knows_cost ? Json(replay.migration_s) : Json(nullptr)},
            {"decision_s", replay.decision_s},
            {"decisions", replay.decisions},
            {"migrations", replay.migrations},
            {"migrated_bytes", knows_cost ? Json(replay.migrated_bytes) : Json(nullptr)},
            {"efficiency", efficiency(simulation, replay)},
            {"speed_up", replay.total_s > 0 ? simulation.unbalanced().total_s / replay.total_s : 1},
            {"best", &row == &simulation.rows[simulation.best]}};
  if (simulation.plan.overlap) json["overlapped_s"] = replay.overlapped_s;
  if (simulation.plan.events) {
    json["collection_s"] = replay.collection_s;
    json["idle_share"] = replay.idle_share;
    json["formula_s"] = replay.formula_s;
  }
  json["received_messages"] = replay.received_messages;
  json["series"] = series_of(replay, simulation.plan, knows_cost);
  if (simulation.plan.lending.is_on()) {
    json["lent_tasks"] = replay.loans.tasks;
    if (simulation.plan.lending.replicated_share > 0) json["copies_run"] = replay.loans.copies_run;
    json["ran_on_other_nodes"] = replay.loans.ran_on_other_nodes;
    json["lent_bytes"] = replay.loans.bytes;
    json["lending_saved_s"] = replay.loans.saved_s;
    add_loans(json["series"], replay);
  }
  return json;
}

}  // namespace poise::apps
