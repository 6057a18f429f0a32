// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>

#include "poise/base/error.h"
#include "poise/base/repeated_keys.h"
#include "poise/base/text.h"
#include "poise/machine/json.h"
#include "poise/machine/sequence.h"

namespace poise {

namespace {

using Json = nlohmann::json;

// Limit on levels * places, which is an upper bound on the number of groups of all levels.
constexpr std::size_t kMaxGroups = std::size_t{1} << 28;
constexpr std::size_t kMaxMatrixRows = 1u << 16;
constexpr double kMaxWhole = 0x1p53;

/// A JSON value with its path in the document, which error messages name.
class Value {
 public:
  Value(const Json& json, const std::string& file, std::string path)
      : json_(&json), file_(&file), path_(std::move(path)) {}

  /// Throws Error. The path of this value replaces the first {} of `problem`.
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<const std::string&, const Args&...> problem,
                           const Args&... args) const {
    const std::string subject = path_.empty() ? "the machine" : path_;
    fail("{}: {}", *file_, fmt::format(problem, subject, args...));
  }

  /// Throws unless the value is an object with only the listed keys.
  void expect_keys(std::initializer_list<std::string_view> keys) const {
    if (!json_->is_object()) refuse("{} is not a JSON object");
    for (const auto& [key, item] : json_->items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end())
        fail("{}: {}", *file_, unknown_name("key", inside(key), {keys.begin(), keys.size()}));
  }

  std::optional<Value> find(const char* key) const {
    const auto found = json_->find(key);
    if (found == json_->end()) return std::nullopt;
    return Value(*found, *file_, inside(key));
  }
  Value at(const char* key) const {
    if (auto value = find(key)) return *value;
    refuse("{} lacks \"{}\"", key);
  }

  std::size_t size() const {
    if (!json_->is_array()) refuse("{} is not a JSON array");
    return json_->size();
  }
  Value operator[](std::size_t index) const {
    return Value((*json_)[index], *file_, fmt::format("{}[{}]", path_, index));
  }

  bool is_text() const { return json_->is_string(); }

  std::string text() const {
    if (!json_->is_string()) refuse("{} is not a string");
    const std::string text = json_->get<std::string>();
    if (printable(text) != text) refuse("{} contains a control character");
    return text;
  }
  double number() const {
    if (!json_->is_number()) refuse("{} is not a number");
    const double value = json_->get<double>();
    if (!std::isfinite(value) || value < 0) refuse("{} is {}; it must be at least 0", value);
    return value;
  }
  std::uint64_t whole(double max = kMaxWhole) const { return check_whole(number(), max); }

  /// Reads a list (see sequence.h) of at most `max_size` numbers.
  std::vector<double> list(std::size_t max_size) const {
    std::vector<double> numbers;
    const std::size_t items = json_->is_array() ? size() : 1;
    for (std::size_t i = 0; i < items; ++i) {
      const Value item = json_->is_array() ? (*this)[i] : *this;
      if (!item.is_text())
        numbers.push_back(item.number());
      else if (!append_item(item.text(), max_size - std::min(max_size, numbers.size()), numbers))
        item.refuse(
            "{} is \"{}\"; write a range such as \"0-7\" or a repetition such as \"4 x 2\"; the "
            "list may have at most {} numbers",
            item.text(), max_size);
    }
    if (numbers.size() > max_size)
      refuse("{} has {} numbers; at most {} are allowed", numbers.size(), max_size);
    return numbers;
  }
  std::vector<double> list_for(std::size_t size) const {
    std::vector<double> numbers = list(size);
    const std::size_t given = numbers.size();
    if (!repeat_to(size, numbers))
      refuse(
          "{} has {} numbers, but {} are needed; a shorter list is allowed only if its length "
          "divides {}, and is then repeated",
          given, size, size);
    return numbers;
  }
  template <typename Number>
  std::vector<Number> whole_list_for(std::size_t size, double max = kMaxWhole) const {
    std::vector<Number> result;
    for (const double value : list_for(size)) result.push_back(check_whole(value, max));
    return result;
  }

 private:
  std::uint64_t check_whole(double value, double max) const {
    if (value != std::floor(value) || value < 0 || value > max)
      refuse("{} contains {}; every entry must be a whole number from 0 to {}", value, max);
    return static_cast<std::uint64_t>(value);
  }
  std::string inside(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }

