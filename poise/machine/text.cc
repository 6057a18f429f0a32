// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/text.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/machine/tuning.h"

namespace poise {

namespace {

struct Word {
  std::string_view key, value;
};

/// The content of a machine text after parsing, before the machine is built.
struct Spec {
  struct LevelSpec {
    std::string name;
    std::uint32_t count;
  };
  std::vector<LevelSpec> levels;
  std::vector<double> factors;
  std::vector<double> speeds{1};
  std::optional<double> per_hop;
  Network network;
  CostModel costs;
  bool has_bus = false;  // the text gives the bandwidth of the memory bus
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == word.size())
      fail("machine text: \"{}\" is not of the form NAME:VALUE", word);
    words.push_back({word.substr(0, colon), word.substr(colon + 1)});
  }
  return words;
}

double number_of(const Word& word, std::string_view text) {
  const auto value = parse_number(text);
  if (!value || *value < 0)
    fail("machine text: \"{}\" in \"{}:{}\" is not a number of at least 0", text, word.key,
         word.value);
  return *value;
}

std::vector<double> numbers_of(const Word& word) {
  std::vector<double> numbers;
  for (const std::string_view piece : split(word.value, ','))
    numbers.push_back(number_of(word, piece));
  return numbers;
}

std::uint32_t count_of(const Word& word, std::string_view text) {
  const auto value = parse_unsigned(text);
  if (!value || *value == 0 || *value > kMaxPlaces)
    fail("machine text: \"{}\" in \"{}:{}\" is not a count from 1 to {}", text, word.key,
         word.value, kMaxPlaces);
  return *value;
}

std::optional<Network::Shape> shape_named(std::string_view name) {
  for (const auto shape : {Network::Shape::torus, Network::Shape::mesh, Network::Shape::dragonfly})
    if (name == name_of(shape)) return shape;
  return std::nullopt;
}

std::uint32_t read_shape(const Word& word, Network::Shape shape, Network& network) {
  network.shape = shape;
  std::uint64_t routers = 1;
  for (const std::string_view piece : split(word.value, 'x')) {
    network.dims.push_back(count_of(word, piece));
    routers *= network.dims.back();
    if (routers > kMaxPlaces)
      fail("machine text: \"{}:{}\" has more than {} routers, the maximum", word.key, word.value,
           kMaxPlaces);
  }
  if (shape == Network::Shape::dragonfly && network.dims.size() != 2)
    fail("machine text: \"dragonfly:{}\" must have the form dragonfly:GROUPSxROUTERS", word.value);
  return routers;
}

/// Reads one cost of the formula `physical`, such as "latency:1e-7".
bool read_physical_setting(const Word& word, CostModel& costs) {
  const auto is = [&word](std::string_view key) { return word.key == key; };
  if (is("bandwidth")) return costs.card_bytes_per_s = number_of(word, word.value), true;
  if (is("bus")) return costs.bus_bytes_per_s = number_of(word, word.value), true;
  if (is("cards")) return costs.cards = count_of(word, word.value), true;
  if (is("gap")) return costs.card_s_per_message = number_of(word, word.value), true;
  if (is("uplink")) return costs.uplink_bytes_per_s = numbers_of(word), true;
  if (is("shared_network"))
    return costs.shared_network_bytes_per_s = number_of(word, word.value), true;
  if (is("migrated_task"))
    return costs.seconds_per_migrated_task = number_of(word, word.value), true;
  for (TransportCosts* transport : {&costs.inside, &costs.network}) {
    if (is("overhead")) transport->send_s = transport->receive_s = number_of(word, word.value);
    if (is("copy")) transport->copy_s_per_byte = number_of(word, word.value);
    if (is("latency")) transport->latency_s = number_of(word, word.value);
  }
  return is("overhead") || is("copy") || is("latency");
}

bool read_setting(const Word& word, Spec& spec) {
  if (word.key == "factors") return spec.factors = numbers_of(word), true;
  if (word.key == "speeds") return spec.speeds = numbers_of(word), true;
  if (word.key == "hop") return spec.per_hop = number_of(word, word.value), true;
  if (word.key == "message")
    return spec.costs.seconds_per_message = number_of(word, word.value), true;
  if (word.key == "byte") return spec.costs.seconds_per_byte = number_of(word, word.value), true;
  if (word.key == "migrated_byte")
    return spec.costs.seconds_per_migrated_byte = number_of(word, word.value), true;
  spec.has_bus |= word.key == "bus";
  return read_physical_setting(word, spec.costs);
}

/// True if `word` is probably a misspelling of `name`.
bool is_misspelt(std::string_view word, std::string_view name) {
  // If a word differs in two letters from a shorter name, it may well be a level's correct name.
  constexpr std::size_t kLong = 6;
  return edit_distance(word, name) <= (name.size() < kLong ? 1 : 2) ||
         std::is_permutation(word.begin(), word.end(), name.begin(), name.end());
}

