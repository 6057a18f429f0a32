// SPDX-License-Identifier: BSD-3-Clause
/// Nuco: heaviest task first, each on the place where its load and its remote messages cost least.
///
/// NucoLB: Pilla et al., "A Hierarchical Approach for Load Balancing on Parallel Multi-core
/// Systems", ICPP 2012, Algorithm 1. The cost of a task t on a core c, in seconds, is
///
///     cost(c, t) = busy(c) + alpha * (sum over d != domain(c) of r_d * factor(d -> domain(c)) - l)
///
/// Here t receives r_d messages from domain d and l messages from domain(c). factor(d -> e) is the
/// NUCO factor of the machine: the latency of e's cores to the memory of d, divided by their
/// latency to their own memory. The knob alpha converts weighted messages to seconds. busy(c)
/// includes background load but not t. A task moves only to a place with a lower cost, so few tasks
/// move. Ignores bytes, and messages that t sends.
///
/// The paper defines l as the messages from "other cores of the same NUMA node". So with local=0,
/// messages from c itself do not count; by default they count as local. With caches=1, an extension
/// that the paper names as future work, each message from domain(c) adds f - 2 instead of -1, where
/// f is the factor of the caches that the sender's core shares with c. f - 2 is -1 without a shared
/// cache, as in the paper, and -2 on the same core.
///
/// If places differ in speed, which the paper does not cover, load(t) / speed(c) is added. O(n + m
/// + E levels log m) for n tasks, E messages and a machine of m places whose network is a tree;
/// list_schedule.h explains how, and gives the cost on other networks.
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
