// SPDX-License-Identifier: BSD-3-Clause

#include "apps/report/simulation_table.h"

#include <fmt/format.h>
#include <functional>
#include <optional>

#include "apps/report/metrics.h"
#include "apps/text/format.h"
#include "apps/text/output.h"
#include "apps/text/table.h"

namespace poise::apps {

namespace {

void add_column(Table& table, const Simulation& simulation, const char* heading,
                const std::function<std::optional<double>(const Replay&)>& value,
                Unit (*unit)(double) = nullptr) {
  Figures figures{heading, {}, unit};
  for (const auto& row : simulation.rows)
    if (row.error.empty()) figures.values.push_back(value(row.replay));
  add_figures(table, figures);
}

void add_changes(Table& table, const Simulation& simulation) {
  table.headings.insert(table.headings.end(), {"vs\nnone\n ", "vs\nbound\n "});
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    if (!simulation.rows[r].error.empty()) continue;
    const double total_s = simulation.rows[r].replay.total_s;
    table.rows[r].cells.push_back(change_text(total_s, simulation.unbalanced().total_s));
    table.rows[r].cells.push_back(change_text(total_s, simulation.total_bound_s));
  }
}

/// Adds columns for the event engine: the time to collect measurements, the idle share, the
/// iteration time that Poise's cost formula predicts, and the relative difference between the
/// iteration times of the engine and of the formula.
void add_event_columns(Table& table, const Simulation& simulation) {
  add_column(
      table, simulation, "collect-\ning", [](const Replay& replay) { return replay.collection_s; },
      time_unit);
  add_column(table, simulation, "idle\nshare",
             [](const Replay& replay) { return replay.idle_share; });
  add_column(
      table, simulation, "iterations\nby formula",
      [](const Replay& replay) { return replay.formula_s; }, time_unit);
  table.headings.push_back("events vs\nformula\n ");
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    const Replay& replay = simulation.rows[r].replay;
    if (simulation.rows[r].error.empty())
      table.rows[r].cells.push_back(change_text(replay.iteration_s, replay.formula_s));
  }
}

void add_loan_columns(Table& table, const Simulation& simulation) {
  add_column(table, simulation, "lent\ntasks",
             [](const Replay& replay) -> double { return replay.loans.tasks; });
  add_column(
      table, simulation, "lent", [](const Replay& replay) { return replay.loans.bytes; },
      byte_unit);
  add_column(
      table, simulation, "saved by\nlending",
      [](const Replay& replay) { return replay.loans.saved_s; }, time_unit);
}

Table table_of(const Simulation& simulation) {
  Table table{{"strategy\n "}, {}};
  for (std::size_t r = 0; r < simulation.rows.size(); ++r) {
    const bool is_best = r == simulation.best;
    table.rows.push_back({{(is_best ? "* " : "  ") + simulation.rows[r].strategy},
                          simulation.rows[r].error,
                          is_best});
  }
  const auto number = [](auto member) {
    return [member](const Replay& replay) -> double { return replay.*member; };
  };
  const auto migration_cost = [&](auto member) {
    return [&, member](const Replay& replay) {
      return knows_migrations(simulation, replay)
                 ? std::optional(static_cast<double>(replay.*member))
                 : std::nullopt;
    };
  };
  add_column(table, simulation, "total", number(&Replay::total_s), time_unit);
  add_changes(table, simulation);
  add_column(table, simulation, "efficiency",
             [&](const Replay& replay) { return efficiency(simulation, replay); });
  add_column(table, simulation, "iterations", number(&Replay::iteration_s), time_unit);
  add_column(table, simulation, "iteration\nafter", number(&Replay::balanced_s), time_unit);
  add_column(table, simulation, "moving", migration_cost(&Replay::migration_s), time_unit);
  add_column(table, simulation, "deciding", number(&Replay::decision_s), time_unit);
  add_column(table, simulation, "moved\ntasks", number(&Replay::migrations));
  add_column(table, simulation, "moved", migration_cost(&Replay::migrated_bytes), byte_unit);
  if (simulation.plan.lending.is_on()) add_loan_columns(table, simulation);
  if (simulation.plan.overlap)
    add_column(table, simulation, "over-\nlapped", number(&Replay::overlapped_s), time_unit);
  if (simulation.plan.events) add_event_columns(table, simulation);
  return table;
}

}  // namespace

std::string plan_text(const ReplayPlan& plan) {
  return fmt::format(
      "{} steps, a decision every {}{}{}{}{}{}", count_text(plan.steps), count_text(plan.every),
      plan.loads ? "; loads " + plan.loads->text() : "",
      plan.lending.lends ? "; places lend tasks within a step" : "",
      plan.lending.replicated_share > 0 ? "; idle places run copies of tasks" : "",
      plan.events ? fmt::format("; event by event, sharing: {}", name_of(plan.events->sharing))
                  : "",
      plan.events && plan.events->routing.policy
          ? fmt::format(", routing: {}", name_of(*plan.events->routing.policy))
          : "");
}

std::string text_of(const Simulation& simulation) {
  const auto& best = simulation.rows[simulation.best];
  return plan_text(simulation.plan) + "\n\n" +
         render(table_of(simulation), terminal_width(), has_colours()) +
         fmt::format("\niterations at least {} in all\n* best: {} takes {}, {} without balancing\n",
                     seconds_text(simulation.total_bound_s), best.strategy,
                     seconds_text(best.replay.total_s),
                     seconds_text(simulation.unbalanced().total_s));
}

}  // namespace poise::apps
