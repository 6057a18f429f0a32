// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/probe.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <stdexcept>

#include "poise/machine/discover.h"

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
  EXPECT_GT(probes.read_ns(0, last, 0.001).value(), 0);
  EXPECT_GT(probes.gigabytes_per_s(0, 0, 0.001).value(), 0);
  const auto one_way = last > 0 ? probes.one_way_ns(0, last, 0.001) : std::nullopt;
  if (one_way) {
    EXPECT_GT(*one_way, 0);
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
  EXPECT_LT(num_near, 80);  // 38 of 1000 are expected
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

}  // namespace
}  // namespace poise
