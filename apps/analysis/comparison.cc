// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/comparison.h"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

#include "apps/analysis/sizes.h"
#include "apps/text/output.h"

namespace poise::apps {

namespace {

bool is_better(const Metrics& a, const Metrics& b) {
  return std::tie(a.iteration_s, a.migrated_bytes, a.migrations) <
         std::tie(b.iteration_s, b.migrated_bytes, b.migrations);
}

}  // namespace

std::vector<const Comparison::Row*> ranked(const Comparison& comparison) {
  std::vector<const Comparison::Row*> rows;
  for (const Comparison::Row& row : comparison.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
    if (!a->error.empty() || !b->error.empty()) return a->error.empty() && !b->error.empty();
    return is_better(a->metrics, b->metrics);
  });
  return rows;
}

Comparison begin_comparison(const Problem& problem) {
  const Machine& machine = problem.machine;
  const Workload& workload = problem.workload;
  const Placement& current = problem.current;
  const CostModel& costs = problem.costs;
  return {.machine = machine,
          .bounds = makespan_bounds(machine, workload, current),
          .iteration_bound_s = iteration_bound_s(machine, workload, costs, current),
          .has_sizes = has_sizes(workload),
          .spectra = spectra_of(workload),
          .keep = evaluate(machine, workload, costs, current, current),
          .rows = {},
          .best = {},
          .best_placement = {}};
}

void add_row(Comparison& comparison, const Contender& contender, const Problem& problem) {
  Comparison::Row& row = comparison.rows.emplace_back();
  row.strategy = contender.name;
  try {
    Decision decision = decide(contender, problem);
    row.decision_s = decision.cpu_s;
    row.decision_wall_s = decision.wall_s;
    row.memory_note = std::move(decision.memory_note);
    row.metrics = evaluate(problem.machine, problem.workload, problem.costs, problem.current,
                           decision.placement);
    row.least = least_migrations(problem.machine, problem.workload, problem.current,
                                 row.metrics.makespan_s);
    row.least_nuco_messages = least_nuco_messages(problem.machine, problem.workload,
                                                  comparison.spectra, row.metrics.makespan_s);
    if (comparison.best && !is_better(row.metrics, comparison.rows[*comparison.best].metrics))
      return;
    comparison.best = comparison.rows.size() - 1;
    comparison.best_placement = std::move(decision.placement);
  } catch (const std::exception& error) {
    row.error = reason(error);
  }
}

}  // namespace poise::apps
