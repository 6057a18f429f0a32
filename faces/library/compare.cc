// SPDX-License-Identifier: BSD-3-Clause
// The functions of the C interface that compare strategies, simulate traces, and list strategies.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "apps/analysis/comparison.h"
#include "apps/analysis/simulation.h"
#include "faces/library/arrays.h"
#include "faces/library/problem.h"

using poise::library::checked;
using poise::library::guarded;
using poise::library::required;

struct poise_comparison {
  poise::library::Kind<0x706f697365636f6d> kind;
  poise::apps::Comparison comparison;
  std::vector<poise::Placement> placements;  // per row
  std::vector<poise_comparison_row> rows;
};

struct poise_simulation {
  poise::library::Kind<0x706f69736573696d> kind;
  poise::apps::Simulation simulation;
  // For each simulated strategy, the seconds of each step: iteration, decision and migrations.
  std::vector<std::vector<double>> steps_s;
  std::vector<poise_simulation_row> rows;
};

namespace {

/// Counts the parts of a long computation, and calls the caller's callback before each part.
class Course {
 public:
  Course(poise_progress progress, void* argument, std::uint64_t total)
      : progress_(progress), argument_(argument), total_(total) {}
  void next(const std::string& what) {
    if (progress_ != nullptr && progress_(argument_, done_, total_, what.c_str()) != 0)
      throw poise::library::Cancelled();
    ++done_;
  }

 private:
  poise_progress progress_;
  void* argument_;
  std::uint64_t done_ = 0, total_;
};

const char* text_or_null(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

void list_rows(poise_comparison& handle) {
  for (std::size_t i = 0; i < handle.comparison.rows.size(); ++i) {
    const auto& row = handle.comparison.rows[i];
    const bool works = row.error.empty();
    handle.rows.push_back(
        {.strategy = row.strategy.c_str(),
         .error = text_or_null(row.error),
         .metrics = poise::library::metrics_of(row.metrics),
         .decision_s = row.decision_s,
         .decision_wall_s = row.decision_wall_s,
         .place_of_task = works ? handle.placements[i].places().data() : nullptr});
  }
}

void list_rows(poise_simulation& handle) {
  const std::size_t num_steps = handle.simulation.plan.steps;
  for (const auto& row : handle.simulation.rows) {
    const poise::Replay& replay = row.replay;
    std::vector<double>& steps_s = handle.steps_s.emplace_back(3 * num_steps);
    for (std::size_t s = 0; s < replay.steps.size(); ++s) {
      steps_s[s] = replay.steps[s].iteration_s;
      steps_s[num_steps + s] = replay.steps[s].decision_s;
      steps_s[2 * num_steps + s] = replay.steps[s].migration_s;
    }
    handle.rows.push_back({.strategy = row.strategy.c_str(),
                           .error = text_or_null(row.error),
                           .total_s = replay.total_s,
                           .iteration_s = replay.iteration_s,
                           .migration_s = replay.migration_s,
                           .decision_s = replay.decision_s,
                           .decisions = replay.decisions,
                           .migrations = replay.migrations,
                           .migrated_bytes = replay.migrated_bytes,
                           .step_iteration_s = steps_s.data(),
                           .step_decision_s = steps_s.data() + num_steps,
                           .step_migration_s = steps_s.data() + 2 * num_steps});
  }
}

/// Returns row `number`. If there is no such row, throws Error, whose text names the table.
template <typename Row>
const Row& row_of(const std::vector<Row>& rows, std::uint64_t number, const char* table) {
  if (number >= rows.size())
    poise::fail("row {} does not exist; the {} has {} rows, numbered from 0", number, table,
                rows.size());
  return rows[number];
}

poise::Replayer replayer_of(const poise_machine& machine, const poise::Trace& trace,
                            const std::uint32_t* start, const poise::ReplayPlan& plan) {
  if (trace.phases.empty()) poise::fail("the trace has no phases; at least 1 is needed");
  for (const poise::Phase& phase : trace.phases)
    poise::library::check_domains(phase.workload, machine.machine);
  const poise::Phase& first = trace.phases.front();
  const std::uint32_t num_places = machine.machine.num_places();
  const bool is_recorded = start == nullptr && first.placement.num_tasks() > 0;
  return {trace, machine.machine,
          is_recorded ? first.placement
                      : poise::library::placement_or_blocks(start, first.workload.num_tasks(),
                                                            num_places, "start"),
          plan};
}

/// Returns row `number` of the table of strategies. If the table has no such row, throws Error,
/// whose text states the number of rows.
const poise::Strategy& strategy_number(std::uint64_t number) {
  const auto rows = poise::strategies();
  if (number >= rows.size())
    poise::fail("strategy number {} does not exist; numbers must be below {}", number, rows.size());
  return rows[number];
}

/// The table's texts are string literals, which are zero-terminated.
const char* literal(std::string_view text) { return text.empty() ? "" : text.data(); }

}  // namespace

int poise_compare(const poise_machine* machine, const poise_workload* workload,
                  const uint32_t* current, const char* strategies, const poise_own_strategy* own,
                  uint64_t num_own, uint64_t seed, poise_progress progress, void* argument,
                  poise_comparison** comparison) {
  return guarded(__func__, [&] {
    poise_comparison*& result = required(comparison, "comparison");
    const poise::library::CheckedProblem problem(machine, workload, current, seed);
    const auto contenders = poise::library::contenders_of(strategies, own, num_own);
    const poise::Problem view = problem.view();
    auto handle = std::make_unique<poise_comparison>();
    handle->comparison = poise::apps::begin_comparison(view);
    Course course(progress, argument, contenders.size());
    for (const poise::apps::Contender& contender : contenders) {
      course.next(contender.name);
      poise::Placement& kept = handle->placements.emplace_back();
      add_row(handle->comparison,
              {contender.name, [&](const poise::Problem& p) { return kept = contender.decide(p); }},
              view);
    }
    list_rows(*handle);
    result = handle.release();
  });
}

void poise_comparison_destroy(poise_comparison* comparison) { poise::library::destroy(comparison); }

uint64_t poise_comparison_num_rows(const poise_comparison* comparison) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(comparison, "comparison").rows.size(); });
  return count;
}

