// SPDX-License-Identifier: BSD-3-Clause
// Enumerates all ways to divide a few elements into groups of equal size.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::tree_match {

using namespace graphs;  // of poise/partition

/// The affinities of a small graph as a square matrix.
class Matrix {
 public:
  explicit Matrix(const Graph& graph);
  explicit Matrix(Vertex size) : size_(size), entries_(std::size_t{size} * size, 0) {}

  Vertex size() const { return size_; }
  double operator()(Vertex a, Vertex b) const { return entries_[std::size_t{a} * size_ + b]; }
  double& operator()(Vertex a, Vertex b) { return entries_[std::size_t{a} * size_ + b]; }

  /// Sum of the affinities between v and the members of a group.
  double pull(Vertex v, std::span<const Vertex> group) const;

 private:
  Vertex size_;
  std::vector<double> entries_;
};

/// Number of ways to divide n elements into groups of `arity`, which divides n.
double count_groupings(Vertex n, std::uint32_t arity);

/// Calls `visit` for each division, with every element's group and the affinity inside the groups.
void for_each_grouping(const Matrix& affinity, std::uint32_t arity,
                       const std::function<void(std::span<const Vertex>, double)>& visit);

/// Returns the number of ways to choose k of n elements.
double count_subsets(Vertex n, std::uint32_t k);

/// Calls `visit` for every subset of `arity` elements, with the sum of the affinities inside it.
void for_each_subset(const Matrix& affinity, std::uint32_t arity,
                     const std::function<void(std::span<const Vertex>, double)>& visit);

}  // namespace poise::tree_match
