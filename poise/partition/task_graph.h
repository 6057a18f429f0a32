// SPDX-License-Identifier: BSD-3-Clause
// Tasks and messages as a graph of integers in compressed rows, the input of METIS and Scotch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/placement/arcs.h"
#include "poise/placement/problem.h"

namespace poise {

/// An undirected graph; each edge is in the rows of both its ends.
struct TaskGraph {
  std::vector<std::int32_t> first;  // row v is [first[v], first[v + 1])
  /// For each entry of a row, the neighbour. The entries of a row are in ascending order.
  std::vector<std::int32_t> neighbour;
  std::vector<std::int32_t> edge_weight;  // for each entry the weight of the edge, at least 1
};

/// The graph of the given tasks, which are in ascending order; vertex i is the i-th of them. Two
/// tasks that exchange messages have an edge. Its weight is the time that these messages would take
/// with a latency and bandwidth factor of 1. If messages are free in the cost model, the weight is
/// the number of these messages plus their bytes. All weights are scaled to add up to about
/// `total`. Throws Error if the graph has more than 2^30 entries. `arcs` must be those of the
/// workload, or null; then they are computed.
TaskGraph task_graph(const Problem& problem, std::span<const TaskId> tasks, double total,
                     const Arcs* arcs = nullptr);

/// Returns the values scaled to integers that add up to about `total`. If all values are 0, all
/// integers are equal. METIS and Scotch need such integers, because they add up weights in 32 bits
/// and divide by the sum.
std::vector<std::int32_t> whole_weights(std::span<const double> values, double total);

}  // namespace poise