  const Json* json_;
  const std::string* file_;
  std::string path_;
};

void read(const Value& value, const char* key, double& number) {
  if (const auto found = value.find(key)) number = found->number();
}

void read(const Value& value, const char* key, std::string& text) {
  if (const auto found = value.find(key)) text = found->text();
}

void read(const Value& value, const char* key, Source& source) {
  const auto found = value.find(key);
  if (!found) return;
  static constexpr Source kAll[] = {Source::assumed, Source::firmware, Source::given,
                                    Source::measured};
  const std::string text = found->text();
  const auto same = std::find_if(std::begin(kAll), std::end(kAll),
                                 [&](Source known) { return name_of(known) == text; });
  if (same == std::end(kAll))
    found->refuse("{} is \"{}\"; it must be one of: assumed, firmware, given, measured", text);
  source = *same;
}

/// Reads how many groups of a level are in each group of the level above.
std::vector<std::uint32_t> read_counts(const Value& count, std::size_t groups_above,
                                       std::size_t& groups) {
  const auto counts = count.whole_list_for<std::uint32_t>(groups_above, kMaxPlaces);
  std::uint64_t total = 0;
  for (const std::uint32_t each : counts) {
    if (each == 0) count.refuse("{} contains 0; every number must be at least 1");
    total += each;
  }
  if (total > kMaxPlaces) count.refuse("{}: a level may have at most {} groups", kMaxPlaces);
  groups = total;
  return counts;
}

void read_levels(const Value& json, std::uint32_t max_places, MachineParts& parts) {
  const std::size_t depth = json.size();
  if (depth == 0) json.refuse("{} is empty; a machine needs at least one level");
  std::vector<std::vector<std::uint32_t>> counts(depth);
  std::size_t groups = 1;
  for (std::size_t l = 0; l < depth; ++l) {
    const Value level = json[l];
    level.expect_keys({"name", "count", "also", "latency_factor", "bandwidth_factor"});
    counts[l] = read_counts(level.at("count"), groups, groups);
    if (groups > max_places) json.refuse("{}: the machine may have at most {} places", max_places);
    if (groups * depth > kMaxGroups)
      json.refuse(
          "{}: there are {} levels, and the largest one has {} groups; the product of these two "
          "numbers exceeds the limit {}",
          depth, groups, kMaxGroups);
    Level& part = parts.levels.emplace_back();
    part.name = level.at("name").text();
    if (part.name.empty()) level.refuse("{} has an empty name; name it, for example, core");
    read(level, "also", part.also);
    read(level, "latency_factor", part.latency_factor);
    read(level, "bandwidth_factor", part.bandwidth_factor);
    for (std::size_t above = 0; above < l; ++above)
      if (parts.levels[above].name == part.name)
        level.refuse("{} is named \"{}\", like another level; each level needs a name of its own",
                     part.name);
  }
  // Finds the groups from the places upwards: a group begins where its first subgroup begins.
  parts.places.resize(groups);
  std::vector<PlaceId> starts(groups + 1);
  for (PlaceId p = 0; p <= groups; ++p) starts[p] = p;
  for (std::size_t l = depth; l-- > 0;) {
    parts.levels[l].first_place = starts;
    std::vector<PlaceId> above{0};
    std::size_t child = 0;
    for (const std::uint32_t count : counts[l]) above.push_back(starts[child += count]);
    starts = std::move(above);
  }
}

const Level* level_named(const MachineParts& parts, std::string_view name) {
  const auto found = std::find_if(parts.levels.begin(), parts.levels.end(),
                                  [&](const Level& level) { return level.name == name; });
  return found == parts.levels.end() ? nullptr : &*found;
}

std::vector<PlaceId> domain_starts(const Value& machine, const MachineParts& parts) {
  const std::vector<PlaceId> whole{0, static_cast<PlaceId>(parts.places.size())};
  const auto domains = machine.find("domains");
  if (!domains) {
    for (const char* name : {"numa", "package", "pack", "socket", "node"})
      if (const Level* level = level_named(parts, name)) return level->first_place;
    return whole;
  }
  if (domains->is_text()) {
    const std::string name = domains->text();
    if (name == "machine") return whole;
    const Level* level = level_named(parts, name);
    if (level == nullptr) domains->refuse("{} is \"{}\", which is not the name of a level", name);
    return level->first_place;
  }
  std::vector<PlaceId> starts{0};
  const std::vector<double> sizes = domains->list(parts.places.size());
  for (std::size_t i = 0; !sizes.empty() && starts.back() < parts.places.size(); ++i) {
    const double next = starts.back() + sizes[i % sizes.size()];
    if (next != std::floor(next) || next <= starts.back() || next > whole[1]) break;
    starts.push_back(static_cast<PlaceId>(next));
  }
  if (starts.back() != parts.places.size())
    domains->refuse(
        "{} must list how many places each memory domain has; these numbers must add up to the "
        "number of places of the machine");
  return starts;
}

/// Assigns each place to its memory domain. Returns the number of domains.
std::size_t read_domains(const Value& machine, MachineParts& parts) {
  const std::vector<PlaceId> starts = domain_starts(machine, parts);
  for (std::size_t d = 0; d + 1 < starts.size(); ++d)
    for (PlaceId p = starts[d]; p < starts[d + 1]; ++p) parts.places[p].domain = d;
  return starts.size() - 1;
}

std::vector<double> read_matrix(const Value& json) {
  const std::size_t rows = json.size();
  if (rows == 0 || rows > kMaxMatrixRows)
    json.refuse("{} has {} rows; a square matrix of 1 to {} rows is needed", rows, kMaxMatrixRows);
  std::vector<double> matrix;
  for (std::size_t i = 0; i < rows; ++i) {
    const Value row = json[i];
    if (row.size() != rows)
      row.refuse("{} has {} numbers, but each row of a square matrix of {} rows must have {}",
                 row.size(), rows, rows);
    for (std::size_t j = 0; j < rows; ++j) matrix.push_back(row[j].number());
    if (matrix[i * rows + i] != 1)
      row[i].refuse(
          "{} is on the diagonal and must be 1, because it is the factor of local access");
  }
  return matrix;
}

NodeKind read_kind(const Value& json) {
  NodeKind kind;
  kind.latency_factor = read_matrix(json.at("latency_factor"));
  kind.num_domains = json.at("latency_factor").size();
  kind.bandwidth_factor.assign(kind.latency_factor.size(), 1);
  if (const auto bandwidth = json.find("bandwidth_factor")) {
    kind.bandwidth_factor = read_matrix(*bandwidth);
    if (kind.bandwidth_factor.size() != kind.latency_factor.size())
      bandwidth->refuse("{} must have the same size as latency_factor");
  }
  return kind;
}

void read_numa(const Value& machine, std::size_t nodes, std::size_t domains, MachineParts& parts) {
  parts.kind_of_node.assign(nodes, 0);
  const auto numa = machine.find("numa");
  if (!numa) {
    if (domains != nodes)
      machine.refuse(
          "{} has {} memory domains, but the key \"numa\" is missing; add this key with the cost "
          "factors between the domains",
          domains);
    return;
  }
  numa->expect_keys({"source", "latency_factor", "bandwidth_factor", "kinds", "kind_of_node"});
  parts.numa_source = Source::given;
  read(*numa, "source", parts.numa_source);
  const auto kinds = numa->find("kinds");
  if (!kinds) {
    parts.node_kinds = {read_kind(*numa)};
    return;
  }
  parts.node_kinds.clear();
  for (std::size_t k = 0; k < kinds->size(); ++k) {
    (*kinds)[k].expect_keys({"latency_factor", "bandwidth_factor"});
    parts.node_kinds.push_back(read_kind((*kinds)[k]));
  }
  parts.kind_of_node = numa->at("kind_of_node").whole_list_for<std::uint32_t>(nodes, kMaxPlaces);
}

void read_tiers(const Value& tiers, std::size_t nodes, Network& network) {
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    tiers[t].expect_keys({"nodes_per_group", "latency_factor"});
    const Value sizes = tiers[t].at("nodes_per_group");
    const std::vector<double> list = sizes.list(nodes);
    Tier tier{{}, tiers[t].at("latency_factor").number()};
    for (std::size_t group = 0; tier.group_of_node.size() < nodes; ++group) {
      const double size = list.empty() ? 0 : list[group % list.size()];
      const std::size_t rest = nodes - tier.group_of_node.size();
      if (size < 1 || size != std::floor(size) || size > rest)
        sizes.refuse("{} must list group sizes that add up to {} nodes", nodes);
      tier.group_of_node.insert(tier.group_of_node.end(), static_cast<std::size_t>(size), group);
    }
    network.tiers.push_back(std::move(tier));
  }
}

