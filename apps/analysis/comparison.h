// Strategies side by side on one problem.
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
    std::string error;  // why it cannot work on this problem; all numbers are then 0
    Metrics metrics;
    double decision_s = 0, decision_wall_s = 0;  // CPU and wall time
    LeastMigrations least;                       // the fewest that reach its makespan
    double least_nuco_messages = 0;              // the fewest possible at its makespan
  };

  Machine machine;
  MakespanBounds bounds;
  double iteration_bound_s = 0;
  bool has_sizes = false;           // else the cost of migrations is unknown
  Spectra spectra;                  // of the task graph: bounds least_nuco_messages
  Metrics keep;                     // of the current placement
  std::vector<Row> rows;            // in the order they were added
  std::optional<std::size_t> best;  // least iteration, then fewest migrated bytes
  Placement best_placement;

  const Row& best_row() const {
    POISE_CHECK(best);
    return rows[*best];
  }
};

/// Rows from the best to the worst by what `best` goes by; those that cannot work come last.
std::vector<const Comparison::Row*> ranked(const Comparison& comparison);

/// A comparison without rows yet.
Comparison begin_comparison(const Problem& problem);

/// Adds the row of one more strategy; if the strategy throws, the row says why.
void add_row(Comparison& comparison, const Choice& choice, const Problem& problem);

}  // namespace poise::apps
