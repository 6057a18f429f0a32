// SPDX-License-Identifier: BSD-3-Clause
// Reads the edges of a process topology from the arguments of the MPI function that creates it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace poise::profile {

/// An edge between two ranks of the new communicator. The type is trivially copyable, because ranks
/// send it to each other.
struct TopologyEdge {
  std::int32_t from = 0, to = 0;
  std::int32_t weight = 1;  // how much the ranks exchange, relative to other edges
};
using TopologyEdges = std::vector<TopologyEdge>;

// The functions below return the edges of a topology, or nothing if MPI will refuse the arguments.
// They leave out edges from a rank to itself.

/// Returns the edges of MPI_Cart_create: one per pair of neighbours, or two if they are neighbours
/// on both sides.
std::optional<TopologyEdges> cart_edges(std::span<const int> dims, std::span<const int> periods,
                                        int num_ranks);
/// Returns the edges that MPI_Graph_create gets. The length of the array `edges` is the last
/// element of `index`.
std::optional<TopologyEdges> graph_edges(std::span<const int> index, const int* edges,
                                         int num_ranks);
/// Returns the edges that one rank passes to MPI_Dist_graph_create. `weights` is null if there are
/// none.
std::optional<TopologyEdges> dist_graph_edges(std::span<const int> sources, const int* degrees,
                                              const int* destinations, const int* weights,
                                              int num_ranks);
/// Returns the outgoing edges that a rank passes to MPI_Dist_graph_create_adjacent.
std::optional<TopologyEdges> edges_out_of(int rank, std::span<const int> destinations,
                                          const int* weights, int num_ranks);

}  // namespace poise::profile
