// SPDX-License-Identifier: BSD-3-Clause
// The latency of messages between two places, cached per pair of nodes if the table is small
// enough.
#pragma once

#include <cstddef>
#include <vector>

#include "poise/machine/machine.h"
#include "poise/placement/message_times.h"

namespace poise {

/// Gives the same results as latency_s(). On a torus, a latency takes longer to compute than the
/// other costs of a message, so the latency of each pair of nodes is computed only once.
class Latencies {
 public:
  /// Keeps a table only if it has at most `entries` entries. The caller passes the size of the
  /// problem: the number of tasks plus that of places plus that of messages (or arcs). Keeps a
  /// reference to the machine.
  Latencies(const Machine& machine, const CostModel& costs, std::size_t entries)
      : machine_(machine), costs_(costs), num_nodes_(machine.num_nodes()) {
    if (num_nodes_ * num_nodes_ <= entries) known_s_.assign(num_nodes_ * num_nodes_, kUnknown);
  }

  double of(PlaceId from, PlaceId to) {
    const NodeId node_from = machine_.node_of_place(from), node_to = machine_.node_of_place(to);
    if (known_s_.empty() || node_from == node_to) return latency_s(machine_, costs_, from, to);
    double& known_s = known_s_[node_from * num_nodes_ + node_to];
    if (known_s == kUnknown) known_s = latency_s(machine_, costs_, from, to);
    return known_s;
  }

 private:
  static constexpr double kUnknown = -1;

  const Machine& machine_;
  const CostModel costs_;
  const std::size_t num_nodes_;
  std::vector<double> known_s_;  // latency of each pair of nodes; empty: no table
};

}  // namespace poise
