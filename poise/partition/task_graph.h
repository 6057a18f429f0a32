// Tasks and their messages in the form that partitioning libraries take: compressed rows of whole
// numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "poise/placement/problem.h"

namespace poise {

/// An undirected graph; every edge is in the rows of both its ends.
struct TaskGraph {
  std::vector<std::int32_t> first;        // row v is [first[v], first[v + 1])
  std::vector<std::int32_t> neighbour;    // per entry of a row, ascending inside it
  std::vector<std::int32_t> edge_weight;  // per entry, at least 1
};

/// The graph of these tasks (ascending), numbered in their order: an edge where any messages go,
/// weighing the seconds that the cost model gives them between equal places; their number and bytes
/// where it gives none. The weights sum up to about `total`. Throws Error beyond 2^30 entries.
TaskGraph task_graph(const Problem& problem, std::span<const TaskId> tasks, double total);

/// The values in whole numbers that sum up to about `total`; all alike where all values are 0.
/// Libraries sum weights in 32 bits, and divide by such sums.
std::vector<std::int32_t> whole_weights(std::span<const double> values, double total);

}  // namespace poise
