// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/group_machine.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "poise/base/check.h"

namespace poise {

namespace {

constexpr double kPortSpeed = 1e-9;  // the lowest speed that a machine may have

class GroupMachine {
 public:
  GroupMachine(const Machine& machine, std::span<const PlaceRange> ranges)
      : machine_(machine), ranges_(ranges) {
    for (const PlaceRange& range : ranges_) {
      POISE_CHECK(range.first < range.end);
      if (range.is_port) continue;
      ++num_groups_;
      num_places_ += range.end - range.first;
      num_domains_ += machine.domain_of(range.end - 1) - machine.domain_of(range.first) + 1;
      num_nodes_ += machine.node_of_place(range.end - 1) - machine.node_of_place(range.first) + 1;
    }
  }

  Machine result() {
    parts_.name = machine_.name();
    parts_.root_latency_factor = machine_.parts().root_latency_factor;
    parts_.root_bandwidth_factor = machine_.parts().root_bandwidth_factor;
    find_levels();
    find_places();
    find_node_kinds();
    find_network();
    scale_costs();
    return Machine(std::move(parts_));
  }

 private:
  void find_levels() {
    const auto levels = machine_.levels();
    const std::size_t node_level = machine_.level_named("node");
    for (std::size_t l = 0; l < levels.size(); ++l) {
      Level level{.name = levels[l].name,
                  .first_place = {0},
                  .latency_factor = levels[l].latency_factor,
                  .bandwidth_factor = levels[l].bandwidth_factor,
                  .also = levels[l].also};
      for (PlaceId i = 1; i < ranges_.size(); ++i)
        if (machine_.group_of(l, ranges_[i].first) != machine_.group_of(l, ranges_[i - 1].first))
          level.first_place.push_back(i);
      level.first_place.push_back(ranges_.size());
      const bool is_last = level.num_groups() == ranges_.size();
      if (is_last && l < node_level && node_level < levels.size()) level.name = "node";
      parts_.levels.push_back(std::move(level));
      if (is_last) return;
    }
  }

  void find_places() {
    DomainId domain = 0;
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      const auto [first, end, is_port] = ranges_[i];
      const DomainId old = machine_.domain_of(first);
      const NodeId node = machine_.node_of_place(first);
      if (nodes_.empty() || nodes_.back().node != node) nodes_.push_back({node, {}});
      auto& domains = nodes_.back().domains;
      if (domains.empty() || domains.back() != old) {
        domain += i > 0 ? 1 : 0;
        domains.push_back(old);
      }
      double speed = 0;
      for (PlaceId p = first; p < end; ++p) speed += machine_.speed_of(p);
      parts_.places.push_back({.domain = domain, .speed = is_port ? kPortSpeed : speed});
    }
  }

  /// Describes each node of the coarser machine. A node keeps only those memory domains of the
  /// original node in which a range of places begins. Nodes of one kind with the same domains share
  /// one description.
  void find_node_kinds() {
    parts_.node_kinds.clear();
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    for (const auto& [node, domains] : nodes_) {
      const std::uint32_t old_kind = machine_.parts().kind_of_node[node];
      std::vector<std::uint32_t> key{old_kind};
      for (const DomainId d : domains) key.push_back(d - machine_.first_domain(node));
      const auto [found, is_new] = known.try_emplace(key, parts_.node_kinds.size());
      parts_.kind_of_node.push_back(found->second);
      if (!is_new) continue;
      NodeKind kind{static_cast<std::uint32_t>(domains.size()), {}, {}};
      for (const DomainId from : domains)
        for (const DomainId to : domains) {
          kind.latency_factor.push_back(machine_.latency_factor(from, to));
          kind.bandwidth_factor.push_back(machine_.bandwidth_factor(from, to));
        }
      parts_.node_kinds.push_back(std::move(kind));
    }
  }

  /// Describes the network between the nodes in `nodes_`. Only the entries of these nodes are
  /// copied from the original machine, because lists with an entry per node or per pair of nodes
  /// may be long.
  void find_network() {
    const Network& old = machine_.network();
    Network& network = parts_.network;
    network.shape = old.shape;
    network.factor = old.factor;
    network.factor_per_hop = old.factor_per_hop;
    network.same_router_factor = old.same_router_factor;
    network.bandwidth_factor = old.bandwidth_factor;
    network.dims = old.dims;
    network.nodes_per_router = old.nodes_per_router;
    for (const Tier& tier : old.tiers) {
      std::vector<std::uint32_t> groups;
      std::uint32_t last = 0;
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const std::uint32_t now = tier.group_of_node[nodes_[i].node];
        groups.push_back(i == 0 ? 0 : groups.back() + (now != last ? 1 : 0));
        last = now;
      }
      network.tiers.push_back({std::move(groups), tier.latency_factor});
    }
    if (old.shape == Network::Shape::matrix) {
      network.matrix_nodes = nodes_.size();
      for (const auto& from : nodes_)
        for (const auto& to : nodes_)
          network.matrix.push_back(old.latency_factor(from.node, to.node));
    } else if (old.shape != Network::Shape::tree) {
      for (const auto& at : nodes_) network.router_of_node.push_back(old.router_of(at.node));
    }
  }

  void scale_costs() {
    CostModel& costs = parts_.costs = machine_.costs();
    const double places = num_places_ / num_groups_;
    for (double* seconds :
         {&costs.seconds_per_message, &costs.seconds_per_byte, &costs.seconds_per_migrated_byte,
          &costs.seconds_per_migrated_task, &costs.inside.send_s, &costs.inside.receive_s,
          &costs.inside.copy_s_per_byte, &costs.network.send_s, &costs.network.receive_s,
          &costs.network.copy_s_per_byte})
      *seconds /= places;
    costs.bus_bytes_per_s *= std::max(1.0, num_domains_ / num_groups_);
    const double nodes = std::max(1.0, num_nodes_ / num_groups_);
    costs.card_bytes_per_s *= nodes;
    costs.card_s_per_message /= nodes;
  }

  struct NodeDomains {
    NodeId node;
    std::vector<DomainId> domains;
  };

  const Machine& machine_;
  std::span<const PlaceRange> ranges_;
  double num_groups_ = 0, num_places_ = 0, num_domains_ = 0, num_nodes_ = 0;
  std::vector<NodeDomains> nodes_;
  MachineParts parts_;
};

}  // namespace

Machine machine_of_groups(const Machine& machine, std::span<const PlaceRange> ranges) {
  return GroupMachine(machine, ranges).result();
}

}  // namespace poise
