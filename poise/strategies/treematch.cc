// SPDX-License-Identifier: BSD-3-Clause
/// TreeMatch: tasks with large affinity are placed close together, under a cap on load.
///
/// TreeMatchLB: Jeannot, Mercier and Tessier, "Topology and affinity aware hierarchical and
/// distributed load-balancing in Charm++", COMHPC 2016; TreeMatch: Jeannot and Mercier,
/// "Near-optimal placement of MPI processes on hierarchical NUMA architectures", Euro-Par 2010.
/// Tasks are grouped by affinity and load, one group per node; swaps even out the loads of the
/// groups; then the groups are mapped to the nodes of any network. Each node then maps its tasks to
/// its tree of places. If the knob `levels` names another level, tasks are divided among the groups
/// of that level instead of the nodes. With `levels=auto` every level is tried, and the placement
/// with the shortest iteration is taken. Finally, tasks leave overloaded places for the nearest
/// places with room until `max_imbalance` holds. If several places are equally good, a task keeps
/// its current one. Ignores the cost of migrations. The cost of messages counts only when levels
/// are compared, and in the final comparison with the current placement (`only_better`). O((n + m)
/// log p) per level, for n tasks, m messages and p places.
///
/// TreeMatchLB as its authors' slides describe it does not group tasks anew: it only reorders the
/// groups of tasks that are on the nodes (`groups=current`). Nor does it compare the result with
/// the current placement (`only_better=0`).
#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "poise/base/in_parallel.h"
#include "poise/partition/load_cap.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/treematch/nodes.h"
#include "poise/strategies/treematch/within.h"

