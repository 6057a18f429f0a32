// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/draw.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <tuple>

#include "poise/base/text.h"

namespace poise {

namespace {

constexpr std::size_t kMaxMatrixColumns = 24;
// Maximum number of different subtrees that are drawn below one group.
constexpr std::size_t kMaxBranches = 24;
constexpr std::size_t kPageWidth = 96;

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Factors are printed with three or four digits; more would not be meaningful.
std::string factor_text(double factor) { return fmt::format("{:.4g}", factor); }

bool is_called(const Level& level, std::string_view name) {
  if (level.name == name) return true;
  const auto others = split(level.also, ' ');
  return std::find(others.begin(), others.end(), name) != others.end();
}

/// True if the level below has more groups than this one.
bool is_split(const Machine& machine, std::size_t level) {
  return level + 1 < machine.levels().size() &&
         machine.levels()[level + 1].num_groups() > machine.levels()[level].num_groups();
}

/// The tree of groups. Two groups of a level have the same class if their subtrees look the same:
/// the texts printed beside the two groups (see note()) are equal, and so are the classes of their
/// children, in order.
class Tree {
 public:
  explicit Tree(const Machine& machine) : machine_(machine), class_of_(machine.levels().size()) {
    const int depth = machine.levels().size();
    for (int l = depth - 1; l >= 0; --l) classify(l);
  }

  void draw(std::string& text) const {
    draw_groups(0, 0, machine_.levels()[0].num_groups(), "", text);
  }

 private:
  using Signature = std::pair<std::string, std::vector<std::uint32_t>>;

  std::uint32_t first_child(std::size_t level, std::uint32_t group) const {
    const auto& below = machine_.levels()[level + 1].first_place;
    const PlaceId first = machine_.levels()[level].first_place[group];
    return std::lower_bound(below.begin(), below.end(), first) - below.begin();
  }

  void classify(std::size_t level) {
    std::map<Signature, std::uint32_t> classes;
    const std::uint32_t groups = machine_.levels()[level].num_groups();
    for (std::uint32_t g = 0; g < groups; ++g) {
      Signature signature{note(level, g), {}};
      if (level + 1 < machine_.levels().size()) {
        const auto& below = class_of_[level + 1];
        signature.second.assign(below.begin() + first_child(level, g),
                                below.begin() + first_child(level, g + 1));
      }
      const std::uint32_t next = classes.size();
      class_of_[level].push_back(classes.try_emplace(std::move(signature), next).first->second);
    }
  }

  std::string place_note(PlaceId place) const {
    const Facts& facts = machine_.parts().facts;
    std::string text;
    const std::uint32_t threads = facts.threads.empty() ? 1 : facts.threads[place];
    if (threads > 1) text += fmt::format(", {} threads", threads);
    if (!machine_.has_equal_speeds() || machine_.speed_of(place) != 1)
      text += fmt::format(", speed {:.3g}", machine_.speed_of(place));
    for (const Cache& cache : facts.caches)
      if (cache.count == machine_.num_places())
        text += fmt::format(", {} {}", cache.name, bytes_text(cache.bytes));
    return text;
  }

  /// Returns everything to print about one group except its children.
  std::string note(std::size_t l, std::uint32_t group) const {
    const Level& level = machine_.levels()[l];
    const Facts& facts = machine_.parts().facts;
    std::string text;
    const PlaceId first = level.first_place[group];
    const DomainId domain = machine_.domain_of(first);
    const bool is_domain = machine_.first_place(domain) == first &&
                           machine_.first_place(domain + 1) == level.first_place[group + 1];
    const bool is_last = l + 1 == machine_.levels().size();
    // If several nested groups consist of the cores of the same domain, the memory is drawn at the
    // innermost of them.
    const bool is_innermost = is_last || first_child(l, group + 1) - first_child(l, group) > 1;
    if (is_domain && is_innermost && !facts.memory_bytes.empty())
      text += fmt::format(", memory {}", bytes_text(facts.memory_bytes[domain]));
    if (!is_last)
      for (const Cache& cache : facts.caches)
        if (is_called(level, cache.name))
          text += fmt::format(", {} {}", cache.name, bytes_text(cache.bytes));
    return is_last ? text + place_note(first) : text;
  }

