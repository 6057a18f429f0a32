// SPDX-License-Identifier: BSD-3-Clause
// Maps groups of tasks to the nodes of any network, with little traffic over long distances.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

using Distance = std::function<double(std::uint32_t, std::uint32_t)>;

/// Distance between two nodes in hops, or the latency factor on a matrix network, which has no
/// hops.
Distance node_distance(const Machine& machine);

/// Stores the distances in a table of size^2 numbers, for few nodes and many queries.
Distance tabulated(std::uint32_t size, const Distance& distance);

/// True if all pairs of different nodes have the same distance, so that all mappings are equal.
bool is_uniform(const Machine& machine);

/// Sum of affinity times distance, each edge counted once. O(edges).
double hop_affinity(const Graph& graph, std::span<const Vertex> slot_of, const Distance& distance);

/// Coordinates of each node on a torus or mesh; empty for other networks.
std::vector<std::vector<std::uint32_t>> node_coordinates(const Machine& machine);

/// Returns a slot for each vertex of a graph that has as many vertices as slots, by dual recursive
/// bisection (Pellegrini, "Static mapping by dual recursive bipartitioning of process and
/// architecture graphs", 1994). Slots are halved across their longest dimension or, without
/// coordinates, by which of two distant slots is closer. Vertices are halved with a small affinity
/// cut, and each vertex is drawn to the half that is closer to its neighbours outside. O(n^2 + n
/// log n) distances.
std::vector<Vertex> map_by_halving(const Graph& graph, const Distance& distance,
                                   const std::vector<std::vector<std::uint32_t>>& coordinates);

/// Swaps the slots of two vertices of the same kind as long as that lowers the sum. Tries for each
/// vertex the slots near those of its neighbours. O(passes * edges * near slots).
void swap_closer(const Graph& graph, std::span<const std::uint32_t> kind_of_slot,
                 const Distance& distance, std::span<Vertex> slot_of);

}  // namespace poise::tree_match
