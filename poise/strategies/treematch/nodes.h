// Which node each task goes to: tasks grouped by affinity and load, groups mapped to the network.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/strategies/strategy.h"

namespace poise::tree_match {

using namespace graphs;  // graph.h and what stands on it

/// What is to be placed, and what places can take of it.
struct Demand {
  Graph graph;                         // weights: loads, or 1 each
  std::vector<double> share_of_place;  // in proportion; 0: nothing may go there
  double tolerance = 0;                // of the shares
  bool has_pinned = false;             // some tasks must stay at their place
  bool one_each = false;               // a task per place is enough for all
  Vertex open_places = 0;              // with a share above 0
};

/// What it weighs if a task may stay where it is.
inline double anchor_weight(const Task& task) { return 1 + static_cast<double>(task.bytes); }

/// The group of each task, one per node: by affinity, or those that are on a node now (with
/// `keeps_groups`), evened out by swaps.
std::vector<NodeId> group_per_node(const Problem& problem, const Demand& demand, bool keeps_groups);

/// The node of each group. Groups change nodes only among those with the same places and shares,
/// and where nothing is pinned.
std::vector<NodeId> map_groups(const Problem& problem, const Demand& demand,
                               const std::vector<NodeId>& group_of);

}  // namespace poise::tree_match
