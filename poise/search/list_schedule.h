// SPDX-License-Identifier: BSD-3-Clause
// List scheduling by load and message distance: the engine of strategies `nuco` and `numa`.
#pragma once

#include <cstdint>

#include "poise/placement/problem.h"
#include "poise/search/distance_tree.h"
#include "poise/workload/message_counts.h"

namespace poise {

struct Schedule {
  Placement placement;
  /// Number of queries for the least busy place of a range, as a measure of the cost.
  std::uint64_t num_queries = 0;
};

/// Places movable tasks in order of load, heaviest first (ties: lower id), each on the place c with
/// the least
///
///     cost(c, t) = busy(c) + alpha * sum over distinct weights w, ascending, of w * n_w
///
/// busy(c) is in seconds and without t; n_w counts the messages of `partners.of(t)` that have
/// weight w between their other end and c. If places differ in speed, load(t) / speed(c) is added.
/// Ties: the current place, then the less busy place, then the lower id. If a task stays, busy(c)
/// keeps its value to the last bit.
///
/// All places of a distance-tree group that holds no partner of t have the same weights, so one
/// query for the least busy of them is enough. A group is skipped if its least busy place could not
/// win even with the smallest weights. For n tasks, E links and m places, a tree takes O(n + m + E
/// levels log m). A network of N nodes that is not a tree adds O(sqrt(N)) per task, O(log m +
/// partners) per node that could win (at worst all N), and O(N) once per sending node. Each speed
/// of places needs queries of its own; beyond 32 speeds, one more query for each place that could
/// win.
Schedule list_schedule(const Problem& problem, const MessageCounts& partners, double alpha,
                       MessageWeights weights);

}  // namespace poise
