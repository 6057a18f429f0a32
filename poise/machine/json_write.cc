// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "poise/base/text.h"
#include "poise/machine/json.h"
#include "poise/machine/sequence.h"

namespace poise {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLineWidth = 100;

/// Prints an array on one line if it fits, so that matrices are readable by rows.
void print(const Json& value, std::size_t indent, std::string& text) {
  std::string line = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (value.empty() || !value.is_structured() || indent + line.size() <= kLineWidth) {
    text += line;
    return;
  }
  text += value.is_array() ? "[" : "{";
  const char* separator = "\n";
  for (const auto& [key, item] : value.items()) {
    text += separator;
    text.append(indent + 2, ' ');
    if (value.is_object()) text += fmt::format("\"{}\": ", key);
    print(item, indent + 2, text);
    separator = ",\n";
  }
  text += '\n';
  text.append(indent, ' ');
  text += value.is_array() ? ']' : '}';
}

template <typename Number>
Json list_of(const std::vector<Number>& numbers) {
  Json list = Json::array();
  for (const std::string& item : items_of({numbers.begin(), numbers.end()})) {
    const auto number = parse_number(item);
    const auto whole = parse_unsigned(item);
    list.push_back(whole ? Json(*whole) : number ? Json(*number) : Json(item));
  }
  return list.size() == 1 && list[0].is_number() ? list[0] : list;
}

Json factor(double value) {
  const auto whole = static_cast<std::uint64_t>(std::min(value, 1e15));
  return whole == value ? Json(whole) : Json(value);
}

Json rows_of(const std::vector<double>& matrix, std::size_t rows) {
  Json result = Json::array();
  for (std::size_t i = 0; i < rows; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < rows; ++j) row.push_back(factor(matrix[i * rows + j]));
    result.push_back(std::move(row));
  }
  return result;
}

void put_unless(Json& json, const char* key, double value, double usual) {
  if (value != usual) json[key] = factor(value);
}

void put_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

/// Returns how many groups of level `l` are in each group of the level above.
std::vector<std::uint32_t> counts_of(std::span<const Level> levels, std::size_t l) {
  if (l == 0) return {levels[0].num_groups()};
  std::vector<std::uint32_t> counts;
  std::uint32_t group = 0;
  for (std::uint32_t above = 0; above < levels[l - 1].num_groups(); ++above) {
    std::uint32_t count = 0;
    for (; levels[l].first_place[group] < levels[l - 1].first_place[above + 1]; ++group) ++count;
    counts.push_back(count);
  }
  return counts;
}

Json levels_json(const Machine& machine) {
  Json levels = Json::array();
  for (std::size_t l = 0; l < machine.levels().size(); ++l) {
    const Level& level = machine.levels()[l];
    Json json{{"name", level.name}, {"count", list_of(counts_of(machine.levels(), l))}};
    put_text(json, "also", level.also);
    put_unless(json, "latency_factor", level.latency_factor, 1);
    put_unless(json, "bandwidth_factor", level.bandwidth_factor, 1);
    levels.push_back(std::move(json));
  }
  return levels;
}

Json domains_json(const Machine& machine) {
  std::vector<PlaceId> starts;
  for (DomainId d = 0; d <= machine.num_domains(); ++d) starts.push_back(machine.first_place(d));
  for (const Level& level : machine.levels())
    if (level.first_place == starts) return level.name;
  if (machine.num_domains() == 1) return "machine";
  std::vector<std::uint32_t> sizes;
  for (std::size_t d = 1; d < starts.size(); ++d) sizes.push_back(starts[d] - starts[d - 1]);
  const Json list = list_of(sizes);
  return list.is_array() ? list : Json::array({list});
}

Json kind_json(const NodeKind& kind) {
  Json json{{"latency_factor", rows_of(kind.latency_factor, kind.num_domains)}};
  const auto& bandwidth = kind.bandwidth_factor;
  if (std::any_of(bandwidth.begin(), bandwidth.end(), [](double f) { return f != 1; }))
    json["bandwidth_factor"] = rows_of(bandwidth, kind.num_domains);
  return json;
}

