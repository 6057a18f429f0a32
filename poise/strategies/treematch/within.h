// SPDX-License-Identifier: BSD-3-Clause
// Maps the tasks of one node to its places: TreeMatch with several tasks per place and constraints.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/partition.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// A range of consecutive places that is a subtree of the machine.
struct Subtree {
  PlaceId first, last;
  /// Arities from the root down if all vertices of a level have the same arity; otherwise nothing.
  std::optional<std::vector<std::uint32_t>> arities;
};

/// The subtree of a node's places, with the machine's levels inside the node.
Subtree subtree(const Machine& machine, PlaceId first, PlaceId last);

/// The tasks to be placed inside one node. Vertices are numbered within the node, and places from
/// the node's first place.
struct Inside {
  Graph graph;                 // the weights of its vertices are loads, or 1 each
  std::vector<Part> current;   // per vertex its current place, or kFree if that is elsewhere
  std::vector<Part> fixed;     // per vertex its fixed place, or kFree; empty: all are free
  std::vector<double> anchor;  // per vertex the weight of staying
  std::vector<double> shares;  // per place how much it can take, relative to the others
  double tolerance;            // fraction that a place may hold above its share
};

/// Returns the place of each vertex, counted from the first place of the subtree.
///
/// If there are enough places, each gets at most one vertex. Otherwise the vertices are first
/// divided into one group per place. The groups have equal load, not an equal number of vertices as
/// in the paper, which would double the makespan if loads are skewed. TreeMatch then maps the
/// groups to the places. It cannot do so if places take different shares of the load, if tasks are
/// pinned, or if the tree is irregular: then each group is made for a certain place, and places
/// with equal shares swap their groups if that shortens the paths of messages.
std::vector<Part> place_inside(const Machine& machine, const Subtree& tree, Inside inside);

}  // namespace poise::tree_match
