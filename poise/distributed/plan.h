// SPDX-License-Identifier: BSD-3-Clause
// Decides where tasks run if each rank knows only its own tasks; all ranks decide together.
//
// The decision is a V-cycle on the machine's tree that starts from the current placement. It is
// multilevel partitioning as in Sanders and Seemaier, "Distributed Deep Multilevel Graph
// Partitioning", Euro-Par 2023, but it follows the groups of the machine, and minimises the time of
// messages and migrations:
//
// 1. Each rank merges its tasks along heavy messages into clusters. The leader of each group of
//    ranks (rank_groups.h) merges the clusters of its members, and so on up to one top leader.
// 2. The top leader assigns each merged vertex to one of its child groups. It runs a strategy
//    (strategies/strategy.h) on a machine whose places are the child groups (leader_problem.h).
// 3. On the way down each leader does the same for its own group, all leaders at the same time.
//    Messages to vertices of other groups end at ports, which stand for parts of these groups.
// 4. If few ranks had most of the load and their clusters were too heavy to balance, a second cycle
//    follows. It starts from the result of the first, without migrating tasks in between.
// 5. Steps 1 to 4 are the first attempt. If messages make its iteration notably longer than the
//    average load, a second attempt follows. Its first cycle has smaller groups of ranks, which
//    bring tasks that communicate closer to each other but move many tasks. Its second cycle
//    balances loads. Strategies other than `poise` make only one attempt: the one with smaller
//    groups if messages cost much, otherwise the one of steps 1 to 4.
// 6. Strategy `poise` uses the result of the attempt with the shorter total time (total_time.h).
//    If neither attempt shortens the total time, all tasks stay.
//
// If there are few tasks in all, nothing is merged, and the decision is that of the strategy
// itself. A rank's memory is O(own tasks + own messages + neighbours) plus a constant; a rank
// stores nothing per task of other ranks.
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
  /// The tasks that arrive, sorted by sending rank. Tasks of one sender are in that sender's order.
  std::vector<Arrival> imports;
};

/// Limits on the work and memory of a leader, the rank that decides for a group of ranks.
struct DistributedLimits {
  std::uint32_t width = 64;     // maximum number of members of a group
  std::size_t vertices = 3072;  // maximum number of vertices for which a leader decides
  std::size_t edges = 32768;    // maximum number of edges between these vertices
};

/// Collective. Rank r is place r of the machine. All ranks must pass the same machine, strategy and
/// seed. Throws Error on all ranks if strategies, seeds or the machines' groups of places differ,
/// or if the input of one rank is wrong.
DistributedPlan plan_distributed(Communicator& ranks, const Machine& machine, const OwnTasks& own,
                                 const Choice& strategy, std::uint64_t seed,
                                 const DistributedLimits& limits = {});

}  // namespace poise