Json numa_json(const MachineParts& parts) {
  Json json{{"source", name_of(parts.numa_source)}};
  if (parts.node_kinds.size() == 1) {
    json.update(kind_json(parts.node_kinds[0]));
    return json;
  }
  json["kinds"] = Json::array();
  for (const NodeKind& kind : parts.node_kinds) json["kinds"].push_back(kind_json(kind));
  json["kind_of_node"] = list_of(parts.kind_of_node);
  return json;
}

Json tiers_json(const Network& network) {
  Json tiers = Json::array();
  for (const Tier& tier : network.tiers) {
    std::vector<std::uint32_t> sizes;
    for (std::size_t n = 0; n < tier.group_of_node.size(); ++n) {
      const bool is_new = n == 0 || tier.group_of_node[n] != tier.group_of_node[n - 1];
      if (is_new) sizes.push_back(0);
      ++sizes.back();
    }
    tiers.push_back(
        {{"nodes_per_group", list_of(sizes)}, {"latency_factor", factor(tier.latency_factor)}});
  }
  return tiers;
}

void put_routers(const Network& network, Json& json) {
  json["dims"] = network.dims;
  json["factor_per_hop"] = factor(network.factor_per_hop);
  put_unless(json, "same_router_factor", network.same_router_factor, 1);
  json["nodes_per_router"] = network.nodes_per_router;
  const auto& nodes = network.router_of_node;
  if (nodes.empty()) return;
  std::vector<std::uint32_t> routers;
  bool is_even = nodes.size() % network.nodes_per_router == 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (n % network.nodes_per_router == 0) routers.push_back(nodes[n]);
    is_even = is_even && routers.back() == nodes[n];
  }
  // If each run of nodes_per_router consecutive nodes shares a router, one router is listed per
  // run; otherwise the router of every single node is listed.
  if (is_even)
    json["routers"] = list_of(routers);
  else
    json["router_of_node"] = list_of(nodes);
}

Json network_json(const MachineParts& parts) {
  const Network& network = parts.network;
  Json json{{"source", name_of(parts.network_source)}, {"shape", name_of(network.shape)}};
  json["latency_factor"] = factor(network.factor);
  put_unless(json, "bandwidth_factor", network.bandwidth_factor, 1);
  if (network.shape == Network::Shape::tree) {
    if (!network.tiers.empty()) json["tiers"] = tiers_json(network);
  } else if (network.shape == Network::Shape::matrix) {
    json["matrix"] = rows_of(network.matrix, network.matrix_nodes);
  } else {
    put_routers(network, json);
  }
  return json;
}

Json spread_json(const Spread& spread) { return {spread.median, spread.low, spread.high}; }

Json spreads_json(const std::vector<Spread>& spreads) {
  Json json = Json::array();
  for (const Spread& spread : spreads) json.push_back(spread_json(spread));
  return json;
}

Json measurement_json(const Measurement& measurement) {
  Json json{{"host", measurement.host}};
  if (!measurement.latency_ns.empty()) json["latency_ns"] = spreads_json(measurement.latency_ns);
  if (!measurement.gigabytes_per_s.empty())
    json["gigabytes_per_s"] = spreads_json(measurement.gigabytes_per_s);
  for (const LevelLatency& level : measurement.levels)
    json["levels"].push_back(
        {{"level", level.level}, {"one_way_ns", spread_json(level.one_way_ns)}});
  for (const HostPair& pair : measurement.network)
    json["network"].push_back({{"from", pair.from},
                               {"to", pair.to},
                               {"latency_ns", spread_json(pair.latency_ns)},
                               {"fit_latency_ns", pair.fit_latency_ns},
                               {"fit_bytes_per_s", pair.fit_bytes_per_s}});
  return json;
}

