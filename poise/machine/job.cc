// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/job.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "poise/base/error.h"
#include "poise/base/text.h"
#include "poise/machine/hosts.h"

namespace poise {

namespace {

constexpr std::uint64_t kMaxHosts = 1u << 20;

/// Splits a text at separators, but not inside brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != separator || depth > 0)) continue;
    if (i > begin) pieces.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return pieces;
}

/// Expands a range: "001-003" gives three numbers with as many digits as the first has.
std::vector<std::string> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first_text = text.substr(0, dash);
  const auto first = parse_unsigned(first_text);
  const auto last = dash == text.npos ? first : parse_unsigned(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last - *first >= kMaxHosts)
    fail("list of the job's hosts: \"{}\" is not a range such as 1-4", text);
  std::vector<std::string> numbers;
  for (std::uint64_t i = 0; i <= *last - *first; ++i)
    numbers.push_back(fmt::format("{:0{}}", *first + i, first_text.size()));
  return numbers;
}

void check_number(std::size_t hosts) {
  if (hosts > kMaxHosts) fail("the job has too many hosts; the maximum is {}", kMaxHosts);
}

/// Expands all brackets of one piece of a host list; a piece may have several brackets.
std::vector<std::string> names_of(std::string_view piece) {
  std::vector<std::string> names{""};
  while (!piece.empty()) {
    const std::size_t open = std::min(piece.find('['), piece.size());
    for (std::string& name : names) name += piece.substr(0, open);
    piece.remove_prefix(open);
    if (piece.empty()) break;
    const std::size_t close = piece.find(']');
    if (close == piece.npos || close == 1)
      fail("list of the job's hosts: \"{}\" must have numbers between [ and ], such as [1-4]",
           piece);
    std::vector<std::string> longer;
    for (const std::string& name : names)
      for (const std::string_view range : split(piece.substr(1, close - 1), ',')) {
        for (const std::string& number : range_of(range)) longer.push_back(name + number);
        check_number(longer.size());
      }
    names = std::move(longer);
    piece.remove_prefix(close + 1);
  }
  return names;
}

/// Reads counts such as "16(x3),8" into one count per host.
std::vector<std::uint32_t> counts_of(std::string_view variable, std::string_view text) {
  std::vector<std::uint32_t> counts;
  for (const std::string_view piece : split(text, ',')) {
    const std::size_t open = piece.find("(x");
    const auto count = parse_unsigned(piece.substr(0, open));
    std::optional<unsigned long long> times = 1;
    if (open != piece.npos)
      times = piece.ends_with(')') ? parse_unsigned(piece.substr(open + 2, piece.size() - open - 3))
                                   : std::nullopt;
    if (!count || !times || *times > kMaxHosts || *count > kMaxHosts)
      fail("{}: \"{}\" is not a count such as 16 or 16(x3)", variable, piece);
    counts.insert(counts.end(), *times, *count);
  }
  return counts;
}

/// Returns the lines of a configuration file of Slurm without their comments. A line that ends in a
/// backslash continues on the next line.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines(1);
  for (std::string_view line : split(text, '\n')) {
    line = line.substr(0, line.find('#'));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    const bool continues = line.ends_with('\\');
    if (continues) line.remove_suffix(1);
    lines.back() += line;
    if (!continues) lines.emplace_back();
  }
  return lines;
}

/// Returns the value of KEY=VALUE among the words of a line, or an empty text if there is none.
/// Keys match in any case, as in Slurm.
std::string_view value_of(std::span<const std::string_view> words, std::string_view key) {
  for (const std::string_view word : words) {
    const bool fits = word.size() > key.size() && word[key.size()] == '=' &&
                      std::equal(key.begin(), key.end(), word.begin(), [](char a, char b) {
                        return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b);
                      });
    if (fits) return word.substr(key.size() + 1);
  }
  return {};
}

}  // namespace

std::vector<std::string> expanded_hosts(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string_view piece : split_outside_brackets(text, ',')) {
    for (std::string& name : names_of(piece)) hosts.push_back(std::move(name));
    check_number(hosts.size());
  }
  return hosts;
}

std::vector<JobHost> hosts_of_slurm(std::string_view nodes, std::string_view processors) {
  std::vector<JobHost> hosts;
  for (std::string& name : expanded_hosts(nodes)) hosts.push_back({.name = std::move(name)});
  const std::vector<std::uint32_t> counts = counts_of("SLURM_JOB_CPUS_PER_NODE", processors);
  if (!counts.empty() && counts.size() != hosts.size())
    fail("SLURM_JOB_NODELIST lists {} hosts, but SLURM_JOB_CPUS_PER_NODE has counts for {} hosts",
         hosts.size(), counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) hosts[i].slots = counts[i];
  return hosts;
}

