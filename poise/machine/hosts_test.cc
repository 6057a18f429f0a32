// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/hosts.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

#include "poise/base/error.h"
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
  // Four cores share 1 GB/s of the link to other hosts, but two cores share 40 GB/s of memory
  // bandwidth. The bandwidth factor is (40 / 2) / (1 / 4) = 80.
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

TEST(Hosts, measured_hosts_are_found_whether_or_not_names_include_the_domain) {
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

TEST(Hosts, messages_between_hosts_cost_more_than_inside_a_host_if_the_network_was_not_measured) {
  const std::vector<std::string> hosts{"a", "b"};
  for (const char* text : {"numa:2 core:2", "numa:2 core:2 factors:1.5,1"}) {
    const Machine cluster = cluster_of(machine_from_text(text), hosts);
    EXPECT_EQ(cluster.parts().network_source, Source::assumed) << text;
    EXPECT_EQ(cluster.message_factor(0, 4),
              machine_from_text("node:2 numa:2 core:2").message_factor(0, 4))
        << text;
  }
}

TEST(Hosts, messages_inside_a_node_get_the_cost_factors_of_the_machine_text_if_none_were_measured) {
  const std::vector<std::string> hosts{"a", "b"};
  const Machine cluster = cluster_of(machine_from_text("numa:2 core:2 factors:1.5,1"), hosts);
  EXPECT_EQ(cluster.num_nodes(), 2u);
  EXPECT_EQ(cluster.message_factor(0, 2), 1.5);
  EXPECT_EQ(cluster.message_factor(4, 6), 1.5);
}

}  // namespace
}  // namespace poise
