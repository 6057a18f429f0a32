// SPDX-License-Identifier: BSD-3-Clause
/// TreeMatch: tasks with large affinity are placed close together, under a cap on load.
///
/// TreeMatchLB: Jeannot, Mercier and Tessier, "Topology and affinity aware hierarchical and
/// distributed load-balancing in Charm++", COMHPC 2016; TreeMatch: Jeannot and Mercier,
/// "Near-optimal placement of MPI processes on hierarchical NUMA architectures", Euro-Par 2010.
/// Tasks are grouped by affinity and load, one group per node; swaps even out the groups; the
/// groups are mapped to the nodes of any network. Each node then maps its tasks to its tree of
/// places. Finally, tasks leave overloaded places for the nearest places with room until
/// `max_imbalance` holds. If several places are equally good, a task keeps its current one. Ignores
/// the cost of migrations and, except in the final comparison with the current placement
/// (`only_better`), the cost of messages. O((n + m) log p).
#include <algorithm>
#include <functional>
#include <numeric>

#include "poise/base/in_parallel.h"
#include "poise/partition/load_cap.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/treematch/nodes.h"
#include "poise/strategies/treematch/within.h"

namespace poise {

namespace {

using namespace tree_match;

/// Limits the weight of heavy tasks. A task that is heavier than the fair share of a place fills
/// its place alone, so its weight becomes that share. With its full weight, its node would get too
/// few other tasks, and the other nodes too many.
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
  // max_imbalance lets the load of a place exceed its fair share by the fraction max_imbalance - 1.
  // Half of this excess may arise when tasks are divided among nodes, the other half when the tasks
  // of a node are divided among its places.
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

Inside inside_of(const Problem& problem, const Demand& demand, const Groups& groups, NodeId node,
                 const Subtree& tree) {
  Inside inside{subgraph(demand.graph, groups, node), {}, {}, {}, {}, demand.tolerance};
  inside.shares.assign(demand.share_of_place.begin() + tree.first,
                       demand.share_of_place.begin() + tree.last);
  for (const TaskId t : groups.of(node)) {
    const Task& task = problem.workload.tasks[t];
    const PlaceId at = problem.current.of(t);
    const bool is_here = at >= tree.first && at < tree.last;
    inside.current.push_back(is_here ? at - tree.first : kFree);
    inside.anchor.push_back(anchor_weight(task));
    if (demand.has_pinned) inside.fixed.push_back(task.movable ? kFree : at - tree.first);
  }
  return inside;
}

/// Maps the tasks of each node to its places. The nodes do not depend on each other, so they are
/// mapped in parallel.
std::vector<PlaceId> place_within_nodes(const Problem& problem, const Demand& demand,
                                        const std::vector<NodeId>& node_of, unsigned threads) {
  const Machine& machine = problem.machine;
  const Groups groups = arrange(node_of, machine.num_nodes());
  std::vector<PlaceId> places(node_of.size());
  in_parallel(machine.num_nodes(), threads, [&](std::size_t i) {
    const NodeId node = i;
    const Subtree tree = subtree(machine, machine.first_place(machine.first_domain(node)),
                                 machine.first_place(machine.first_domain(node + 1)));
    const std::vector<Part> place_of =
        place_inside(machine, tree, inside_of(problem, demand, groups, node, tree));
    for (std::size_t v = 0; v < place_of.size(); ++v)
      places[groups.of(node)[v]] = tree.first + place_of[v];
  });
  return places;
}

std::vector<NodeId> nodes_of_tasks(const Problem& problem, const Demand& demand,
                                   bool keeps_groups) {
  if (problem.machine.num_nodes() == 1) return std::vector<NodeId>(problem.workload.num_tasks(), 0);
  std::vector<NodeId> nodes = group_per_node(problem, demand, keeps_groups);
  const std::vector<NodeId> node_of_group = map_groups(problem, demand, nodes);
  for (NodeId& node : nodes) node = node_of_group[node];
  return nodes;
}

bool is_better(const Problem& problem, const Placement& placement) {
  const auto metrics = [&](const Placement& after) {
    const Metrics m =
        evaluate(problem.machine, problem.workload, problem.costs, problem.current, after);
    return std::pair(m.iteration_s, m.hop_bytes);
  };
  return metrics(placement) < metrics(problem.current);
}

}  // namespace

Placement treematch(const Problem& problem, const Knobs& knobs) {
  const double cap_s = load_cap_s(problem, knobs["max_imbalance"]);
  const Demand demand = demand_of(problem, knobs, cap_s);
  const bool keeps_groups = knobs.choice("groups") == "current";
  Placement placement(place_within_nodes(problem, demand,
                                         nodes_of_tasks(problem, demand, keeps_groups),
                                         static_cast<unsigned>(knobs["threads"])));
  hold_load_cap(problem, demand.graph, cap_s, placement);
  if (knobs["only_better"] != 0 && !is_better(problem, placement)) return problem.current;
  return placement;
}

}  // namespace poise
