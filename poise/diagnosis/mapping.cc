#include "poise/diagnosis/mapping.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/diagnosis/tuning.h"
#include "poise/placement/problem.h"
#include "poise/strategies/strategy.h"

namespace poise {

namespace {

struct Edge {
  TaskId other;
  double count, bytes;
};

/// Swaps and moves of tasks, each with the change of the cost.
class Descent {
 public:
  Descent(const Machine& machine, const Workload& traffic, const Placement& start)
      : machine_(machine),
        costs_(unit_costs(machine, machine.costs())),
        edges_(traffic.num_tasks()),
        places_(start.places().begin(), start.places().end()),
        task_at_(machine.num_places(), kFree) {
    for (const Message& m : traffic.messages) {
      if (m.from == m.to) continue;
      const Edge edge{m.to, static_cast<double>(m.count), static_cast<double>(m.bytes)};
      edges_[m.from].push_back(edge);
      edges_[m.to].push_back({m.from, edge.count, edge.bytes});
    }
    for (TaskId t = 0; t < traffic.num_tasks(); ++t) task_at_[places_[t]] = t;
  }

  Placement run() {
    for (int round = 0; round < diagnosis_tuning::kMaxSwapRounds; ++round) {
      bool has_improved = false;
      for (TaskId t = 0; t < places_.size(); ++t) has_improved = improve(t) || has_improved;
      if (!has_improved) break;
    }
    return Placement(places_);
  }

 private:
  static constexpr TaskId kFree = ~TaskId{0};

  double cost_at(TaskId task, PlaceId place, TaskId swapped, PlaceId its_place) const {
    double sum = 0;
    for (const Edge& edge : edges_[task]) {
      const PlaceId other = edge.other == swapped ? its_place : places_[edge.other];
      sum += edge.count * costs_.message_s * machine_.message_factor(place, other) +
             edge.bytes * costs_.byte_s * machine_.byte_factor(place, other);
    }
    return sum;
  }

  double gain(TaskId task, PlaceId to) const {
    const PlaceId from = places_[task];
    const TaskId other = task_at_[to];
    double before = cost_at(task, from, kFree, 0), after = cost_at(task, to, other, from);
    if (other != kFree) {
      before += cost_at(other, to, kFree, 0);
      after += cost_at(other, from, task, to);
    }
    return before - after;
  }

  /// Tries the places of the nodes where the task's partners are.
  bool improve(TaskId task) {
    std::vector<NodeId> nodes;
    for (const Edge& edge : edges_[task])
      nodes.push_back(machine_.node_of_place(places_[edge.other]));
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    PlaceId best = places_[task];
    double best_gain = 1e-12;
    for (const NodeId node : nodes) {
      const PlaceId end = machine_.first_place(machine_.first_domain(node + 1));
      for (PlaceId p = machine_.first_place(machine_.first_domain(node)); p < end; ++p) {
        if (p == places_[task]) continue;
        const double gained = gain(task, p);
        if (gained > best_gain) best = p, best_gain = gained;
      }
    }
    if (best == places_[task]) return false;
    const TaskId other = task_at_[best];
    std::swap(task_at_[best], task_at_[places_[task]]);
    if (other != kFree) places_[other] = places_[task];
    places_[task] = best;
    return true;
  }

  const Machine& machine_;
  UnitCosts costs_;
  std::vector<std::vector<Edge>> edges_;
  std::vector<PlaceId> places_;
  std::vector<TaskId> task_at_;
};

bool has_own_places(const Placement& placement, std::uint32_t num_places) {
  std::vector<bool> is_taken(num_places);
  for (const PlaceId p : placement.places()) {
    if (is_taken[p]) return false;
    is_taken[p] = true;
  }
  return true;
}

}  // namespace

Workload traffic_of(const Trace& trace) {
  std::map<std::pair<TaskId, TaskId>, Message> sums;
  for (const Phase& phase : trace.phases)
    for (const Message& message : phase.workload.messages) {
      Message& sum =
          sums.try_emplace({message.from, message.to}, Message{message.from, message.to, 0, 0})
              .first->second;
      sum.count += message.count;
      sum.bytes += message.bytes;
    }
  Workload traffic;
  if (!trace.phases.empty()) traffic.tasks = trace.phases[0].workload.tasks;
  for (Task& task : traffic.tasks) task.load_s = 1;  // one rank a place
  for (const auto& [pair, message] : sums) traffic.messages.push_back(message);
  return traffic;
}

double message_cost_s(const Machine& machine, const Workload& traffic, const Placement& placement) {
  const UnitCosts costs = unit_costs(machine, machine.costs());
  double sum = 0;
  for (const Message& m : traffic.messages) {
    const PlaceId from = placement.of(m.from), to = placement.of(m.to);
    sum += static_cast<double>(m.count) * costs.message_s * machine.message_factor(from, to) +
           static_cast<double>(m.bytes) * costs.byte_s * machine.byte_factor(from, to);
  }
  return sum;
}

Placement mapped(const Machine& machine, const Workload& traffic, const Placement& current) {
  if (!has_own_places(current, machine.num_places())) return current;
  const Placement from_current = Descent(machine, traffic, current).run();
  const Placement anew = parse_strategy("treematch")
                             .rebalance({.machine = machine,
                                         .workload = traffic,
                                         .current = current,
                                         .costs = machine.costs()});
  if (!has_own_places(anew, machine.num_places())) return from_current;
  const Placement from_anew = Descent(machine, traffic, anew).run();
  const auto cost = [&](const Placement& p) { return message_cost_s(machine, traffic, p); };
  return cost(from_anew) < cost(from_current) ? from_anew : from_current;
}

}  // namespace poise
