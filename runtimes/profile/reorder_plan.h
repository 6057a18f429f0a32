// SPDX-License-Identifier: BSD-3-Clause
// Decides the order of a topology's ranks on the machine that they occupy. Pure.
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

/// A machine whose places are the ranks of a communicator, and nothing else.
struct Seats {
  Machine machine;
  std::vector<std::uint32_t> rank_on;  // per place
};

/// From what the ranks know of themselves. Parts of hosts that some rank does not know do not
/// count. `switches`: the leaf switch of each host, in any order; used if all hosts have one.
Seats seats_of(std::span<const RankSite> sites, std::span<const JobHost> switches);

/// The part of a machine on which rank r occupies place_of[r]. Throws Error if a place is not one
/// of the machine's, or if it is taken twice.
Seats seats_on(const Machine& machine, std::span<const std::int32_t> place_of);

struct ReorderPlan {
  std::vector<std::uint32_t> rank_at;  // per rank of the new communicator, the old one
  double before = 0, after = 0;        // sum over edges of weight times hops
  bool is_better() const { return after < before; }
};

/// Never worse than the order of the old ranks, which it returns if it finds nothing better.
/// O((ranks + edges) log ranks).
ReorderPlan plan_order(const Seats& seats, std::span<const TopologyEdge> edges);

}  // namespace poise::profile
