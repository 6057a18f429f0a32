// The tasks of a problem as a graph: what each weighs, and what each two exchange.
#pragma once

#include <vector>

#include "poise/strategies/strategy.h"
#include "poise/strategies/treematch/partition.h"

namespace poise {

/// Vertices weigh the loads of their tasks, seconds (1 each where there is no load at all), edges
/// what their messages cost at factor 1, in whole numbers. O(tasks + messages).
tree_match::Graph traffic_graph(const Problem& problem);

/// Where those are that may not move, kFree for all others; empty: all may.
std::vector<tree_match::Part> fixed_parts(const Problem& problem);

}  // namespace poise
