// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/map_cost.h"

#include <algorithm>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/text.h"

namespace poise {

std::string_view name_of(Distance distance) {
  return distance == Distance::hops ? "hops" : "factors";
}

Distance distance_named(std::string_view name) {
  static constexpr std::string_view kNames[] = {"hops", "factors"};
  if (name == kNames[0]) return Distance::hops;
  if (name == kNames[1]) return Distance::factors;
  throw Error(unknown_name("distance", name, kNames));
}

double distance_between(const Machine& machine, Distance distance, PlaceId from, PlaceId to) {
  return distance == Distance::hops ? machine.hops(from, to) : machine.message_factor(from, to);
}

MessageSize::MessageSize(const Workload& workload)
    : counts_messages_(std::none_of(workload.messages.begin(), workload.messages.end(),
                                    [](const Message& message) { return message.bytes > 0; })) {}

MapCost map_cost(const Machine& machine, const Workload& workload, const Placement& placement,
                 Distance distance) {
  const MessageSize size_of(workload);
  std::vector<std::uint64_t> out(machine.num_nodes(), 0), in(machine.num_nodes(), 0);
  MapCost cost;
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    const std::uint64_t size = size_of(message);
    cost.traffic += size * distance_between(machine, distance, from, to);
    const NodeId node_from = machine.node_of_place(from), node_to = machine.node_of_place(to);
    if (node_from == node_to) continue;
    cost.internode_bytes += size;
    out[node_from] += size;
    in[node_to] += size;
  }
  for (NodeId node = 0; node < machine.num_nodes(); ++node) {
    cost.busiest_node_bytes = std::max(cost.busiest_node_bytes, out[node] + in[node]);
    cost.busiest_card_bytes = std::max({cost.busiest_card_bytes, out[node], in[node]});
  }
  return cost;
}

}  // namespace poise
