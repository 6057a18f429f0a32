// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/resources.h"

#include <algorithm>
#include <fmt/format.h>

namespace poise {

namespace {

/// Returns the seconds per byte at a bandwidth in bytes per second. A bandwidth of 0 means
/// unlimited; the result is then 0.
double per_unit(double units_per_s) { return units_per_s > 0 ? 1 / units_per_s : 0; }

}  // namespace

ResourceRates::ResourceRates(const Machine& machine, const CostModel& costs)
    : machine_(machine),
      bus_s_per_byte_(per_unit(costs.bus_bytes_per_s)),
      card_s_per_byte_(per_unit(costs.card_bytes_per_s * costs.cards)),
      card_s_per_message_(costs.card_s_per_message / costs.cards),
      shared_s_per_byte_(per_unit(costs.shared_network_bytes_per_s)),
      inside_crossings_(costs.inside.bus_crossings),
      network_crossings_(costs.network.bus_crossings) {
  const std::size_t tiers =
      std::min(machine.network().tiers.size(), costs.uplink_bytes_per_s.size());
  for (std::size_t t = 0; t < tiers; ++t)
    uplink_s_per_byte_.push_back(per_unit(costs.uplink_bytes_per_s[t]));
}

double ResourceRates::slowest_s(DomainId from, DomainId to, double count, double bytes) const {
  double slowest = 0;
  for_each_crossed(from, to, [&](const Crossing& crossing) {
    slowest = std::max(slowest, count * crossing.s_per_message + bytes * crossing.s_per_byte);
  });
  return slowest;
}

Resources::Resources(const Machine& machine, const CostModel& costs)
    : machine_(machine), rates_(machine, costs) {
  const auto take = [this](std::uint32_t wanted) {
    const ResourceId first = count_;
    count_ += wanted;
    return first;
  };
  take(machine.num_domains());  // IDs of the memory buses: resource d is the bus of domain d
  first_card_out_ = take(machine.num_nodes());
  first_card_in_ = take(machine.num_nodes());
  shared_ = take(1);
  for (std::size_t t = 0; t < rates_.num_tiers(); ++t) {
    const std::vector<std::uint32_t>& group = machine.network().tiers[t].group_of_node;
    groups_of_tier_.push_back(group.empty() ? 0 : group.back() + 1);
    first_up_.push_back(take(groups_of_tier_[t]));
    first_down_.push_back(take(groups_of_tier_[t]));
  }
  for (NodeId node = 0; node < machine.num_nodes(); ++node)
    first_link_.push_back(take(domains_of(node) * domains_of(node)));
}

std::string Resources::name(ResourceId resource) const {
  if (resource < first_card_out_) return fmt::format("memory bus of domain {}", resource);
  if (resource < first_card_in_)
    return fmt::format("card out of node {}", resource - first_card_out_);
  if (resource < shared_) return fmt::format("card into node {}", resource - first_card_in_);
  if (resource == shared_) return "shared network";
  for (std::size_t t = 0; t < first_up_.size(); ++t) {
    if (resource < first_down_[t])
      return fmt::format("uplink of group {} in tier {}", resource - first_up_[t], t);
    if (resource < first_down_[t] + groups_of_tier_[t])
      return fmt::format("downlink of group {} in tier {}", resource - first_down_[t], t);
  }
  const NodeId node =
      std::upper_bound(first_link_.begin(), first_link_.end(), resource) - first_link_.begin() - 1;
  const std::uint32_t pair = resource - first_link_[node];
  const DomainId first = machine_.first_domain(node);
  return fmt::format("link from domain {} to domain {}", first + pair / domains_of(node),
                     first + pair % domains_of(node));
}

}  // namespace poise
