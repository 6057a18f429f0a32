// SPDX-License-Identifier: BSD-3-Clause
// TreeMatch: maps elements to the leaves of a tree so that those with large affinity are close.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// Splits each arity into its prime factors, root first, with smaller factors lower in the tree;
/// arities of 1 are dropped. With groups of 2, 3 or 5 elements, the lists of possible groups stay
/// short.
std::vector<std::uint32_t> split_to_primes(std::span<const std::uint32_t> arities);

/// Returns a different leaf for each vertex, on the tree with these arities from the root down.
/// There must not be more vertices than leaves.
///
/// Jeannot and Mercier, Euro-Par 2010: empty vertices fill the tree; then groups are formed
/// bottom-up, and each level groups the groups of the level below. If the tree has at most 30,000
/// distinct arrangements (all trees of up to 8 leaves, 2 x 8, 8 x 2), all are tried, and the sum of
/// affinity times hops is optimal.
std::vector<Vertex> match_to_tree(Graph graph, std::span<const std::uint32_t> arities);

/// Chooses among equally good results: permutes the children of every inner vertex so that as much
/// as possible stays at its leaf. `anchors[v]` lists leaves where v is now, each with the weight of
/// staying there.
struct Anchor {
  Vertex leaf;
  double weight;
};
std::vector<Vertex> turn_to_anchors(std::span<const Vertex> leaf_of,
                                    std::span<const std::uint32_t> arities,
                                    std::span<const std::vector<Anchor>> anchors);

}  // namespace poise::tree_match
