// SPDX-License-Identifier: BSD-3-Clause
// Assigns tasks to nodes: groups them by affinity and load, then maps the groups to the network.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/strategies/strategy.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// The tasks to be placed, and how much load places can take.
struct Demand {
  Graph graph;                         // weights: loads, or 1 each
  std::vector<double> share_of_place;  // relative; 0: nothing may be placed there
  double tolerance = 0;                // of the shares
  bool has_pinned = false;             // some tasks must stay where they are
  bool one_each = false;               // there are at least as many places as tasks
  Vertex open_places = 0;              // number of places with a share above 0
};

/// How much it matters that a task stays where it is: more for tasks with more bytes to migrate.
inline double anchor_weight(const Task& task) { return 1 + static_cast<double>(task.bytes); }

/// Returns the group of each task, with one group per node. Groups are formed by affinity or, with
/// `keeps_groups`, by the node where each task is now; swaps then even out the groups.
std::vector<NodeId> group_per_node(const Problem& problem, const Demand& demand, bool keeps_groups);

/// Returns the node of each group. Two nodes exchange their groups only if their places are alike,
/// they have equal shares of the load, and no tasks are pinned to either of them.
std::vector<NodeId> map_groups(const Problem& problem, const Demand& demand,
                               const std::vector<NodeId>& group_of);

}  // namespace poise::tree_match
