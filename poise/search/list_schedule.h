// List scheduling by load and nearness: what `nuco` and `numa` share.
#pragma once

#include <cstdint>

#include "poise/placement/problem.h"
#include "poise/search/distance_tree.h"
#include "poise/workload/message_counts.h"

namespace poise {

struct Schedule {
  Placement placement;
  std::uint64_t num_questions = 0;  // for the least busy place of a range: what a decision costs
};

/// Heaviest movable task first (ties: the lower id), each to the place c of least
///
///     cost(c, t) = busy(c) + alpha * sum over distinct weights w, ascending, of w * n_w
///
/// where busy(c) is in seconds and without t, and n_w counts the messages of `partners.of(t)` that
/// weigh w from where their other ends are now to c. With unequal speeds, plus load(t) / speed(c).
/// Ties: the current place, then the less busy, then the lower id. A task that stays leaves busy(c)
/// as it was, to the last bit.
///
/// Weights are the same on all places of a group of the distance tree that holds no partner of t,
/// so one question for the least busy of them is enough; a group is passed over where its least
/// busy place could not win at the least weights. With n tasks, E links, m places:
/// O(n + m + E levels log m) on a tree, whatever the number of domains. A network of N nodes that
/// is no tree adds O(sqrt(N)) per task and O(log m + partners) per node that is idle enough to win
/// (all N at worst), and O(N) once per node that sends. Places of another speed ask questions of
/// their own; past 32 speeds, one more for each place that is idle enough to win.
Schedule list_schedule(const Problem& problem, const MessageCounts& partners, double alpha,
                       MessageWeights weights);

}  // namespace poise
