// SPDX-License-Identifier: BSD-3-Clause
/// Numa: heaviest task first, each on the least busy place, with messages weighted by NUMA factors.
///
/// NumaLB: "Charm++ on NUMA Platforms: the impact of SMP Optimizations and a NUMA-aware Load
/// Balancer", Charm++ workshop 2011 (slides). For task k and place i,
///
///     W(k, i) = L(i) + alpha * (-M(k, i) + sum over j != i of M(k, j) * NF(j, i))
///
/// L(i) is the busy time of i without k. M(k, j) counts the messages that k exchanges, in both
/// directions, with tasks on j (the slides say "communications"). NF(j, i) is the factor from
/// domain(j) to domain(i), 1 inside a domain. With level=node, an extension from the slides, M(k,
/// i) counts all messages of k with the domain of i, and the sum runs over the other domains. Few
/// tasks move. Ignores bytes. Takes as long as nuco.
#include "poise/search/list_schedule.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement numa(const Problem& problem, const Knobs& knobs) {
  const bool by_core = knobs.choice("level") == "core";
  const MessageWeights weights{.same_place = -1, .same_domain = by_core ? 1.0 : -1.0};
  return list_schedule(problem, counts_exchanged(problem.workload), knobs["alpha"], weights)
      .placement;
}

}  // namespace poise
