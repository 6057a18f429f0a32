// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/hosts.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/json.h"
#include "poise/machine/measure.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

/// A node with two domains of two cores. Local reads take 100 ns; a domain's bandwidth is 40 GB/s.
Machine measured_node() {
  Measurement measurement;
  measurement.host = "a";
  measurement.latency_ns = {{100, 99, 101}, {150, 149, 151}, {150, 149, 151}, {100, 99, 101}};
  measurement.gigabytes_per_s = {{40, 40, 40}, {20, 20, 20}, {20, 20, 20}, {40, 40, 40}};
  return with_measurement(machine_from_text("numa:2 core:2"), measurement);
}

HostPair pair_of(const char* from, const char* to, double latency_ns) {
  return {from, to, {latency_ns, latency_ns, latency_ns}, latency_ns, 1e9};
}

TEST(Hosts, fits_network_latency_and_bandwidth_exactly_to_message_times_without_noise) {
  std::vector<MessageTime> times;
  for (const std::uint64_t bytes : {8u, 64u, 4096u, 65536u, 4194304u}) {
    const double ns = 1500 + static_cast<double>(bytes) / 10;  // 10 GB/s
    times.push_back({bytes, {ns, ns, ns}});
  }
  const HostPair pair = host_pair("a", "b", times);
  EXPECT_NEAR(pair.fit_latency_ns, 1500, 1e-6);
  EXPECT_NEAR(pair.fit_bytes_per_s, 1e10, 1);
  EXPECT_EQ(pair.latency_ns.median, 1500.8);
}

TEST(Hosts, no_network_bandwidth_is_fitted_if_times_do_not_grow_with_the_message_size) {
  const std::vector<MessageTime> falling{{8, {100, 100, 100}}, {1000, {50, 50, 50}}};
  EXPECT_EQ(host_pair("a", "b", falling).fit_bytes_per_s, 0);
  EXPECT_GT(host_pair("a", "b", falling).fit_latency_ns, 0);
  EXPECT_EQ(host_pair("a", "b", {}).fit_latency_ns, 0);
  const std::vector<MessageTime> one{{8, {100, 100, 100}}};
  EXPECT_EQ(host_pair("a", "b", one).fit_latency_ns, 100);
}

TEST(Hosts, every_pair_of_hosts_is_measured_if_there_are_few_hosts) {
  for (std::uint32_t hosts = 2; hosts < 12; ++hosts) {
    const auto pairs = choose_pairs(hosts, 1000);
    EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), hosts * (hosts - 1) / 2) << hosts;
    EXPECT_EQ(pairs.size(), hosts * (hosts - 1) / 2) << hosts;
  }
}

TEST(Hosts, if_only_some_pairs_of_hosts_are_measured_each_host_is_in_at_least_two_pairs) {
  const auto pairs = choose_pairs(1000, 3500);
  EXPECT_LE(pairs.size(), 3500u);
  EXPECT_EQ(std::set(pairs.begin(), pairs.end()).size(), pairs.size());
  std::map<std::uint32_t, int> times;
  for (const auto& [a, b] : pairs) {
    EXPECT_LT(a, b);
    ++times[a];
    ++times[b];
  }
  EXPECT_EQ(times.size(), 1000u);
  for (const auto& [host, count] : times) EXPECT_GE(count, 2) << host;
}

TEST(Hosts, network_cost_factors_are_multiples_of_the_cost_of_local_memory_access) {
  const Machine node = with_network(measured_node(), {pair_of("a", "b", 2000)});
  EXPECT_EQ(node.num_nodes(), 1u);
  EXPECT_EQ(node.network().factor, 20);
  // All four cores of the node share a network link of 1 GB/s; the two cores of a domain share 40
  // GB/s of memory bandwidth. The bandwidth factor is (40 / 2) / (1 / 4) = 80.
  EXPECT_NEAR(node.network().bandwidth_factor, 80, 1e-9);
  EXPECT_EQ(node.parts().network_source, Source::measured);
}

TEST(Hosts, message_times_between_ranks_on_one_host_do_not_change_the_network_factor) {
  const Machine node = with_network(measured_node(), {pair_of("a", "a", 500)});
  EXPECT_EQ(node.network().factor, 1);
  EXPECT_EQ(node.parts().network_source, Source::assumed);
  EXPECT_EQ(node.parts().facts.measurement.network.size(), 1u);
}

