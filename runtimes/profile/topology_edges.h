// SPDX-License-Identifier: BSD-3-Clause
// The edges of a process topology, from the arguments of the function that creates it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace poise::profile {

/// Between two ranks of the new communicator. Plain bytes, which ranks send to each other.
struct TopologyEdge {
  std::int32_t from = 0, to = 0;
  std::int32_t weight = 1;  // how much the ranks exchange, relative to others
};
using TopologyEdges = std::vector<TopologyEdge>;

// Nothing: MPI will refuse the arguments, or `num_ranks` are too few. Edges from a rank to itself
// are left out.

/// MPI_Cart_create: each pair of neighbours once, twice where they meet on both sides.
std::optional<TopologyEdges> cart_edges(std::span<const int> dims, std::span<const int> periods,
                                        int num_ranks);
/// MPI_Graph_create. `edges` has index.back() numbers.
std::optional<TopologyEdges> graph_edges(std::span<const int> index, const int* edges,
                                         int num_ranks);
/// MPI_Dist_graph_create: what one rank passes. `weights`: null if there are none.
std::optional<TopologyEdges> dist_graph_edges(std::span<const int> sources, const int* degrees,
                                              const int* destinations, const int* weights,
                                              int num_ranks);
/// MPI_Dist_graph_create_adjacent: the edges out of a rank.
std::optional<TopologyEdges> edges_out_of(int rank, std::span<const int> destinations,
                                          const int* weights, int num_ranks);

}  // namespace poise::profile
