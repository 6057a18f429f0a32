// Groups of tasks mapped to the nodes of any network, so that few bytes travel far.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // graph.h and what stands on it

using Distance = std::function<double(std::uint32_t, std::uint32_t)>;

/// Network edges between nodes; on a matrix, which has none, the latency factor.
Distance node_distance(const Machine& machine);

/// The same from a table of size^2 numbers: for few nodes, asked often.
Distance tabulated(std::uint32_t size, const Distance& distance);

/// True where all pairs of different nodes are equally far: no mapping is better than another.
bool is_uniform(const Machine& machine);

/// Sum of affinity times distance, each edge once. O(edges).
double hop_affinity(const Graph& graph, std::span<const Vertex> slot_of, const Distance& distance);

/// Per node its coordinates on a torus or mesh; empty for other networks.
std::vector<std::vector<std::uint32_t>> node_coordinates(const Machine& machine);

/// One slot per vertex of a graph with as many vertices as slots, from both ends at once (dual
/// recursive bisection, Pellegrini 1994): slots are halved across their longest dimension, or
/// without coordinates by which of two far ones they are closer to; vertices by the affinity cut,
/// each drawn to the half that is closer to its neighbours outside. O(n^2 + n log n) distances.
std::vector<Vertex> map_by_halving(const Graph& graph, const Distance& distance,
                                   const std::vector<std::vector<std::uint32_t>>& coordinates);

/// Swaps the slots of two vertices of the same kind while that lowers the sum; a vertex tries the
/// slots near those of its neighbours. O(passes * edges * near slots).
void swap_closer(const Graph& graph, std::span<const std::uint32_t> kind_of_slot,
                 const Distance& distance, std::span<Vertex> slot_of);

}  // namespace poise::tree_match
