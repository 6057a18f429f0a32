// SPDX-License-Identifier: BSD-3-Clause
// List scheduling by load and message distance: the algorithm of the strategies `nuco` and `numa`.
#pragma once

#include <cstdint>

#include "poise/placement/problem.h"
#include "poise/search/distance_tree.h"
#include "poise/workload/message_counts.h"

namespace poise {

struct Schedule {
  Placement placement;
  /// Number of queries for the least busy place of a range: a measure of the computing time.
  std::uint64_t num_queries = 0;
};

/// Places movable tasks in order of load, heaviest first (ties: lower id), each on the place c with
/// the least
///
///     cost(c, t) = busy(c) + alpha * sum over distinct weights w, ascending, of w * n_w
///
/// busy(c) is the busy time of c without t, in seconds; n_w is the number of messages that t
/// exchanges with `partners.of(t)` and that have the weight w if t is on c. If places differ in
/// speed, load(t) / speed(c) is added to the cost. Among places of equal cost, the task takes its
/// current place, else the less busy place, else the one with the lower id. If a task stays, its
/// place's busy time does not change, not even by rounding.
///
/// If a group of the distance tree holds no partner of t, the messages of t weigh the same from all
/// places of the group, so only the least busy of these places is tried; one query finds it. A
/// group is skipped if its least busy place could not win even with the smallest weights.
///
/// For n tasks, E pairs of communicating tasks and m places, the time is O(n + m + E levels log m)
/// if the network is a tree. Otherwise, the N nodes are compared one by one: for each task, all
/// nodes with partners, and other nodes only if they could win. This takes O(sqrt(N)) more per task
/// and partner, O(log m + partners) more per task and compared node, and O(N) once per node that
/// sends. For the few nodes that could still win after the comparison, an exact sum takes
/// O(partners * distinct weights). The places of each speed are queried separately; if there are
/// more than 32 speeds, each place that could win needs one more query.
Schedule list_schedule(const Problem& problem, const MessageCounts& partners, double alpha,
                       MessageWeights weights);

}  // namespace poise