TEST(Hosts, a_cluster_stores_the_measured_network_factor_of_each_pair_of_hosts) {
  const Machine node = with_network(
      measured_node(), {pair_of("a", "b", 1000), pair_of("b", "c", 3000), pair_of("a", "a", 9)});
  const std::vector<std::string> hosts{"a", "b", "c"};
  const Machine cluster = cluster_of(node, hosts);
  EXPECT_EQ(cluster.num_nodes(), 3u);
  EXPECT_EQ(cluster.num_places(), 12u);
  EXPECT_EQ(cluster.num_domains(), 6u);
  EXPECT_EQ(cluster.message_factor(0, 2), 1.5);
  EXPECT_EQ(cluster.message_factor(0, 4), 10);
  EXPECT_EQ(cluster.message_factor(4, 0), 10);
  EXPECT_EQ(cluster.message_factor(4, 8), 30);
  EXPECT_EQ(cluster.message_factor(0, 8), 20);  // the median, because this pair was not measured
  EXPECT_EQ(cluster.place(5).os_index, 1u);
  const std::string json = machine_to_json(cluster);
  EXPECT_EQ(machine_to_json(machine_from_json(json, "cluster")), json);
}

TEST(Hosts, measured_hosts_are_found_whether_or_not_host_names_include_the_dns_domain) {
  const Machine node = with_network(
      measured_node(), {pair_of("a.x.org", "b.x.org", 1000), pair_of("a.x.org", "c.x.org", 3000),
                        pair_of("c", "d", 5000), pair_of("10.0.0.1", "10.0.0.9", 7000)});
  const std::vector<std::string> hosts{"a", "b", "c.x.org", "d", "10.0.0.1", "10.0.0.2"};
  const Machine cluster = cluster_of(node, hosts);
  EXPECT_EQ(cluster.network().latency_factor(0, 1), 10);
  EXPECT_EQ(cluster.network().latency_factor(0, 2), 30);
  EXPECT_EQ(cluster.network().latency_factor(3, 2), 50);
  EXPECT_EQ(cluster.network().latency_factor(4, 5),
            40);  // the median, because this pair was not measured
}

TEST(Hosts, a_file_with_measured_network_but_without_measured_memory_latencies_is_refused) {
  MachineParts parts = machine_from_text("numa:2 core:2").parts();
  parts.facts.measurement.network = {pair_of("a", "b", 1000)};
  const Machine node = machine_from_json(machine_to_json(Machine(parts)), "node.json");
  const std::vector<std::string> hosts{"a", "b"};
  EXPECT_THROW(cluster_of(node, hosts), Error);
}

TEST(Hosts, a_cluster_of_two_hosts_stores_its_network_cost_as_one_factor_not_as_a_matrix) {
  const Machine node = with_network(measured_node(), {pair_of("a", "b", 1000)});
  const std::vector<std::string> hosts{"a", "b"};
  EXPECT_EQ(cluster_of(node, hosts).network().shape, Network::Shape::tree);
  EXPECT_EQ(cluster_of(node, hosts).message_factor(0, 7), 10);
}

TEST(Hosts, messages_between_hosts_get_the_assumed_cost_factor_if_the_network_was_not_measured) {
  const std::vector<std::string> hosts{"a", "b"};
  for (const char* text : {"numa:2 core:2", "numa:2 core:2 factors:1.5,1"}) {
    const Machine cluster = cluster_of(machine_from_text(text), hosts);
    EXPECT_EQ(cluster.parts().network_source, Source::assumed) << text;
    EXPECT_EQ(cluster.message_factor(0, 4),
              machine_from_text("node:2 numa:2 core:2").message_factor(0, 4))
        << text;
  }
}

TEST(Hosts, unmeasured_cost_factors_of_messages_inside_a_node_come_from_the_machine_text) {
  const std::vector<std::string> hosts{"a", "b"};
  const Machine cluster = cluster_of(machine_from_text("numa:2 core:2 factors:1.5,1"), hosts);
  EXPECT_EQ(cluster.num_nodes(), 2u);
  EXPECT_EQ(cluster.message_factor(0, 2), 1.5);
  EXPECT_EQ(cluster.message_factor(4, 6), 1.5);
}

