// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/treematch/within.h"

#include <algorithm>
#include <map>

#include "poise/strategies/treematch/network.h"
#include "poise/strategies/treematch/tree.h"

namespace poise::tree_match {

namespace {

/// Number of attempts per bisection; the best result is kept. The tasks of each node are bisected
/// separately, so on machines with few nodes there is time for more attempts.
Vertex attempts(const Machine& machine) { return std::max(2u, 8 / machine.num_nodes()); }

bool is_pinned(const Inside& inside) {
  return std::any_of(inside.fixed.begin(), inside.fixed.end(),
                     [](Part part) { return part != kFree; });
}

bool is_symmetric(const Subtree& tree, const Inside& inside) {
  const bool has_equal_shares =
      std::all_of(inside.shares.begin(), inside.shares.end(),
                  [&](double share) { return share == inside.shares[0]; });
  return tree.arities && has_equal_shares && !is_pinned(inside);
}

/// Maps groups of tasks to leaves. If several leaves are equally good, a group goes to the leaf
/// where most of its members are now.
std::vector<Part> match_groups(const Inside& inside, const Subtree& tree,
                               std::span<const Part> group_of, Graph groups) {
  const Vertex num_groups = groups.num_vertices();
  std::vector<std::vector<Anchor>> anchors(num_groups);
  for (Vertex v = 0; v < group_of.size(); ++v)
    if (inside.current[v] != kFree)
      anchors[group_of[v]].push_back({inside.current[v], inside.anchor[v]});
  const std::vector<Vertex> leaf_of = match_to_tree(std::move(groups), *tree.arities);
  return turn_to_anchors(leaf_of, *tree.arities, anchors);
}

std::vector<Part> composed(std::span<const Part> group_of, std::span<const Part> place_of) {
  std::vector<Part> result;
  result.reserve(group_of.size());
  for (const Part group : group_of) result.push_back(place_of[group]);
  return result;
}

/// Returns the kind of each place. Places of the same kind may exchange their tasks: they have
/// equal shares of the load and no pinned tasks.
std::vector<std::uint32_t> kinds_of_places(const Inside& inside) {
  std::map<double, std::uint32_t> kind_of_share;
  std::vector<std::uint32_t> kinds;
  for (const double share : inside.shares)
    kinds.push_back(kind_of_share.try_emplace(share, kind_of_share.size()).first->second);
  std::uint32_t next = kind_of_share.size();
  for (const Part place : inside.fixed)
    if (place != kFree) kinds[place] = next++;
  return kinds;
}

std::vector<Part> place_constrained(const Machine& machine, const Subtree& tree,
                                    const Inside& inside, const Shares& shares) {
  const Vertex places = shares.of_part.size();
  const std::vector<Part> group_of = partition(inside.graph, shares);
  std::vector<Part> place_of(places);
  for (Part p = 0; p < places; ++p) place_of[p] = p;
  const Distance distance = [&](Vertex a, Vertex b) {
    return machine.hops(tree.first + a, tree.first + b);
  };
  swap_closer(contract(inside.graph, group_of, places), kinds_of_places(inside), distance,
              place_of);
  return composed(group_of, place_of);
}

}  // namespace

Subtree subtree(const Machine& machine, PlaceId first, PlaceId last) {
  Subtree tree{first, last, std::vector<std::uint32_t>{}};
  std::uint32_t above = last - first;
  for (std::size_t l = 0; l < machine.levels().size(); ++l) {
    const Level& level = machine.levels()[l];
    const std::uint32_t begin = machine.group_of(l, first), end = machine.group_of(l, last - 1);
    const std::uint32_t size = level.first_place[begin + 1] - level.first_place[begin];
    if (size > last - first || level.first_place[begin] != first) continue;  // above the subtree
    for (std::uint32_t g = begin; g <= end; ++g)
      if (level.first_place[g + 1] - level.first_place[g] != size) tree.arities.reset();
    if (!tree.arities || above % size != 0) return {first, last, std::nullopt};
    tree.arities->push_back(above / size);
    above = size;
  }
  return tree;
}

std::vector<Part> place_inside(const Machine& machine, const Subtree& tree, Inside inside) {
  const Vertex vertices = inside.graph.num_vertices(), places = tree.last - tree.first;
  if (places == 1) return std::vector<Part>(vertices, 0);
  const Vertex open =
      std::count_if(inside.shares.begin(), inside.shares.end(), [](double s) { return s > 0; });
  const bool one_each = vertices <= open;
  if (is_symmetric(tree, inside)) {
    std::vector<Part> group_of(vertices);
    for (Vertex v = 0; v < vertices; ++v) group_of[v] = v;
    if (one_each) return match_groups(inside, tree, group_of, std::move(inside.graph));
    group_of = partition(inside.graph, {inside.shares, inside.tolerance, {}, attempts(machine)});
    Graph groups = contract(inside.graph, group_of, places);
    return composed(group_of, match_groups(inside, tree, group_of, std::move(groups)));
  }
  Shares shares{inside.shares, inside.tolerance, inside.fixed, attempts(machine)};
  if (one_each) {
    inside.graph.weight.assign(vertices, 1);
    pad(inside.graph, open, 1);
    if (!shares.fixed.empty()) shares.fixed.resize(open, kFree);
    for (double& share : shares.of_part) share = share > 0 ? 1 : 0;
    shares.tolerance = 0;
  }
  std::vector<Part> place_of = place_constrained(machine, tree, inside, shares);
  place_of.resize(vertices);
  return place_of;
}

}  // namespace poise::tree_match
