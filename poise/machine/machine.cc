// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/machine.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "poise/base/error.h"
#include "poise/machine/tuning.h"

namespace poise {

namespace {

MachineParts one_place() {
  MachineParts parts;
  parts.name = "one place";
  parts.kind_of_node = {0};
  parts.places.resize(1);
  parts.levels.push_back({.name = "core", .first_place = {0, 1}});
  return parts;
}

constexpr double kMaxRouters = 1u << 26;

/// Upper limit for factors, speeds and seconds. It is far above real values and keeps products
/// finite.
constexpr double kMaxValue = 1e9;
constexpr double kMaxBandwidth = 1e18;  // bytes per second
constexpr std::uint32_t kMaxCards = 1024;

bool is_factor(double value) { return value >= 0 && value <= kMaxValue; }

void check_matrix(const std::vector<double>& matrix, std::size_t rows, const char* what) {
  if (matrix.size() != rows * rows)
    fail("machine: the {} is not square: with {} rows it must have {} numbers, but it has {}", what,
         rows, rows * rows, matrix.size());
  for (const double value : matrix)
    if (!is_factor(value))
      fail("machine: the {} contains the factor {}; every factor must be from 0 to {}", what, value,
           kMaxValue);
}

/// True if every group of the finer level lies inside one group of the coarser level.
bool refines(const Level& finer, const Level& coarser) {
  return std::includes(finer.first_place.begin(), finer.first_place.end(),
                       coarser.first_place.begin(), coarser.first_place.end());
}

}  // namespace

std::string_view name_of(Source source) {
  switch (source) {
    case Source::assumed: return "assumed";
    case Source::firmware: return "firmware";
    case Source::given: return "given";
    case Source::measured: return "measured";
  }
  return "";
}

Machine::Machine() : Machine(one_place()) {}

Machine::Machine(MachineParts parts) : parts_(std::move(parts)) {
  check_places_and_levels();
  find_groups();
  number_domains();
  check_factors();
  check_network();
  parts_.network.find_coordinates(num_nodes());
  for (const Place& place : parts_.places) {
    total_speed_ += place.speed;
    has_equal_speeds_ = has_equal_speeds_ && place.speed == parts_.places[0].speed;
  }
  compare_factors_inside();
}

/// Determines whether all factors inside domains are 1. Comparing only consecutive places is
/// enough: for any two places p < q of a domain, some pair (i, i + 1) between p and q has the same
/// finest common group as p and q, and therefore the same factor.
void Machine::compare_factors_inside() {
  for (PlaceId p = 1; p < num_places(); ++p) {
    if (domain_of(p - 1) != domain_of(p)) continue;
    has_equal_messages_inside_ = has_equal_messages_inside_ && message_factor(p - 1, p) == 1;
    has_equal_bytes_inside_ = has_equal_bytes_inside_ && byte_factor(p - 1, p) == 1;
  }
}

void Machine::check_places_and_levels() const {
  if (parts_.places.empty()) fail("machine: there are no places; at least one is needed");
  if (parts_.levels.empty()) fail("machine: there are no levels; at least one is needed");
  for (const Place& place : parts_.places)
    if (!(place.speed >= 1 / kMaxValue && place.speed <= kMaxValue))
      fail("machine: a place has speed {}; it must be from {} to {}", place.speed, 1 / kMaxValue,
           kMaxValue);
  for (std::size_t l = 0; l < parts_.levels.size(); ++l) {
    const Level& level = parts_.levels[l];
    const bool covers = level.first_place.size() >= 2 && level.first_place.front() == 0 &&
                        level.first_place.back() == parts_.places.size() &&
                        std::adjacent_find(level.first_place.begin(), level.first_place.end(),
                                           std::greater_equal<>()) == level.first_place.end();
    if (!covers)
      fail("machine: the groups of level \"{}\" do not contain every place exactly once",
           level.name);
    if (l > 0 && !refines(level, parts_.levels[l - 1]))
      fail("machine: a group of level \"{}\" has places in several groups of level \"{}\"",
           level.name, parts_.levels[l - 1].name);
    if (!is_factor(level.latency_factor) || !is_factor(level.bandwidth_factor))
      fail(
          "machine: the latency or bandwidth factor of level \"{}\" is outside the range from 0 to "
          "{}",
          level.name, kMaxValue);
  }
  if (parts_.levels.back().num_groups() != parts_.places.size())
    fail("machine: each group of the last level, \"{}\", must contain exactly one place",
         parts_.levels.back().name);
}

void Machine::find_groups() {
  for (const Level& level : parts_.levels) {
    auto& groups = group_of_place_.emplace_back(num_places());
    for (std::uint32_t g = 0; g < level.num_groups(); ++g)
      std::fill(groups.begin() + level.first_place[g], groups.begin() + level.first_place[g + 1],
                g);
  }
}

void Machine::number_domains() {
  const std::size_t node_level = level_named("node");
  const bool has_nodes = node_level < parts_.levels.size();
  levels_to_node_ = has_nodes ? node_level + 1 : 0;
  for (PlaceId p = 0; p < num_places(); ++p) {
    const DomainId domain = domain_of(p);
    const NodeId node = has_nodes ? group_of(node_level, p) : 0;
    const bool is_new_node = first_domain_.size() == node;
    if (is_new_node) first_domain_.push_back(node_of_domain_.size());
    if (domain == node_of_domain_.size()) {
      node_of_domain_.push_back(node);
      first_place_.push_back(p);
    } else if (domain + 1 != node_of_domain_.size() || is_new_node) {
      fail(
          "machine: place {} is in memory domain {}; domains must be numbered in the order of the "
          "places",
          p, domain);
    }
  }
  first_domain_.push_back(num_domains());
  first_place_.push_back(num_places());
}

void Machine::check_factors() const {
  if (parts_.kind_of_node.size() != num_nodes())
    fail("machine: there are {} nodes, but kind_of_node has {} entries; it needs one per node",
         num_nodes(), parts_.kind_of_node.size());
  for (NodeId n = 0; n < num_nodes(); ++n) {
    if (parts_.kind_of_node[n] >= parts_.node_kinds.size())
      fail("machine: node {} has kind {}, but there are only {} kinds, numbered from 0", n,
           parts_.kind_of_node[n], parts_.node_kinds.size());
    const NodeKind& kind = parts_.node_kinds[parts_.kind_of_node[n]];
    if (kind.num_domains != first_domain_[n + 1] - first_domain_[n])
      fail(
          "machine: node {} has {} memory domains, but the cost factors of its node kind are for "
          "{} memory domains",
          n, first_domain_[n + 1] - first_domain_[n], kind.num_domains);
  }
  for (const NodeKind& kind : parts_.node_kinds) {
    check_matrix(kind.latency_factor, kind.num_domains, "matrix of NUMA latency factors");
    check_matrix(kind.bandwidth_factor, kind.num_domains, "matrix of NUMA bandwidth factors");
  }
  const Network& network = parts_.network;
  if (network.shape == Network::Shape::matrix)
    check_matrix(network.matrix, num_nodes(), "matrix of network factors");
  for (const double value :
       {network.factor, network.factor_per_hop, network.same_router_factor,
        network.bandwidth_factor, parts_.root_latency_factor, parts_.root_bandwidth_factor})
    if (!is_factor(value))
      fail(
          "machine: a latency or bandwidth factor in \"network\" or \"root\" is {}; it must be "
          "from 0 to {}",
          value, kMaxValue);
  check_costs();
}

void Machine::check_costs() const {
  const CostModel& costs = parts_.costs;
  std::vector<double> values{costs.seconds_per_message, costs.seconds_per_byte,
                             costs.seconds_per_migrated_byte, costs.seconds_per_migrated_task,
                             costs.card_s_per_message};
  for (const TransportCosts& transport : {costs.inside, costs.network})
    values.insert(values.end(), {transport.send_s, transport.receive_s, transport.copy_s_per_byte,
                                 transport.latency_s, transport.bus_crossings});
  for (const double seconds : values)
    if (!is_factor(seconds))
      fail("machine: the cost of a message or byte is {} s; it must be from 0 to {}", seconds,
           kMaxValue);
  std::vector<double> bandwidths = costs.uplink_bytes_per_s;
  bandwidths.insert(bandwidths.end(), {costs.bus_bytes_per_s, costs.card_bytes_per_s,
                                       costs.shared_network_bytes_per_s});
  for (const double bandwidth : bandwidths)
    if (bandwidth != 0 && !(bandwidth >= 1 && bandwidth <= kMaxBandwidth))
      fail("machine: a bandwidth is {} B/s; it must be 0 (unlimited) or from 1 to {}", bandwidth,
           kMaxBandwidth);
  if (costs.cards == 0 || costs.cards > kMaxCards)
    fail("machine: a node has {} network cards; it must have 1 to {}", costs.cards, kMaxCards);
}

void Machine::check_network() const {
  const Network& network = parts_.network;
  for (const Tier& tier : network.tiers)
    if (tier.group_of_node.size() != num_nodes() || !is_factor(tier.latency_factor))
      fail(
          "machine: each tier of the network must put all {} nodes into groups, and the latency "
          "factor of each tier must be from 0 to {}",
          num_nodes(), kMaxValue);
  if (network.shape == Network::Shape::matrix && network.matrix_nodes != num_nodes())
    fail("machine: the network matrix is for {} nodes, but the machine has {}",
         network.matrix_nodes, num_nodes());
  if (network.shape == Network::Shape::tree || network.shape == Network::Shape::matrix) return;

  double routers = 1;
  for (const std::uint32_t dim : network.dims) routers *= dim;
  if (network.dims.empty() || routers < 1 || routers > kMaxRouters ||
      (network.shape == Network::Shape::dragonfly && network.dims.size() != 2))
    fail(
        "machine: the {} network has invalid dimensions; each dimension must be at least 1, the "
        "product of all may be at most {}, and a dragonfly must have exactly two dimensions",
        name_of(network.shape), kMaxRouters);
  if (network.nodes_per_router == 0)
    fail("machine: the number of nodes per router is 0; it must be at least 1");
  if (network.router_of_node.empty()) {
    if (routers * network.nodes_per_router < num_nodes())
      fail("machine: there are {} nodes, but the network has only {} routers for {} nodes each",
           num_nodes(), routers, network.nodes_per_router);
    return;
  }
  if (network.router_of_node.size() != num_nodes())
    fail("machine: there are {} nodes, but router_of_node has {} entries; it needs one per node",
         num_nodes(), network.router_of_node.size());
  for (const std::uint32_t router : network.router_of_node)
    if (router >= routers)
      fail("machine: router {} does not exist; there are {} routers, numbered from 0", router,
           routers);
}

std::size_t Machine::level_named(std::string_view name) const {
  const auto found = std::find_if(parts_.levels.begin(), parts_.levels.end(),
                                  [&](const Level& level) { return level.name == name; });
  return found - parts_.levels.begin();
}

std::uint32_t Machine::hops(PlaceId a, PlaceId b) const {
  if (a == b) return 0;
  const int depth = parts_.levels.size();
  const NodeId node_a = node_of_place(a), node_b = node_of_place(b);
  const bool on_tree = network().shape == Network::Shape::tree || node_a == node_b;
  if (on_tree) return 2 * (depth - 1 - common_level(a, b));
  const auto below_node = depth - static_cast<std::uint32_t>(levels_to_node_);
  return 2 * below_node + network().hops(node_a, node_b);
}

double assumed_bus_bytes_per_s(std::span<const Place> places) {
  std::size_t largest = 0, start = 0;
  for (std::size_t p = 0; p < places.size(); ++p) {
    if (places[p].domain != places[start].domain) start = p;
    largest = std::max(largest, p - start + 1);
  }
  return std::max(machine_tuning::kMinBus_bytes_per_s,
                  machine_tuning::kBusPerPlace_bytes_per_s * largest);
}

UnitCosts unit_costs(const Machine& machine, const CostModel& costs) {
  if (costs.formula == CostFormula::nuco)
    return {costs.seconds_per_message, costs.seconds_per_byte};
  const bool has_network = machine.num_nodes() > 1;
  const TransportCosts& transport = has_network ? costs.network : costs.inside;
  const auto per_byte = [](double bytes_per_s) { return bytes_per_s > 0 ? 1 / bytes_per_s : 0; };
  const double bus_s = 2 * transport.bus_crossings * per_byte(costs.bus_bytes_per_s);
  const double network_s = std::max(per_byte(costs.card_bytes_per_s * costs.cards),
                                    per_byte(costs.shared_network_bytes_per_s));
  return {transport.send_s + transport.receive_s + transport.latency_s,
          2 * transport.copy_s_per_byte + (has_network ? std::max(bus_s, network_s) : bus_s)};
}

Machine with_formula(const Machine& machine, CostFormula formula) {
  if (machine.costs().formula == formula) return machine;
  MachineParts parts = machine.parts();
  parts.costs.formula = formula;
  return Machine(std::move(parts));
}

}  // namespace poise
