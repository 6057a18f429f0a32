// SPDX-License-Identifier: BSD-3-Clause
// The slots of a machine: a slot is a set of cores (or part of one core) that one rank uses.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/placement.h"

namespace poise {

/// How ranks fill the places of a machine.
struct RankShape {
  std::uint32_t cores_per_rank = 1;   // places per rank, consecutive in a domain or node
  std::uint32_t ranks_per_place = 1;  // ranks that share a place; above 1 only if ranks have 1 core
  bool fills_nodes = false;           // true: only the last node in use may have free slots
};

/// Returns the place of each slot in ascending order. A slot is the room for one rank; its place is
/// its first core. Takes nodes in order until they have at least `ranks` slots. If the map `start`
/// is given, also takes the nodes that it uses. Returns all slots of these nodes, or only the first
/// `ranks` of them if shape.fills_nodes is true. A slot lies inside a domain if a domain has enough
/// cores, otherwise inside a node. Throws Error if the machine has fewer than `ranks` slots.
std::vector<PlaceId> rank_slots(const Machine& machine, std::uint32_t ranks, const RankShape& shape,
                                const Placement* start = nullptr);

}  // namespace poise