void put_facts(const Facts& facts, Json& json) {
  if (!facts.threads.empty()) json["threads"] = list_of(facts.threads);
  if (!facts.numa_index.empty()) json["numa_index"] = list_of(facts.numa_index);
  if (!facts.memory_bytes.empty()) json["memory_bytes"] = list_of(facts.memory_bytes);
  for (const Memory& memory : facts.other_memory)
    json["other_memory"].push_back(
        {{"kind", memory.kind}, {"os_index", memory.os_index}, {"bytes", memory.bytes}});
  for (const Cache& cache : facts.caches)
    json["caches"].push_back({{"name", cache.name},
                              {"bytes", cache.bytes},
                              {"count", cache.count},
                              {"line_bytes", cache.line_bytes}});
  if (!facts.measurement.empty()) json["measurement"] = measurement_json(facts.measurement);
}

void put_places(const Machine& machine, Json& json) {
  std::vector<double> speeds;
  std::vector<std::uint32_t> indexes;
  bool is_plain = true;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    speeds.push_back(machine.speed_of(p));
    indexes.push_back(machine.place(p).os_index);
    is_plain = is_plain && indexes.back() == p;
  }
  if (speeds[0] != 1 || !machine.has_equal_speeds()) {
    json["speeds"] = list_of(speeds);
    json["speed_source"] = name_of(machine.parts().speed_source);
  }
  if (!is_plain) json["os_index"] = list_of(indexes);
}

Json transport_json(const TransportCosts& transport) {
  return {{"send_s", transport.send_s},
          {"receive_s", transport.receive_s},
          {"copy_s_per_byte", transport.copy_s_per_byte},
          {"latency_s", transport.latency_s},
          {"bus_crossings", transport.bus_crossings}};
}

Json costs_json(const CostModel& costs) {
  Json json{{"seconds_per_message", costs.seconds_per_message},
            {"seconds_per_byte", costs.seconds_per_byte},
            {"seconds_per_migrated_byte", costs.seconds_per_migrated_byte},
            {"seconds_per_migrated_task", costs.seconds_per_migrated_task},
            {"inside", transport_json(costs.inside)},
            {"network", transport_json(costs.network)},
            {"bus_bytes_per_s", costs.bus_bytes_per_s},
            {"card_bytes_per_s", costs.card_bytes_per_s},
            {"card_s_per_message", costs.card_s_per_message},
            {"cards", costs.cards}};
  if (!costs.uplink_bytes_per_s.empty()) json["uplink_bytes_per_s"] = costs.uplink_bytes_per_s;
  if (costs.shared_network_bytes_per_s > 0)
    json["shared_network_bytes_per_s"] = costs.shared_network_bytes_per_s;
  return json;
}

}  // namespace

std::string machine_to_json(const Machine& machine) {
  const MachineParts& parts = machine.parts();
  Json json{{"poise_machine", 1}, {"name", machine.name()}};
  put_text(json, "origin", parts.facts.origin);
  if (!parts.facts.assumed.empty()) json["assumed"] = parts.facts.assumed;
  put_text(json, "processor", parts.facts.processor);
  json["summary"] = {{"nodes", machine.num_nodes()},
                     {"domains", machine.num_domains()},
                     {"places", machine.num_places()}};
  json["levels"] = levels_json(machine);
  json["domains"] = domains_json(machine);
  json["cache_source"] = name_of(parts.cache_source);
  json["numa"] = numa_json(parts);
  json["network"] = network_json(parts);
  if (parts.root_latency_factor != 1 || parts.root_bandwidth_factor != 1)
    json["root"] = {{"latency_factor", factor(parts.root_latency_factor)},
                    {"bandwidth_factor", factor(parts.root_bandwidth_factor)}};
  json["costs"] = costs_json(parts.costs);
  put_places(machine, json);
  put_facts(parts.facts, json);
  std::string text;
  print(json, 0, text);
  return text + "\n";
}

}  // namespace poise
