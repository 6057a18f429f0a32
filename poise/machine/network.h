// SPDX-License-Identifier: BSD-3-Clause
// How the nodes of a machine are connected. Distances are computed, never stored per pair of
// places.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace poise {

using NodeId = std::uint32_t;

/// A tier of a tree network above the nodes, such as racks or switches.
struct Tier {
  /// The group of each node. Groups are numbered from 0, in the order of the nodes.
  std::vector<std::uint32_t> group_of_node;
  double latency_factor = 1;  // factor between two nodes whose finest common group is of this tier
};

/// Distances between nodes: latency factors relative to a local memory read, and numbers of hops.
///
/// A query costs O(dimensions) or O(tiers). Memory is O(nodes), or O(nodes^2) for `matrix`.
struct Network {
  enum class Shape : std::uint8_t { tree, matrix, torus, mesh, dragonfly };

  Shape shape = Shape::tree;

  /// Latency factor of messages between different nodes. In a torus, mesh or dragonfly, this is the
  /// factor for the first hop. In a tree, it is the factor between nodes that share no group of any
  /// tier; without tiers, these are all pairs of nodes.
  double factor = 1;
  double factor_per_hop = 0;      // torus, mesh, dragonfly: added for each hop after the first
  double same_router_factor = 1;  // torus, mesh, dragonfly: between different nodes on one router
  double bandwidth_factor = 1;    // seconds per byte between nodes relative to those inside a node

  std::vector<Tier> tiers;  // tree: coarsest first

  /// Torus and mesh: number of routers per dimension. Dragonfly: number of groups, then routers per
  /// group. All routers of a group are connected with each other. Any two groups a and b are
  /// connected by one link; in group a, it is at router ((b - a - 1) mod groups) mod routers.
  std::vector<std::uint32_t> dims;
  std::uint32_t nodes_per_router = 1;
  /// The router of each node, if the nodes are only some of the network's nodes, such as the nodes
  /// of a job. If this list is empty, node n is on router n / nodes_per_router.
  std::vector<std::uint32_t> router_of_node;

  std::vector<double> matrix;  // shape `matrix` only: factor at [from * nodes + to]
  std::uint32_t matrix_nodes = 0;

  /// Torus and mesh: element [node * dims + dim] is the coordinate in dimension `dim` of the node's
  /// router. Machine fills this table for speed; results are the same without it, and it stays
  /// empty on huge networks.
  std::vector<std::uint32_t> coordinates;
  void find_coordinates(NodeId num_nodes);

  double latency_factor(NodeId from, NodeId to) const;

  /// Number of network edges between two nodes. In a tree, the route goes up to the finest common
  /// group and down again.
  std::uint32_t hops(NodeId a, NodeId b) const;

  std::uint32_t router_of(NodeId node) const;
  std::uint32_t router_hops(std::uint32_t a, std::uint32_t b) const;
  /// Number of edges between the routers of two nodes.
  std::uint32_t hops_on_routers(NodeId a, NodeId b) const;
};

std::string_view name_of(Network::Shape shape);

}  // namespace poise
