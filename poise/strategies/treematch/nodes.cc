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

using Coordinates = std::vector<std::vector<std::uint32_t>>;

std::vector<double> shares_of_blocks(const Blocks& blocks, const Demand& demand) {
  std::vector<double> shares(blocks.count(), 0);
  for (std::uint32_t block = 0; block < blocks.count(); ++block)
    for (PlaceId p = blocks.first_place[block]; p < blocks.first_place[block + 1]; ++p) {
      const double share = demand.share_of_place[p];
      shares[block] += demand.one_each ? (share > 0 ? 1 : 0) : share;
    }
  return shares;
}

std::vector<Part> fixed_blocks(const Problem& problem, const Blocks& blocks) {
  std::vector<Part> fixed(problem.workload.num_tasks(), kFree);
  for (TaskId t = 0; t < fixed.size(); ++t)
    if (!problem.workload.tasks[t].movable) fixed[t] = blocks.of_place[problem.current.of(t)];
  return fixed;
}

/// Returns the kind of each block. Blocks of the same kind may exchange their groups of tasks: they
/// have the same number of places, equal shares of the load and no pinned tasks.
std::vector<std::uint32_t> kinds_of_blocks(const Problem& problem, const Demand& demand,
                                           const Blocks& blocks) {
  const std::vector<double> shares = shares_of_blocks(blocks, demand);
  std::map<std::pair<PlaceId, double>, std::uint32_t> known;
  std::vector<std::uint32_t> kinds;
  for (std::uint32_t block = 0; block < blocks.count(); ++block) {
    const PlaceId places = blocks.first_place[block + 1] - blocks.first_place[block];
    const auto next = static_cast<std::uint32_t>(known.size());
    kinds.push_back(known.try_emplace({places, shares[block]}, next).first->second);
  }
  auto next = static_cast<std::uint32_t>(known.size());
  if (demand.has_pinned)
    for (const Part block : fixed_blocks(problem, blocks))
      if (block != kFree) kinds[block] = next++;
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

/// Returns the arities (numbers of children per vertex) of the tree above the blocks of places,
/// from the root down. If the blocks are the nodes, it is the tree of the network's tiers,
/// otherwise that of the machine's levels. Returns nothing if the tree is not regular.
std::optional<std::vector<std::uint32_t>> arities_above(const Machine& machine,
                                                        const Blocks& blocks) {
  if (blocks.are_nodes) return tier_arities(machine);
  std::vector<std::uint32_t> arities;
  std::uint32_t above = machine.num_places();
  for (const Level& level : machine.levels()) {
    const std::uint32_t size = level.first_place[1];
    for (std::uint32_t group = 0; group < level.num_groups(); ++group)
      if (level.first_place[group + 1] - level.first_place[group] != size) return std::nullopt;
    if (above % size != 0) return std::nullopt;
    arities.push_back(above / size);
    above = size;
    if (level.num_groups() == blocks.count()) return arities;
  }
  return std::nullopt;
}

/// Returns for each group of tasks the blocks where its tasks are now, each with the weight of
/// staying there.
std::vector<std::vector<Anchor>> anchors_of_groups(const Problem& problem, const Blocks& blocks,
                                                   const std::vector<std::uint32_t>& group_of) {
  std::vector<std::vector<Anchor>> anchors(blocks.count());
  std::vector<double> weight(blocks.count(), 0);
  const Groups groups = arrange(group_of, blocks.count());
  for (std::uint32_t group = 0; group < anchors.size(); ++group) {
    for (const Vertex t : groups.of(group)) {
      const std::uint32_t block = blocks.of_place[problem.current.of(t)];
      if (weight[block] == 0) anchors[group].push_back({block, 0});
      weight[block] += anchor_weight(problem.workload.tasks[t]);
    }
    for (Anchor& anchor : anchors[group]) anchor.weight = std::exchange(weight[anchor.leaf], 0);
  }
  return anchors;
}

/// Returns the function for the distance between two blocks. For nodes it is the distance in the
/// network, for other blocks the hops between their first places.
Distance distance_of(const Machine& machine, const Blocks& blocks) {
  Distance distance = [&machine, &blocks](std::uint32_t a, std::uint32_t b) -> double {
    return machine.hops(blocks.first_place[a], blocks.first_place[b]);
  };
  if (blocks.are_nodes) distance = node_distance(machine);
  return blocks.count() <= kStrategiesTuning.max_nodes_in_table
             ? tabulated(blocks.count(), distance)
             : distance;
}

Blocks blocks_of(const Machine& machine, std::vector<PlaceId> first_place) {
  Blocks blocks{std::move(first_place), {}, false};
  for (std::uint32_t block = 0; block < blocks.count(); ++block)
    blocks.of_place.resize(blocks.first_place[block + 1], block);
  blocks.are_nodes = blocks.count() == machine.num_nodes();
  return blocks;
}

/// Adds empty tasks to groups that have fewer tasks than places, until there are num_places tasks
/// in all.
void fill_groups(const std::vector<double>& places_of_group, Vertex num_places,
                 std::vector<std::uint32_t>& group_of) {
  std::vector<double> room = places_of_group;
  for (const std::uint32_t group : group_of) --room[group];
  for (std::uint32_t group = 0; group < room.size(); ++group)
    for (; room[group] > 0 && group_of.size() < num_places; --room[group])
      group_of.push_back(group);
}

std::vector<std::uint32_t> numbered(std::uint32_t size) {
  std::vector<std::uint32_t> numbers(size);
  for (std::uint32_t n = 0; n < size; ++n) numbers[n] = n;
  return numbers;
}

}  // namespace

