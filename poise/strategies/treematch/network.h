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

/// Returns the function that gives the distance between two nodes: the number of hops or, if the
/// network is given as a matrix of latencies, the latency factor of the two nodes.
Distance node_distance(const Machine& machine);

/// Returns a function that looks distances up in a table of size^2 numbers, for many queries.
Distance tabulated(std::uint32_t size, const Distance& distance);

/// True if all pairs of different nodes are equally far apart, so that all mappings are equally
/// good.
bool is_uniform(const Machine& machine);

/// Sum of affinity times distance, each edge counted once. O(edges).
double hop_affinity(const Graph& graph, std::span<const Vertex> slot_of, const Distance& distance);

/// Coordinates of each node on a torus or mesh; empty for other networks.
std::vector<std::vector<std::uint32_t>> node_coordinates(const Machine& machine);

/// Maps the vertices of a graph to equally many slots, and returns the slot of each vertex. The
/// method is dual recursive bisection (Pellegrini, "Static mapping by dual recursive bipartitioning
/// of process and architecture graphs", 1994): the slots are halved, then the vertices are divided
/// between the halves, and so on inside each half. Slots with coordinates are halved across the
/// dimension in which they extend most. Without coordinates, two slots far from each other are
/// chosen, and each half has the slots that are closer to one of them. Vertices are divided so that
/// the cut edges have little affinity. A vertex that has neighbours outside the divided set is
/// drawn to the half that is closer to them. Computes O(n^2 + n log n) distances for n slots.
std::vector<Vertex> map_by_halving(const Graph& graph, const Distance& distance,
                                   const std::vector<std::vector<std::uint32_t>>& coordinates);

/// Swaps the slots of two vertices as long as that lowers the sum of affinity times distance. Two
/// slots are swapped only if they have the same kind in `kind_of_slot`. For each vertex, tries the
/// slots near those of its neighbours in the graph. O(passes * edges * near slots).
void swap_closer(const Graph& graph, std::span<const std::uint32_t> kind_of_slot,
                 const Distance& distance, std::span<Vertex> slot_of);

}  // namespace poise::tree_match
