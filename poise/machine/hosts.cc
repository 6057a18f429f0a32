// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/hosts.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "poise/base/check.h"
#include "poise/machine/measure.h"
#include "poise/machine/spread.h"
#include "poise/machine/tuning.h"

namespace poise {

namespace {

struct Line {
  double at_zero = 0, slope = 0;
};

/// Fits a line to the times t of messages of x bytes: minimises the sum of the squared relative
/// errors ((at_zero + slope * x - t) / t)^2, with at_zero >= 0 and slope >= 0.
Line relative_fit(std::span<const MessageTime> times) {
  double w = 0, wx = 0, wxx = 0, wt = 0, wxt = 0;
  for (const MessageTime& time : times) {
    const double x = time.bytes;
    const double t = time.one_way_ns.median;
    if (t <= 0) continue;
    const double weight = 1 / (t * t);
    w += weight;
    wx += weight * x;
    wxx += weight * x * x;
    wt += weight * t;
    wxt += weight * x * t;
  }
  const double determinant = w * wxx - wx * wx;
  if (w == 0) return {};
  if (determinant <= 0) return {wt / w, 0};
  const Line line{(wxx * wt - wx * wxt) / determinant, (w * wxt - wx * wt) / determinant};
  if (line.slope <= 0) return {wt / w, 0};
  if (line.at_zero < 0) return {0, wxt / wxx};
  return line;
}

std::vector<const HostPair*> between_hosts(const Machine& node) {
  std::vector<const HostPair*> pairs;
  for (const HostPair& pair : node.parts().facts.measurement.network)
    if (pair.from != pair.to) pairs.push_back(&pair);
  return pairs;
}

template <typename Item>
std::vector<Item> copies(const std::vector<Item>& items, std::size_t count) {
  std::vector<Item> result;
  for (std::size_t i = 0; i < count; ++i) result.insert(result.end(), items.begin(), items.end());
  return result;
}

/// Returns the name without the domain. An IP address stays as it is.
std::string_view short_name(std::string_view host) {
  const std::string_view label = host.substr(0, host.find('.'));
  return label.find_first_not_of("0123456789") == label.npos ? host : label;
}

/// Finds the numbers of hosts by their names. A batch system may list hosts without the domain that
/// MPI includes in their names, or the other way round.
class HostNumbers {
 public:
  explicit HostNumbers(std::span<const std::string> hosts) {
    for (std::size_t h = 0; h < hosts.size(); ++h) numbers_.try_emplace(hosts[h], h);
    for (std::size_t h = 0; h < hosts.size(); ++h) numbers_.try_emplace(short_name(hosts[h]), h);
  }
  std::optional<std::size_t> of(std::string_view host) const {
    auto found = numbers_.find(host);
    if (found == numbers_.end()) found = numbers_.find(short_name(host));
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string_view, std::size_t> numbers_;
};

/// Element [from * hosts + to] is the network factor from one host to another. One ping-pong
/// measures both directions, so the two factors are equal. Returns an empty matrix if all pairs of
/// hosts have the same factor as the whole network: then a matrix, which takes gigabytes for a
/// large job, would add no information.
std::vector<double> factor_matrix(const Machine& node, std::span<const std::string> hosts) {
  const std::vector<const HostPair*> pairs = between_hosts(node);
  if (pairs.empty()) return {};
  const double usual = node.network().factor;
  const double local_ns = local_latency_ns(node, node.parts().facts.measurement);
  const std::size_t count = hosts.size();
  const HostNumbers numbers(hosts);
  std::vector<double> matrix;
  for (const HostPair* pair : pairs) {
    const auto from = numbers.of(pair->from), to = numbers.of(pair->to);
    if (!from || !to || from == to) continue;
    const double factor = four_digits(pair->latency_ns.median / local_ns);
    if (matrix.empty() && factor == usual) continue;
    if (matrix.empty()) matrix.assign(count * count, usual);
    matrix[*from * count + *to] = matrix[*to * count + *from] = factor;
  }
  for (std::size_t h = 0; h * count < matrix.size(); ++h) matrix[h * count + h] = 1;
  return matrix;
}

void copy_places(std::uint32_t count, MachineParts& parts) {
  const PlaceId places = parts.places.size();
  const DomainId domains = parts.places.back().domain + 1;
  parts.places = copies(parts.places, count);
  for (PlaceId p = 0; p < parts.places.size(); ++p) parts.places[p].domain += p / places * domains;
  Level node{.name = "node", .first_place = {0}};
  for (std::uint32_t n = 1; n <= count; ++n) node.first_place.push_back(n * places);
  for (Level& level : parts.levels) {
    level.first_place.pop_back();
    const std::vector<PlaceId> one = level.first_place;
    for (std::uint32_t n = 1; n < count; ++n)
      for (const PlaceId first : one) level.first_place.push_back(n * places + first);
    level.first_place.push_back(count * places);
  }
  node.latency_factor = parts.root_latency_factor;
  node.bandwidth_factor = parts.root_bandwidth_factor;
  parts.levels.insert(parts.levels.begin(), std::move(node));
}

}  // namespace

HostPair host_pair(std::string from, std::string to, std::span<const MessageTime> times) {
  HostPair pair{std::move(from), std::move(to)};
  if (times.empty()) return pair;
  const auto smallest = std::min_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  pair.latency_ns = smallest->one_way_ns;
  const Line line = relative_fit(times);
  pair.fit_latency_ns = four_digits(line.at_zero);
  pair.fit_bytes_per_s = line.slope > 0 ? four_digits(1e9 / line.slope) : 0;
  return pair;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> choose_pairs(std::uint32_t hosts,
                                                                  std::size_t max_pairs) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  const bool take_all = std::size_t{hosts} * (hosts - 1) / 2 <= max_pairs;
  for (std::uint32_t distance = 1; distance <= hosts / 2; take_all ? ++distance : distance *= 2) {
    if (!take_all && distance > 1 && pairs.size() + hosts > max_pairs) break;
    for (std::uint32_t a = 0; a < hosts; ++a) {
      const std::uint32_t b = (a + distance) % hosts;
      const bool is_seen_from_both_ends = 2 * distance == hosts && a >= distance;
      if (!is_seen_from_both_ends) pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  }
  return pairs;
}

Machine with_network(const Machine& node, std::vector<HostPair> pairs) {
  MachineParts parts = node.parts();
  parts.facts.measurement.network = std::move(pairs);
  const double local_ns = local_latency_ns(node, parts.facts.measurement);
  std::vector<double> factors, bytes_per_s;
  for (const HostPair& pair : parts.facts.measurement.network) {
    if (pair.from == pair.to) continue;
    factors.push_back(pair.latency_ns.median / local_ns);
    if (pair.fit_bytes_per_s > 0) bytes_per_s.push_back(pair.fit_bytes_per_s);
  }
  if (!factors.empty()) {
    parts.network.factor = spread_of(std::move(factors)).median;
    parts.network_source = Source::measured;
    parts.costs.network.latency_s = four_digits(local_ns * 1e-9);
  }
  if (!bytes_per_s.empty())
    parts.costs.card_bytes_per_s = four_digits(spread_of(bytes_per_s).median);
  const double local_s_per_byte = node.costs().seconds_per_byte;
  if (!bytes_per_s.empty() && local_s_per_byte > 0)
    parts.network.bandwidth_factor = four_digits(
        node.num_places() / spread_of(std::move(bytes_per_s)).median / local_s_per_byte);
  return Machine(std::move(parts));
}

Machine cluster_of(const Machine& node, std::span<const std::string> hosts) {
  POISE_CHECK(node.num_nodes() == 1 && !hosts.empty());
  const std::uint32_t count = hosts.size();
  MachineParts parts = node.parts();
  parts.name = fmt::format("{} hosts like {}", count, node.name());
  copy_places(count, parts);
  parts.kind_of_node.assign(count, 0);
  if (parts.network_source == Source::assumed)
    parts.network.factor = machine_tuning::kAssumedNetworkFactor;
  std::vector<double> matrix = factor_matrix(node, hosts);
  if (!matrix.empty()) {
    parts.network.shape = Network::Shape::matrix;
    parts.network.matrix = std::move(matrix);
    parts.network.matrix_nodes = count;
  }
  Facts& facts = parts.facts;
  facts.threads = copies(facts.threads, count);
  facts.numa_index = copies(facts.numa_index, count);
  facts.memory_bytes = copies(facts.memory_bytes, count);
  facts.other_memory = copies(facts.other_memory, count);
  for (Cache& cache : facts.caches) cache.count *= count;
  return Machine(std::move(parts));
}

}  // namespace poise
