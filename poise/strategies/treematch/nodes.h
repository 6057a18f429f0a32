// SPDX-License-Identifier: BSD-3-Clause
// Divides tasks among blocks of places, usually nodes: groups them by affinity and load, then maps
// the groups to the blocks.
#pragma once

#include <vector>

#include "poise/partition/partition.h"
#include "poise/strategies/strategy.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// Blocks of consecutive places, among which tasks are divided first: the nodes, the groups of
/// another level of the machine, or a single block with all places.
struct Blocks {
  std::vector<PlaceId> first_place;     // first place of each block; last entry: number of places
  std::vector<std::uint32_t> of_place;  // the block of each place
  bool are_nodes = false;

  std::uint32_t count() const { return static_cast<std::uint32_t>(first_place.size()) - 1; }
};

Blocks all_nodes(const Machine& machine);
/// If depth is 0, there is one block with all places. Otherwise there is a block for each group of
/// the machine's level number depth - 1.
Blocks blocks_at(const Machine& machine, std::size_t depth);
/// Returns all different divisions of the places into blocks. The first division is that into
/// nodes. The others follow from coarse to fine: from one block with all places to the groups of
/// the level above single places.
std::vector<Blocks> possible_blocks(const Machine& machine);

/// The tasks to be placed, and how much load each place can take.
struct Demand {
  Graph graph;                         // vertex weights are loads, or all 1
  std::vector<double> share_of_place;  // relative to other places; 0: the place gets no tasks
  double tolerance = 0;                // of the shares
  bool has_pinned = false;             // some tasks must stay where they are
  bool one_each = false;               // there are at least as many places as tasks
  Vertex open_places = 0;              // number of places with a share above 0
};

/// The weight of keeping a task where it is. A task with more bytes to migrate has a larger weight.
inline double anchor_weight(const Task& task) { return 1 + static_cast<double>(task.bytes); }

/// Returns the group of each task; there is one group per block. Groups are formed by affinity or,
/// with `keeps_groups`, by the current blocks of the tasks. Then swaps even out the groups' loads.
std::vector<std::uint32_t> group_per_block(const Problem& problem, const Demand& demand,
                                           const Blocks& blocks, bool keeps_groups);

/// Returns the block of each group. Two blocks exchange their groups only if their places are
/// alike, they have equal shares of the load, and no tasks are pinned to either of them.
std::vector<std::uint32_t> map_groups(const Problem& problem, const Demand& demand,
                                      const Blocks& blocks,
                                      const std::vector<std::uint32_t>& group_of);

}  // namespace poise::tree_match
