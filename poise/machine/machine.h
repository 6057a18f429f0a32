// SPDX-License-Identifier: BSD-3-Clause
// A machine: places in a hierarchy of levels, with the cost of a message between any two places.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "poise/machine/cost_model.h"
#include "poise/machine/facts.h"
#include "poise/machine/network.h"

namespace poise {

using PlaceId = std::uint32_t;
using DomainId = std::uint32_t;

/// A place is what runs tasks: a core, a Charm++ PE or a slot for an MPI rank.
struct Place {
  DomainId domain = 0;  // its memory domain (NUMA node)
  double speed = 1;     // relative to the fastest kind of place: a load of 1 s takes 1 / speed s
  std::uint32_t os_index = 0;  // number of its (first) hardware thread in the operating system
};

/// One level of the hierarchy. Places are numbered depth-first, so a group is a range of places.
struct Level {
  std::string name = {};                  // "node", "numa", "l3", "core"
  std::vector<PlaceId> first_place = {};  // first place of each group, then the number of places
  /// Factor of a message between two places of a domain if this is the finest level on which the
  /// places are in the same group. Not used for levels above the domains.
  double latency_factor = 1;
  double bandwidth_factor = 1;
  std::string also = {};  // other names of the same groups, such as "package l3"

  std::uint32_t num_groups() const { return static_cast<std::uint32_t>(first_place.size()) - 1; }
};

/// NUMA factors inside one kind of node; all nodes of a kind share them.
struct NodeKind {
  std::uint32_t num_domains = 1;
  std::vector<double> latency_factor{1};  // index: from * num_domains + to; the diagonal is 1
  /// Bandwidth factors: entry from * num_domains + to is the factor between two domains.
  std::vector<double> bandwidth_factor{1};
};

/// Where a factor comes from, in ascending order of reliability.
enum class Source : std::uint8_t { assumed, firmware, given, measured };
std::string_view name_of(Source source);

/// The description from which the class Machine makes a machine, after checking it.
struct MachineParts {
  std::string name;
  std::vector<Place> places;
  /// The levels, coarsest first. Each level refines the one before it; each group of the last level
  /// is a single place.
  std::vector<Level> levels;
  std::vector<NodeKind> node_kinds{NodeKind{}};
  /// The kind of each group of level "node", or of the whole machine if there is no such level.
  std::vector<std::uint32_t> kind_of_node;
  Network network;
  /// Factor of messages inside one domain between places that share no group of any level.
  double root_latency_factor = 1;
  double root_bandwidth_factor = 1;
  CostModel costs;
  Source numa_source = Source::assumed;
  Source cache_source = Source::assumed;
  Source network_source = Source::assumed;
  Source speed_source = Source::assumed;
  Facts facts;
};

/// A machine never changes. With 32,768 places, it takes a few megabytes, because nothing is stored
/// per pair of places.
class Machine {
 public:
  /// Creates a machine with one place.
  Machine();
  /// Throws Error if the parts do not fit together: no places, irregular levels, a factor below 0,
  /// and so on.
  explicit Machine(MachineParts parts);

  const std::string& name() const { return parts_.name; }
  const MachineParts& parts() const { return parts_; }
  const CostModel& costs() const { return parts_.costs; }

  std::uint32_t num_places() const { return static_cast<std::uint32_t>(parts_.places.size()); }
  std::span<const Place> places() const { return parts_.places; }
  const Place& place(PlaceId p) const { return parts_.places[p]; }
  DomainId domain_of(PlaceId p) const { return parts_.places[p].domain; }
  double speed_of(PlaceId p) const { return parts_.places[p].speed; }
  bool has_equal_speeds() const { return has_equal_speeds_; }
  double total_speed() const { return total_speed_; }

  /// The hierarchy, coarsest level first. Groups are numbered from 0 in the order of their places.
  std::span<const Level> levels() const { return parts_.levels; }
  std::uint32_t group_of(std::size_t level, PlaceId p) const { return group_of_place_[level][p]; }
  /// Index of the level with this name; levels().size() if there is none.
  std::size_t level_named(std::string_view name) const;
  /// Returns the index of the finest level on which both places are in the same group, or -1 if
  /// there is no such level.
  int common_level(PlaceId a, PlaceId b) const;

  /// Domains are numbered in the order of their places, so the domains of a node are consecutive.
  std::uint32_t num_domains() const { return static_cast<std::uint32_t>(node_of_domain_.size()); }
  std::uint32_t num_nodes() const { return static_cast<std::uint32_t>(first_domain_.size()) - 1; }
  NodeId node_of(DomainId d) const { return node_of_domain_[d]; }
  NodeId node_of_place(PlaceId p) const { return node_of_domain_[domain_of(p)]; }
  DomainId first_domain(NodeId n) const { return first_domain_[n]; }
  /// The first place of domain d; the number of places if d is num_domains().
  PlaceId first_place(DomainId d) const { return first_place_[d]; }