Blocks all_nodes(const Machine& machine) {
  std::vector<PlaceId> first;
  for (NodeId node = 0; node <= machine.num_nodes(); ++node)
    first.push_back(machine.first_place(machine.first_domain(node)));
  return blocks_of(machine, std::move(first));
}

Blocks blocks_at(const Machine& machine, std::size_t depth) {
  if (depth == 0) return blocks_of(machine, {0, machine.num_places()});
  return blocks_of(machine, machine.levels()[depth - 1].first_place);
}

std::vector<Blocks> possible_blocks(const Machine& machine) {
  std::vector<Blocks> possible{all_nodes(machine)};
  for (std::size_t depth = 0; depth < machine.levels().size(); ++depth) {
    Blocks blocks = blocks_at(machine, depth);
    const bool is_known = std::any_of(possible.begin(), possible.end(), [&](const Blocks& other) {
      return other.count() == blocks.count();
    });
    if (!is_known) possible.push_back(std::move(blocks));
  }
  return possible;
}

std::vector<std::uint32_t> group_per_block(const Problem& problem, const Demand& demand,
                                           const Blocks& blocks, bool keeps_groups) {
  const TaskId num_tasks = problem.workload.num_tasks();
  Shares shares{
      shares_of_blocks(blocks, demand), demand.tolerance, {}, kStrategiesTuning.attempts_of_tasks};
  if (demand.has_pinned) shares.fixed = fixed_blocks(problem, blocks);
  std::vector<std::uint32_t> group_of(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t) group_of[t] = blocks.of_place[problem.current.of(t)];
  if (!demand.one_each) {
    if (!keeps_groups) group_of = partition(demand.graph, shares);
    even_out_by_swaps(demand.graph, shares, group_of);
    return group_of;
  }
  // Empty tasks are added until there is one task per place. They let the partitioner put the real
  // tasks on few blocks and leave other blocks empty. If the current groups are kept, empty tasks
  // fill those with fewer tasks than places.
  Graph padded = demand.graph;
  pad(padded, demand.open_places, 1);
  if (!shares.fixed.empty()) shares.fixed.resize(demand.open_places, kFree);
  shares.tolerance = 0;
  if (keeps_groups)
    fill_groups(shares.of_part, demand.open_places, group_of);
  else
    group_of = partition(padded, shares);
  even_out_by_swaps(padded, shares, group_of);
  group_of.resize(num_tasks);
  return group_of;
}

std::vector<std::uint32_t> map_groups(const Problem& problem, const Demand& demand,
                                      const Blocks& blocks,
                                      const std::vector<std::uint32_t>& group_of) {
  const Machine& machine = problem.machine;
  const std::uint32_t count = blocks.count();
  const std::vector<std::uint32_t> kinds = kinds_of_blocks(problem, demand, blocks);
  const bool are_alike =
      std::all_of(kinds.begin(), kinds.end(), [&](std::uint32_t kind) { return kind == kinds[0]; });
  const auto anchors = anchors_of_groups(problem, blocks, group_of);
  std::vector<std::vector<std::uint32_t>> candidates;
  if (are_alike) candidates.push_back(turn_to_anchors(numbered(count), {{count}}, anchors));
  if (are_alike && blocks.are_nodes && is_uniform(machine)) return candidates[0];

  const Graph groups = contract(demand.graph, group_of, count);
  const Distance distance = distance_of(machine, blocks);
  candidates.push_back(numbered(count));
  if (are_alike && count <= kStrategiesTuning.max_nodes_to_halve)
    candidates.push_back(map_by_halving(
        groups, distance, blocks.are_nodes ? node_coordinates(machine) : Coordinates()));
  if (const auto arities = arities_above(machine, blocks); are_alike && arities)
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
