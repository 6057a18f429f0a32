// SPDX-License-Identifier: BSD-3-Clause
// The load cap: how much each place may work, and moving tasks until every place obeys.
#pragma once

#include <vector>

#include "poise/partition/graph.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// The cap in seconds of work: max_imbalance times the average, or the least makespan that any
/// placement can reach, whichever is larger.
double load_cap_s(const Problem& problem, double max_imbalance);

/// Per place the load (seconds at speed 1) that it can take next to its background load, to stay
/// `tolerance` below the cap. If no place can take any, 1 for all.
std::vector<double> shares_under_cap(const Problem& problem, double cap_s, double tolerance = 0);

namespace graphs {

/// Moves tasks until no place works longer than cap_s, or nothing helps. A place over the cap gives
/// away the tasks least attached to it: to the place of a partner with room, otherwise to the least
/// busy place; in the finest enclosing group first, then in wider ones. If no single task fits
/// anywhere, two tasks are exchanged. If the cap cannot be reached, the busiest places are lowered
/// by exchanges. Tasks that are not movable stay.
void hold_load_cap(const Problem& problem, const Graph& graph, double cap_s, Placement& placement,
                   const Tuning& tuning = kTuning);

}  // namespace graphs
}  // namespace poise