/// The sum of the squared relative errors of a line through message times.
double squared_errors(std::span<const MessageTime> times, double at_zero, double slope) {
  double sum = 0;
  for (const MessageTime& time : times) {
    if (time.one_way_ns.median <= 0) continue;
    const double x = static_cast<double>(time.bytes), t = time.one_way_ns.median;
    sum += std::pow((at_zero + slope * x - t) / t, 2);
  }
  return sum;
}

TEST(Hosts, the_fitted_line_through_noisy_message_times_has_the_smallest_relative_errors) {
  Random random(4);
  int num_flat = 0, num_through_zero = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<MessageTime> times{{50, {0, 0, 0}}};  // a time of 0 is left out of the fit
    const double start = round % 4 == 0 ? 0 : 1000, per_byte = round % 4 == 1 ? 0 : 0.2;
    for (const std::uint64_t bytes : {4096u, 64u, 100u, 65536u, 3000u}) {
      const double ns = (start + per_byte * static_cast<double>(bytes)) * random.uniform(0.5, 1.5);
      times.push_back({bytes, {ns, ns / 2, 2 * ns}});
    }
    const HostPair pair = host_pair("a", "b", times);
    EXPECT_EQ(pair.from + pair.to, "ab");
    EXPECT_EQ(pair.latency_ns.median, 0) << "the time of the smallest message";
    const double at_zero = pair.fit_latency_ns;
    const double slope = pair.fit_bytes_per_s > 0 ? 1e9 / pair.fit_bytes_per_s : 0;
    num_flat += slope == 0;
    num_through_zero += at_zero == 0;
    // The fit is rounded to four digits.
    const double least = squared_errors(times, at_zero, slope) - 1e-5;
    for (const double more : {-0.02, 0.02}) {
      EXPECT_LE(least, squared_errors(times, at_zero * (1 + more), slope)) << "round " << round;
      EXPECT_LE(least, squared_errors(times, at_zero, slope * (1 + more))) << "round " << round;
    }
    EXPECT_LE(least, squared_errors(times, at_zero + 1, slope)) << "round " << round;
    EXPECT_LE(least, squared_errors(times, at_zero, slope + 1e-3)) << "round " << round;
  }
  EXPECT_GT(num_flat, 0);
  EXPECT_GT(num_through_zero, 0);
}

TEST(Hosts, the_latency_of_a_pair_is_the_time_of_its_smallest_message) {
  const std::vector<MessageTime> times{
      {64, {300, 290, 310}}, {8, {200, 190, 215}}, {1000, {100, 90, 110}}};
  const HostPair pair = host_pair("a", "b", times);
  EXPECT_EQ(pair.latency_ns.median, 200);
  EXPECT_EQ(pair.latency_ns.low, 190);
  EXPECT_EQ(pair.latency_ns.high, 215);
}

TEST(Hosts,
     if_there_are_too_many_pairs_only_hosts_at_power_of_two_distances_on_a_ring_are_measured) {
  for (std::uint32_t hosts = 2; hosts <= 20; ++hosts)
    for (std::size_t most = 1; most <= 200; most += 3) {
      std::set<std::uint32_t> distances;
      if (std::size_t{hosts} * (hosts - 1) / 2 <= most) {
        for (std::uint32_t d = 1; d < hosts; ++d) distances.insert(d);
      } else {
        std::size_t num_pairs = 0;
        for (std::uint32_t d = 1; d <= hosts / 2; d *= 2) {
          if (d > 1 && num_pairs + hosts > most) break;
          distances.insert(d);
          num_pairs += hosts;
        }
      }
      std::set<std::pair<std::uint32_t, std::uint32_t>> expected;
      for (std::uint32_t a = 0; a < hosts; ++a)
        for (std::uint32_t b = a + 1; b < hosts; ++b)
          if (distances.contains(std::min(b - a, hosts - b + a))) expected.emplace(a, b);
      const auto pairs = choose_pairs(hosts, most);
      EXPECT_EQ(std::set(pairs.begin(), pairs.end()), expected) << hosts << " hosts, " << most;
      EXPECT_EQ(pairs.size(), expected.size()) << hosts << " hosts, " << most;
    }
}

