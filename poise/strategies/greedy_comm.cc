// SPDX-License-Identifier: BSD-3-Clause
/// Greedy comm: heaviest task first, each on the place where its work and its messages cost least.
///
/// Charm++'s GreedyCommLB. The cost of a task on place p is busy(p) + load / speed(p) + the cost of
/// its messages to and from partners (tasks already placed) on other places. A message costs alpha
/// plus beta per byte; both are values of the cost model, multiplied by the knob `comm`. Only the
/// places of the partners, and the place that would finish the task first without messages, can be
/// the cheapest. No other places are tried. Once both ends of a message are placed, its cost counts
/// as busy time of the receiver's place. Ignores distances and the current placement, so nearly
/// every task moves. Of equally heavy tasks and of equally cheap places, the one with the lower id
/// is chosen. O(n + (n + m) log p) for n tasks, m messages and p places.
#include "poise/search/finish_schedule.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement greedy_comm(const Problem& problem, const Knobs& knobs) {
  return schedule_by_finish(problem, Arcs(problem.workload), knobs["comm"]);
}

}  // namespace poise
