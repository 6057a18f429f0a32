// SPDX-License-Identifier: BSD-3-Clause
// Assigns tasks to nodes: grouped by affinity and load, groups mapped to the network.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/strategies/strategy.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// What is to be placed, and how much places can take.
struct Demand {
  Graph graph;                         // weights: loads, or 1 each
  std::vector<double> share_of_place;  // relative; 0: nothing may be placed there
  double tolerance = 0;                // of the shares
  bool has_pinned = false;             // some tasks must stay where they are
  bool one_each = false;               // there are at least as many places as tasks
  Vertex open_places = 0;              // number of places with a share above 0
};

/// Weight of a task for staying where it is.
inline double anchor_weight(const Task& task) { return 1 + static_cast<double>(task.bytes); }

/// The group of each task, one group per node: by affinity, or with `keeps_groups` the tasks now on
/// each node; swaps then even the groups out.
std::vector<NodeId> group_per_node(const Problem& problem, const Demand& demand, bool keeps_groups);

/// The node of each group. Groups are exchanged only between nodes with the same places and shares,
/// and not if tasks are pinned there.
std::vector<NodeId> map_groups(const Problem& problem, const Demand& demand,
                               const std::vector<NodeId>& group_of);

}  // namespace poise::tree_match