TEST(Hosts, network_costs_are_medians_over_all_pairs_of_two_different_hosts) {
  const Machine node = with_network(measured_node(), {{"a", "a", {10, 10, 10}, 10, 9e12},
                                                      {"a", "b", {1000, 0, 0}, 0, 0},
                                                      {"b", "b", {20, 20, 20}, 10, 8e12},
                                                      {"b", "c", {3000, 0, 0}, 0, 2e9},
                                                      {"c", "a", {8000, 0, 0}, 0, 5e9}});
  EXPECT_EQ(node.network().factor, 30);
  EXPECT_EQ(node.costs().network.latency_s, 1e-7) << "a local read takes 100 ns";
  EXPECT_EQ(node.costs().card_bytes_per_s, 3.5e9) << "a bandwidth of 0 does not count";
  EXPECT_NEAR(node.network().bandwidth_factor, 4 / 3.5e9 / (2 / 40e9), 0.02);
  EXPECT_EQ(node.parts().facts.measurement.network.size(), 5u);
}

TEST(Hosts, bandwidth_factors_are_unchanged_if_the_network_or_memory_bandwidth_is_unknown) {
  const Machine slow = with_network(measured_node(), {{"a", "b", {1000, 0, 0}, 0, 0}});
  EXPECT_EQ(slow.network().bandwidth_factor, 1);
  EXPECT_EQ(slow.costs().card_bytes_per_s, measured_node().costs().card_bytes_per_s);
  EXPECT_EQ(slow.network().factor, 10);
  MachineParts parts = measured_node().parts();
  parts.costs.seconds_per_byte = 0;
  const Machine free_bytes = with_network(Machine(parts), {pair_of("a", "b", 1000)});
  EXPECT_EQ(free_bytes.network().bandwidth_factor, 1);
  EXPECT_EQ(free_bytes.costs().card_bytes_per_s, 1e9);
}

TEST(Hosts, a_cluster_repeats_the_places_and_levels_and_domains_and_factors_and_facts_of_one_node) {
  MachineParts parts = machine_from_json(R"({"poise_machine": 1, "name": "box",
      "levels": [{"name": "numa", "count": 2}, {"name": "l3", "count": [2, 1]},
                 {"name": "core", "count": [1, 2, 3]}],
      "numa": {"latency_factor": [[1, 2], [3, 1]], "bandwidth_factor": [[1, 4], [5, 1]]},
      "speeds": [1, 2, 3, 4, 5, 6], "os_index": [5, 4, 3, 2, 1, 0], "threads": [1, 2, 3, 4, 5, 6],
      "numa_index": [7, 9], "memory_bytes": [100, 200],
      "caches": [{"name": "l3", "bytes": 11, "count": 3}, {"name": "l2", "bytes": 5, "count": 6}],
      "other_memory": [{"os_index": 8, "bytes": 14}]})",
                                         "box.json")
                           .parts();
  parts.levels[1].latency_factor = 1.25;
  const Machine node(parts);
  const std::vector<std::string> hosts{"a", "b", "c"};
  const Machine cluster = cluster_of(node, hosts);
  EXPECT_EQ(cluster.name(), "3 hosts like box");
  ASSERT_EQ(cluster.num_places(), 18u);
  EXPECT_EQ(cluster.num_nodes(), 3u);
  ASSERT_EQ(cluster.levels().size(), 4u);
  EXPECT_EQ(cluster.levels()[0].name, "node");
  EXPECT_EQ(cluster.levels()[0].first_place, (std::vector<PlaceId>{0, 6, 12, 18}));
  EXPECT_EQ(cluster.levels()[1].first_place, (std::vector<PlaceId>{0, 3, 6, 9, 12, 15, 18}));
  EXPECT_EQ(cluster.levels()[2].first_place,
            (std::vector<PlaceId>{0, 1, 3, 6, 7, 9, 12, 13, 15, 18}));
  const Facts &own = node.parts().facts, &all = cluster.parts().facts;
  for (PlaceId p = 0; p < 18; ++p) {
    EXPECT_EQ(cluster.speed_of(p), node.speed_of(p % 6));
    EXPECT_EQ(cluster.place(p).os_index, node.place(p % 6).os_index);
    EXPECT_EQ(cluster.domain_of(p), node.domain_of(p % 6) + p / 6 * 2);
    EXPECT_EQ(all.threads.at(p), own.threads[p % 6]);
    for (PlaceId q = p / 6 * 6; q < p / 6 * 6 + 6; ++q) {
      EXPECT_EQ(cluster.message_factor(p, q), node.message_factor(p % 6, q % 6));
      EXPECT_EQ(cluster.byte_factor(p, q), node.byte_factor(p % 6, q % 6));
    }
  }
  EXPECT_EQ(all.threads.size(), 18u);
  EXPECT_EQ(all.numa_index, (std::vector<std::uint32_t>{7, 9, 7, 9, 7, 9}));
  EXPECT_EQ(all.memory_bytes, (std::vector<std::uint64_t>{100, 200, 100, 200, 100, 200}));
  EXPECT_EQ(all.other_memory.size(), 3u);
  EXPECT_EQ(all.caches[0].count, 9u);
  EXPECT_EQ(all.caches[1].count, 18u);
}

