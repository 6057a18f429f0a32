// SPDX-License-Identifier: BSD-3-Clause
// List scheduling by the time at which a task and its messages would be finished: the algorithm of
// strategy `greedy_comm`, and a starting point of the search of `poise`.
#pragma once

#include "poise/placement/arcs.h"
#include "poise/placement/problem.h"

namespace poise {

/// Places movable tasks in order of load, heaviest first (ties: lower id). Each task goes to the
/// place p with the smallest (ties: lower place)
///
///     busy(p) + load / speed(p) + message_weight * message_s(p)
///
/// message_s(p) is the time, with all cost factors 1, of the messages between the task and those
/// partners that are already placed, but not on p. The best place either holds a partner or is the
/// place that would finish the task first without its messages, so no other places are tried. Once
/// both ends of a message are placed, its cost counts as busy time of the receiver's place. Ignores
/// distances and the current placement. `arcs` must be those of the workload. O(n + (n + m) log p)
/// for n tasks, m messages and p places.
Placement schedule_by_finish(const Problem& problem, const Arcs& arcs, double message_weight = 1);

}  // namespace poise
