// SPDX-License-Identifier: BSD-3-Clause
// TreeMatch: maps elements to the leaves of a tree; elements with large affinity get close leaves.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// Replaces each level of the tree by levels whose arities are the prime factors of its arity, with
/// smaller factors lower in the tree. Drops arities of 1. Then most groups have 2, 3 or 5 elements,
/// so there are few possible groups to list. Arities are listed from the root down.
std::vector<std::uint32_t> split_to_primes(std::span<const std::uint32_t> arities);

/// Maps each vertex to a leaf of its own in the tree that has these arities from the root down, and
/// returns the leaves. There must not be more vertices than leaves.
///
/// Jeannot and Mercier, Euro-Par 2010: vertices without edges are added until there is one vertex
/// per leaf. Then vertices are grouped bottom-up: the groups of one level are the elements that are
/// grouped on the next level. If there are at most 30,000 different ways to group them (as in all
/// trees of up to 8 leaves and in the trees 2 x 8 and 8 x 2), all ways are tried, and the sum of
/// affinity times hops is minimal.
std::vector<Vertex> match_to_tree(Graph graph, std::span<const std::uint32_t> arities);

/// Chooses among equally good mappings: permutes the subtrees below every inner vertex of the tree
/// so that as many vertices as possible get a leaf where they are now. `anchors[v]` lists the
/// leaves where vertex v (or a part of it) is now, each with the weight of staying there.
struct Anchor {
  Vertex leaf;
  double weight;
};
std::vector<Vertex> turn_to_anchors(std::span<const Vertex> leaf_of,
                                    std::span<const std::uint32_t> arities,
                                    std::span<const std::vector<Anchor>> anchors);

}  // namespace poise::tree_match
