// SPDX-License-Identifier: BSD-3-Clause
// Assigns tasks to blocks of places, usually nodes: groups them by affinity and load, then maps the
// groups to the network.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/strategies/strategy.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// The groups of places among which tasks are divided first: the nodes, the groups of another level
/// of the machine, or all places together. Each is a range of consecutive places.
struct Blocks {
  std::vector<PlaceId> first_place;     // per block, then one past the last place
  std::vector<std::uint32_t> of_place;  // the block of each place
  bool are_nodes = false;

  std::uint32_t count() const { return static_cast<std::uint32_t>(first_place.size()) - 1; }
};

Blocks all_nodes(const Machine& machine);
/// The groups of the first `depth` levels of the machine: those of its level number depth - 1, or
/// all places in one block if depth is 0.
Blocks blocks_at(const Machine& machine, std::size_t depth);
/// Returns all different divisions of the places into blocks. The first division is that into
/// nodes. The others follow from coarse to fine: from a single block with all places to the groups
/// of the last level above the places.
std::vector<Blocks> possible_blocks(const Machine& machine);

/// The tasks to be placed, and how much load places can take.
struct Demand {
  Graph graph;                         // the weights of its vertices are loads, or 1 each
  std::vector<double> share_of_place;  // relative; 0: nothing may be placed there
  double tolerance = 0;                // of the shares
  bool has_pinned = false;             // some tasks must stay where they are
  bool one_each = false;               // there are at least as many places as tasks
  Vertex open_places = 0;              // number of places with a share above 0
};

/// How much it matters that a task stays where it is: more for tasks with more bytes to migrate.
inline double anchor_weight(const Task& task) { return 1 + static_cast<double>(task.bytes); }

/// Returns the group of each task, with one group per block. Groups are formed by affinity or, with
/// `keeps_groups`, by the block where each task is now; swaps then even out the groups.
std::vector<std::uint32_t> group_per_block(const Problem& problem, const Demand& demand,
                                           const Blocks& blocks, bool keeps_groups);

/// Returns the block of each group. Two blocks exchange their groups only if their places are
/// alike, they have equal shares of the load, and no tasks are pinned to either of them.
std::vector<std::uint32_t> map_groups(const Problem& problem, const Demand& demand,
                                      const Blocks& blocks,
                                      const std::vector<std::uint32_t>& group_of);

}  // namespace poise::tree_match
