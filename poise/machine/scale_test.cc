// SPDX-License-Identifier: BSD-3-Clause
// Counts every allocation of this program to check that large machines use little memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/heap.h"

#include "poise/machine/hosts.h"
#include "poise/machine/json.h"
#include "poise/machine/measure.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

constexpr std::size_t kMegabyte = 1000000;

TEST(Scale, a_machine_of_32768_places_needs_less_than_4_megabytes_of_memory) {
  for (const char* text :
       {"node:1024 numa:4 core:8", "torus:16x16x16 numa:2 core:4",
        "rack:32 node:32 package:2 numa:2 l3:2 core:4", "dragonfly:32x32 node:2 numa:2 core:8"}) {
    const std::size_t before = heap::bytes;
    const Machine machine = machine_from_text(text);
    EXPECT_EQ(machine.num_places(), 32768u);
    EXPECT_LT(heap::bytes - before, 4 * kMegabyte) << text;
    EXPECT_GT(heap::bytes - before, kMegabyte / 10) << "the allocations are not counted";

    const std::string json = machine_to_json(machine);
    EXPECT_LT(json.size(), 2000u);
    const std::size_t between = heap::bytes;
    const Machine back = machine_from_json(json, text);
    EXPECT_LT(heap::bytes - between, 4 * kMegabyte) << text;
  }
}

TEST(Scale, a_cluster_stores_no_number_per_pair_of_hosts_if_all_pairs_have_equal_factors) {
  std::vector<std::string> hosts(4000);
  for (std::size_t h = 0; h < hosts.size(); ++h) hosts[h] = fmt::format("n{}", h);
  const Machine given = machine_from_text("core:4");
  Measurement measurement;
  measurement.latency_ns = measurement.gigabytes_per_s = {{100, 100, 100}};
  const Machine measured = with_network(with_measurement(given, measurement),
                                        {{"n1", "n7", {2000, 2000, 2000}, 2000, 1e9}});
  for (const Machine& node : {given, measured}) {
    heap::largest_bytes = 0;
    EXPECT_EQ(cluster_of(node, hosts).num_nodes(), 4000u);
    EXPECT_LT(heap::largest_bytes, kMegabyte);
  }
}

}  // namespace
}  // namespace poise
