// SPDX-License-Identifier: BSD-3-Clause
// Tasks and messages as a graph of integers in compressed rows, the input of METIS and Scotch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "poise/placement/arcs.h"
#include "poise/placement/problem.h"

namespace poise {

/// An undirected graph; each edge is in the rows of both its ends.
struct TaskGraph {
  std::vector<std::int32_t> first;  // row v has the entries [first[v], first[v + 1])
  /// For each entry of a row, the neighbour. The entries of a row are in ascending order.
  std::vector<std::int32_t> neighbour;
  std::vector<std::int32_t> edge_weight;  // for each entry the weight of the edge, at least 1
};

/// The graph of the given tasks, which are in ascending order; vertex i is the i-th of them. Two
/// tasks that exchange messages have an edge. Its weight is the time that these messages would take
/// with a latency and bandwidth factor of 1. If messages are free in the cost model, the weight is
/// the number of these messages plus their bytes. All weights are scaled to add up to about
/// `total`. Throws Error if the graph has more than 2^30 entries.
TaskGraph task_graph(const Problem& problem, std::span<const TaskId> tasks, double total);

/// Scales values to integers that add up to about `total`. If all values are 0, all integers are
/// equal. METIS and Scotch add up weights in 32-bit integers, which must not overflow, and divide
/// by the sum, which must not be 0.
class WholeWeights {
 public:
  /// visit_all(f) must call f(value) for every value. It is called twice.
  template <typename VisitAll>
  WholeWeights(const VisitAll& visit_all, double total) : total_(total) {
    visit_all([this](double value) {
      largest_ = std::max(largest_, value);
      ++count_;
    });
    // Values are divided by the largest value before they are summed, so that no sum overflows.
    if (largest_ > 0) visit_all([this](double value) { sum_ += value / largest_; });
  }

  std::int32_t operator()(double value) const;

 private:
  double total_, largest_ = 0, sum_ = 0, count_ = 0;
};

std::vector<std::int32_t> whole_weights(std::span<const double> values, double total);

/// The value of an arc, which task_graph() scales to the weight of an edge.
double edge_value(const Arc& arc, const UnitCosts& unit);

/// Throws Error if the graph of these arcs would have more than 2^30 entries.
void check_size(const Arcs& arcs);

}  // namespace poise
