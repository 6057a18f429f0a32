// SPDX-License-Identifier: BSD-3-Clause
// The tasks of a problem as a graph of loads and message costs.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/placement/problem.h"

namespace poise {

/// Vertices weigh the loads of their tasks in seconds, or 1 each if no task has load. Edges weigh
/// what the messages cost at factor 1, scaled to integers. O(tasks + messages).
graphs::Graph traffic_graph(const Problem& problem);

/// Per task its place if it is not movable, otherwise kFree; empty if all are movable.
std::vector<graphs::Part> fixed_parts(const Problem& problem);

}  // namespace poise