/// Refuses a word that resembles a setting or one of the levels that Poise treats specially. Levels
/// may have any name, so the misspelt word would otherwise become an ordinary level.
void refuse_misspelt(const Word& word) {
  static constexpr std::string_view kNames[] = {
      "factors", "speeds",   "message",        "migrated_byte", "bandwidth", "uplink",
      "latency", "overhead", "shared_network", "migrated_task", "cards",     "copy",
      "byte",    "node",     "numa",           "core",          "package",   "socket",
      "torus",   "mesh",     "dragonfly"};
  if (std::ranges::find(kNames, word.key) != std::end(kNames)) return;
  for (const std::string_view name : kNames)
    if (is_misspelt(word.key, name))
      fail("machine text: \"{}\" is neither a setting nor a level; did you mean \"{}\"?", word.key,
           name);
}

void read_level(const Word& word, Spec& spec) {
  refuse_misspelt(word);
  if (const auto shape = shape_named(word.key)) {
    if (!spec.levels.empty()) fail("machine text: \"{}\" must be the first level", word.key);
    spec.levels.push_back({"node", read_shape(word, *shape, spec.network)});
    return;
  }
  if (!std::all_of(word.key.begin(), word.key.end(),
                   [](unsigned char c) { return std::isalnum(c) || c == '_'; }))
    fail("machine text: \"{}\" is not the name of a level", word.key);
  const bool is_on_routers =
      word.key == "node" && spec.levels.size() == 1 && spec.network.shape != Network::Shape::tree;
  if (is_on_routers) {
    spec.levels[0].name = "router";
    spec.network.nodes_per_router = count_of(word, word.value);
  }
  for (const auto& level : spec.levels)
    if (level.name == word.key)
      fail("machine text: the level \"{}\" is given twice; each level needs a name of its own",
           word.key);
  spec.levels.push_back({std::string(word.key), count_of(word, word.value)});
}

Spec read_spec(std::string_view text) {
  Spec spec;
  std::set<std::string_view> settings;
  for (const Word& word : words_of(text)) {
    if (!read_setting(word, spec))
      read_level(word, spec);
    else if (!settings.insert(word.key).second)
      fail("machine text: \"{}\" is given twice; give it once", word.key);
  }
  if (spec.levels.empty())
    fail(
        "machine text: \"{}\" names no level; an example is \"node:2 numa:2 core:4 "
        "factors:10,1.5,1\"",
        text);
  if (!spec.factors.empty() && spec.factors.size() != spec.levels.size())
    fail("machine text: {} message cost factors are given for {} levels; give one factor per level",
         spec.factors.size(), spec.levels.size());
  return spec;
}

std::size_t index_of(const Spec& spec, std::string_view name) {
  const auto found = std::find_if(spec.levels.begin(), spec.levels.end(),
                                  [&](const auto& level) { return level.name == name; });
  return found - spec.levels.begin();
}

/// Number of levels down to and including the one whose groups are memory domains. 0 means that the
/// machine is one domain.
std::size_t levels_to_domain(const Spec& spec) {
  for (const char* name : {"numa", "package", "pack", "socket", "node"}) {
    const std::size_t level = index_of(spec, name);
    if (level < spec.levels.size()) return level + 1;
  }
  return 0;
}

std::size_t levels_to_node(const Spec& spec) {
  const std::size_t level = index_of(spec, "node");
  return level < spec.levels.size() ? level + 1 : 0;
}

std::vector<double> assumed_factors(const Spec& spec) {
  std::vector<double> factors(spec.levels.size(), 1);
  std::fill_n(factors.begin(), levels_to_domain(spec), machine_tuning::kAssumedNumaFactor);
  std::fill_n(factors.begin(), levels_to_node(spec), machine_tuning::kAssumedNetworkFactor);
  return factors;
}

std::uint64_t groups_below(const Spec& spec, std::size_t from, std::size_t to) {
  std::uint64_t product = 1;
  for (std::size_t l = from; l < to; ++l) {
    product *= spec.levels[l].count;
    if (product > kMaxPlaces)
      fail("machine text: the machine has more than {} places; reduce the counts", kMaxPlaces);
  }
  return product;
}

