// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/slots.h"

#include <algorithm>

#include "poise/base/error.h"

namespace poise {

namespace {

/// Returns the nodes that contain the selected places. Throws Error if the selection is not
/// allowed.
std::vector<NodeId> check_places(const Machine& machine, std::span<const PlaceId> places) {
  if (places.empty()) fail("machine: no places are selected; select at least one");
  if (!std::is_sorted(places.begin(), places.end()) || places.back() >= machine.num_places())
    fail("machine: the selected places must be numbers from 0 to {} in ascending order",
         machine.num_places() - 1);
  std::vector<NodeId> nodes;
  for (const PlaceId p : places)
    if (nodes.empty() || nodes.back() != machine.node_of_place(p))
      nodes.push_back(machine.node_of_place(p));
  if (nodes.size() > 1 && nodes.size() < machine.num_nodes())
    fail(
        "machine: the selected places are on {} of the {} nodes; select places of all nodes or of "
        "a single node",
        nodes.size(), machine.num_nodes());
  return nodes;
}

/// One level of the new machine. Groups in which no place is selected are dropped.
Level level_of(const Machine& machine, std::size_t level, std::span<const PlaceId> places) {
  Level result = machine.levels()[level];
  result.first_place.clear();
  for (PlaceId slot = 0; slot < places.size(); ++slot)
    if (slot == 0 ||
        machine.group_of(level, places[slot]) != machine.group_of(level, places[slot - 1]))
      result.first_place.push_back(slot);
  result.first_place.push_back(places.size());
  return result;
}

/// Describes a node that is reduced to the given NUMA domains: their number, and the NUMA factors
/// between them.
NodeKind kind_of(const Machine& machine, NodeId node, std::span<const DomainId> domains) {
  const NodeKind& whole = machine.parts().node_kinds[machine.parts().kind_of_node[node]];
  const DomainId first = machine.first_domain(node);
  NodeKind kind{static_cast<std::uint32_t>(domains.size()), {}, {}};
  for (const DomainId from : domains)
    for (const DomainId to : domains) {
      const std::size_t at = std::size_t{from - first} * whole.num_domains + (to - first);
      kind.latency_factor.push_back(whole.latency_factor[at]);
      kind.bandwidth_factor.push_back(whole.bandwidth_factor[at]);
    }
  return kind;
}

template <typename Column>
void keep(Column& column, std::span<const std::uint32_t> which) {
  if (column.empty()) return;
  Column kept;
  for (const std::uint32_t i : which) kept.push_back(column[i]);
  column = std::move(kept);
}

}  // namespace

Machine slots_of(const Machine& machine, std::span<const PlaceId> places) {
  const std::vector<NodeId> nodes = check_places(machine, places);
  MachineParts parts = machine.parts();
  parts.places.clear();
  std::vector<std::vector<DomainId>> domains_of_node(machine.num_nodes());
  std::vector<DomainId> domains;
  for (const PlaceId p : places) {
    const DomainId domain = machine.domain_of(p);
    if (domains.empty() || domains.back() != domain) {
      domains.push_back(domain);
      domains_of_node[machine.node_of(domain)].push_back(domain);
    }
    Place& place = parts.places.emplace_back(machine.place(p));
    place.domain = domains.size() - 1;
  }
  parts.node_kinds.clear();
  parts.kind_of_node.clear();
  for (const NodeId n : nodes) {
    parts.kind_of_node.push_back(parts.node_kinds.size());
    parts.node_kinds.push_back(kind_of(machine, n, domains_of_node[n]));
  }
  if (nodes.size() < machine.num_nodes()) parts.network = {};
  for (std::size_t l = 0; l < parts.levels.size(); ++l)
    parts.levels[l] = level_of(machine, l, places);
  if (parts.levels.back().num_groups() < places.size()) {
    Level slot = parts.levels.back();
    slot.name = "slot";
    slot.also.clear();
    slot.first_place.clear();
    for (PlaceId p = 0; p <= places.size(); ++p) slot.first_place.push_back(p);
    parts.levels.push_back(std::move(slot));
  }
  keep(parts.facts.threads, places);
  keep(parts.facts.numa_index, domains);
  keep(parts.facts.memory_bytes, domains);
  return Machine(std::move(parts));
}

}  // namespace poise
