// SPDX-License-Identifier: BSD-3-Clause
// Compares strategies on one problem.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/analysis/decision.h"

#include "poise/base/check.h"
#include "poise/placement/bounds.h"
#include "poise/placement/metrics.h"
#include "poise/placement/traffic_bound.h"

namespace poise::apps {

struct Comparison {
  struct Row {
    std::string strategy;
    std::string error;        // why the strategy failed on this problem; all numbers are then 0
    std::string memory_note;  // see Decision
    Metrics metrics;
    double decision_s = 0, decision_wall_s = 0;  // CPU and wall time of the decision
    LeastMigrations least;  // lower bounds on the migrations needed to reach the row's makespan
    /// Lower bound on the weighted messages (Metrics::nuco_messages) that a placement can have if
    /// its makespan is at most that of this row.
    double least_nuco_messages = 0;
  };

  Machine machine;
  MakespanBounds bounds;
  double iteration_bound_s = 0;
  bool has_sizes = false;  // false: the cost of migrations is unknown
  Spectra spectra;  // eigenvalues of the task graph, from which least_nuco_messages is computed
  Metrics keep;     // metrics of the current placement
  std::vector<Row> rows;  // in the order in which they were added
  // Index of the row with the shortest iteration; of equal rows, the one with the fewest migrated
  // bytes.
  std::optional<std::size_t> best;
  Placement best_placement;

  const Row& best_row() const {
    POISE_CHECK(best);
    return rows[*best];
  }
};

/// Returns the rows sorted by iteration time, the shortest first. If times are equal, the row with
/// fewer migrated bytes comes first. Strategies that failed come last.
std::vector<const Comparison::Row*> ranked(const Comparison& comparison);

/// Begins a comparison, which has no rows yet.
Comparison begin_comparison(const Problem& problem);

/// Runs one more strategy and adds its row. If the strategy throws, the row contains the reason.
void add_row(Comparison& comparison, const Contender& contender, const Problem& problem);

}  // namespace poise::apps