const poise_comparison_row* poise_comparison_get(const poise_comparison* comparison, uint64_t row) {
  const poise_comparison_row* result = nullptr;
  guarded(__func__,
          [&] { result = &row_of(checked(comparison, "comparison").rows, row, "comparison"); });
  return result;
}

int64_t poise_comparison_best(const poise_comparison* comparison) {
  int64_t best = -1;
  guarded(__func__, [&] {
    const auto& found = checked(comparison, "comparison").comparison.best;
    if (found) best = *found;
  });
  return best;
}

double poise_comparison_bound_s(const poise_comparison* comparison) {
  double bound_s = 0;
  guarded(__func__,
          [&] { bound_s = checked(comparison, "comparison").comparison.iteration_bound_s; });
  return bound_s;
}

int poise_simulate(const poise_machine* machine, const poise_trace* trace, const uint32_t* start,
                   const char* strategies, const poise_own_strategy* own, uint64_t num_own,
                   uint64_t steps, uint64_t every, double decision_s, uint64_t seed,
                   poise_progress progress, void* argument, poise_simulation** simulation) {
  return guarded(__func__, [&] {
    poise_simulation*& result = required(simulation, "simulation");
    const poise_machine& places = checked(machine, "machine");
    const poise::Trace& phases = checked(trace, "trace").trace;
    const auto contenders = poise::library::contenders_of(strategies, own, num_own);
    if (!std::isfinite(decision_s))
      poise::fail(
          "decision_s is {}; give a finite number of seconds per decision, or a finite negative "
          "number to measure the time of each decision",
          decision_s);
    poise::ReplayPlan plan{.steps = steps, .every = every};
    plan.seed = seed;
    const poise::Replayer replayer = replayer_of(places, phases, start, plan);
    poise::apps::DecisionCost cost;
    if (decision_s >= 0) cost = decision_s;
    auto handle = std::make_unique<poise_simulation>();
    handle->simulation = poise::apps::begin_simulation(replayer);
    Course course(progress, argument, contenders.size() * ((steps - 1) / every));
    for (const poise::apps::Contender& contender : contenders)
      add_row(handle->simulation, replayer,
              {contender.name,
               [&](const poise::Problem& problem) {
                 course.next(contender.name);
                 return contender.decide(problem);
               }},
              cost);
    list_rows(*handle);
    result = handle.release();
  });
}

void poise_simulation_destroy(poise_simulation* simulation) { poise::library::destroy(simulation); }

uint64_t poise_simulation_num_rows(const poise_simulation* simulation) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(simulation, "simulation").rows.size(); });
  return count;
}

uint64_t poise_simulation_num_steps(const poise_simulation* simulation) {
  uint64_t count = 0;
  guarded(__func__, [&] { count = checked(simulation, "simulation").simulation.plan.steps; });
  return count;
}

const poise_simulation_row* poise_simulation_get(const poise_simulation* simulation, uint64_t row) {
  const poise_simulation_row* result = nullptr;
  guarded(__func__,
          [&] { result = &row_of(checked(simulation, "simulation").rows, row, "simulation"); });
  return result;
}

int poise_strategy_get(uint64_t number, poise_strategy_row* row) {
  return guarded(__func__, [&] {
    poise_strategy_row& result = required(row, "row");
    const poise::Strategy& strategy = strategy_number(number);
    result = {.name = literal(strategy.name),
              .summary = literal(strategy.summary),
              .source = literal(strategy.source),
              .complexity = literal(strategy.complexity),
              .is_incremental = strategy.is_incremental,
              .is_oracle = strategy.is_oracle,
              .ignores_messages = strategy.ignores_messages,
              .num_knobs = strategy.knobs.size()};
  });
}

int poise_knob_get(uint64_t strategy, uint64_t knob, poise_knob_row* row) {
  return guarded(__func__, [&] {
    poise_knob_row& result = required(row, "row");
    const auto knobs = strategy_number(strategy).knobs;
    if (knob >= knobs.size())
      poise::fail("knob {} does not exist; knob numbers must be below {}", knob, knobs.size());
    const poise::Knob& found = knobs[knob];
    static thread_local std::string choices;
    choices.clear();
    for (const std::string_view choice : found.choices)
      choices.append(choices.empty() ? "" : "|").append(choice);
    result = {.name = literal(found.name),
              .help = literal(found.help),
              .initial = found.initial,
              .min = found.min,
              .max = found.max,
              .choices = choices.c_str()};
  });
}
