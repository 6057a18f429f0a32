// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/distance_tree.h"

#include <algorithm>
#include <numeric>

namespace poise {

namespace {

/// The first place of each group of one level; the last entry is the number of places.
using Starts = std::vector<PlaceId>;

bool refines(const Starts& finer, const Starts& coarser) {
  return std::includes(finer.begin(), finer.end(), coarser.begin(), coarser.end());
}

Starts starts_of_nodes(const Machine& machine) {
  Starts starts;
  for (NodeId n = 0; n < machine.num_nodes(); ++n)
    starts.push_back(machine.first_place(machine.first_domain(n)));
  starts.push_back(machine.num_places());
  return starts;
}

Starts starts_of_domains(const Machine& machine) {
  Starts starts;
  for (DomainId d = 0; d <= machine.num_domains(); ++d) starts.push_back(machine.first_place(d));
  return starts;
}

Starts starts_of_places(const Machine& machine) {
  Starts starts(std::size_t{machine.num_places()} + 1);
  std::iota(starts.begin(), starts.end(), PlaceId{0});
  return starts;
}

/// Returns the network tiers above the nodes, coarsest first, or nothing if they are not nested.
std::vector<Starts> starts_of_tiers(const Machine& machine) {
  const Starts nodes = starts_of_nodes(machine);
  std::vector<Starts> tiers;
  for (const Tier& tier : machine.network().tiers) {
    Starts& starts = tiers.emplace_back(1, 0);
    for (NodeId n = 1; n < machine.num_nodes(); ++n)
      if (tier.group_of_node[n] != tier.group_of_node[n - 1]) starts.push_back(nodes[n]);
    starts.push_back(machine.num_places());
    if (tiers.size() > 1 && !refines(starts, tiers[tiers.size() - 2])) return {};
  }
  return tiers;
}

/// True if all domains in [first, last), which are on one node, are at the same distance from any
/// other domain of that node, in both directions.
bool is_module(const Machine& machine, DomainId first, DomainId last) {
  const NodeId node = machine.node_of(first);
  for (DomainId other = machine.first_domain(node); other < machine.first_domain(node + 1); ++other)
    for (DomainId inside = first + 1; inside < last && (other < first || other >= last); ++inside)
      if (machine.latency_factor(other, inside) != machine.latency_factor(other, first) ||
          machine.latency_factor(inside, other) != machine.latency_factor(first, other))
        return false;
  return true;
}

/// Returns the machine's levels between nodes and domains (such as packages) that can be levels of
/// the tree: all domains of a group must be equally far from any domain of the node outside the
/// group.
std::vector<Starts> starts_of_modules(const Machine& machine) {
  const Starts nodes = starts_of_nodes(machine), domains = starts_of_domains(machine);
  std::vector<Starts> modules;
  for (const Level& level : machine.levels()) {
    const Starts& starts = level.first_place;
    if (!refines(starts, nodes) || !refines(domains, starts)) continue;
    bool are_modules = true;
    for (std::size_t g = 0; g + 1 < starts.size() && are_modules; ++g)
      are_modules = is_module(machine, machine.domain_of(starts[g]),
                              machine.domain_of(starts[g + 1] - 1) + 1);
    if (are_modules) modules.push_back(starts);
  }
  return modules;
}

/// Returns the levels inside domains (such as shared caches), coarsest first.
std::vector<Starts> starts_of_caches(const Machine& machine) {
  const Starts domains = starts_of_domains(machine);
  std::vector<Starts> caches;
  for (const Level& level : machine.levels())
    if (refines(level.first_place, domains)) caches.push_back(level.first_place);
  return caches;
}

/// Lower bound on the weight of a message between two nodes of a torus, mesh or dragonfly.
double lightest_hop(const Network& network) {
  const bool routers_are_shared = network.nodes_per_router > 1 || !network.router_of_node.empty();
  return routers_are_shared ? std::min(network.factor, network.same_router_factor) : network.factor;
}

}  // namespace

DistanceTree::DistanceTree(const Machine& machine, MessageWeights weights)
    : machine_(&machine), weights_(weights) {
  const Network& network = machine.network();
  const bool is_tree = network.shape == Network::Shape::tree;
  const std::vector<Starts> tiers = is_tree ? starts_of_tiers(machine) : std::vector<Starts>{};

  add_level({0, machine.num_places()});
  for (const Starts& starts : tiers) add_level(starts);
  add_level(starts_of_nodes(machine));
  for (const Starts& starts : starts_of_modules(machine)) add_level(starts);
  add_level(starts_of_domains(machine));
  if (weights.caches)
    for (const Starts& starts : starts_of_caches(machine)) add_level(starts);
  if (weights.caches || weights.same_place != weights.same_domain)
    add_level(starts_of_places(machine));

  find_leaves();
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l)
    for (Group& group : levels_[l])
      weigh_children(l, group, is_tree && tiers.size() == network.tiers.size());
  find_lightest();
}

