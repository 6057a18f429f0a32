// The tasks of a problem as a graph: what each weighs, and what each two exchange.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/placement/problem.h"

namespace poise {

/// Vertices weigh the loads of their tasks, seconds (1 each where there is no load at all), edges
/// what their messages cost at factor 1, in whole numbers. O(tasks + messages).
graphs::Graph traffic_graph(const Problem& problem);

/// Where those are that may not move, kFree for all others; empty: all may.
std::vector<graphs::Part> fixed_parts(const Problem& problem);

}  // namespace poise
