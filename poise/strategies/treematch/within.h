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
  /// Children per vertex on each level, from the root down; nothing if they vary inside a level.
  std::optional<std::vector<std::uint32_t>> arities;
};

/// The subtree of the machine that consists of the places [first, last), usually those of a node.
Subtree subtree(const Machine& machine, PlaceId first, PlaceId last);

/// The tasks to be placed inside one node. Vertices and places are numbered within the
/// node.
struct Inside {
  Graph graph;                 // vertex weights are loads, or all 1
  std::vector<Part> current;   // per vertex its current place; kFree: outside the node
  std::vector<Part> fixed;     // per vertex its fixed place, or kFree; empty: all are free
  std::vector<double> anchor;  // per vertex the weight of staying at its current place
  std::vector<double> shares;  // per place how much load it can take, relative to others
  double tolerance;            // fraction by which a place may exceed its share
};

/// Returns the place of each vertex, counted from the first place of the subtree.
///
/// If there are enough places, each place gets at most one vertex. Otherwise the vertices are first
/// divided into one group per place. The groups have equal loads, unlike the groups in the paper,
/// which have equal numbers of vertices: with skewed loads, those would double the makespan. If
/// places take equal shares of the load, no task is pinned, and the tree is regular, TreeMatch then
/// maps the groups to the places. Otherwise each group is made for a certain place, and places with
/// equal shares and without pinned tasks swap their groups if that shortens the paths of messages.
std::vector<Part> place_inside(const Machine& machine, const Subtree& tree, Inside inside);

}  // namespace poise::tree_match