TEST(Hosts, places_of_one_node_keep_their_message_cost_factors_in_a_cluster) {
  MachineParts parts = machine_from_text("l3:2 core:2 factors:1.5,1").parts();
  parts.root_bandwidth_factor = 1.75;
  const std::vector<std::string> hosts{"a", "b"};
  const Machine cluster = cluster_of(Machine(parts), hosts);
  for (const PlaceId first : {0u, 4u}) {
    EXPECT_EQ(cluster.message_factor(first, first + 2), 1.5);
    EXPECT_EQ(cluster.byte_factor(first, first + 2), 1.75);
    EXPECT_EQ(cluster.message_factor(first, first + 1), 1);
  }
}

TEST(Hosts, ignores_pairs_without_a_measured_factor_and_pairs_with_unknown_hosts) {
  const Machine node = with_network(
      measured_node(), {pair_of("x", "y", 9000), pair_of("a", "x", 9000), pair_of("b", "b", 9000),
                        pair_of("a.org", "c", 3000), pair_of("b", "d", 3000),
                        pair_of("c", "d", 4000), pair_of("d", "a.com", 2000)});
  ASSERT_EQ(node.network().factor, 35) << "the median of 6 pairs";
  const std::vector<std::string> hosts{"a.org", "b", "c", "d", "a"};
  const Machine cluster = cluster_of(node, hosts);
  const double expected[5][5] = {{1, 35, 30, 35, 35},
                                 {35, 1, 35, 30, 35},
                                 {30, 35, 1, 40, 35},
                                 {35, 30, 40, 1, 20},
                                 {35, 35, 35, 20, 1}};
  for (NodeId from = 0; from < 5; ++from)
    for (NodeId to = 0; to < 5; ++to)
      EXPECT_EQ(cluster.network().latency_factor(from, to), expected[from][to])
          << from << " to " << to;
  for (NodeId n = 0; n < 5; ++n) EXPECT_EQ(cluster.network().matrix[n * 5 + n], 1);
}

TEST(Hosts, a_pair_of_hosts_with_a_different_factor_is_found_even_if_it_is_measured_last) {
  const Machine node = with_network(
      measured_node(), {pair_of("a", "b", 1000), pair_of("b", "c", 1000), pair_of("a", "c", 3000)});
  const std::vector<std::string> hosts{"a", "b", "c"};
  const Network network = cluster_of(node, hosts).network();
  EXPECT_EQ(network.latency_factor(0, 1), 10);
  EXPECT_EQ(network.latency_factor(2, 1), 10);
  EXPECT_EQ(network.latency_factor(0, 2), 30);
  EXPECT_EQ(network.latency_factor(2, 0), 30);
}

TEST(Hosts, a_cluster_of_clusters_or_of_no_hosts_is_a_programming_error) {
  const std::vector<std::string> two{"a", "b"}, none;
  EXPECT_DEATH(cluster_of(machine_from_text("node:2 core:2"), two), "does not hold");
  EXPECT_DEATH(cluster_of(machine_from_text("core:2"), none), "does not hold");
}

}  // namespace
}  // namespace poise
