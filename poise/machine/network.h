// How the nodes of a machine are connected: distances are computed, never stored per pair of cores.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace poise {

using NodeId = std::uint32_t;

/// A tier of a tree network, above the nodes: racks, switches.
struct Tier {
  std::vector<std::uint32_t> group_of_node;  // dense, non-decreasing
  double latency_factor = 1;                 // two nodes whose nearest common group is of this tier
};

/// Distances between nodes, in factors over a local memory access and in network edges.
///
/// Costs O(dimensions) or O(tiers) per question; memory O(nodes), O(nodes^2) only for `matrix`.
struct Network {
  enum class Shape : std::uint8_t { tree, matrix, torus, mesh, dragonfly };

  Shape shape = Shape::tree;

  /// Messages between different nodes, before the shape refines it: the only factor of a plain
  /// network; one hop on a torus, mesh or dragonfly; above all tiers in a tree.
  double factor = 1;
  double factor_per_hop = 0;      // torus, mesh, dragonfly: added for each hop after the first
  double same_router_factor = 1;  // torus, mesh, dragonfly: different nodes on one router
  double bandwidth_factor = 1;    // seconds per byte between nodes over those inside one

  std::vector<Tier> tiers;  // tree: coarsest first

  /// Torus, mesh: routers per dimension. Dragonfly: groups, routers per group (all-to-all inside a
  /// group; the pair of groups a, b is joined by one link from router (b - a - 1) mod routers of
  /// a).
  std::vector<std::uint32_t> dims;
  std::uint32_t nodes_per_router = 1;
  std::vector<std::uint32_t>
      router_of_node;  // an allocation's routers; empty: node / nodes_per_router

  std::vector<double> matrix;  // matrix: [from * nodes + to]
  std::uint32_t matrix_nodes = 0;

  /// Torus, mesh: [node * dims + dim], where a node's router is. Machine fills it, for quick
  /// answers; without it, or on a huge network where it stays empty, they are the same.
  std::vector<std::uint32_t> coordinates;
  void find_coordinates(NodeId num_nodes);

  double latency_factor(NodeId from, NodeId to) const;

  /// Edges of the network between two nodes. In a tree: up to the nearest common group and down.
  std::uint32_t hops(NodeId a, NodeId b) const;

  std::uint32_t router_of(NodeId node) const;
  std::uint32_t router_hops(std::uint32_t a, std::uint32_t b) const;
  /// Between the routers of two nodes.
  std::uint32_t hops_on_routers(NodeId a, NodeId b) const;
};

std::string_view name_of(Network::Shape shape);

}  // namespace poise