  void draw_groups(std::size_t l, std::uint32_t first, std::uint32_t last,
                   const std::string& indent, std::string& text) const {
    const Level& level = machine_.levels()[l];
    std::size_t branches = 0;
    for (std::uint32_t g = first, next = g; g < last; g = next) {
      while (next < last && class_of_[l][next] == class_of_[l][g]) ++next;
      if (++branches > kMaxBranches) next = last;
      const bool ends = next == last;
      const std::string also = level.also.empty() ? "" : fmt::format(" ({})", level.also);
      text += fmt::format("{}{}{} × {}{}{}\n", indent, ends ? "└─ " : "├─ ", next - g, level.name,
                          also, branches > kMaxBranches ? ", of several kinds" : note(l, g));
      if (l + 1 < machine_.levels().size() && branches <= kMaxBranches)
        draw_groups(l + 1, first_child(l, g), first_child(l, g + 1),
                    indent + (ends ? "   " : "│  "), text);
    }
  }

  const Machine& machine_;
  std::vector<std::vector<std::uint32_t>> class_of_;
};

std::string range_text(const std::vector<double>& matrix, std::size_t rows) {
  double least = 1, most = 1;
  bool is_first = true;
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    if (i / rows == i % rows) continue;
    least = is_first ? matrix[i] : std::min(least, matrix[i]);
    most = is_first ? matrix[i] : std::max(most, matrix[i]);
    is_first = false;
  }
  return least == most ? factor_text(least)
                       : fmt::format("{} to {}", factor_text(least), factor_text(most));
}

/// Draws a matrix of factors. Draws nothing if all factors are equal, because the heading already
/// shows their value, or if the matrix is too wide for the page.
void draw_matrix(const std::vector<double>& matrix, std::size_t rows, std::string& text) {
  const bool is_uniform = range_text(matrix, rows).find(' ') == std::string::npos;
  if (is_uniform || rows > kMaxMatrixColumns) return;
  std::size_t width = 4;
  for (const double value : matrix) width = std::max(width, factor_text(value).size());
  text += fmt::format("  {:>7}", "from\\to");
  for (std::size_t to = 0; to < rows; ++to) text += fmt::format(" {:>{}}", to, width);
  text += '\n';
  for (std::size_t from = 0; from < rows; ++from) {
    text += fmt::format("  {:>7}", from);
    for (std::size_t to = 0; to < rows; ++to)
      text += fmt::format(" {:>{}}", factor_text(matrix[from * rows + to]), width);
    text += '\n';
  }
}

void draw_numa(const Machine& machine, std::string& text) {
  const MachineParts& parts = machine.parts();
  for (std::size_t k = 0; k < parts.node_kinds.size(); ++k) {
    const NodeKind& kind = parts.node_kinds[k];
    if (kind.num_domains < 2) continue;
    const std::string which = parts.node_kinds.size() > 1 ? fmt::format(" of kind {}", k) : "";
    text +=
        fmt::format("\nNUMA factors{}: {} ({})\n", which,
                    range_text(kind.latency_factor, kind.num_domains), name_of(parts.numa_source));
    draw_matrix(kind.latency_factor, kind.num_domains, text);
    if (kind.bandwidth_factor == kind.latency_factor) {
      text += "  seconds per byte: the same\n";
    } else if (range_text(kind.bandwidth_factor, kind.num_domains) != "1") {
      text += fmt::format("  seconds per byte: {}\n",
                          range_text(kind.bandwidth_factor, kind.num_domains));
      draw_matrix(kind.bandwidth_factor, kind.num_domains, text);
    }
  }
}

std::string spread_text(const Spread& spread, const char* unit) {
  return fmt::format("{:.4g} {} [{:.4g}, {:.4g}]", spread.median, unit, spread.low, spread.high);
}

void draw_inside(const Machine& machine, std::string& text) {
  const MachineParts& parts = machine.parts();
  text += fmt::format("\nMessages inside a domain, by the smallest group they stay in ({})\n",
                      name_of(parts.cache_source));
  const std::vector<LevelLatency>& measured = parts.facts.measurement.levels;
  const auto line = [&](const std::string& name, double factor) {
    const auto found = std::find_if(measured.begin(), measured.end(),
                                    [&](const LevelLatency& m) { return m.level == name; });
    const std::string one_way =
        found == measured.end() ? "" : ", one way " + spread_text(found->one_way_ns, "ns");
    text += fmt::format("  {:<10} {}{}\n", name, factor_text(factor), one_way);
  };
  const DomainId domains = machine.num_domains();
  if (domains == 1 && machine.levels()[0].num_groups() > 1)
    line("machine", parts.root_latency_factor);
  for (std::size_t l = 0; l + 1 < machine.levels().size(); ++l)
    if (machine.levels()[l].num_groups() >= domains && is_split(machine, l))
      line(machine.levels()[l].name, machine.levels()[l].latency_factor);
}

std::string network_shape_text(const Network& network) {
  std::string text(name_of(network.shape));
  for (std::size_t i = 0; i < network.dims.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? " " : " × ", network.dims[i]);
  if (network.nodes_per_router > 1)
    text += fmt::format(", {} nodes per router", network.nodes_per_router);
  return text;
}

/// Returns the name of the network tier with this number of groups. If a level of the machine has
/// as many groups, its name is used; otherwise the name states the number.
std::string name_of_tier(const Machine& machine, std::uint32_t groups) {
  for (const Level& level : machine.levels())
    if (level.num_groups() == groups) return level.name;
  return fmt::format("of {} groups", groups);
}

void draw_network(const Machine& machine, std::string& text) {
  const Network& network = machine.network();
  if (machine.num_nodes() < 2) {
    if (machine.parts().network_source == Source::measured)
      text += fmt::format("\nNetwork to other nodes: {} (measured)\n", factor_text(network.factor));
    return;
  }
  text += fmt::format("\nNetwork: {} ({})\n", network_shape_text(network),
                      name_of(machine.parts().network_source));
  if (network.shape == Network::Shape::matrix) {
    text += fmt::format("  between nodes: {}\n", range_text(network.matrix, network.matrix_nodes));
    draw_matrix(network.matrix, network.matrix_nodes, text);
  } else if (network.shape == Network::Shape::tree) {
    text += fmt::format("  between nodes: {}\n", factor_text(network.factor));
    for (const Tier& tier : network.tiers)
      text +=
          fmt::format("  inside one {}: {}\n", name_of_tier(machine, tier.group_of_node.back() + 1),
                      factor_text(tier.latency_factor));
  } else {
    if (network.nodes_per_router > 1)
      text += fmt::format("  on one router: {}\n", factor_text(network.same_router_factor));
    text += fmt::format("  one hop: {}, each hop more: + {}\n", factor_text(network.factor),
                        factor_text(network.factor_per_hop));
  }
  if (network.bandwidth_factor != 1)
    text += fmt::format("  seconds per byte: {}\n", factor_text(network.bandwidth_factor));
}

void draw_other_memory(const Facts& facts, std::string& text) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<std::uint32_t>> alike;
  for (const Memory& memory : facts.other_memory)
    alike[{memory.kind, memory.bytes}].push_back(memory.os_index);
  if (!alike.empty()) text += "\nMemory that is no place's domain\n";
  for (const auto& [kind, indexes] : alike)
    text += fmt::format("  {} × {}{}{} (NUMA {} {})\n", indexes.size(), kind.first,
                        kind.first.empty() ? "" : ", ", bytes_text(kind.second),
                        indexes.size() == 1 ? "node" : "nodes", fmt::join(indexes, ", "));
}

