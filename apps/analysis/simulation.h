// A trace replayed over many steps with one strategy after another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "poise/simulate/replay.h"

namespace poise::apps {

struct Simulation {
  struct Row {
    std::string strategy;
    std::string error;  // why it cannot work on this trace; all numbers are then 0
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

/// Seconds charged for each decision; without: the time it took here.
using DecisionCost = std::optional<double>;

/// Replays without balancing; the rows of strategies are added to it.
Simulation begin_simulation(const Replayer& replayer);

/// Adds the replay with one more strategy; if the strategy throws, the row says why.
void add_row(Simulation& simulation, const Replayer& replayer, const Choice& choice,
             DecisionCost cost);

/// Time of a perfect balance at no cost, divided by the total time; at most 1.
double efficiency(const Simulation& simulation, const Replay& replay);

/// The time of each step: the decision and migrations before it, and its iteration.
std::vector<double> step_times_s(const Replay& replay);

}  // namespace poise::apps
