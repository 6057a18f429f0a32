// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/mapping.h"

#include <map>
#include <utility>
#include <vector>

#include "poise/partition/rank_map.h"
#include "poise/placement/map_cost.h"

namespace poise {

namespace {

bool has_own_places(const Placement& placement, std::uint32_t num_places) {
  std::vector<bool> is_taken(num_places);
  for (const PlaceId p : placement.places()) {
    if (is_taken[p]) return false;
    is_taken[p] = true;
  }
  return true;
}

/// Returns how to measure distances: by latency factors if the network was measured, else by hops.
/// Without measurements all factors are equal, but nodes are more hops apart than cores of one
/// node.
Distance known_distance(const Machine& machine) {
  const Network& network = machine.network();
  const bool is_unmeasured =
      machine.num_nodes() > 1 && network.shape == Network::Shape::tree && network.factor == 1;
  return is_unmeasured ? Distance::hops : Distance::factors;
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
  for (Task& task : traffic.tasks) task.load_s = 1;  // with equal loads each place gets one rank
  for (const auto& [pair, message] : sums) traffic.messages.push_back(message);
  return traffic;
}

double message_cost(const Machine& machine, const Workload& traffic, const Placement& placement) {
  if (known_distance(machine) == Distance::hops)
    return map_cost(machine, traffic, placement, Distance::hops).traffic;
  const UnitCosts costs = unit_costs(machine, machine.costs());
  double sum = 0;
  for (const Message& m : traffic.messages) {
    const PlaceId from = placement.of(m.from), to = placement.of(m.to);
    sum += m.count * costs.message_s * machine.message_factor(from, to) +
           m.bytes * costs.byte_s * machine.byte_factor(from, to);
  }
  return sum;
}

Placement mapped(const Machine& machine, const Workload& traffic, const Placement& current) {
  if (!has_own_places(current, machine.num_places())) return current;
  Placement found = map_ranks(machine, traffic, &current, {.distance = known_distance(machine)});
  const auto cost = [&](const Placement& p) { return message_cost(machine, traffic, p); };
  return cost(found) < cost(current) ? std::move(found) : current;
}

}  // namespace poise
