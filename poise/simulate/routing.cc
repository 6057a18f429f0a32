// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/routing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/base/text.h"
#include "poise/simulate/tuning.h"

namespace poise {

namespace {

constexpr std::array<std::string_view, 3> kPolicies{"minimal", "random", "adaptive"};

bool has_routers(const Network& network) {
  return network.shape == Network::Shape::torus || network.shape == Network::Shape::mesh ||
         network.shape == Network::Shape::dragonfly;
}

/// True if some group of the network has an uplink of limited bandwidth.
bool has_uplinks(const Machine& machine) {
  const std::vector<double>& uplinks = machine.costs().uplink_bytes_per_s;
  const std::size_t tiers = std::min(uplinks.size(), machine.network().tiers.size());
  return std::any_of(uplinks.begin(), uplinks.begin() + static_cast<std::ptrdiff_t>(tiers),
                     [](double bytes_per_s) { return bytes_per_s > 0; });
}

std::uint32_t product(const std::vector<std::uint32_t>& factors) {
  std::uint32_t result = 1;
  for (const std::uint32_t factor : factors) result *= factor;
  return result;
}

}  // namespace

std::string_view name_of(RoutingPolicy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

RoutingPolicy routing_named(std::string_view name) {
  for (const auto policy : {RoutingPolicy::minimal, RoutingPolicy::random, RoutingPolicy::adaptive})
    if (name == name_of(policy)) return policy;
  throw Error(unknown_name("routing", name, kPolicies));
}

void check_routing(const Machine& machine, const Routing& routing) {
  if (!routing.policy && routing.link_bytes_per_s == 0) return;
  if (has_routers(machine.network()) || has_uplinks(machine)) return;
  throw Error(fmt::format(
      "machine {}: its network ({}) has no links that can be simulated; --routing and "
      "--link-bandwidth need a torus, mesh or dragonfly, or a tree whose uplinks have a bandwidth, "
      "such as \"rack:4 node:8 core:2 uplink:5e10\"",
      machine.name(), name_of(machine.network().shape)));
}

NetworkRoutes::NetworkRoutes(const Machine& machine, const CostModel& costs, const Routing& routing)
    : machine_(machine),
      network_(machine.network()),
      policy_(routing.policy.value_or(RoutingPolicy::minimal)),
      seed_(routing.seed) {
  const double link_bytes_per_s = routing.link_bytes_per_s > 0
                                      ? routing.link_bytes_per_s
                                      : costs.card_bytes_per_s * costs.cards;
  if (link_bytes_per_s <= 0) return;
  if (has_routers(network_)) {
    has_links_ = true;
    s_per_byte_ = 1 / link_bytes_per_s;
    s_per_hop_ = costs.network.latency_s * network_.factor_per_hop;
    num_choices_ = product(network_.dims);
    return;
  }
  if (!routing.policy) return;
  const std::size_t tiers = std::min(costs.uplink_bytes_per_s.size(), network_.tiers.size());
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    const double uplink = costs.uplink_bytes_per_s[tier];
    const double links = std::round(uplink / link_bytes_per_s);
    const auto count =
        static_cast<std::uint32_t>(std::clamp(links, 1.0, simulate_tuning::kMaxLinksPerUplink));
    links_per_uplink_.push_back(uplink > 0 ? count : 0);
    uplink_s_per_byte_.push_back(uplink > 0 ? count / uplink : 0);
    if (uplink <= 0) continue;
    has_links_ = true;
    num_choices_ = std::max(num_choices_, count);
  }
}

std::uint32_t NetworkRoutes::detour(PlaceId from, PlaceId to) const {
  const std::uint64_t key = mix(seed_ ^ mix(std::uint64_t{from} << 32U | to));
  if (divides_uplinks())
    return num_choices_ > 1 ? static_cast<std::uint32_t>(Random(key).below(num_choices_)) : kDirect;
  const std::uint32_t router_from = network_.router_of(machine_.node_of_place(from)),
                      router_to = network_.router_of(machine_.node_of_place(to));
  if (router_from == router_to) return kDirect;
  const std::uint32_t via = network_.shape == Network::Shape::dragonfly
                                ? detour_of_dragonfly(router_from, router_to, key)
                                : static_cast<std::uint32_t>(Random(key).below(num_choices_));
  return via == router_from || via == router_to ? kDirect : via;
}

/// If both routers are in one group, returns a random router of this group. Otherwise draws a
/// random third group, and returns that group's router that is linked to the sender's group.
std::uint32_t NetworkRoutes::detour_of_dragonfly(std::uint32_t from, std::uint32_t to,
                                                 std::uint64_t key) const {
  const std::uint32_t groups = network_.dims[0], routers = network_.dims[1];
  const std::uint32_t group_from = from / routers, group_to = to / routers;
  Random random(key);
  if (group_from == group_to)
    return group_from * routers + static_cast<std::uint32_t>(random.below(routers));
  if (groups < 3) return kDirect;
  auto group = static_cast<std::uint32_t>(random.below(groups - 2));
  if (group >= std::min(group_from, group_to)) ++group;
  if (group >= std::max(group_from, group_to)) ++group;
  return gateway(group, group_from);
}

void NetworkRoutes::find(NodeId from, NodeId to, std::uint32_t via,
                         std::vector<LinkStop>& links) const {
  links.clear();
  if (divides_uplinks()) return find_in_tree(from, to, via, links);
  const std::uint32_t router_from = network_.router_of(from), router_to = network_.router_of(to);
  if (via == kDirect) return add_direct(router_from, router_to, links);
  add_direct(router_from, via, links);
  add_direct(via, router_to, links);
}

double NetworkRoutes::extra_latency_s(NodeId from, NodeId to, std::uint32_t via) const {
  if (via == kDirect || divides_uplinks()) return 0;
  const std::uint32_t router_from = network_.router_of(from), router_to = network_.router_of(to);
  const double hops = network_.router_hops(router_from, via) + network_.router_hops(via, router_to);
  return s_per_hop_ * (hops - network_.router_hops(router_from, router_to));
}

void NetworkRoutes::add_direct(std::uint32_t from, std::uint32_t to,
                               std::vector<LinkStop>& links) const {
  if (network_.shape == Network::Shape::dragonfly) return add_dragonfly(from, to, links);
  add_grid(from, to, links);
}

/// Goes along the first dimension, then along the second, and so on. On a torus, a message takes
/// the shorter way around. If both ways are equally long, it ascends if it starts at an even
/// coordinate, and otherwise descends, so that both directions carry the same traffic.
void NetworkRoutes::add_grid(std::uint32_t from, std::uint32_t to,
                             std::vector<LinkStop>& links) const {
  const auto num_dims = static_cast<std::uint32_t>(network_.dims.size());
  const bool wraps = network_.shape == Network::Shape::torus;
  std::uint32_t stride = product(network_.dims);
  for (std::uint32_t d = 0; d < num_dims; ++d) {
    const std::uint32_t size = network_.dims[d];
    stride /= size;
    std::uint32_t at = from / stride % size;
    const std::uint32_t target = to / stride % size, ascending = (target + size - at) % size;
    const bool is_tie = 2 * ascending == size;
    const bool ascends = !wraps ? target >= at : is_tie ? at % 2 == 0 : 2 * ascending < size;
    for (; at != target; at = (at + (ascends ? 1 : size - 1)) % size) {
      const std::uint32_t router = from + (at - from / stride % size) * stride;
      links.push_back(
          {(std::uint64_t{router} * num_dims + d) * 2 + (ascends ? 0 : 1), s_per_byte_});
    }
    from += (target - from / stride % size) * stride;
  }
}

std::uint32_t NetworkRoutes::gateway(std::uint32_t group, std::uint32_t other) const {
  const std::uint32_t groups = network_.dims[0], routers = network_.dims[1];
  return group * routers + (other + groups - group - 1) % groups % routers;
}

void NetworkRoutes::add_dragonfly(std::uint32_t from, std::uint32_t to,
                                  std::vector<LinkStop>& links) const {
  const std::uint32_t groups = network_.dims[0], routers = network_.dims[1];
  const auto add_local = [&](std::uint32_t a, std::uint32_t b) {
    if (a != b) links.push_back({std::uint64_t{a} * routers + b % routers, s_per_byte_});
  };
  const std::uint32_t group_from = from / routers, group_to = to / routers;
  if (group_from == group_to) return add_local(from, to);
  const std::uint64_t first_between = std::uint64_t{groups} * routers * routers;
  add_local(from, gateway(group_from, group_to));
  links.push_back({first_between + std::uint64_t{group_from} * groups + group_to, s_per_byte_});
  add_local(gateway(group_to, group_from), to);
}

/// Goes up from the finest tier (the last) to the coarsest tier on which the nodes differ in group,
/// and down again. Each uplink consists of several links. A message with a detour takes link number
/// via % count, where `via` is the root of the detour. A message without a detour takes link number
/// to % count.
void NetworkRoutes::find_in_tree(NodeId from, NodeId to, std::uint32_t via,
                                 std::vector<LinkStop>& links) const {
  const auto add = [&](std::size_t tier, NodeId node, bool is_down) {
    const std::uint32_t count = links_per_uplink_[tier];
    const std::vector<std::uint32_t>& group = network_.tiers[tier].group_of_node;
    if (count == 0 || group[from] == group[to]) return;
    const std::uint64_t index = (via == kDirect ? to : via) % count;
    const std::uint64_t direction = 2 * tier + (is_down ? 1 : 0);
    links.push_back(
        {direction << 54U | std::uint64_t{group[node]} << 22U | index, uplink_s_per_byte_[tier]});
  };
  for (std::size_t tier = links_per_uplink_.size(); tier-- > 0;) add(tier, from, false);
  for (std::size_t tier = 0; tier < links_per_uplink_.size(); ++tier) add(tier, to, true);
}

}  // namespace poise
