// SPDX-License-Identifier: BSD-3-Clause
// Replays a trace over many steps, once for each of several strategies.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/analysis/contender.h"

#include "poise/simulate/replay.h"

namespace poise::apps {

struct Simulation {
  struct Row {
    std::string strategy;
    std::string error;  // why the strategy failed on this trace; all numbers are then 0
    Replay replay;
  };

  std::string machine;
  ReplayPlan plan;
  std::vector<double> bound_s;  // lower bound on the time of each step, in seconds
  double total_bound_s = 0, total_average_s = 0;
  bool has_sizes = true;  // false: the cost of migrations is unknown
  std::vector<Row> rows;  // a row per strategy; the first row is the replay without balancing
  std::size_t best = 0;   // the row with the shortest total time

  const Replay& unbalanced() const { return rows.front().replay; }
};

/// Seconds to charge for each decision. Without a value, the time that the decision took on this
/// host is charged.
using DecisionCost = std::optional<double>;

/// Replays the trace without balancing. The result has one row, for this replay; add_row() adds a
/// row for a strategy.
Simulation begin_simulation(const Replayer& replayer, const AfterStep& after_step = {});

/// Replays the trace with one more strategy and adds its row. If the strategy throws, the row
/// contains the reason.
void add_row(Simulation& simulation, const Replayer& replayer, const Contender& contender,
             DecisionCost cost, const AfterStep& after_step = {});

/// Returns the timeline of a replay by the event engine: what every place did, with the strategy's
/// name as title. The trace is replayed a second time, because the first replay recorded no
/// timeline. Each decision takes the time that `row` recorded for it. The plan of `replayer` must
/// have has_timeline set. A null `contender` means no balancing.
Timeline timeline_of(const Replayer& replayer, const Simulation::Row& row,
                     const Contender* contender);

/// Returns the efficiency of a replay, at most 1: the time that the run would take if it were
/// perfectly balanced and balancing cost nothing, divided by the total time of the replay.
double efficiency(const Simulation& simulation, const Replay& replay);

/// True if the bytes of all migrations are known. The bytes are unknown if tasks of unknown size
/// move.
bool knows_migrations(const Simulation& simulation, const Replay& replay);

/// Returns the time of each step: the sum of the times for collecting measurements, for the
/// decision, for migrations and for the iteration.
std::vector<double> step_times_s(const Replay& replay);

}  // namespace poise::apps