void read_routers(const Value& json, std::size_t nodes, Network& network) {
  const Value dims = json.at("dims");
  for (std::size_t i = 0; i < dims.size(); ++i) network.dims.push_back(dims[i].whole(kMaxPlaces));
  read(json, "factor_per_hop", network.factor_per_hop);
  read(json, "same_router_factor", network.same_router_factor);
  if (const auto per_router = json.find("nodes_per_router"))
    network.nodes_per_router = per_router->whole(kMaxPlaces);
  const std::uint32_t per_router = network.nodes_per_router;
  if (per_router == 0) json.refuse("{} has nodes_per_router 0; it must be at least 1");
  if (const auto all = json.find("router_of_node"))
    network.router_of_node = all->whole_list_for<std::uint32_t>(nodes, kMaxPlaces);
  const auto routers = json.find("routers");
  if (!routers) return;
  if (!network.router_of_node.empty())
    routers->refuse("{} and router_of_node exclude each other; give only one of them");
  const std::size_t count = (nodes + per_router - 1) / per_router;
  for (const auto router : routers->whole_list_for<std::uint32_t>(count, kMaxPlaces))
    network.router_of_node.insert(network.router_of_node.end(), per_router, router);
  network.router_of_node.resize(nodes);
}

void read_network(const Value& machine, std::size_t nodes, MachineParts& parts) {
  const auto json = machine.find("network");
  if (!json) return;
  json->expect_keys({"source", "shape", "latency_factor", "bandwidth_factor", "tiers", "matrix",
                     "dims", "factor_per_hop", "same_router_factor", "nodes_per_router", "routers",
                     "router_of_node"});
  Network& network = parts.network;
  parts.network_source = Source::given;
  read(*json, "source", parts.network_source);
  read(*json, "latency_factor", network.factor);
  read(*json, "bandwidth_factor", network.bandwidth_factor);
  std::string shape = "tree";
  read(*json, "shape", shape);
  using Shape = Network::Shape;
  static constexpr Shape kShapes[] = {Shape::tree, Shape::matrix, Shape::torus, Shape::mesh,
                                      Shape::dragonfly};
  const auto known = std::find_if(std::begin(kShapes), std::end(kShapes),
                                  [&](Shape s) { return name_of(s) == shape; });
  if (known == std::end(kShapes))
    json->at("shape").refuse("{} is \"{}\"; it must be tree, matrix, torus, mesh or dragonfly",
                             shape);
  network.shape = *known;
  if (network.shape == Shape::matrix) {
    network.matrix = read_matrix(json->at("matrix"));
    network.matrix_nodes = json->at("matrix").size();
  } else if (network.shape == Shape::tree) {
    if (const auto tiers = json->find("tiers")) read_tiers(*tiers, nodes, network);
  } else {
    read_routers(*json, nodes, network);
  }
}

