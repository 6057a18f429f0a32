// SPDX-License-Identifier: BSD-3-Clause
// Traffic between groups of places: the data of the communication picture.
#pragma once

#include <string>
#include <vector>

#include "poise/placement/placement.h"

namespace poise::apps {

/// A division of the places into groups. Pictures draw each group as one item.
struct Grouping {
  std::string name;  // "place", "numa", "node", or "8 places"
  std::vector<std::uint32_t> group_of_place;
  std::uint32_t num_groups = 0;
  std::vector<NodeId> node_of_group;  // per group: the node of its first place
};

/// Divides the places of a machine into groups: those of the finest level that has at least two and
/// at most `most` groups. If there is no such level, a group is a range of consecutive places, and
/// all ranges but the last have the same length.
Grouping grouping_of(const Machine& machine, std::uint32_t most);

struct Traffic {
  Grouping grouping;
  bool in_bytes = true;  // false: `amount` counts messages, because their sizes are unknown
  /// Element [from * groups + to] is the traffic from group `from` to group `to`. Messages between
  /// tasks of the same place are left out.
  std::vector<double> amount;
  double largest = 0;
};

Traffic traffic_of(const Machine& machine, const Workload& workload, const Placement& placement,
                   std::uint32_t most_groups);

/// Migrated tasks and bytes by distance: inside a memory domain, inside a node, between nodes.
struct Moves {
  struct Reach {
    std::uint64_t tasks = 0, bytes = 0;
  };
  Reach inside_domain, inside_node, between_nodes;
};

Moves moves_of(const Machine& machine, const Workload& workload, const Placement& before,
               const Placement& after);

}  // namespace poise::apps
