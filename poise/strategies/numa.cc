/// Numa: heaviest task first, each to the place least busy, weighing messages by NUMA factors.
///
/// NumaLB: "Charm++ on NUMA Platforms: the impact of SMP Optimizations and a NUMA-aware Load
/// Balancer", Charm++ workshop 2011. For task k and place i,
///
///     W(k, i) = L(i) + alpha * (-M(k, i) + sum over j != i of M(k, j) * NF(j, i))
///
/// L(i) is how busy i is without k; M(k, j), where the slides say "communications", counts the
/// messages that k exchanges, both ways, with tasks now on j; NF(j, i) is the factor from domain(j)
/// to domain(i), 1 inside a domain. Level `node` is the slides' extension: M(k, i) is then all that
/// k exchanges with the domain of i, and the sum runs over the other domains. Moves few tasks and
/// ignores bytes. Cost as that of nuco.
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