/// Returns the NUMA factors of a node. factors[l] is the factor of messages between different
/// groups of level l inside the same group of level l - 1; for l = 0, inside the machine.
NodeKind node_kind(const Spec& spec, const std::vector<double>& factors) {
  const std::size_t node = levels_to_node(spec), domain = std::max(node, levels_to_domain(spec));
  const std::uint32_t count = groups_below(spec, node, domain);
  if (count > kMaxDomainsOfNode)
    fail(
        "machine text: one node has {} memory domains, but at most {} are allowed; if the machine "
        "has "
        "several nodes, add a level \"node:N\" above the memory domains",
        count, kMaxDomainsOfNode);
  NodeKind kind{count, std::vector<double>(std::size_t{count} * count, 1),
                std::vector<double>(std::size_t{count} * count, 1)};
  for (std::uint32_t from = 0; from < count; ++from)
    for (std::uint32_t to = 0; to < count; ++to) {
      if (from == to) continue;
      std::size_t level = node;
      std::uint64_t below = groups_below(spec, level + 1, domain);
      for (; from / below == to / below; below /= spec.levels[level].count) ++level;
      kind.latency_factor[std::size_t{from} * count + to] = factors[level];
    }
  return kind;
}

void add_tiers(const Spec& spec, const std::vector<double>& factors, Network& network) {
  const std::size_t node = levels_to_node(spec);
  network.factor = factors[0];
  if (network.shape != Network::Shape::tree) {
    if (network.nodes_per_router > 1) network.same_router_factor = factors[1];
    network.factor_per_hop = spec.per_hop.value_or(0.05 * network.factor);
    return;
  }
  const std::uint64_t nodes = groups_below(spec, 0, node);
  for (std::size_t l = 0; l + 1 < node; ++l) {
    Tier tier{std::vector<std::uint32_t>(nodes), factors[l + 1]};
    const std::uint64_t below = groups_below(spec, l + 1, node);
    for (std::uint64_t n = 0; n < nodes; ++n) tier.group_of_node[n] = n / below;
    network.tiers.push_back(std::move(tier));
  }
}

/// Refuses cost settings that have no effect on this machine.
void refuse_useless_settings(const Spec& spec, std::size_t num_tiers) {
  if (spec.per_hop && spec.network.shape == Network::Shape::tree)
    fail(
        "machine text: \"hop\" has an effect only on a torus, mesh or dragonfly; leave it out, or "
        "begin with a shape such as torus:4x4");
  const std::size_t uplinks = spec.costs.uplink_bytes_per_s.size();
  if (uplinks > num_tiers)
    fail(
        "machine text: the number of bandwidths after \"uplink:\" is {}, but the number of tiers "
        "is {}; a tier is a level above the nodes, such as rack:4",
        uplinks, num_tiers);
}

}  // namespace

Machine machine_from_text(std::string_view text, std::uint32_t max_places) {
  const Spec spec = read_spec(text);
  const std::size_t depth = spec.levels.size();
  const std::uint64_t num_places = groups_below(spec, 0, depth);
  if (num_places > max_places)
    fail("machine text: the machine has more than {} places; reduce the counts", max_places);
  const std::vector<double> factors = spec.factors.empty() ? assumed_factors(spec) : spec.factors;

  MachineParts parts;
  parts.name = std::string(text);
  parts.costs = spec.costs;
  parts.network = spec.network;
  if (levels_to_node(spec) > 0) add_tiers(spec, factors, parts.network);
  refuse_useless_settings(spec, parts.network.tiers.size());
  if (levels_to_domain(spec) == 0) parts.root_latency_factor = factors[0];
  parts.node_kinds = {node_kind(spec, factors)};
  parts.kind_of_node.assign(groups_below(spec, 0, levels_to_node(spec)), 0);
  if (!spec.factors.empty()) parts.numa_source = parts.cache_source = Source::given;
  if (!spec.factors.empty() && levels_to_node(spec) > 0) parts.network_source = Source::given;

  const std::uint64_t per_domain = num_places / groups_below(spec, 0, levels_to_domain(spec));
  parts.places.resize(num_places);
  for (std::uint64_t p = 0; p < num_places; ++p)
    parts.places[p] = {static_cast<DomainId>(p / per_domain), spec.speeds[p % spec.speeds.size()],
                       static_cast<std::uint32_t>(p)};
  if (!spec.has_bus) parts.costs.bus_bytes_per_s = assumed_bus_bytes_per_s(parts.places);
  for (std::size_t l = 0; l < depth; ++l) {
    const std::uint64_t per_group = groups_below(spec, l + 1, depth);
    Level level{.name = spec.levels[l].name};
    for (std::uint64_t p = 0; p <= num_places; p += per_group) level.first_place.push_back(p);
    if (l + 1 < depth) level.latency_factor = factors[l + 1];
    parts.levels.push_back(std::move(level));
  }
  return Machine(std::move(parts));
}

Machine flat_machine(std::uint32_t num_places) {
  if (num_places == 0) fail("machine: there are no places; at least one is needed");
  return machine_from_text(fmt::format("core:{}", num_places));
}

}  // namespace poise
