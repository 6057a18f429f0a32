// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/topology_edges.h"

#include <cstddef>

namespace poise::profile {

namespace {

/// The number of positions in a grid; 0 if it exceeds `most` or a dimension is not positive.
std::int64_t size_of_grid(std::span<const int> dims, int most) {
  std::int64_t size = 1;
  for (const int dim : dims) {
    if (dim <= 0) return 0;
    size *= dim;
    if (size > most) return 0;
  }
  return size;
}

/// Appends the edges of a rank. Returns false if one of them is invalid.
bool add(int from, std::span<const int> ends, const int* weights, int num_ranks,
         TopologyEdges& edges) {
  if (from < 0 || from >= num_ranks) return false;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const int weight = weights == nullptr ? 1 : weights[i];
    if (ends[i] < 0 || ends[i] >= num_ranks || weight < 0) return false;
    if (ends[i] != from && weight > 0) edges.push_back({from, ends[i], weight});
  }
  return true;
}

std::span<const int> span_of(const int* first, int count) {
  return {first, static_cast<std::size_t>(count)};
}

}  // namespace

std::optional<TopologyEdges> cart_edges(std::span<const int> dims, std::span<const int> periods,
                                        int num_ranks) {
  const int size = size_of_grid(dims, num_ranks);
  if (size == 0) return std::nullopt;
  TopologyEdges edges;
  // By how much the rank grows with each step along the dimension; the last dimension varies
  // fastest.
  int below = size;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    below /= dims[d];
    for (int rank = 0; rank < size; ++rank) {
      const int at = rank / below % dims[d];
      if (at + 1 < dims[d])
        edges.push_back({rank, rank + below, 1});
      else if (periods[d] != 0 && dims[d] > 1)
        edges.push_back({rank, rank - at * below, 1});
    }
  }
  return edges;
}

std::optional<TopologyEdges> graph_edges(std::span<const int> index, const int* edges,
                                         int num_ranks) {
  const int size = index.size();
  if (size > num_ranks) return std::nullopt;
  TopologyEdges found;
  int first = 0;
  for (int rank = 0; rank < size; ++rank) {
    const int last = index[rank];
    if (last < first) return std::nullopt;
    if (!add(rank, span_of(edges + first, last - first), nullptr, size, found)) return std::nullopt;
    first = last;
  }
  return found;
}

std::optional<TopologyEdges> dist_graph_edges(std::span<const int> sources, const int* degrees,
                                              const int* destinations, const int* weights,
                                              int num_ranks) {
  TopologyEdges found;
  std::size_t first = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (degrees[i] < 0) return std::nullopt;
    const int* const its = weights == nullptr ? nullptr : weights + first;
    if (!add(sources[i], span_of(destinations + first, degrees[i]), its, num_ranks, found))
      return std::nullopt;
    first += degrees[i];
  }
  return found;
}

std::optional<TopologyEdges> edges_out_of(int rank, std::span<const int> destinations,
                                          const int* weights, int num_ranks) {
  TopologyEdges found;
  if (!add(rank, destinations, weights, num_ranks, found)) return std::nullopt;
  return found;
}

}  // namespace poise::profile
