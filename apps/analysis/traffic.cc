// SPDX-License-Identifier: BSD-3-Clause

#include "apps/analysis/traffic.h"

#include <algorithm>
#include <fmt/core.h>

namespace poise::apps {

namespace {

void find_nodes(const Machine& machine, Grouping& grouping) {
  for (PlaceId p = 0; p < machine.num_places(); ++p)
    if (grouping.group_of_place[p] == grouping.node_of_group.size())
      grouping.node_of_group.push_back(machine.node_of_place(p));
}

}  // namespace

Grouping grouping_of(const Machine& machine, std::uint32_t most) {
  const auto levels = machine.levels();
  for (std::size_t l = levels.size(); l-- > 0;) {
    const std::uint32_t groups = levels[l].num_groups();
    if (groups > most || groups == 1) continue;
    Grouping grouping{levels[l].name, {}, groups, {}};
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      grouping.group_of_place.push_back(machine.group_of(l, p));
    find_nodes(machine, grouping);
    return grouping;
  }
  const std::uint32_t size = (machine.num_places() + most - 1) / most;
  Grouping grouping{
      fmt::format("{} places", size), {}, (machine.num_places() + size - 1) / size, {}};
  for (PlaceId p = 0; p < machine.num_places(); ++p) grouping.group_of_place.push_back(p / size);
  find_nodes(machine, grouping);
  return grouping;
}

Traffic traffic_of(const Machine& machine, const Workload& workload, const Placement& placement,
                   std::uint32_t most_groups) {
  Traffic traffic{.grouping = grouping_of(machine, most_groups), .amount = {}};
  const Grouping& grouping = traffic.grouping;
  traffic.amount.assign(std::size_t{grouping.num_groups} * grouping.num_groups, 0);
  traffic.in_bytes = std::any_of(workload.messages.begin(), workload.messages.end(),
                                 [](const Message& message) { return message.bytes > 0; });
  for (const Message& message : workload.messages) {
    const PlaceId from = placement.of(message.from), to = placement.of(message.to);
    if (from == to) continue;
    traffic.amount[std::size_t{grouping.group_of_place[from]} * grouping.num_groups +
                   grouping.group_of_place[to]] += traffic.in_bytes ? message.bytes : message.count;
  }
  traffic.largest = *std::max_element(traffic.amount.begin(), traffic.amount.end());
  return traffic;
}

Moves moves_of(const Machine& machine, const Workload& workload, const Placement& before,
               const Placement& after) {
  Moves moves;
  for (const auto& [task, from, to] : migrations(before, after)) {
    const bool same_domain = machine.domain_of(from) == machine.domain_of(to);
    const bool same_node = machine.node_of_place(from) == machine.node_of_place(to);
    Moves::Reach& reach = same_domain ? moves.inside_domain
                          : same_node ? moves.inside_node
                                      : moves.between_nodes;
    ++reach.tasks;
    reach.bytes += workload.tasks[task].bytes;
  }
  return moves;
}

}  // namespace poise::apps
