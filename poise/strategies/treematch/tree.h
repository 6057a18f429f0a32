// TreeMatch: elements mapped to the leaves of a tree so that those with much affinity are close.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // graph.h and what stands on it

/// The prime factors of each arity, root first, smaller ones lower in the tree; arities of 1 are
/// dropped. Grouping by 2, 3 or 5 at a time keeps the lists of possible groups short.
std::vector<std::uint32_t> split_to_primes(std::span<const std::uint32_t> arities);

/// The leaf of each vertex, all different, on the tree with these arities from the root down; at
/// most as many vertices as leaves.
///
/// Jeannot and Mercier 2010: empty vertices fill the tree, then groups form bottom-up, each level
/// working on the groups of the one below. Where the tree has at most 30,000 distinct arrangements
/// (all trees of up to 8 leaves, 2 x 8, 8 x 2 …) they are tried, and the sum of affinity times hops
/// is the least possible.
std::vector<Vertex> match_to_tree(Graph graph, std::span<const std::uint32_t> arities);

/// The leaf of each vertex among equally good ones: turns every inner vertex of the tree so that
/// what was at a leaf before stays there. `stays[v]` lists, per vertex, leaves and what weighs
/// there for staying.
struct Anchor {
  Vertex leaf;
  double weight;
};
std::vector<Vertex> turn_to_anchors(std::span<const Vertex> leaf_of,
                                    std::span<const std::uint32_t> arities,
                                    std::span<const std::vector<Anchor>> anchors);

}  // namespace poise::tree_match
