// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/task_graph.h"

#include <algorithm>
#include <cmath>

#include "poise/base/error.h"

namespace poise {

namespace {

constexpr std::int32_t kOutside = -1;
constexpr std::size_t kMaxEntries = std::size_t{1} << 30;

std::vector<std::int32_t> vertex_of_task(TaskId num_tasks, std::span<const TaskId> tasks) {
  std::vector<std::int32_t> vertices(num_tasks, kOutside);
  for (std::size_t v = 0; v < tasks.size(); ++v) vertices[tasks[v]] = v;
  return vertices;
}

}  // namespace

std::int32_t WholeWeights::operator()(double value) const {
  const double part = largest_ > 0 ? value / largest_ / sum_ : 1.0 / count_;
  return static_cast<std::int32_t>(std::floor(part * total_ + 0.5));
}

std::vector<std::int32_t> whole_weights(std::span<const double> values, double total) {
  const WholeWeights weight_of([&](const auto& visit) { std::ranges::for_each(values, visit); },
                               total);
  std::vector<std::int32_t> weights;
  weights.reserve(values.size());
  for (const double value : values) weights.push_back(weight_of(value));
  return weights;
}

double edge_value(const Arc& arc, const UnitCosts& unit) {
  const double count = arc.in + arc.out, bytes = arc.in_bytes + arc.out_bytes;
  const bool is_free = unit.message_s == 0 && unit.byte_s == 0;
  return is_free ? count + bytes : count * unit.message_s + bytes * unit.byte_s;
}

void check_size(const Arcs& arcs) {
  if (arcs.count() > kMaxEntries)
    fail(
        "the messages connect {} pairs of tasks, but partitioners accept at most {} pairs; use a "
        "strategy that does not partition, such as refine_comm",
        arcs.count() / 2, kMaxEntries / 2);
}

TaskGraph task_graph(const Problem& problem, std::span<const TaskId> tasks, double total) {
  const Arcs arcs(problem.workload);
  const UnitCosts unit = unit_costs(problem.machine, problem.costs);
  check_size(arcs);
  const std::vector<std::int32_t> vertices = vertex_of_task(problem.workload.num_tasks(), tasks);
  TaskGraph graph;
  std::vector<double> weights;
  graph.neighbour.reserve(arcs.count());
  weights.reserve(arcs.count());
  graph.first.push_back(0);
  for (const TaskId t : tasks) {
    for (const Arc& arc : arcs.of(t)) {
      if (vertices[arc.task] == kOutside) continue;
      graph.neighbour.push_back(vertices[arc.task]);
      weights.push_back(edge_value(arc, unit));
    }
    graph.first.push_back(graph.neighbour.size());
  }
  graph.edge_weight = whole_weights(weights, total);
  for (std::int32_t& weight : graph.edge_weight) weight = std::max(weight, 1);
  return graph;
}

}  // namespace poise
