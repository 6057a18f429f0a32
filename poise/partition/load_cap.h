// The load cap: tasks leave overloaded places, to the nearest place that has room.
#pragma once

#include <vector>

#include "poise/partition/graph.h"
#include "poise/placement/problem.h"
#include "poise/search/tuning.h"

namespace poise {

/// The work in seconds that no place need exceed: `max_imbalance` times the average, or what no
/// placement can avoid.
double load_cap_s(const Problem& problem, double max_imbalance);

/// Per place the load, seconds at speed 1, that it can take next to its background until it is
/// `tolerance` below the cap; 1 for all places where none can take any.
std::vector<double> shares_under_cap(const Problem& problem, double cap_s, double tolerance = 0);

namespace graphs {

/// Moves tasks until no place works longer than cap_s, or nothing helps any more. A place over the
/// cap gives away the tasks least attached to it, each to a place of its neighbours that has room,
/// else to the least busy one: in the finest group of the machine first, then in wider ones. Where
/// no single task fits anywhere, two tasks are exchanged, and where the cap is out of reach, the
/// busiest places are lowered as far as moves and exchanges can. Pinned tasks stay.
void hold_load_cap(const Problem& problem, const Graph& graph, double cap_s, Placement& placement,
                   const Tuning& tuning = kTuning);

}  // namespace graphs
}  // namespace poise
