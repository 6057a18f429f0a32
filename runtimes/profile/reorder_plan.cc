// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/reorder_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "poise/base/error.h"
#include "poise/partition/rank_map.h"
#include "poise/placement/map_cost.h"

namespace poise::profile {

namespace {

/// The group of each rank on each level, coarsest level first.
struct Paths {
  std::vector<std::string> levels;
  std::vector<std::vector<std::uint32_t>> groups;  // [rank][level]
};

/// Gives each name a number: 0 to the first name that appears, 1 to the second, and so on.
class Numbers {
 public:
  std::uint32_t of(const std::string& name) {
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, std::uint32_t> numbers_;
};

struct Part {
  const char* level;
  std::int32_t RankSite::*number;
};
constexpr Part kParts[] = {{"package", &RankSite::package},
                           {"numa", &RankSite::numa},
                           {"l3", &RankSite::l3},
                           {"core", &RankSite::core}};

/// Numbers the network switches. Returns for each rank the number of the switch to which its host
/// is attached, or an empty list if any of these switches is unknown.
std::vector<std::uint32_t> switches_of(std::span<const RankSite> sites,
                                       std::span<const JobHost> switches) {
  std::map<std::string_view, const JobHost*> by_name;
  for (const JobHost& host : switches)
    if (!host.leaf_switch.empty()) by_name[host.name] = &host;
  Numbers numbers;
  std::vector<std::uint32_t> found;
  for (const RankSite& site : sites) {
    auto host = by_name.find(site.host);
    if (host == by_name.end()) {  // Slurm may name a host without its domain
      const std::string_view name = site.host;
      host = by_name.find(name.substr(0, name.find('.')));
    }
    if (host == by_name.end()) return {};
    found.push_back(numbers.of(host->second->leaf_switch));
  }
  return found;
}

Paths paths_of(std::span<const RankSite> sites, std::span<const JobHost> switches) {
  Paths paths;
  paths.groups.resize(sites.size());
  const auto add = [&](const char* level, const auto& group_of) {
    paths.levels.emplace_back(level);
    for (std::size_t r = 0; r < sites.size(); ++r) paths.groups[r].push_back(group_of(r));
  };
  if (const auto leaves = switches_of(sites, switches); !leaves.empty())
    add("switch", [&](std::size_t r) { return leaves[r]; });
  Numbers hosts;
  add("node", [&](std::size_t r) { return hosts.of(sites[r].host); });
  for (const Part& part : kParts) {
    const auto is_known = [&](const RankSite& site) { return site.*part.number >= 0; };
    if (!std::all_of(sites.begin(), sites.end(), is_known)) continue;
    add(part.level, [&](std::size_t r) { return sites[r].*part.number; });
  }
  return paths;
}

/// The ranks sorted by their groups; ranks of one group stay in ascending order.
std::vector<std::uint32_t> sorted(const Paths& paths) {
  std::vector<std::uint32_t> order(paths.groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return paths.groups[a] < paths.groups[b]; });
  return order;
}

/// True if two ranks are in the same group on a level and on all levels above it.
bool is_together(const Paths& paths, std::size_t level, std::uint32_t a, std::uint32_t b) {
  const auto end = static_cast<std::ptrdiff_t>(level) + 1;
  return std::equal(paths.groups[a].begin(), paths.groups[a].begin() + end,
                    paths.groups[b].begin());
}

Level level_of(const Paths& paths, std::span<const std::uint32_t> order, std::size_t level) {
  Level made{.name = paths.levels[level], .first_place = {0}};
  for (std::size_t p = 1; p < order.size(); ++p)
    if (!is_together(paths, level, order[p - 1], order[p])) made.first_place.push_back(p);
  made.first_place.push_back(order.size());
  return made;
}

/// Describes the machine as levels of groups, such as nodes and caches. The list `order` has
/// the ranks sorted by group. The finest level is called slot instead of core, because several
/// ranks may share a core. Every node counts as one memory domain, because the order of the ranks
/// depends only on hops, and hops depend only on the levels.
MachineParts parts_of(const Paths& paths, std::span<const std::uint32_t> order) {
  MachineParts parts;
  parts.name = "the ranks of the communicator";
  parts.places.resize(order.size());
  const auto node = std::ranges::find(paths.levels, "node");
  if (node != paths.levels.end()) {
    const std::size_t level = node - paths.levels.begin();
    for (std::size_t p = 1; p < order.size(); ++p)
      parts.places[p].domain = parts.places[p - 1].domain +
                               (is_together(paths, level, order[p - 1], order[p]) ? 0u : 1u);
  }
  parts.kind_of_node.assign(parts.places.back().domain + 1, 0);
  for (std::size_t level = 0; level < paths.levels.size(); ++level)
    parts.levels.push_back(level_of(paths, order, level));
  Level slots{.name = "slot"};
  for (PlaceId p = 0; p <= order.size(); ++p) slots.first_place.push_back(p);
  parts.levels.push_back(std::move(slots));
  return parts;
}

/// Removes levels that split no group. They carry no information, but would increase all distances
/// above them.
void drop_levels_without_effect(Paths& paths, std::span<const std::uint32_t> order) {
  std::size_t above = 1;
  for (std::size_t level = 0; level < paths.levels.size();) {
    const std::uint32_t groups = level_of(paths, order, level).num_groups();
    const bool has_effect = groups > above && groups < order.size();
    if (has_effect || paths.levels[level] == "node") {
      above = groups;
      ++level;
      continue;
    }
    const std::ptrdiff_t at = level;
    paths.levels.erase(paths.levels.begin() + at);
    for (auto& groups_of_rank : paths.groups) groups_of_rank.erase(groups_of_rank.begin() + at);
  }
}

/// Restricts a network to the given nodes and the routers to which they are attached.
Network network_on(const Network& whole, std::span<const NodeId> nodes) {
  Network network = whole;
  network.tiers.clear();  // tiers are not needed: hops follow from the machine's levels in a tree
  network.coordinates.clear();
  if (whole.shape == Network::Shape::matrix) {
    network.matrix_nodes = nodes.size();
    network.matrix.clear();
    for (const NodeId a : nodes)
      for (const NodeId b : nodes)
        network.matrix.push_back(whole.matrix[std::size_t{a} * whole.matrix_nodes + b]);
  } else if (whole.shape != Network::Shape::tree) {
    network.router_of_node.clear();
    for (const NodeId node : nodes) network.router_of_node.push_back(whole.router_of(node));
  }
  return network;
}

/// True if all pairs of places have the same distance.
bool is_flat(const Machine& machine) {
  const std::uint32_t places = machine.num_places();
  return machine.network().shape == Network::Shape::tree &&
         std::ranges::all_of(machine.levels(), [&](const Level& level) {
           return level.num_groups() == 1 || level.num_groups() == places;
         });
}

}  // namespace

Seats seats_of(std::span<const RankSite> sites, std::span<const JobHost> switches) {
  Paths paths = paths_of(sites, switches);
  const std::vector<std::uint32_t> order = sorted(paths);
  drop_levels_without_effect(paths, order);
  return {Machine(parts_of(paths, order)), order};
}

Seats seats_on(const Machine& machine, std::span<const std::int32_t> place_of) {
  Paths paths;
  for (const Level& level : machine.levels()) paths.levels.push_back(level.name);
  paths.levels.pop_back();  // each rank's own
  std::vector<bool> is_taken(machine.num_places());
  for (const std::int32_t p : place_of) {
    const PlaceId place = p;
    if (p < 0 || place >= machine.num_places())
      fail("a rank is on place {1} of machine \"{0}\", which has only {2} places", machine.name(),
           p, machine.num_places());
    if (is_taken[place])
      fail("two ranks are on place {}; each rank needs a place of its own", place);
    is_taken[place] = true;
    auto& groups = paths.groups.emplace_back();
    for (std::size_t level = 0; level < paths.levels.size(); ++level)
      groups.push_back(machine.group_of(level, place));
  }
  const std::vector<std::uint32_t> order = sorted(paths);
  MachineParts parts = parts_of(paths, order);
  std::vector<NodeId> nodes;
  for (const std::uint32_t rank : order) {
    const NodeId node = machine.node_of_place(place_of[rank]);
    if (nodes.empty() || nodes.back() != node) nodes.push_back(node);
  }
  parts.network = network_on(machine.network(), nodes);
  return {Machine(std::move(parts)), order};
}

ReorderPlan plan_order(const Seats& seats, std::span<const TopologyEdge> edges) {
  const TaskId size = seats.rank_on.size();
  Workload workload;
  workload.tasks.assign(size, {.load_s = 1});
  for (const TopologyEdge& edge : edges)
    workload.messages.emplace_back(edge.from, edge.to, 1, edge.weight);
  Placement current(size);
  for (PlaceId place = 0; place < size; ++place) current.move(seats.rank_on[place], place);
  const auto cost = [&](const Placement& placement) {
    return map_cost(seats.machine, workload, placement, Distance::hops).traffic;
  };
  ReorderPlan plan{.rank_at = std::vector<std::uint32_t>(size)};
  std::iota(plan.rank_at.begin(), plan.rank_at.end(), 0);
  plan.before = plan.after = cost(current);
  if (plan.before == 0 || is_flat(seats.machine)) return plan;
  const Placement found = map_ranks(seats.machine, workload, &current, {});
  const double after = cost(found);
  if (after >= plan.before) return plan;
  plan.after = after;
  for (TaskId rank = 0; rank < size; ++rank) plan.rank_at[rank] = seats.rank_on[found.of(rank)];
  return plan;
}

}  // namespace poise::profile
