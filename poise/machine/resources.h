// SPDX-License-Identifier: BSD-3-Clause
// The resources of a machine that messages of several places share: memory buses, links between
// memory domains, network cards, uplinks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "poise/machine/machine.h"

namespace poise {

/// How long a message occupies each kind of resource. The links inside a torus, mesh or dragonfly
/// do not count as resources.
class ResourceRates {
 public:
  enum class Kind : std::uint8_t { bus, link, card_out, card_in, shared_network, up, down };

  /// How long one message occupies a resource. `count` messages with `bytes` in total occupy it for
  /// count * s_per_message + bytes * s_per_byte seconds.
  struct Crossing {
    Kind kind;
    std::uint32_t index;  // bus: domain; link: sender's domain; card: node; uplink: group
    std::uint32_t other;  // link: receiver's domain; uplink: tier; otherwise unused
    double s_per_message, s_per_byte;
  };

  ResourceRates(const Machine& machine, const CostModel& costs);

  /// Calls visit(Crossing) for every resource that a message from domain `from` to domain `to`
  /// crosses, except resources that take no time. O(tiers). Messages between tasks of one place
  /// cost nothing, so callers leave them out.
  template <typename Visit>
  void for_each_crossed(DomainId from, DomainId to, const Visit& visit) const;

  /// Returns the seconds that `count` messages with `bytes` in total take on the slowest resource
  /// that they cross, if nothing else uses it.
  double slowest_s(DomainId from, DomainId to, double count, double bytes) const;

  std::size_t num_tiers() const { return uplink_s_per_byte_.size(); }

 private:
  const Machine& machine_;
  double bus_s_per_byte_, card_s_per_byte_, card_s_per_message_, shared_s_per_byte_;
  double inside_crossings_, network_crossings_;
  std::vector<double> uplink_s_per_byte_;  // per tier
};

using ResourceId = std::uint32_t;

/// Gives each shared resource of a machine an ID, counted from 0. An object of this class takes
/// O(nodes * tiers) memory.
class Resources {
 public:
  Resources(const Machine& machine, const CostModel& costs);

  std::uint32_t count() const { return count_; }

  /// Name of a resource for tables, such as "memory bus of domain 3" or "card out of node 2".
  std::string name(ResourceId resource) const;

  /// Calls visit(ResourceId, seconds per message, seconds per byte) for each resource that a
  /// message from domain `from` to domain `to` crosses.
  template <typename Visit>
  void for_each_crossed(DomainId from, DomainId to, const Visit& visit) const {
    rates_.for_each_crossed(from, to, [&](const ResourceRates::Crossing& crossing) {
      visit(id_of(crossing), crossing.s_per_message, crossing.s_per_byte);
    });
  }

  /// The rates of the resources. ResourceRates::for_each_crossed() also gives the kind of each
  /// resource.
  const ResourceRates& rates() const { return rates_; }
  ResourceId id_of(const ResourceRates::Crossing& crossing) const;

 private:
  std::uint32_t domains_of(NodeId node) const {
    return machine_.first_domain(node + 1) - machine_.first_domain(node);
  }

  const Machine& machine_;
  ResourceRates rates_;
  std::vector<std::uint32_t> groups_of_tier_;
  std::vector<ResourceId> first_up_, first_down_;  // per tier
  std::vector<ResourceId> first_link_;             // per node
  ResourceId first_card_out_ = 0, first_card_in_ = 0, shared_ = 0, count_ = 0;
};

// This function is inline because for_each_crossed() calls it with constant kinds, so that the
// compiler can remove the switch.
inline ResourceId Resources::id_of(const ResourceRates::Crossing& crossing) const {
  using Kind = ResourceRates::Kind;
  switch (crossing.kind) {
    case Kind::bus: return crossing.index;
    case Kind::card_out: return first_card_out_ + crossing.index;
    case Kind::card_in: return first_card_in_ + crossing.index;
    case Kind::shared_network: return shared_;
    case Kind::up: return first_up_[crossing.other] + crossing.index;
    case Kind::down: return first_down_[crossing.other] + crossing.index;
    case Kind::link: break;
  }
  const NodeId node = machine_.node_of(crossing.index);
  const DomainId first = machine_.first_domain(node);
  return first_link_[node] + (crossing.index - first) * domains_of(node) + crossing.other - first;
}

template <typename Visit>
void ResourceRates::for_each_crossed(DomainId from, DomainId to, const Visit& visit) const {
  const NodeId node_from = machine_.node_of(from), node_to = machine_.node_of(to);
  const bool is_inside = node_from == node_to;
  if (bus_s_per_byte_ > 0) {
    const double at_end = bus_s_per_byte_ * (is_inside ? inside_crossings_ : network_crossings_);
    visit(Crossing{Kind::bus, from, 0, 0, from == to ? 2 * at_end : at_end});
    if (from != to) visit(Crossing{Kind::bus, to, 0, 0, at_end});
    if (is_inside && from != to)
      visit(
          Crossing{Kind::link, from, to, 0, bus_s_per_byte_ * machine_.bandwidth_factor(from, to)});
  }
  if (is_inside) return;
  if (card_s_per_byte_ > 0 || card_s_per_message_ > 0) {
    visit(Crossing{Kind::card_out, node_from, 0, card_s_per_message_, card_s_per_byte_});
    visit(Crossing{Kind::card_in, node_to, 0, card_s_per_message_, card_s_per_byte_});
  }
  if (shared_s_per_byte_ > 0) visit(Crossing{Kind::shared_network, 0, 0, 0, shared_s_per_byte_});
  for (std::uint32_t t = 0; t < uplink_s_per_byte_.size(); ++t) {
    const std::vector<std::uint32_t>& group = machine_.network().tiers[t].group_of_node;
    if (uplink_s_per_byte_[t] == 0 || group[node_from] == group[node_to]) continue;
    visit(Crossing{Kind::up, group[node_from], t, 0, uplink_s_per_byte_[t]});
    visit(Crossing{Kind::down, group[node_to], t, 0, uplink_s_per_byte_[t]});
  }
}

}  // namespace poise
