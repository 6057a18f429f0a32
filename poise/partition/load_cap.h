// The load cap: tasks leave overloaded places, to the nearest place that has room.
#pragma once

#include "poise/partition/graph.h"
#include "poise/placement/problem.h"

namespace poise::graphs {

/// Moves tasks until no place works longer than cap_s, or nothing helps any more. A place over the
/// cap gives away the tasks least attached to it, each to a place of its neighbours that has room,
/// else to the least busy one: in the finest group of the machine first, then in wider ones. Where
/// no single task fits anywhere, two tasks are exchanged, and where the cap is out of reach, the
/// busiest places are lowered as far as moves and exchanges can. Pinned tasks stay.
void hold_load_cap(const Problem& problem, const Graph& graph, double cap_s, Placement& placement);

}  // namespace poise::graphs