  const Network& network() const { return parts_.network; }

  /// The NUCO factor of a message received in domain `to` from domain `from` (Pilla et al., ICPP
  /// 2012, section III-A).
  double latency_factor(DomainId from, DomainId to) const;

  /// True if the latency factor between any two different places of the same domain is 1.
  bool has_equal_messages_inside() const { return has_equal_messages_inside_; }
  /// True if the bandwidth factor between any two different places of the same domain is 1.
  bool has_equal_bytes_inside() const { return has_equal_bytes_inside_; }

  /// Seconds per byte from one domain to another, divided by the seconds per byte inside a domain.
  double bandwidth_factor(DomainId from, DomainId to) const;

  /// Latency factor of a message between two places. Inside a domain it follows the cache
  /// hierarchy; it is 0 if both places are the same.
  double message_factor(PlaceId from, PlaceId to) const;
  double byte_factor(PlaceId from, PlaceId to) const;

  /// Number of edges between two places in the machine's tree; between nodes of a torus, the number
  /// of hops.
  std::uint32_t hops(PlaceId a, PlaceId b) const;

 private:
  void check_places_and_levels() const;
  void check_factors() const;
  void check_costs() const;
  void check_network() const;
  void number_domains();
  void compare_factors_inside();
  void find_groups();

  MachineParts parts_;
  std::vector<std::vector<std::uint32_t>> group_of_place_;  // per level
  std::vector<NodeId> node_of_domain_;
  std::vector<DomainId> first_domain_;  // first domain of each node, then the number of domains
  std::vector<PlaceId> first_place_;    // first place of each domain, then the number of places
  /// Number of levels from the coarsest one to "node", both included; 0 without a level "node".
  std::size_t levels_to_node_ = 0;
  bool has_equal_speeds_ = true, has_equal_messages_inside_ = true, has_equal_bytes_inside_ = true;
  double total_speed_ = 0;
};

/// Assumed bandwidth of the memory bus of a domain, in bytes per second, for machines on which it
/// was not measured: 3.5 GB/s per place of the largest domain, at least 20 GB/s. Reason: processors
/// with many cores share 3 to 4 GB/s per core among all of them (STREAM), and one core alone
/// reaches 10 to 20 GB/s. `places` are the places of a machine, ordered by domain. O(places).
double assumed_bus_bytes_per_s(std::span<const Place> places);

/// The costs of one message and of one byte if latency and bandwidth factors are 1, for strategies
/// that add up message costs. With the formula `physical`, a message costs the CPU time at both
/// ends and the latency; a byte costs the copies at both ends and the time on the slowest resource.
/// These are costs between two nodes, or between two places if there is only one node.
struct UnitCosts {
  double message_s = 0, byte_s = 0;
};
UnitCosts unit_costs(const Machine& machine, const CostModel& costs);

/// Returns a copy of this machine whose costs are computed with `formula`.
Machine with_formula(const Machine& machine, CostFormula formula);

// These functions are inline, because computing the cost of a placement calls them once per
// message.

inline int Machine::common_level(PlaceId a, PlaceId b) const {
  int level = static_cast<int>(parts_.levels.size()) - 1;
  while (level >= 0 && group_of_place_[level][a] != group_of_place_[level][b]) --level;
  return level;
}

inline double Machine::latency_factor(DomainId from, DomainId to) const {
  const NodeId node = node_of_domain_[to];
  if (node != node_of_domain_[from]) return network().latency_factor(node_of_domain_[from], node);
  const NodeKind& kind = parts_.node_kinds[parts_.kind_of_node[node]];
  const DomainId first = first_domain_[node];
  return kind.latency_factor[std::size_t{from - first} * kind.num_domains + (to - first)];
}

inline double Machine::bandwidth_factor(DomainId from, DomainId to) const {
  const NodeId node = node_of_domain_[to];
  if (node != node_of_domain_[from]) return network().bandwidth_factor;
  const NodeKind& kind = parts_.node_kinds[parts_.kind_of_node[node]];
  const DomainId first = first_domain_[node];
  return kind.bandwidth_factor[std::size_t{from - first} * kind.num_domains + (to - first)];
}

inline double Machine::message_factor(PlaceId from, PlaceId to) const {
  if (from == to) return 0;
  const DomainId domain_from = domain_of(from), domain_to = domain_of(to);
  if (domain_from != domain_to) return latency_factor(domain_from, domain_to);
  const int level = common_level(from, to);
  return level < 0 ? parts_.root_latency_factor : parts_.levels[level].latency_factor;
}

inline double Machine::byte_factor(PlaceId from, PlaceId to) const {
  if (from == to) return 0;
  const DomainId domain_from = domain_of(from), domain_to = domain_of(to);
  if (domain_from != domain_to) return bandwidth_factor(domain_from, domain_to);
  const int level = common_level(from, to);
  return level < 0 ? parts_.root_bandwidth_factor : parts_.levels[level].bandwidth_factor;
}

}  // namespace poise
