// SPDX-License-Identifier: BSD-3-Clause
// Improves a map of ranks to slots by exchanging two ranks at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "poise/partition/graph.h"
#include "poise/partition/rank_distances.h"

namespace poise {

using Slot = std::uint32_t;

/// The input of the search: ranks, slots and distances. There are as many vertices as slots: a slot
/// without a rank holds a vertex without edges.
struct RankProblem {
  const graphs::Graph& graph;
  const Machine& machine;
  const RankDistances& distances;
  std::span<const PlaceId> slots;  // per slot its place, ascending
};

/// The sum of affinity times distance over all edges, each edge counted once.
double traffic(const RankProblem& problem, std::span<const Slot> slot_of);

/// Limits on the bytes between nodes. Bytes of both directions are added up, unless said otherwise.
struct TrafficLimits {
  double node_bytes = std::numeric_limits<double>::infinity();  // per node
  /// The limit for the sum of all bytes that travel between nodes.
  double internode_bytes = std::numeric_limits<double>::infinity();
  /// The limit for the bytes that a node sends, and for those that it receives.
  double card_bytes = std::numeric_limits<double>::infinity();
  /// Per vertex: the bytes that it sends to others. If empty, each vertex is assumed to send half
  /// of the bytes that it exchanges.
  std::span<const double> sent = {};
  bool are_set() const {
    return std::min({node_bytes, internode_bytes, card_bytes}) <
           std::numeric_limits<double>::infinity();
  }
};

/// The effort of annealing. Large graphs get fewer scans per edge and lower start temperatures.
struct SwapEffort {
  double scans_per_edge = 32000;  // edges examined by the search, per edge of the graph
  double max_scans = 1.2e8;       // maximum number of edges examined: 1 to 2 s of time
  /// If a graph has more edges than this, the search examines fewer than max_scans edges, because
  /// each of them then costs a cache miss.
  double large_edges = 10000;
  std::uint64_t seed = 0;
};

/// Exchanges the slots of two vertices as long as that lowers the traffic: first by descent, then
/// by simulated annealing from a low temperature (Kirkpatrick et al., "Optimization by simulated
/// annealing", 1983), then by descent again. Candidates are near each other in the machine or in
/// the graph (Schulz and Traff, "Better process mapping and sparse quadratic assignment", 2017). A
/// table of costs (slot_costs.h) gives the effect of swapping a vertex with each vertex of a group
/// of cores without scanning edges; if the table would be too large, the edges of both vertices are
/// scanned for each swap. If limits are set, the penalty for a byte above a limit is larger than
/// the cost of the traffic of any byte. So the search seldom exceeds a limit: only where one byte
/// above it saves the traffic of many other bytes. The sum of traffic and this penalty is never
/// larger than at the start. O(scans + edges).
void search_by_swaps(const RankProblem& problem, const TrafficLimits& limits,
                     const SwapEffort& effort, std::vector<Slot>& slot_of);

}  // namespace poise
