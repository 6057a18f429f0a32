// List scheduling by load and nearness: what `nuco` and `numa` share.
#pragma once

#include <cstdint>

#include "poise/strategies/distance_tree.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/message_counts.h"

namespace poise {

struct Schedule {
  Placement placement;
  std::uint64_t num_evaluations = 0;  // of the cost of a range of places
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
/// so one question for the least busy of them is enough. With n tasks, E links, m places:
/// O(n log n + E * levels + (n + E * levels) log m) on a tree, whatever the number of domains; on
/// other networks besides, per task, O(log m + partners) for each node that is idle enough to win.
/// Each distinct speed of places asks its own questions.
Schedule list_schedule(const Problem& problem, const MessageCounts& partners, double alpha,
                       MessageWeights weights);

}  // namespace poise
