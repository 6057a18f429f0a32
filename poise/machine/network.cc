// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/network.h"

#include <algorithm>

namespace poise {

namespace {

// Maximum number of nodes whose coordinates are stored, in a table of up to 32 MB.
constexpr NodeId kMaxNodes = 1u << 20;
constexpr std::size_t kMaxDims = 8;

std::uint32_t ring_distance(std::uint32_t a, std::uint32_t b, std::uint32_t size, bool wraps) {
  const std::uint32_t direct = a < b ? b - a : a - b;
  return wraps ? std::min(direct, size - direct) : direct;
}

std::uint32_t grid_hops(const Network& network, std::uint32_t a, std::uint32_t b) {
  const bool wraps = network.shape == Network::Shape::torus;
  std::uint32_t hops = 0;
  for (auto dim = network.dims.rbegin(); dim != network.dims.rend(); ++dim) {
    hops += ring_distance(a % *dim, b % *dim, *dim, wraps);
    a /= *dim;
    b /= *dim;
  }
  return hops;
}

/// Returns the number of hops between routers a and b of a dragonfly. The shortest route to another
/// group goes to the router that has the link to that group, across this link, and on to the
/// destination.
std::uint32_t dragonfly_hops(std::uint32_t groups, std::uint32_t routers, std::uint32_t a,
                             std::uint32_t b) {
  const std::uint32_t group_a = a / routers, group_b = b / routers;
  if (group_a == group_b) return a == b ? 0 : 1;
  const std::uint32_t out = (group_b + groups - group_a - 1) % groups % routers;
  const std::uint32_t in = (group_a + groups - group_b - 1) % groups % routers;
  return 1 + (a % routers != out) + (b % routers != in);
}

}  // namespace

std::uint32_t Network::router_of(NodeId node) const {
  return router_of_node.empty() ? node / nodes_per_router : router_of_node[node];
}

std::uint32_t Network::router_hops(std::uint32_t a, std::uint32_t b) const {
  if (shape == Shape::dragonfly) return dragonfly_hops(dims[0], dims[1], a, b);
  return grid_hops(*this, a, b);
}

void Network::find_coordinates(NodeId num_nodes) {
  coordinates.clear();
  const bool is_small = num_nodes <= kMaxNodes && dims.size() <= kMaxDims;
  if ((shape != Shape::torus && shape != Shape::mesh) || !is_small) return;
  coordinates.resize(num_nodes * dims.size());
  for (NodeId node = 0; node < num_nodes; ++node) {
    std::uint32_t router = router_of(node);
    for (std::size_t d = dims.size(); d-- > 0; router /= dims[d])
      coordinates[node * dims.size() + d] = router % dims[d];
  }
}

std::uint32_t Network::hops_on_routers(NodeId a, NodeId b) const {
  if (coordinates.empty()) return router_hops(router_of(a), router_of(b));
  const std::uint32_t* at_a = &coordinates[a * dims.size()];
  const std::uint32_t* at_b = &coordinates[b * dims.size()];
  const bool wraps = shape == Shape::torus;
  std::uint32_t hops = 0;
  for (std::size_t d = 0; d < dims.size(); ++d)
    hops += ring_distance(at_a[d], at_b[d], dims[d], wraps);
  return hops;
}

double Network::latency_factor(NodeId from, NodeId to) const {
  if (from == to) return 1;
  switch (shape) {
    case Shape::matrix: return matrix[std::size_t{from} * matrix_nodes + to];
    case Shape::tree:
      for (auto tier = tiers.rbegin(); tier != tiers.rend(); ++tier)
        if (tier->group_of_node[from] == tier->group_of_node[to]) return tier->latency_factor;
      return factor;
    default: {
      const std::uint32_t hops = hops_on_routers(from, to);
      return hops == 0 ? same_router_factor : factor + factor_per_hop * (hops - 1);
    }
  }
}

std::uint32_t Network::hops(NodeId a, NodeId b) const {
  if (a == b) return 0;
  switch (shape) {
    case Shape::matrix: return 2;
    case Shape::tree: {
      std::uint32_t edges = 2;
      for (auto tier = tiers.rbegin(); tier != tiers.rend(); ++tier, edges += 2)
        if (tier->group_of_node[a] == tier->group_of_node[b]) return edges;
      return edges;
    }
    default:
      // If several nodes share a router, each node has its own edge to the router.
      return hops_on_routers(a, b) + (nodes_per_router > 1 ? 2 : 0);
  }
}

std::string_view name_of(Network::Shape shape) {
  switch (shape) {
    case Network::Shape::tree: return "tree";
    case Network::Shape::matrix: return "matrix";
    case Network::Shape::torus: return "torus";
    case Network::Shape::mesh: return "mesh";
    case Network::Shape::dragonfly: return "dragonfly";
  }
  return "";
}

}  // namespace poise
