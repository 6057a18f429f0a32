// SPDX-License-Identifier: BSD-3-Clause
// The graph of a problem's tasks: vertices weighted by load, edges by message cost.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/placement/arcs.h"
#include "poise/placement/problem.h"

namespace poise {

/// Returns the graph. The weight of a vertex is the load of its task in seconds, or 1 if no task
/// has load. The weight of an edge is the time that its messages would take with a latency and
/// bandwidth factor of 1, scaled to an integer (task_graph.h). `arcs` must be those of the
/// workload. O(tasks + messages).
graphs::Graph traffic_graph(const Problem& problem, const Arcs& arcs);

/// Per task, its place if it is not movable, otherwise kFree. Empty if all tasks are movable.
std::vector<graphs::Part> fixed_parts(const Problem& problem);

}  // namespace poise
