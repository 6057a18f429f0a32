// SPDX-License-Identifier: BSD-3-Clause
/// Nuco: heaviest task first, each on the place where its load and its remote messages cost least.
///
/// NucoLB: Pilla et al., "A Hierarchical Approach for Load Balancing on Parallel Multi-core
/// Systems", ICPP 2012, Algorithm 1. With r_d messages received from domain d,
///
///     cost(c, t) = busy(c) + alpha * (sum over d != domain(c) of r_d * factor(d -> domain(c)) - l)
///
/// where l counts the messages from domain(c), and busy(c) includes background load but not t. A
/// task moves only to a cheaper place, so few tasks move. Ignores bytes, and messages that t sends.
/// With caches=1, an extension that the paper names as future work, a message from domain(c) weighs
/// the factor of the caches that both cores share, minus 2: -1 without a shared cache, as in the
/// paper, and -2 on the same core.
///
/// If places differ in speed, which the paper does not cover, load(t) / speed(c) is added. O(n + m
/// + E levels log m) for n tasks, E messages and m places of a tree; list_schedule.h explains how,
/// and gives the cost on other networks.
#include "poise/search/list_schedule.h"
#include "poise/strategies/strategy.h"

namespace poise {

Placement nuco(const Problem& problem, const Knobs& knobs) {
  const bool caches = knobs.choice("caches") == "1";
  const double local = caches ? -2.0 : -1.0;
  const MessageWeights weights{.same_place = knobs.choice("local") == "1" ? local : 0.0,
                               .same_domain = -1,
                               .caches = caches};
  return list_schedule(problem, counts_received(problem.workload), knobs["alpha"], weights)
      .placement;
}

}  // namespace poise