std::uint64_t ranks_of_slurm(std::string_view tasks) {
  const std::vector<std::uint32_t> counts = counts_of("SLURM_TASKS_PER_NODE", tasks);
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<JobHost> hosts_of_pbs(std::string_view node_file) {
  std::vector<JobHost> hosts;
  std::map<std::string_view, std::size_t> index;
  for (const std::string_view name : split_at_blanks(node_file)) {
    const auto [entry, is_new] = index.try_emplace(name, hosts.size());
    if (is_new) hosts.push_back({.name = std::string(name)});
    ++hosts[entry->second].slots;
  }
  return hosts;
}

std::vector<JobHost> hosts_of_lsf(std::string_view text) {
  const std::vector<std::string_view> words = split_at_blanks(text);
  std::vector<JobHost> hosts;
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const auto count = i + 1 < words.size() ? parse_unsigned(words[i + 1]) : std::nullopt;
    if (!count || *count > kMaxHosts)
      fail(
          "LSB_MCPU_HOSTS: the number of slots after host \"{}\" is missing or invalid; write HOST "
          "COUNT for each host",
          words[i]);
    const auto [entry, is_new] = index.try_emplace(words[i], hosts.size());
    if (is_new) hosts.push_back({.name = std::string(words[i])});
    hosts[entry->second].slots += *count;
  }
  return hosts;
}

void find_switches(std::string_view topology, std::vector<JobHost>& hosts) {
  std::map<std::string_view, JobHost*> by_name;
  for (JobHost& host : hosts) by_name[host.name] = &host;
  std::map<const JobHost*, std::size_t> size_of_leaf;
  for (const std::string& line : lines_of(topology)) {
    const std::vector<std::string_view> words = split_at_blanks(line);
    const std::string_view name = value_of(words, "switchname"), nodes = value_of(words, "nodes");
    if (name.empty() || nodes.empty()) continue;
    std::vector<std::string> listed;
    try {
      listed = expanded_hosts(nodes);
    } catch (const Error&) {
      // Skips a host list of unknown form, such as n[00x33]. Users cannot correct this file, so a
      // mistake in it must not stop their jobs.
      continue;
    }
    for (const std::string& host_name : listed) {
      const auto host = by_name.find(host_name);
      if (host == by_name.end()) continue;
      const auto [leaf, is_new] = size_of_leaf.try_emplace(host->second, listed.size());
      if (!is_new && leaf->second <= listed.size()) continue;
      leaf->second = listed.size();
      host->second->leaf_switch = name;
    }
  }
}

Machine machine_of_job(const Machine& node, std::vector<JobHost> hosts,
                       std::vector<std::string>& names) {
  if (hosts.empty())
    fail(
        "the job has no hosts; SLURM_JOB_NODELIST, LSB_MCPU_HOSTS or PBS_NODEFILE must list at "
        "least one");
  const bool are_known = std::all_of(hosts.begin(), hosts.end(),
                                     [](const JobHost& h) { return !h.leaf_switch.empty(); });
  std::map<std::string, std::uint32_t> first_seen;
  for (const JobHost& host : hosts) first_seen.try_emplace(host.leaf_switch, first_seen.size());
  if (are_known) {
    std::map<std::uint32_t, std::vector<JobHost>> groups;
    for (JobHost& host : hosts) groups[first_seen[host.leaf_switch]].push_back(std::move(host));
    hosts.clear();
    for (auto& [number, group] : groups)
      for (JobHost& host : group) hosts.push_back(std::move(host));
  }
  names.clear();
  for (const JobHost& host : hosts) names.push_back(host.name);
  if (hosts.size() == 1) return node;
  const Machine cluster = cluster_of(node, names);
  if (!are_known || first_seen.size() < 2 || cluster.network().shape != Network::Shape::tree)
    return cluster;
  // The times between switches are not measured, so all pairs of nodes keep the same factor. Only
  // the numbers of hops then tell which nodes are near each other.
  MachineParts parts = cluster.parts();
  Tier tier{{}, parts.network.factor};
  Level level{.name = "switch"};
  for (NodeId n = 0; n < hosts.size(); ++n) {
    const std::uint32_t group = first_seen[hosts[n].leaf_switch];
    if (tier.group_of_node.empty() || group != tier.group_of_node.back())
      level.first_place.push_back(cluster.first_place(cluster.first_domain(n)));
    tier.group_of_node.push_back(group);
  }
  level.first_place.push_back(cluster.num_places());
  parts.levels.insert(parts.levels.begin(), std::move(level));
  parts.network.tiers.insert(parts.network.tiers.begin(), std::move(tier));
  return Machine(std::move(parts));
}

}  // namespace poise
