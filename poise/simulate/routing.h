// SPDX-License-Identifier: BSD-3-Clause
// The links of a network, and the policies by which messages choose their routes through it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

enum class RoutingPolicy : std::uint8_t {
  /// The shortest route: one dimension after the other on a torus or mesh, the direct link between
  /// two groups of a dragonfly, and in a tree the root that belongs to the receiving node.
  minimal,
  /// A detour through a random router (torus, mesh), group (dragonfly) or root (tree): Valiant and
  /// Brebner, "Universal schemes for parallel communication", STOC 1981.
  random,
  /// The minimal route or one random detour: the one on which the message would arrive sooner. Each
  /// message chooses when it starts, and considers all bytes in flight on both routes, as UGAL-G
  /// does: Singh, "Load-balanced routing in interconnection networks", Stanford 2005.
  adaptive
};
std::string_view name_of(RoutingPolicy policy);
/// Returns the policy with this name. Throws Error if there is none.
RoutingPolicy routing_named(std::string_view name);

struct Routing {
  /// Without a policy, messages take the minimal route on a torus, mesh or dragonfly. In a tree,
  /// they spread evenly over the links of an uplink, so that an uplink is one resource.
  std::optional<RoutingPolicy> policy = {};
  /// Bandwidth of a link in each direction, in bytes per second; 0: that of all network cards of a
  /// node together. In a tree, an uplink is divided into a whole number of links of this bandwidth.
  double link_bytes_per_s = 0;
  std::uint64_t seed = 0;  // of random detours
};

/// Throws Error if the routing asks for links that the machine does not have.
void check_routing(const Machine& machine, const Routing& routing);

/// A link on the route of a message, with the seconds for which one byte occupies it.
struct LinkStop {
  std::uint64_t link = 0;  // ID of the link; IDs are unique but not consecutive
  double s_per_byte = 0;
};

/// Finds routes through the network of a machine. The class keeps a reference to the machine.
class NetworkRoutes {
 public:
  NetworkRoutes(const Machine& machine, const CostModel& costs, const Routing& routing);

  /// The result of detour() that means the minimal route.
  static constexpr std::uint32_t kDirect = ~0U;

  /// True if messages between nodes occupy links, which find() returns.
  bool has_links() const { return has_links_; }
  /// True if the network is a tree, each uplink of which consists of parallel links.
  bool divides_uplinks() const { return has_links_ && !links_per_uplink_.empty(); }
  /// The policy that chooses the routes. It has no effect unless has_links().
  RoutingPolicy policy() const { return policy_; }

  /// Picks at random the router (in a tree: the root) through which messages from one place to
  /// another make a detour. Returns kDirect if they make none. The result depends only on the two
  /// places and the seed.
  std::uint32_t detour(PlaceId from, PlaceId to) const;

  /// Sets `links` to the links of a route between two different nodes, in the order in which a
  /// message passes them. O(hops).
  void find(NodeId from, NodeId to, std::uint32_t via, std::vector<LinkStop>& links) const;

  /// Additional latency, in seconds, of a route that has more hops than the minimal route. It is
  /// negative if the route has fewer hops. This happens in a dragonfly: the minimal route uses the
  /// only direct link between the two groups, and may need further hops inside both groups to get
  /// to that link and away from it.
  double extra_latency_s(NodeId from, NodeId to, std::uint32_t via) const;

 private:
  void add_direct(std::uint32_t from, std::uint32_t to, std::vector<LinkStop>& links) const;
  void add_grid(std::uint32_t from, std::uint32_t to, std::vector<LinkStop>& links) const;
  void add_dragonfly(std::uint32_t from, std::uint32_t to, std::vector<LinkStop>& links) const;
  void find_in_tree(NodeId from, NodeId to, std::uint32_t via, std::vector<LinkStop>& links) const;
  std::uint32_t detour_of_dragonfly(std::uint32_t from, std::uint32_t to, std::uint64_t key) const;
  /// The router of a dragonfly's group `group` that is linked to the group `other`.
  std::uint32_t gateway(std::uint32_t group, std::uint32_t other) const;

  const Machine& machine_;
  const Network& network_;
  RoutingPolicy policy_;
  std::uint64_t seed_;
  bool has_links_ = false;
  double s_per_byte_ = 0, s_per_hop_ = 0;        // torus, mesh, dragonfly
  std::uint32_t num_choices_ = 1;                // routers or roots
  std::vector<std::uint32_t> links_per_uplink_;  // tree: per tier; 0: bandwidth not limited
  std::vector<double> uplink_s_per_byte_;        // tree: per tier, seconds per byte of one link
};

}  // namespace poise
