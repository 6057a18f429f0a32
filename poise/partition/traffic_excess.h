// SPDX-License-Identifier: BSD-3-Clause
// By how many bytes a map of ranks exceeds the limits on the traffic between nodes.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "poise/partition/slot_costs.h"
#include "poise/partition/swap_search.h"

namespace poise {

/// By how much the bytes that stay inside each of two nodes increase if a vertex of the first node
/// is exchanged with a vertex of the second.
struct InsideChange {
  /// Bytes: `here` is for the node of the first vertex, `there` for the node of the second vertex.
  double here = 0, there = 0;
};

/// The excess in bytes over TrafficLimits: of the traffic of each node, and of the traffic between
/// all nodes. The traffic of a node is what its vertices send and receive, less what stays inside
/// the node. Therefore an exchange changes only the traffic of the two nodes.
class TrafficExcess {
 public:
  /// Limits that are not set cost no memory.
  TrafficExcess(const RankProblem& problem, const TrafficLimits& limits);

  bool is_on() const { return !nodes_.empty(); }

  /// Keeps a table of the bytes that each vertex exchanges with the vertices of each node.
  void tabulate(std::span<const Slot> slot_of);

  void start_from(std::span<const Slot> slot_of);

  /// Returns, from the table, by how much the bytes inside the nodes of v and u increase if v and u
  /// are exchanged.
  InsideChange inside(graphs::Vertex v, graphs::Vertex u, double between) const {
    const NodeId a = bytes_->at(v), b = bytes_->at(u);
    return {bytes_->cost(u, a) - bytes_->cost(v, a) - between,
            bytes_->cost(v, b) - bytes_->cost(u, b) - between};
  }

  /// Returns by how many bytes the excess increases if v on node a and u on node b are exchanged.
  double change(graphs::Vertex v, NodeId a, graphs::Vertex u, NodeId b,
                const InsideChange& inside) const {
    if (a == b) return 0;
    return over(internode_ - inside.here - inside.there, limits_.internode_bytes) +
           over(after(a, v, u, inside.here)) + over(after(b, u, v, inside.there)) - removable(a, b);
  }

  void exchange(graphs::Vertex v, NodeId a, graphs::Vertex u, NodeId b, const InsideChange& inside);

  /// The largest amount by which an exchange between nodes a and b can lower the excess.
  double removable(NodeId a, NodeId b) const {
    return over(internode_, limits_.internode_bytes) + over(nodes_[a]) + over(nodes_[b]);
  }

 private:
  struct NodeTraffic {
    double sent = 0, received = 0;  // bytes, summed over the node's vertices
    double inside = 0;              // bytes that the node's vertices send to each other
  };

  static double over(double bytes, double limit) { return std::max(0.0, bytes - limit); }
  double over(const NodeTraffic& node) const {
    return over(node.sent + node.received - 2 * node.inside, limits_.node_bytes) +
           over(std::max(node.sent, node.received) - node.inside, limits_.card_bytes);
  }
  NodeTraffic after(NodeId node, graphs::Vertex leaves, graphs::Vertex comes,
                    double more_inside) const {
    const NodeTraffic& now = nodes_[node];
    return {now.sent + sent_[comes] - sent_[leaves],
            now.received + received_[comes] - received_[leaves], now.inside + more_inside};
  }
  NodeId node_of(Slot slot) const { return problem_.distances.node_of(problem_.slots[slot]); }

  const RankProblem& problem_;
  const TrafficLimits limits_;
  std::vector<double> sent_, received_;  // bytes that each vertex sends, and that it receives
  std::vector<NodeTraffic> nodes_;
  double internode_ = 0;            // bytes between all nodes
  std::optional<SlotCosts> bytes_;  // the table: per vertex and node, the bytes that they exchange
};

}  // namespace poise
