// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_graph.h"

#include <algorithm>

#include "poise/partition/task_graph.h"

namespace poise {

using graphs::Graph;
using graphs::Part;

namespace {

/// The value to which the integer edge weights approximately add up.
constexpr double kTotalCost = 1e9;

}  // namespace

Graph traffic_graph(const Problem& problem, const Arcs& arcs) {
  check_size(arcs);
  const std::vector<Task>& tasks = problem.workload.tasks;
  const UnitCosts unit = unit_costs(problem.machine, problem.costs);
  const WholeWeights weight_of(
      [&](const auto& visit) {
        for (TaskId t = 0; t < tasks.size(); ++t)
          for (const Arc& arc : arcs.of(t)) visit(edge_value(arc, unit));
      },
      kTotalCost);
  Graph graph;
  graph.first.reserve(tasks.size() + 1);
  graph.weight.reserve(tasks.size());
  graph.to.reserve(arcs.count());
  graph.affinity.reserve(arcs.count());
  for (TaskId t = 0; t < tasks.size(); ++t) {
    for (const Arc& arc : arcs.of(t)) {
      graph.to.push_back(arc.task);
      graph.affinity.push_back(std::max(weight_of(edge_value(arc, unit)), 1));
    }
    graph.first.push_back(graph.to.size());
  }
  const bool is_idle = total_load_s(problem.workload) == 0;
  for (const Task& task : tasks) graph.weight.push_back(is_idle ? 1 : task.load_s);
  return graph;
}

std::vector<Part> fixed_parts(const Problem& problem) {
  const std::vector<Task>& tasks = problem.workload.tasks;
  if (std::all_of(tasks.begin(), tasks.end(), [](const Task& task) { return task.movable; }))
    return {};
  std::vector<Part> fixed;
  for (TaskId t = 0; t < tasks.size(); ++t)
    fixed.push_back(tasks[t].movable ? graphs::kFree : problem.current.of(t));
  return fixed;
}

}  // namespace poise
