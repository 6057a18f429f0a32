// SPDX-License-Identifier: BSD-3-Clause
/// Greedy: heaviest task first, each on the place that would finish it first.
///
/// Graham, "Bounds on multiprocessing timing anomalies", 1969; Charm++'s GreedyLB. If all places
/// have the same speed, a task goes to the least busy place, and the makespan is at most 4/3 - 1/(3
/// p) times the optimum for p places, provided that no task is pinned and there is no background
/// load. Ignores messages and the current placement, so nearly every task moves. Of equal tasks or
/// equal places, the one with the lower id is chosen. O(n + n log p) for n tasks and p places.
#include "poise/search/longest_first.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement greedy(const Problem& problem, const Knobs&) { return longest_first(problem); }

}  // namespace poise
