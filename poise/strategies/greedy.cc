// SPDX-License-Identifier: BSD-3-Clause
/// Greedy: heaviest task first, each on the place that finishes it first.
///
/// Graham, "Bounds on multiprocessing timing anomalies", 1969; Charm++'s GreedyLB. On places of
/// equal speed this is the least busy place, and the makespan is at most 4/3 - 1/(3 p) times the
/// optimum if no task is pinned and there is no background load. Ignores messages and the current
/// placement, so nearly every task moves. Among equals, the task and the place with the lower id
/// are chosen. O(n + n log p).
#include "poise/search/longest_first.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement greedy(const Problem& problem, const Knobs&) { return longest_first(problem); }

}  // namespace poise
