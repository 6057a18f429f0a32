// A graph cut into parts of given shares so that little affinity is lost between them.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "poise/partition/graph.h"

namespace poise::graphs {

using Part = std::uint32_t;
constexpr Part kFree = std::numeric_limits<Part>::max();

/// How the weight of a graph may be spread over parts.
struct Shares {
  std::vector<double> of_part;  // each at least 0: parts get weight in proportion
  double tolerance = 0;         // a part may hold this fraction more than its share
  std::vector<Part> fixed;      // per vertex its part or kFree; empty: all are free
  Vertex attempts = 2;          // at each bisection of the first stage; more cut less
};

/// The part of each vertex: multilevel k-way partitioning (Karypis and Kumar, 1998), in stages of
/// at most 64 parts so that 32,768 parts cost three passes and not one per bisection.
///
/// Neighbouring parts have neighbouring numbers, as recursive bisection leaves them. The tolerance
/// is an aim, not a promise: a vertex heavier than its share is placed all the same.
/// O((vertices + edges) log64 parts), and deterministic.
std::vector<Part> partition(const Graph& graph, const Shares& shares);

/// The affinity of all edges between different parts, each edge once.
double cut(const Graph& graph, std::span<const Part> part_of);

}  // namespace poise::graphs
