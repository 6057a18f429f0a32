// SPDX-License-Identifier: BSD-3-Clause
// List scheduling by the time at which a task and its messages would be finished: the algorithm of
// strategy `greedy_comm`, and a starting point of the search of `poise`.
#pragma once

#include "poise/placement/arcs.h"
#include "poise/placement/problem.h"

namespace poise {

/// Places movable tasks in order of load, heaviest first (ties: lower id). Each task goes to the
/// place where
///
///     busy(p) + load / speed(p) + message_weight * seconds of its messages at factor 1
///
/// is smallest (ties: lower place); only messages to and from tasks already placed on other places
/// count. Only the places of those tasks, and the place that would finish the task first if it had
/// no messages, can be the best, so no others are tried. Once both ends of a message are placed,
/// its cost counts as busy time of the receiver's place. Ignores distances and the current
/// placement. `arcs` must be those of the workload. O(n + (n + m) log p).
Placement schedule_by_finish(const Problem& problem, const Arcs& arcs, double message_weight = 1);

}  // namespace poise
