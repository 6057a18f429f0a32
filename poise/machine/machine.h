// A machine: places in a hierarchy of levels, and the cost of a message between any two of them.
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

/// Where tasks run: a core, PE or rank slot.
struct Place {
  DomainId domain = 0;         // its memory domain (NUMA node)
  double speed = 1;            // relative to the fastest kind: a load of 1 s takes 1 / speed
  std::uint32_t os_index = 0;  // the operating system's number of its (first) processing unit
};

/// One level of the hierarchy. Places are numbered depth-first, so a group is a range.
struct Level {
  std::string name = {};                  // "node", "numa", "l3", "core"
  std::vector<PlaceId> first_place = {};  // group g is [first_place[g], first_place[g + 1])
  /// Messages inside a domain whose nearest common group is of this level; unused above domains.
  double latency_factor = 1;
  double bandwidth_factor = 1;
  std::string also = {};  // other names of the same groups: "package l3"

  std::uint32_t num_groups() const { return static_cast<std::uint32_t>(first_place.size()) - 1; }
};

/// NUMA factors inside one kind of node; nodes of a kind share it.
struct NodeKind {
  std::uint32_t num_domains = 1;
  std::vector<double> latency_factor{1};    // [from * num_domains + to]; the diagonal is 1
  std::vector<double> bandwidth_factor{1};  // likewise
};

/// Where a factor comes from, best last.
enum class Source : std::uint8_t { assumed, firmware, given, measured };
std::string_view name_of(Source source);

/// What a machine is made of; Machine checks it and answers questions about it.
struct MachineParts {
  std::string name;
  std::vector<Place> places;
  std::vector<Level>
      levels;  // coarsest first; each refines the one before; the last holds the places
  std::vector<NodeKind> node_kinds{NodeKind{}};
  std::vector<std::uint32_t>
      kind_of_node;  // per group of the level "node" (one node if there is none)
  Network network;
  /// Messages inside one domain that share no group of any level (a machine that is one domain).
  double root_latency_factor = 1;
  double root_bandwidth_factor = 1;
  CostModel costs;
  Source numa_source = Source::assumed;
  Source cache_source = Source::assumed;
  Source network_source = Source::assumed;
  Source speed_source = Source::assumed;
  Facts facts;
};

/// Immutable. 32,768 places take a few megabytes: nothing is stored per pair of places.
class Machine {
 public:
  /// One place.
  Machine();
  /// Throws Error when the parts do not fit together (no place, ragged levels, a factor below 0 …).
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

  /// The hierarchy, coarsest level first. Group numbers are dense and grow with the place.
  std::span<const Level> levels() const { return parts_.levels; }
  std::uint32_t group_of(std::size_t level, PlaceId p) const { return group_of_place_[level][p]; }
  /// The index of the level with this name, or levels().size().
  std::size_t level_named(std::string_view name) const;
  /// The finest level whose group holds both places; -1: only the whole machine does.
  int common_level(PlaceId a, PlaceId b) const;

  /// Domains are numbered along the places: those of a node follow one another.
  std::uint32_t num_domains() const { return static_cast<std::uint32_t>(node_of_domain_.size()); }
  std::uint32_t num_nodes() const { return static_cast<std::uint32_t>(first_domain_.size()) - 1; }
  NodeId node_of(DomainId d) const { return node_of_domain_[d]; }
  NodeId node_of_place(PlaceId p) const { return node_of_domain_[domain_of(p)]; }
  DomainId first_domain(NodeId n) const { return first_domain_[n]; }
  PlaceId first_place(DomainId d) const { return first_place_[d]; }  // up to d == num_domains()

  const Network& network() const { return parts_.network; }

  /// The NUCO factor of a message received in domain `to` from domain `from` (paper 000, III-A).
  double latency_factor(DomainId from, DomainId to) const;

  /// The same between places: inside a domain the cache hierarchy counts. 0 on one place.
  double message_factor(PlaceId from, PlaceId to) const;
  double byte_factor(PlaceId from, PlaceId to) const;

  /// Edges of the machine tree between two places, up and down; a torus counts its own hops
  /// between nodes.
  std::uint32_t hops(PlaceId a, PlaceId b) const;

 private:
  void check_places_and_levels() const;
  void check_factors() const;
  void check_network() const;
  void number_domains();
  void find_groups();

  MachineParts parts_;
  std::vector<std::vector<std::uint32_t>> group_of_place_;  // per level
  std::vector<NodeId> node_of_domain_;
  std::vector<DomainId> first_domain_;  // per node, and one past the last
  std::vector<PlaceId> first_place_;    // per domain, and one past the last
  std::size_t levels_to_node_ = 0;      // levels down to and including "node" (or a router's)
  bool has_equal_speeds_ = true;
  double total_speed_ = 0;
};

}  // namespace poise
