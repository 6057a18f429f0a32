// SPDX-License-Identifier: BSD-3-Clause
#include "runtimes/profile/topology_edges.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <utility>

namespace poise::profile {
namespace {

// For each pair of ranks, the summed weights of the edges between them in both directions.
using Pairs = std::map<std::pair<int, int>, int>;

Pairs pairs_of(const TopologyEdges& edges) {
  Pairs pairs;
  for (const TopologyEdge& edge : edges) {
    pairs[{edge.from, edge.to}] += edge.weight;
    pairs[{edge.to, edge.from}] += edge.weight;
  }
  return pairs;
}

/// The neighbours of each rank on both sides of each dimension, computed from coordinates as
/// MPI_Cart_shift does.
Pairs neighbours_by_coordinates(const std::vector<int>& dims, const std::vector<int>& periods) {
  int size = 1;
  for (const int dim : dims) size *= dim;
  const auto coordinates = [&](int rank) {
    std::vector<int> at(dims.size());
    for (std::size_t d = dims.size(); d-- > 0; rank /= dims[d]) at[d] = rank % dims[d];
    return at;
  };
  const auto rank_at = [&](const std::vector<int>& at) {
    int rank = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) rank = rank * dims[d] + at[d];
    return rank;
  };
  Pairs pairs;
  for (int rank = 0; rank < size; ++rank)
    for (std::size_t d = 0; d < dims.size(); ++d)
      for (const int step : {-1, 1}) {
        std::vector<int> at = coordinates(rank);
        at[d] += step;
        if (periods[d] != 0) at[d] = (at[d] + dims[d]) % dims[d];
        if (at[d] < 0 || at[d] >= dims[d] || rank_at(at) == rank) continue;
        ++pairs[{rank, rank_at(at)}];
      }
  return pairs;
}

TEST(TopologyEdges, the_edges_of_a_grid_connect_exactly_the_ranks_with_adjacent_coordinates) {
  const std::vector<std::vector<int>> shapes = {{1}, {2}, {5}, {3, 4}, {2, 2}, {1, 6}, {2, 3, 4}};
  for (const std::vector<int>& dims : shapes)
    for (unsigned wraps = 0; wraps < 1u << dims.size(); ++wraps) {
      std::vector<int> periods;
      for (std::size_t d = 0; d < dims.size(); ++d) periods.push_back(wraps >> d & 1 ? 7 : 0);
      const auto edges = cart_edges(dims, periods, 100);
      ASSERT_TRUE(edges);
      EXPECT_EQ(pairs_of(*edges), neighbours_by_coordinates(dims, periods)) << dims.size() << wraps;
    }
}

TEST(TopologyEdges, a_grid_that_mpi_refuses_has_no_edges) {
  const std::vector<int> open = {0, 0, 0};
  EXPECT_FALSE(cart_edges(std::vector{3, 4}, std::span(open).first(2), 11));
  EXPECT_TRUE(cart_edges(std::vector{3, 4}, std::span(open).first(2), 12));
  EXPECT_FALSE(cart_edges(std::vector{3, 0}, std::span(open).first(2), 11));
  EXPECT_FALSE(cart_edges(std::vector{-3, -1}, std::span(open).first(2), 11));
  EXPECT_FALSE(cart_edges(std::vector{1 << 30, 1 << 30, 1 << 30}, open, 11));
}

TEST(TopologyEdges, edges_of_an_mpi_graph_topology_match_the_example_in_the_mpi_standard) {
  // The example of MPI-3.1, section 7.5.3: rank 0 has the neighbours 1 and 3, rank 1 has 0, rank 2
  // has 3, and rank 3 has 0 and 2.
  const std::vector<int> index = {2, 3, 4, 6}, edges = {1, 3, 0, 3, 0, 2};
  const auto found = graph_edges(index, edges.data(), 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(pairs_of(*found),
            (Pairs{{{0, 1}, 2}, {{1, 0}, 2}, {{0, 3}, 2}, {{3, 0}, 2}, {{2, 3}, 2}, {{3, 2}, 2}}));
  EXPECT_FALSE(graph_edges(index, edges.data(), 3));
  EXPECT_FALSE(graph_edges(std::vector{2, 1}, edges.data(), 4));
  EXPECT_FALSE(graph_edges(std::vector{1, 2}, std::vector{1, 2}.data(), 4));
}

TEST(TopologyEdges, in_a_distributed_graph_topology_a_rank_can_describe_edges_of_other_ranks) {
  const std::vector<int> sources = {2, 0}, degrees = {2, 1}, ends = {0, 2, 1}, weights = {5, 6, 7};
  const auto found = dist_graph_edges(sources, degrees.data(), ends.data(), weights.data(), 3);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 2u);  // the edge from rank 2 to itself is left out
  EXPECT_EQ((*found)[0].from, 2);
  EXPECT_EQ((*found)[0].weight, 5);
  EXPECT_EQ((*found)[1].to, 1);
  EXPECT_EQ((*found)[1].weight, 7);
  const auto plain = dist_graph_edges(sources, degrees.data(), ends.data(), nullptr, 3);
  ASSERT_TRUE(plain);
  EXPECT_EQ((*plain)[1].weight, 1);
  EXPECT_FALSE(dist_graph_edges(sources, degrees.data(), ends.data(), nullptr, 2));
  EXPECT_FALSE(edges_out_of(0, ends, std::vector{1, -1, 1}.data(), 3));
  EXPECT_EQ(edges_out_of(1, ends, nullptr, 3)->size(), 2u);
}

}  // namespace
}  // namespace poise::profile
