// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/probe.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdexcept>
#include <utility>
#include <vector>

#include "poise/machine/discover.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

cpu_set_t own_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

TEST(Probe, measures_this_host_and_restores_the_affinity_of_the_caller) {
  const Machine machine = discover_machine();
  const cpu_set_t before = own_affinity();
  const Probes probes = live_probes(machine);
  const PlaceId last = machine.num_places() - 1;
  // Wide limits, which hold on every computer, show that the units are right.
  const double read_ns = probes.read_ns(0, last, 0.001).value();
  EXPECT_GT(read_ns, 0.1);
  EXPECT_LT(read_ns, 1e5);
  const double gigabytes_per_s = probes.gigabytes_per_s(0, 0, 0.001).value();
  EXPECT_GT(gigabytes_per_s, 1e-3);
  EXPECT_LT(gigabytes_per_s, 1e5);
  const auto one_way = last > 0 ? probes.one_way_ns(0, last, 0.001) : std::nullopt;
  if (one_way) {
    EXPECT_GT(*one_way, 0.1);
    EXPECT_LT(*one_way, 1e7);
  }
  const cpu_set_t after = own_affinity();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(Probe, a_core_that_does_not_exist_is_an_error) {
  MachineParts parts = Machine().parts();
  parts.places[0].os_index = 100000;
  const Machine machine(parts);
  EXPECT_THROW(live_probes(machine).read_ns(0, 0, 0.001), std::runtime_error);
}

TEST(Probe, the_pointer_chase_visits_every_cache_line_before_it_returns_to_the_first) {
  for (const std::uint32_t count : {1u, 2u, 3u, 64u, 1000u}) {
    SCOPED_TRACE(count);
    const std::vector<std::uint32_t> next = random_cycle(count);
    ASSERT_EQ(next.size(), count);
    std::vector<bool> is_visited(count);
    std::uint32_t at = 0;
    for (std::uint32_t step = 0; step < count; ++step) {
      ASSERT_LT(at, count);
      ASSERT_FALSE(is_visited[at]) << "step " << step;
      is_visited[at] = true;
      at = next[at];
    }
    EXPECT_EQ(at, 0u);
  }
}

TEST(Probe, the_successors_in_the_pointer_chase_are_scattered) {
  const std::vector<std::uint32_t> next = random_cycle(1000);
  int num_near = 0;
  for (std::uint32_t i = 0; i < 1000; ++i) num_near += next[i] < i + 20 && i < next[i] + 20;
  EXPECT_LT(num_near, 80);  // on average, a random cycle has 38 of 1000 successors so near
}

TEST(Probe, the_latency_buffer_is_four_times_the_largest_cache_unless_memory_is_too_small) {
  Facts facts;
  facts.caches = {{"l3", 32u << 20, 1, 64}, {"l2", 1u << 20, 8, 64}};
  EXPECT_EQ(latency_buffer_bytes(facts), 128u << 20);
  facts.memory_bytes = {256u << 20};
  EXPECT_EQ(latency_buffer_bytes(facts), 64u << 20);
  facts.memory_bytes = {std::uint64_t{1} << 40};
  facts.caches[0].bytes = std::uint64_t{8} << 30;
  EXPECT_EQ(latency_buffer_bytes(facts), 1u << 30);
  EXPECT_EQ(latency_buffer_bytes({}), 64u << 20);
}

TEST(Probe, the_bandwidth_buffer_is_four_times_the_caches_of_a_domain_unless_memory_is_too_small) {
  Facts facts;
  facts.caches = {{"l3", 32u << 20, 12, 64}, {"l2", 1u << 20, 96, 64}};
  EXPECT_EQ(bandwidth_buffer_bytes(facts, 1), std::size_t{4 * 12 * 32} << 20);
  EXPECT_EQ(bandwidth_buffer_bytes(facts, 4), std::size_t{4 * 3 * 32} << 20);
  // Large and small cores have caches of different sizes on the same level.
  facts.caches = {{"l2", 2u << 20, 8, 64}, {"l2", 4u << 20, 12, 64}};
  EXPECT_EQ(bandwidth_buffer_bytes(facts, 1), std::size_t{4 * (8 * 2 + 12 * 4)} << 20);
  facts.memory_bytes = {512u << 20};
  EXPECT_EQ(bandwidth_buffer_bytes(facts, 1), std::size_t{128} << 20);
  EXPECT_EQ(bandwidth_buffer_bytes({}, 1), 64u << 20);
}

TEST(Probe, the_size_of_a_buffer_is_a_multiple_of_a_cache_line_and_at_least_1_mebibyte) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  const auto bytes = [](std::vector<std::uint64_t> memory) {
    Facts facts;
    facts.memory_bytes = std::move(memory);
    EXPECT_EQ(latency_buffer_bytes(facts), bandwidth_buffer_bytes(facts, 1));
    return latency_buffer_bytes(facts);
  };
  EXPECT_EQ(bytes({0}), 64 * kMebibyte) << "0 stands for an unknown size";
  EXPECT_EQ(bytes({0, 16 * kMebibyte, 0}), 4 * kMebibyte);
  EXPECT_EQ(bytes({400 * kMebibyte, 100 * kMebibyte, 300 * kMebibyte}), 25 * kMebibyte);
  EXPECT_EQ(bytes({4 * kMebibyte + 4 * 100}), kMebibyte + 64);
  EXPECT_EQ(bytes({4 * kMebibyte - 4 * 64}), kMebibyte);
  EXPECT_EQ(bytes({1}), kMebibyte);
}

