// The tasks of one node mapped to its places: TreeMatch with oversubscription and constraints.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/partition.h"

namespace poise::tree_match {

using namespace graphs;  // graph.h and what stands on it

/// Consecutive places that form a tree of their own.
struct Subtree {
  PlaceId first, last;
  /// Arities from the root down where all inner vertices of a level have the same; else nothing.
  std::optional<std::vector<std::uint32_t>> arities;
};

/// The places of a node, with the levels of the machine between them.
Subtree subtree(const Machine& machine, PlaceId first, PlaceId last);

/// What is to be placed; vertices are numbered within the node, places from its first.
struct Inside {
  Graph graph;                 // weights: loads, or 1 each
  std::vector<Part> current;   // per vertex the place it is at, or kFree if it is elsewhere
  std::vector<Part> fixed;     // per vertex the place it must be at, or kFree; empty: all are free
  std::vector<double> anchor;  // per vertex what weighs for staying
  std::vector<double> shares;  // per place what it can take
  double tolerance;            // of the shares
};

/// The place of each vertex, counted from the first of the subtree.
///
/// One vertex per place where there are enough of them. Else the tree gets one more level below
/// the places, whose groups are made of equal load, not of equal count as in the paper: equal
/// counts would double the makespan of skewed loads. Groups go to places by TreeMatch; where places
/// differ or tasks are pinned, or the tree is ragged, parts are made for each place and then
/// swapped between equal ones.
std::vector<Part> place_inside(const Machine& machine, const Subtree& tree, Inside inside);

}  // namespace poise::tree_match