void DistanceTree::add_level(const Starts& starts) {
  if (!levels_.empty() && starts.size() == levels_.back().size() + 1) return;
  if (!levels_.empty()) {
    std::uint32_t child = 0;
    for (Group& group : levels_.back()) {
      group.first_child = child;
      while (starts[child] < group.last) ++child;
      group.last_child = child;
    }
  }
  auto& groups = levels_.emplace_back(starts.size() - 1);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].first = starts[g];
    groups[g].last = starts[g + 1];
  }
}

void DistanceTree::find_leaves() {
  leaf_of_.resize(machine_->num_places());
  const auto& leaves = levels_.back();
  for (std::uint32_t leaf = 0; leaf < leaves.size(); ++leaf)
    std::fill(leaf_of_.begin() + leaves[leaf].first, leaf_of_.begin() + leaves[leaf].last, leaf);
  for (const auto& groups : levels_) {
    auto& group_of = group_of_leaf_.emplace_back(leaves.size());
    for (std::uint32_t g = 0; g < groups.size(); ++g)
      std::fill(group_of.begin() + leaf_of_[groups[g].first],
                group_of.begin() + leaf_of_[groups[g].last - 1] + 1, g);
  }
}

void DistanceTree::weigh_children(std::size_t level, Group& group, bool nodes_form_a_tree) const {
  if (group.last_child - group.first_child < 2) return;
  const PlaceId last_place = group.last - 1;
  if (machine_->domain_of(group.first) == machine_->domain_of(last_place)) {
    group.weight = weights_.caches
                       ? machine_->message_factor(group.first,
                                                  levels_[level + 1][group.first_child + 1].first) -
                             2
                       : weights_.same_domain;
    return;
  }
  group.weight = weight(level + 1, group.first_child, group.first_child + 1);
  const bool holds_nodes =
      machine_->node_of_place(group.first) != machine_->node_of_place(last_place);
  if (holds_nodes && nodes_form_a_tree) return;
  if (holds_nodes && machine_->network().shape != Network::Shape::matrix &&
      machine_->network().shape != Network::Shape::tree) {
    group.is_uniform = false;
    group.weight = lightest_hop(machine_->network());
    return;
  }
  const double first_weight = group.weight;
  for (std::uint32_t from = group.first_child; from < group.last_child; ++from)
    for (std::uint32_t to = group.first_child; to < group.last_child; ++to) {
      if (from == to) continue;
      const double between = weight(level + 1, from, to);
      group.is_uniform = group.is_uniform && between == first_weight;
      group.weight = std::min(group.weight, between);
    }
}

void DistanceTree::find_lightest() {
  for (Group& leaf : levels_.back()) leaf.lightest = leaf_weight();
  for (std::size_t l = levels_.size() - 1; l-- > 0;)
    for (Group& group : levels_[l]) {
      group.lightest = levels_[l + 1][group.first_child].lightest;
      for (std::uint32_t child = group.first_child; child < group.last_child; ++child)
        group.lightest = std::min(group.lightest, levels_[l + 1][child].lightest);
      if (group.last_child - group.first_child > 1)
        group.lightest = std::min(group.lightest, group.weight);
    }
}

double DistanceTree::weight(std::size_t level, std::uint32_t from, std::uint32_t to) const {
  return machine_->latency_factor(machine_->domain_of(levels_[level][from].first),
                                  machine_->domain_of(levels_[level][to].first));
}

}  // namespace poise