namespace poise {

namespace {

using namespace tree_match;

/// Limits the weights of heavy tasks. A task that is heavier than the fair share of a place fills a
/// place alone, so its weight is reduced to that share. With its full weight, the node of this
/// place would get too few other tasks, and the other nodes too many.
void level_heavy_tasks(std::vector<double>& weights, std::uint32_t num_places) {
  std::vector<double> heaviest = weights;
  const std::size_t most = std::min<std::size_t>(num_places, heaviest.size());
  std::partial_sort(heaviest.begin(), heaviest.begin() + most, heaviest.end(), std::greater<>());
  double rest = std::accumulate(weights.begin(), weights.end(), 0.0);
  double level = rest / num_places;
  for (std::size_t i = 0; i + 1 < most && heaviest[i] > level; ++i) {
    rest -= heaviest[i];
    level = std::max(0.0, rest) / (num_places - i - 1);
  }
  for (double& weight : weights) weight = std::min(weight, level);
}

Demand demand_of(const Problem& problem, const Knobs& knobs, double cap_s) {
  const std::vector<Task>& tasks = problem.workload.tasks;
  Demand demand;
  demand.share_of_place = shares_under_cap(problem, cap_s);
  demand.open_places = std::count_if(demand.share_of_place.begin(), demand.share_of_place.end(),
                                     [](double share) { return share > 0; });
  demand.one_each = tasks.size() <= demand.open_places;
  // The load of a place may be up to max_imbalance (a knob) times the fair share of the place. Half
  // of the excess over the fair share may arise when tasks are divided among nodes, the other half
  // when the tasks of a node are divided among its places.
  demand.tolerance = (knobs["max_imbalance"] - 1) / 2;
  demand.has_pinned =
      std::any_of(tasks.begin(), tasks.end(), [](const Task& task) { return !task.movable; });
  demand.graph =
      affinity_graph(problem.workload,
                     knobs.choice("affinity") == "messages" ? Affinity::messages : Affinity::bytes);
  if (demand.one_each || total_load_s(problem.workload) == 0)
    demand.graph.weight.assign(tasks.size(), 1);
  else
    level_heavy_tasks(demand.graph.weight, demand.open_places);
  return demand;
}

Inside inside_of(const Problem& problem, const Demand& demand, const Groups& groups,
                 std::uint32_t block, const Subtree& tree) {
  Inside inside{subgraph(demand.graph, groups, block), {}, {}, {}, {}, demand.tolerance};
  inside.shares.assign(demand.share_of_place.begin() + tree.first,
                       demand.share_of_place.begin() + tree.last);
  for (const TaskId t : groups.of(block)) {
    const Task& task = problem.workload.tasks[t];
    const PlaceId at = problem.current.of(t);
    const bool is_here = at >= tree.first && at < tree.last;
    inside.current.push_back(is_here ? at - tree.first : kFree);
    inside.anchor.push_back(anchor_weight(task));
    if (demand.has_pinned) inside.fixed.push_back(task.movable ? kFree : at - tree.first);
  }
  return inside;
}

/// Maps the tasks of each block (usually a node) to the block's places. The blocks are independent
/// of each other, so they are mapped in parallel.
std::vector<PlaceId> place_within_blocks(const Problem& problem, const Demand& demand,
                                         const Blocks& blocks,
                                         const std::vector<std::uint32_t>& block_of,
                                         unsigned threads) {
  const Groups groups = arrange(block_of, blocks.count());
  std::vector<PlaceId> places(block_of.size());
  in_parallel(blocks.count(), threads, [&](std::size_t i) {
    const auto block = static_cast<std::uint32_t>(i);
    const Subtree tree =
        subtree(problem.machine, blocks.first_place[block], blocks.first_place[block + 1]);
    const std::vector<Part> place_of =
        place_inside(problem.machine, tree, inside_of(problem, demand, groups, block, tree));
    for (std::size_t v = 0; v < place_of.size(); ++v)
      places[groups.of(block)[v]] = tree.first + place_of[v];
  });
  return places;
}

std::vector<std::uint32_t> blocks_of_tasks(const Problem& problem, const Demand& demand,
                                           const Blocks& blocks, bool keeps_groups) {
  if (blocks.count() == 1) return std::vector<std::uint32_t>(problem.workload.num_tasks(), 0);
  std::vector<std::uint32_t> groups = group_per_block(problem, demand, blocks, keeps_groups);
  const std::vector<std::uint32_t> block_of_group = map_groups(problem, demand, blocks, groups);
  for (std::uint32_t& group : groups) group = block_of_group[group];
  return groups;
}

/// The divisions of the machine into blocks that the knob `levels` selects. A level number that
/// is too large selects the last level above the places.
std::vector<Blocks> chosen_blocks(const Machine& machine, std::string_view levels) {
  if (levels == "node") return {all_nodes(machine)};
  if (levels == "auto") return possible_blocks(machine);
  const auto depth = static_cast<std::size_t>(levels[0] - '0');
  return {blocks_at(machine, std::min(depth, machine.levels().size() - 1))};
}

std::pair<double, std::uint64_t> quality(const Problem& problem, const Placement& placement) {
  const Metrics metrics =
      evaluate(problem.machine, problem.workload, problem.costs, problem.current, placement);
  return {metrics.iteration_s, metrics.hop_bytes};
}

}  // namespace

Placement treematch(const Problem& problem, const Knobs& knobs) {
  const double cap_s = load_cap_s(problem, knobs["max_imbalance"]);
  const Demand demand = demand_of(problem, knobs, cap_s);
  const bool keeps_groups = knobs.choice("groups") == "current";
  const auto threads = static_cast<unsigned>(knobs["threads"]);
  std::vector<Placement> placements;
  for (const Blocks& blocks : chosen_blocks(problem.machine, knobs.choice("levels"))) {
    const auto block_of = blocks_of_tasks(problem, demand, blocks, keeps_groups);
    placements.emplace_back(place_within_blocks(problem, demand, blocks, block_of, threads));
    hold_load_cap(problem, demand.graph, cap_s, placements.back());
  }
  if (knobs["only_better"] != 0) placements.insert(placements.begin(), problem.current);
  if (placements.size() == 1) return std::move(placements[0]);
  std::vector<std::pair<double, std::uint64_t>> qualities;
  for (const Placement& placement : placements) qualities.push_back(quality(problem, placement));
  // If several placements are equally good, the first of them is taken.
  const auto best = std::min_element(qualities.begin(), qualities.end()) - qualities.begin();
  return std::move(placements[static_cast<std::size_t>(best)]);
}

}  // namespace poise