TEST(Probe,
     the_bandwidth_buffer_has_at_most_4_gibibytes_and_the_latency_buffer_at_most_1_gibibyte) {
  Facts facts;
  facts.caches = {{"l3", std::uint64_t{1} << 40, 2, 64}};
  EXPECT_EQ(bandwidth_buffer_bytes(facts, 1), std::size_t{4} << 30);
  EXPECT_EQ(latency_buffer_bytes(facts), std::size_t{1} << 30);
  facts.caches = {{"l3", 25 << 20, 1, 64}, {"l2", 6 << 20, 3, 64}, {"l2", 5 << 20, 1, 64}};
  EXPECT_EQ(bandwidth_buffer_bytes(facts, 1), std::size_t{100} << 20) << "l3: 25 MiB, l2: 23 MiB";
  EXPECT_EQ(latency_buffer_bytes(facts), std::size_t{100} << 20);
}

/// A machine of two domains with one and two places, all on the first core of this host. Small
/// memories keep the buffers small.
MachineParts three_places() {
  MachineParts parts = machine_from_text("numa:2 core:2").parts();
  parts.places.resize(3);
  parts.places[1].domain = parts.places[2].domain = 1;
  parts.levels[0].first_place = {0, 1, 3};
  parts.levels[1].first_place = {0, 1, 2, 3};
  for (Place& place : parts.places) place.os_index = discover_machine().place(0).os_index;
  parts.facts.memory_bytes = {4 << 20, 4 << 20};
  return parts;
}

TEST(Probe, measures_every_pair_of_domains_even_if_domains_have_different_numbers_of_places) {
  const Machine machine(three_places());
  const Probes probes = live_probes(machine);
  for (const DomainId owner : {0u, 1u, 0u})
    for (const DomainId reader : {0u, 1u}) {
      const double gigabytes_per_s = probes.gigabytes_per_s(owner, reader, 0.001).value();
      EXPECT_GT(gigabytes_per_s, 1e-3);
      EXPECT_LT(gigabytes_per_s, 1e5);
      const double read_ns =
          probes.read_ns(machine.first_place(owner), machine.first_place(reader), 0.001).value();
      EXPECT_GT(read_ns, 0.1);
      EXPECT_LT(read_ns, 1e5);
    }
}

TEST(Probe, only_places_of_the_reading_domain_measure_its_bandwidth) {
  for (const PlaceId missing : {0u, 1u, 2u}) {
    SCOPED_TRACE(missing);
    MachineParts parts = three_places();
    parts.places[missing].os_index = 100000;  // no thread can be pinned to this place
    const Machine machine(parts);
    const Probes probes = live_probes(machine);
    const DomainId other = 1 - machine.domain_of(missing);
    EXPECT_GT(probes.gigabytes_per_s(other, other, 0.001).value(), 0);
    if (missing == 0) {
      EXPECT_THROW(probes.gigabytes_per_s(1, 0, 0.001), std::runtime_error);
    }
  }
}

}  // namespace
}  // namespace poise
