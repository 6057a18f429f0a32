// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_graph.h"

#include <algorithm>
#include <numeric>

#include "poise/partition/task_graph.h"

namespace poise {

using graphs::Graph;
using graphs::Part;

namespace {

/// The value to which the integer edge weights approximately add up.
constexpr double kTotalCost = 1e9;

}  // namespace

Graph traffic_graph(const Problem& problem, const Arcs* arcs) {
  const std::vector<Task>& tasks = problem.workload.tasks;
  std::vector<TaskId> all(tasks.size());
  std::iota(all.begin(), all.end(), 0);
  TaskGraph rows = task_graph(problem, all, kTotalCost, arcs);
  Graph graph;
  graph.first.assign(rows.first.begin(), rows.first.end());
  graph.to.assign(rows.neighbour.begin(), rows.neighbour.end());
  std::vector<std::int32_t>().swap(rows.neighbour);  // "= {}" would not free the memory
  graph.affinity.assign(rows.edge_weight.begin(), rows.edge_weight.end());
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
