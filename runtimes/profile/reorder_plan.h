// SPDX-License-Identifier: BSD-3-Clause
// Decides which rank of a topology runs at which place. All functions are pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtimes/profile/rank_site.h"
#include "runtimes/profile/topology_edges.h"

#include "poise/machine/job.h"
#include "poise/machine/machine.h"

namespace poise::profile {

/// A machine that consists of exactly the places of a communicator's ranks.
struct Seats {
  Machine machine;
  std::vector<std::uint32_t> rank_on;  // per place
};

/// Builds the machine from `sites`: the host, package, cache and core of each rank. A level (for
/// example, packages) is used only if every rank knows to which group of this level it belongs.
/// `switches` gives the leaf switch of each host, in any order; switches become a level only if the
/// leaf switch of every host is known.
Seats seats_of(std::span<const RankSite> sites, std::span<const JobHost> switches);

/// Returns the part of a machine that the ranks use; rank r is at place_of[r]. Throws Error if a
/// place does not exist or two ranks have the same place.
Seats seats_on(const Machine& machine, std::span<const std::int32_t> place_of);

struct ReorderPlan {
  std::vector<std::uint32_t> rank_at;  // per rank of the new communicator: its rank in the old one
  /// The weight of each edge times its hops, summed over all edges: with the old order of the
  /// ranks, and with the new one.
  double before = 0, after = 0;
  bool is_better() const { return after < before; }
};

/// Decides the new order. It is never worse than the old order, which is returned if no better one
/// is found. O((ranks + edges) log ranks).
ReorderPlan plan_order(const Seats& seats, std::span<const TopologyEdge> edges);

}  // namespace poise::profile
