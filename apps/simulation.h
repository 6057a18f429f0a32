// What would happen over many steps: a trace replayed with one strategy after another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "poise/simulate/replay.h"

namespace poise::apps {

struct Simulation {
  struct Row {
    std::string strategy;
    std::string error;  // why it cannot work on this trace; then the rest is 0
    Replay replay;
  };

  std::string machine;
  ReplayPlan plan;
  std::vector<double> bound_s;  // per step
  double total_bound_s = 0, total_average_s = 0;
  bool has_sizes = true;  // else nothing is known of what migrations cost
  std::vector<Row> rows;  // the first: no balancing
  std::size_t best = 0;   // the row with the least total

  const Replay& unbalanced() const { return rows.front().replay; }
};

/// How many seconds each decision is charged with; nothing: what it took here.
using DecisionCost = std::optional<double>;

/// Replays without balancing; the rows of strategies are added to it.
Simulation begin_simulation(const Replayer& replayer);

/// Replays with one more strategy; one that throws becomes a row that says why.
void add_row(Simulation& simulation, const Replayer& replayer, const Choice& choice,
             DecisionCost cost);

/// Work without any loss over the total: 1 is a perfect balance that costs nothing.
double efficiency(const Simulation& simulation, const Replay& replay);

/// Per step, what it added to the total: a decision and migrations before it, and its iteration.
std::vector<double> step_times_s(const Replay& replay);

}  // namespace poise::apps