/// Appends the heading and then the words to `text`, in as many lines as needed.
void draw_paragraph(std::string_view heading, const std::string& words, std::string& text) {
  std::string line(heading);
  for (const std::string_view word : split(words, ' ')) {
    if (line.size() + 1 + word.size() > kPageWidth) {
      text += fmt::format("{}\n", line);
      line.assign(1, ' ');
    }
    line += fmt::format(" {}", word);
  }
  text += fmt::format("{}\n", line);
}

std::string bandwidth_text(double bytes_per_s) {
  return bytes_per_s == 0 ? "unlimited" : fmt::format("{:.4g} GB/s", bytes_per_s / 1e9);
}

void draw_transport(std::string_view name, const TransportCosts& transport, std::string& text) {
  text += fmt::format(
      "  {:<14} send {:.4g} us, receive {:.4g} us, copy {:.4g} ns/B, latency {:.4g} us x factor\n",
      name, transport.send_s * 1e6, transport.receive_s * 1e6, transport.copy_s_per_byte * 1e9,
      transport.latency_s * 1e6);
}

void draw_costs(const CostModel& costs, std::string& text) {
  text += "\nCosts of messages, physical model:\n";
  draw_transport("inside a node", costs.inside, text);
  draw_transport("between nodes", costs.network, text);
  text += fmt::format("  memory bus {}, network card {}, {:.4g} us a message ({} a node)\n",
                      bandwidth_text(costs.bus_bytes_per_s), bandwidth_text(costs.card_bytes_per_s),
                      costs.card_s_per_message * 1e6, costs.cards);
  for (std::size_t t = 0; t < costs.uplink_bytes_per_s.size(); ++t)
    text += fmt::format("  uplink of each group in tier {}: {}\n", t,
                        bandwidth_text(costs.uplink_bytes_per_s[t]));
  if (costs.shared_network_bytes_per_s > 0)
    text += fmt::format("  one network shared by all nodes: {}\n",
                        bandwidth_text(costs.shared_network_bytes_per_s));
  text += fmt::format("  migration of a task {:.4g} us and {:.4g} ns/B, at each end\n",
                      costs.seconds_per_migrated_task * 1e6, costs.seconds_per_migrated_byte * 1e9);
  text += fmt::format(
      "Costs of messages, nuco model: {:.4g} s per message, {:.4g} s per byte, each times its "
      "factor\n",
      costs.seconds_per_message, costs.seconds_per_byte);
}