void read_transport(const Value& json, const char* key, TransportCosts& transport) {
  const auto found = json.find(key);
  if (!found) return;
  found->expect_keys({"send_s", "receive_s", "copy_s_per_byte", "latency_s", "bus_crossings"});
  read(*found, "send_s", transport.send_s);
  read(*found, "receive_s", transport.receive_s);
  read(*found, "copy_s_per_byte", transport.copy_s_per_byte);
  read(*found, "latency_s", transport.latency_s);
  read(*found, "bus_crossings", transport.bus_crossings);
}

void read_cost_model(const Value& json, CostModel& costs) {
  json.expect_keys({"seconds_per_message", "seconds_per_byte", "seconds_per_migrated_byte",
                    "seconds_per_migrated_task", "inside", "network", "bus_bytes_per_s",
                    "card_bytes_per_s", "card_s_per_message", "cards", "uplink_bytes_per_s",
                    "shared_network_bytes_per_s"});
  read(json, "seconds_per_message", costs.seconds_per_message);
  read(json, "seconds_per_byte", costs.seconds_per_byte);
  read(json, "seconds_per_migrated_byte", costs.seconds_per_migrated_byte);
  read(json, "seconds_per_migrated_task", costs.seconds_per_migrated_task);
  read_transport(json, "inside", costs.inside);
  read_transport(json, "network", costs.network);
  read(json, "bus_bytes_per_s", costs.bus_bytes_per_s);
  read(json, "card_bytes_per_s", costs.card_bytes_per_s);
  read(json, "card_s_per_message", costs.card_s_per_message);
  read(json, "shared_network_bytes_per_s", costs.shared_network_bytes_per_s);
  if (const auto cards = json.find("cards")) costs.cards = cards->whole(1024);
  if (const auto uplinks = json.find("uplink_bytes_per_s"))
    for (std::size_t i = 0; i < uplinks->size(); ++i)
      costs.uplink_bytes_per_s.push_back((*uplinks)[i].number());
}

