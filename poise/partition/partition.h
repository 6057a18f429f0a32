// SPDX-License-Identifier: BSD-3-Clause
// Multilevel k-way partitioning: divides a graph into parts of given weights with a small
// cut.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::graphs {

using Part = std::uint32_t;
constexpr Part kFree = std::numeric_limits<Part>::max();

/// The target weights of the parts.
struct Shares {
  std::vector<double> of_part;  // target weight of each part relative to the others, at least 0
  double tolerance = 0;         // a part may hold this fraction more than its share
  std::vector<Part> fixed;      // per vertex its part or kFree; empty: all are free
  /// The number of seeds from which each bisection of the first stage is tried. With more seeds,
  /// the cut is smaller.
  Vertex attempts = 2;
};

/// Returns the part of each vertex, by multilevel k-way partitioning (Karypis and Kumar,
/// "Multilevel k-way partitioning scheme for irregular graphs", 1998), in stages of at most 64
/// parts. So 32,768 parts take three stages, whereas bisections of the whole graph would take
/// fifteen.
///
/// Parts with close numbers are close in the graph, because the coarsest graph of a stage is
/// divided by recursive bisection, which numbers the parts in order. The tolerance is a goal, not a
/// guarantee: even a vertex heavier than any share is placed. Deterministic. O((vertices + edges)
/// log64 parts).
std::vector<Part> partition(const Graph& graph, const Shares& shares);

/// Affinity of all edges between different parts, each edge counted once.
double cut(const Graph& graph, std::span<const Part> part_of);

}  // namespace poise::graphs