void draw_facts(const Machine& machine, std::string& text) {
  const Facts& facts = machine.parts().facts;
  draw_other_memory(facts, text);
  draw_costs(machine.costs(), text);
  if (!facts.measurement.latency_ns.empty())
    text += fmt::format("Measured on {}: local memory {}\n", facts.measurement.host,
                        spread_text(facts.measurement.latency_ns[0], "ns"));
  if (!machine.has_equal_speeds())
    text += fmt::format("Speeds: {}\n", name_of(machine.parts().speed_source));
  if (!facts.origin.empty()) draw_paragraph("Source:", facts.origin, text);
  for (const std::string& assumption : facts.assumed) draw_paragraph("Assumed:", assumption, text);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = bytes;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return value < 10 ? fmt::format("{:.2g} {}", value, kUnits[unit])
                    : fmt::format("{:.0f} {}", value, kUnits[unit]);
}

std::string draw_machine(const Machine& machine) {
  std::string text = fmt::format(
      "{}: {}, {}, {}\n", machine.name(), plural(machine.num_nodes(), "node"),
      plural(machine.num_domains(), "memory domain"), plural(machine.num_places(), "place"));
  const std::string& processor = machine.parts().facts.processor;
  if (!processor.empty()) text += processor + "\n";
  Tree(machine).draw(text);
  draw_numa(machine, text);
  draw_inside(machine, text);
  draw_network(machine, text);
  draw_facts(machine, text);
  return text;
}

}  // namespace poise