void read_costs(const Value& machine, MachineParts& parts) {
  if (const auto root = machine.find("root")) {
    root->expect_keys({"latency_factor", "bandwidth_factor"});
    read(*root, "latency_factor", parts.root_latency_factor);
    read(*root, "bandwidth_factor", parts.root_bandwidth_factor);
  }
  const auto costs = machine.find("costs");
  if (costs) read_cost_model(*costs, parts.costs);
  if (!costs || !costs->find("bus_bytes_per_s"))
    parts.costs.bus_bytes_per_s = assumed_bus_bytes_per_s(parts.places);
}

void read_places(const Value& machine, MachineParts& parts) {
  const std::size_t count = parts.places.size();
  for (PlaceId p = 0; p < count; ++p) parts.places[p].os_index = p;
  if (const auto json = machine.find("os_index")) {
    const auto indexes = json->whole_list_for<std::uint32_t>(count, 0xffffffff);
    for (PlaceId p = 0; p < count; ++p) parts.places[p].os_index = indexes[p];
  }
  const auto json = machine.find("speeds");
  if (!json) return;
  const std::vector<double> speeds = json->list_for(count);
  for (PlaceId p = 0; p < count; ++p) parts.places[p].speed = speeds[p];
  parts.speed_source = Source::given;
}

Spread read_spread(const Value& json) {
  if (json.size() != 3)
    json.refuse("{} is not of the form [median, first quartile, third quartile]");
  return {json[0].number(), json[1].number(), json[2].number()};
}

std::vector<Spread> read_spreads(const Value& json) {
  std::vector<Spread> spreads;
  for (std::size_t i = 0; i < json.size(); ++i) spreads.push_back(read_spread(json[i]));
  return spreads;
}

HostPair read_pair(const Value& json) {
  json.expect_keys({"from", "to", "latency_ns", "fit_latency_ns", "fit_bytes_per_s"});
  return {json.at("from").text(), json.at("to").text(), read_spread(json.at("latency_ns")),
          json.at("fit_latency_ns").number(), json.at("fit_bytes_per_s").number()};
}

void read_measurement(const Value& machine, Measurement& measurement) {
  const auto json = machine.find("measurement");
  if (!json) return;
  json->expect_keys({"host", "latency_ns", "gigabytes_per_s", "levels", "network"});
  read(*json, "host", measurement.host);
  if (const auto list = json->find("latency_ns")) measurement.latency_ns = read_spreads(*list);
  if (const auto list = json->find("gigabytes_per_s"))
    measurement.gigabytes_per_s = read_spreads(*list);
  if (const auto list = json->find("levels"))
    for (std::size_t i = 0; i < list->size(); ++i) {
      (*list)[i].expect_keys({"level", "one_way_ns"});
      measurement.levels.push_back(
          {(*list)[i].at("level").text(), read_spread((*list)[i].at("one_way_ns"))});
    }
  if (const auto list = json->find("network"))
    for (std::size_t i = 0; i < list->size(); ++i)
      measurement.network.push_back(read_pair((*list)[i]));
}

