// SPDX-License-Identifier: BSD-3-Clause
// A decision by all ranks together, each of which knows its own tasks only.
//
// A V-cycle on the machine's tree, from the current placement (multilevel partitioning as in
// Sanders and Seemaier, "Distributed Deep Multilevel Graph Partitioning", Euro-Par 2023, but along
// the machine's groups, and with the time of messages and migrations as the objective):
//
// 1. Each rank merges its tasks along heavy messages into clusters. The leader of each group of
//    ranks merges what its members have, up to the leader of all (rank_groups.h).
// 2. That one decides which of its groups gets which vertex, by a strategy of the table on a
//    machine whose places are the groups (leader_problem.h).
// 3. Downwards each leader does the same for its group, in parallel; messages to other groups end
//    at ports.
// 4. If messages weigh, or if clusters were too heavy to balance because few ranks had most of the
//    load, tasks change to their targets on paper and a second cycle runs from there.
//
// With few tasks in all, nothing is merged and the decision is that of the strategy itself. A
// rank's memory is O(own tasks + own messages + neighbours) and a constant; nothing is stored per
// task of other ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/distributed/communicator.h"
#include "poise/distributed/own_tasks.h"
#include "poise/machine/machine.h"
#include "poise/strategies/strategy.h"

namespace poise {

struct Arrival {
  std::uint64_t id = 0;
  std::uint32_t from = 0;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

struct DistributedPlan {
  std::vector<std::uint32_t> rank_of_task;  // per own task
  std::vector<Arrival> imports;             // by rank, then in the order of tasks there
};

/// Numbers that bound a leader's work and memory.
struct DistributedLimits {
  std::uint32_t width = 64;     // members of a group
  std::size_t vertices = 4096;  // for which a leader decides
  std::size_t edges = 49152;    // between them
};

/// Collective. Rank r is place r of the machine, which all ranks give alike, as they do strategy
/// and seed. Throws Error on all ranks if the input of one is wrong.
DistributedPlan plan_distributed(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                                 const Choice& strategy, std::uint64_t seed,
                                 const DistributedLimits& limits = {});

}  // namespace poise
