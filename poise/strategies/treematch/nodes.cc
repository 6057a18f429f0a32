// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/nodes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "poise/partition/even_out.h"
#include "poise/strategies/treematch/network.h"
#include "poise/strategies/treematch/tree.h"
#include "poise/strategies/tuning.h"

namespace poise::tree_match {

namespace {

std::vector<double> shares_of_nodes(const Machine& machine, const Demand& demand) {
  std::vector<double> shares(machine.num_nodes(), 0);
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    const double share = demand.share_of_place[p];
    shares[machine.node_of_place(p)] += demand.one_each ? (share > 0 ? 1 : 0) : share;
  }
  return shares;
}

std::vector<Part> fixed_nodes(const Problem& problem) {
  std::vector<Part> fixed(problem.workload.num_tasks(), kFree);
  for (TaskId t = 0; t < fixed.size(); ++t)
    if (!problem.workload.tasks[t].movable)
      fixed[t] = problem.machine.node_of_place(problem.current.of(t));
  return fixed;
}

/// Returns the kind of each node. Nodes of the same kind may exchange their groups of tasks: they
/// have the same number of places, equal shares of the load and no pinned tasks.
std::vector<std::uint32_t> kinds_of_nodes(const Problem& problem, const Demand& demand) {
  const Machine& machine = problem.machine;
  const std::vector<double> shares = shares_of_nodes(machine, demand);
  std::map<std::pair<PlaceId, double>, std::uint32_t> known;
  std::vector<std::uint32_t> kinds;
  for (NodeId n = 0; n < machine.num_nodes(); ++n) {
    const PlaceId places = machine.first_place(machine.first_domain(n + 1)) -
                           machine.first_place(machine.first_domain(n));
    const std::uint32_t next = known.size();
    kinds.push_back(known.try_emplace({places, shares[n]}, next).first->second);
  }
  std::uint32_t next = known.size();
  if (demand.has_pinned)
    for (const Part node : fixed_nodes(problem))
      if (node != kFree) kinds[node] = next++;
  return kinds;
}

/// Returns the number of children per switch on each tier of the network, from the root down.
/// Returns nothing if the network is not a tree of switches, or if switches of the same tier differ
/// in their number of children.
std::optional<std::vector<std::uint32_t>> tier_arities(const Machine& machine) {
  const Network& network = machine.network();
  if (network.shape != Network::Shape::tree) return std::nullopt;
  std::vector<std::uint32_t> arities;
  std::uint32_t above = machine.num_nodes();
  for (const Tier& tier : network.tiers) {
    std::vector<std::uint32_t> sizes;
    for (const std::uint32_t group : tier.group_of_node) {
      sizes.resize(std::max<std::size_t>(sizes.size(), group + 1), 0);
      ++sizes[group];
    }
    const bool is_regular = std::all_of(sizes.begin(), sizes.end(),
                                        [&](std::uint32_t size) { return size == sizes[0]; });
    if (!is_regular || above % sizes[0] != 0) return std::nullopt;
    arities.push_back(above / sizes[0]);
    above = sizes[0];
  }
  arities.push_back(above);
  return arities;
}

/// Lists for each group the nodes where its tasks are now.
std::vector<std::vector<Anchor>> anchors_of_groups(const Problem& problem,
                                                   const std::vector<NodeId>& group_of) {
  std::vector<std::vector<Anchor>> anchors(problem.machine.num_nodes());
  std::vector<double> weight(problem.machine.num_nodes(), 0);
  const Groups groups = arrange(group_of, problem.machine.num_nodes());
  for (NodeId group = 0; group < anchors.size(); ++group) {
    for (const Vertex t : groups.of(group)) {
      const NodeId node = problem.machine.node_of_place(problem.current.of(t));
      if (weight[node] == 0) anchors[group].push_back({node, 0});
      weight[node] += anchor_weight(problem.workload.tasks[t]);
    }
    for (Anchor& anchor : anchors[group]) anchor.weight = std::exchange(weight[anchor.leaf], 0);
  }
  return anchors;
}

std::vector<NodeId> numbered(std::uint32_t size) {
  std::vector<NodeId> nodes(size);
  for (NodeId n = 0; n < size; ++n) nodes[n] = n;
  return nodes;
}

}  // namespace

std::vector<NodeId> group_per_node(const Problem& problem, const Demand& demand,
                                   bool keeps_groups) {
  const TaskId num_tasks = problem.workload.num_tasks();
  Shares shares{shares_of_nodes(problem.machine, demand),
                demand.tolerance,
                {},
                kStrategiesTuning.attempts_of_tasks};
  if (demand.has_pinned) shares.fixed = fixed_nodes(problem);
  std::vector<NodeId> group_of(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    group_of[t] = problem.machine.node_of_place(problem.current.of(t));
  if (!demand.one_each) {
    if (!keeps_groups) group_of = partition(demand.graph, shares);
    even_out_by_swaps(demand.graph, shares, group_of);
    return group_of;
  }
  // Tasks without edges are added until there is one per place. They let the partitioner put the
  // real tasks on few nodes and leave other nodes empty.
  Graph padded = demand.graph;
  pad(padded, demand.open_places, 1);
  if (!shares.fixed.empty()) shares.fixed.resize(demand.open_places, kFree);
  shares.tolerance = 0;
  group_of = partition(padded, shares);
  even_out_by_swaps(padded, shares, group_of);
  group_of.resize(num_tasks);
  return group_of;
}

std::vector<NodeId> map_groups(const Problem& problem, const Demand& demand,
                               const std::vector<NodeId>& group_of) {
  const Machine& machine = problem.machine;
  const std::uint32_t nodes = machine.num_nodes();
  const std::vector<std::uint32_t> kinds = kinds_of_nodes(problem, demand);
  const bool are_alike =
      std::all_of(kinds.begin(), kinds.end(), [&](std::uint32_t kind) { return kind == kinds[0]; });
  const auto anchors = anchors_of_groups(problem, group_of);
  std::vector<std::vector<NodeId>> candidates;
  if (are_alike) candidates.push_back(turn_to_anchors(numbered(nodes), {{nodes}}, anchors));
  if (are_alike && is_uniform(machine)) return candidates[0];

  const Graph groups = contract(demand.graph, group_of, nodes);
  const Distance distance = nodes <= kStrategiesTuning.max_nodes_in_table
                                ? tabulated(nodes, node_distance(machine))
                                : node_distance(machine);
  candidates.push_back(numbered(nodes));
  if (are_alike && nodes <= kStrategiesTuning.max_nodes_to_halve)
    candidates.push_back(map_by_halving(groups, distance, node_coordinates(machine)));
  if (const auto arities = tier_arities(machine); are_alike && arities)
    candidates.push_back(turn_to_anchors(match_to_tree(groups, *arities), *arities, anchors));

  std::vector<double> cost;
  for (const auto& candidate : candidates)
    cost.push_back(hop_affinity(groups, candidate, distance));
  const double hopeless = kStrategiesTuning.hopeless * *std::min_element(cost.begin(), cost.end());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (cost[i] > hopeless) continue;
    swap_closer(groups, kinds, distance, candidates[i]);
    cost[i] = hop_affinity(groups, candidates[i], distance);
  }
  const auto best = std::min_element(cost.begin(), cost.end()) - cost.begin();
  return candidates[best];
}

}  // namespace poise::tree_match