void read_memories(const Value& machine, Facts& facts) {
  if (const auto list = machine.find("other_memory"))
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Value json = (*list)[i];
      json.expect_keys({"kind", "os_index", "bytes"});
      Memory& memory = facts.other_memory.emplace_back();
      read(json, "kind", memory.kind);
      memory.os_index = json.at("os_index").whole(0xffffffff);
      memory.bytes = json.at("bytes").whole();
    }
  if (const auto list = machine.find("caches"))
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Value json = (*list)[i];
      json.expect_keys({"name", "bytes", "count", "line_bytes"});
      Cache& cache = facts.caches.emplace_back();
      cache.name = json.at("name").text();
      cache.bytes = json.at("bytes").whole();
      cache.count = json.at("count").whole(kMaxPlaces);
      if (const auto line = json.find("line_bytes")) cache.line_bytes = line->whole(1 << 20);
    }
}

void read_facts(const Value& machine, std::size_t domains, std::size_t places, Facts& facts) {
  read(machine, "origin", facts.origin);
  read(machine, "processor", facts.processor);
  if (const auto list = machine.find("assumed"))
    for (std::size_t i = 0; i < list->size(); ++i) facts.assumed.push_back((*list)[i].text());
  if (const auto list = machine.find("threads"))
    facts.threads = list->whole_list_for<std::uint32_t>(places, kMaxPlaces);
  if (const auto list = machine.find("numa_index"))
    facts.numa_index = list->whole_list_for<std::uint32_t>(domains, 0xffffffff);
  if (const auto list = machine.find("memory_bytes"))
    facts.memory_bytes = list->whole_list_for<std::uint64_t>(domains);
  read_memories(machine, facts);
  read_measurement(machine, facts.measurement);
}

void check_summary(const Value& machine, std::size_t nodes, std::size_t domains,
                   std::size_t places) {
  const auto summary = machine.find("summary");
  if (!summary) return;
  summary->expect_keys({"nodes", "domains", "places"});
  const auto check = [&](const char* key, std::size_t made) {
    const auto said = summary->find(key);
    if (said && said->whole() != made)
      said->refuse("{} is {}; it must be {}, the number of {} that the other JSON keys define",
                   said->whole(), made, key);
  };
  check("nodes", nodes);
  check("domains", domains);
  check("places", places);
}

MachineParts read_machine(const Value& machine, std::uint32_t max_places) {
  machine.expect_keys({"poise_machine", "name",         "origin",       "assumed",      "processor",
                       "summary",       "levels",       "domains",      "numa",         "network",
                       "root",          "costs",        "speeds",       "os_index",     "threads",
                       "numa_index",    "memory_bytes", "cache_source", "speed_source", "caches",
                       "other_memory",  "measurement"});
  if (machine.at("poise_machine").number() != 1)
    machine.at("poise_machine")
        .refuse("{} must be 1, the only version of the format that this program reads");
  MachineParts parts;
  read(machine, "name", parts.name);
  read_levels(machine.at("levels"), max_places, parts);
  const std::size_t domains = read_domains(machine, parts);
  const Level* node = level_named(parts, "node");
  const std::size_t nodes = node == nullptr ? 1 : node->num_groups();
  check_summary(machine, nodes, domains, parts.places.size());
  read_numa(machine, nodes, domains, parts);
  read_network(machine, nodes, parts);
  read_places(machine, parts);
  read_costs(machine, parts);
  read(machine, "cache_source", parts.cache_source);
  read(machine, "speed_source", parts.speed_source);
  read_facts(machine, domains, parts.places.size(), parts.facts);
  return parts;
}

}  // namespace

Machine machine_from_json(std::string_view text, const std::string& file,
                          std::uint32_t max_places) {
  Json json;
  try {
    json = Json::parse(text, refusing_repeated_keys(file));
  } catch (const Json::parse_error& error) {
    fail("{}: invalid JSON: syntax error at byte {}", file, error.byte);
  } catch (const Json::exception&) {
    fail("{}: invalid JSON: a number is out of range", file);
  }
  MachineParts parts = read_machine(Value(json, file, ""), max_places);
  try {
    return Machine(std::move(parts));
  } catch (const Error& error) {
    fail("{}: {}", file, error.what());
  }
}

}  // namespace poise
