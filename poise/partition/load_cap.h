// SPDX-License-Identifier: BSD-3-Clause
// The load cap: the limit on the work of each place, and the moves that enforce it.
#pragma once

#include <vector>

#include "poise/partition/graph.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// The limit on the work of each place, in seconds: the larger of max_imbalance times the average
/// work of the places, and the lower bound on the makespan of any placement.
double load_cap_s(const Problem& problem, double max_imbalance);

/// Returns a share for each place: the load (seconds at speed 1) that fits under the cap in
/// addition to the background load, divided by 1 + `tolerance`. So a place that exceeds its share
/// by the fraction `tolerance` just meets the cap. If no place can take any load, all shares are 1.
std::vector<double> shares_under_cap(const Problem& problem, double cap_s, double tolerance = 0);

namespace graphs {

/// Moves tasks until no place works longer than cap_s, or until no move helps. A place above the
/// cap gives away the tasks with the least affinity to it. A task moves within the finest group
/// around its place in which some place has room for it: to the place of a communication partner if
/// one of these has room, otherwise to the place that would finish the task first. If no single
/// task fits anywhere, two tasks are exchanged, or lighter tasks make way for a heavy one. If the
/// cap cannot be reached, exchanges lower the load of the busiest places. Tasks that are not
/// movable stay.
void hold_load_cap(const Problem& problem, const Graph& graph, double cap_s, Placement& placement,
                   const Tuning& tuning = kTuning);

}  // namespace graphs
}  // namespace poise
