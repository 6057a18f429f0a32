// SPDX-License-Identifier: BSD-3-Clause
// Tests the machine descriptions in the folder machines/.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/paths.h"

#include "poise/base/file.h"
#include "poise/machine/json.h"

namespace poise {
namespace {

std::vector<std::string> all_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(POISE_MACHINES))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Machine machine_called(const std::string& name) {
  const std::string path = std::string(POISE_MACHINES "/") + name + ".json";
  return machine_from_json(read_file(path), path);
}

std::pair<double, double> numa_interval(const Machine& machine) {
  double least = 1e9, most = 0;
  for (DomainId from = 0; from < machine.num_domains(); ++from)
    for (DomainId to = 0; to < machine.num_domains(); ++to) {
      if (from == to || machine.node_of(from) != machine.node_of(to)) continue;
      least = std::min(least, machine.latency_factor(from, to));
      most = std::max(most, machine.latency_factor(from, to));
    }
  return {least, most};
}

TEST(Machines, the_machines_folder_has_at_least_eleven_files) {
  EXPECT_GE(all_files().size(), 11u);
}

TEST(Machines, every_machine_has_the_name_of_its_file_and_states_its_origin) {
  for (const std::string& file : all_files()) {
    const Machine machine = machine_from_json(read_file(file), file);
    EXPECT_EQ(machine.name(), std::filesystem::path(file).stem());
    EXPECT_FALSE(machine.parts().facts.origin.empty()) << file;
    EXPECT_FALSE(machine.parts().facts.assumed.empty()) << file;
  }
}

TEST(Machines, every_machine_file_is_unchanged_after_reading_and_writing) {
  for (const std::string& file : all_files()) {
    const Machine machine = machine_from_json(read_file(file), file);
    const std::string json = machine_to_json(machine);
    const Machine back = machine_from_json(json, file);
    EXPECT_EQ(machine_to_json(back), json);
    for (PlaceId p = 0; p < machine.num_places(); p += 7)
      ASSERT_EQ(machine.message_factor(p, 3), back.message_factor(p, 3)) << file;
  }
}

TEST(Machines, memory_latency_factors_have_the_published_minimum_and_maximum) {
  EXPECT_EQ(numa_interval(machine_called("NUMA32")), std::pair(1.36, 3.6));
  EXPECT_EQ(numa_interval(machine_called("NUMA48")), std::pair(1.10, 2.8));
  EXPECT_EQ(numa_interval(machine_called("20xNUMA4")), std::pair(1.52, 1.53));
  EXPECT_EQ(numa_interval(machine_called("Opteron8x2")), std::pair(1.2, 1.5));
  EXPECT_EQ(numa_interval(machine_called("Xeon4x8")), std::pair(2.0, 2.6));
  EXPECT_EQ(machine_called("20xNUMA4").latency_factor(0, 39), 3.4);
}

TEST(Machines, machines_have_the_published_memory_sizes) {
  constexpr std::pair<const char*, std::uint64_t> kGibibytes[] = {
      {"NUMA32", 64},       {"NUMA48", 256},         {"20xNUMA4", 20 * 4}, {"Opteron8x2", 32},
      {"Xeon4x8", 64},      {"Nehalem", 24},         {"Barcelona", 64},    {"Tigerton", 8 * 2},
      {"PlaFRIM", 32 * 24}, {"BlueWaters", 256 * 64}};
  for (const auto& [name, gibibytes] : kGibibytes) {
    const auto of_domains = machine_called(name).parts().facts.memory_bytes;
    EXPECT_EQ(std::accumulate(of_domains.begin(), of_domains.end(), std::uint64_t{0}),
              gibibytes << 30)
        << name;
  }
}

TEST(Machines, each_router_of_the_gemini_torus_serves_two_nodes) {
  const Machine machine = machine_called("BlueWaters");
  const Network& network = machine.network();
  EXPECT_EQ(machine.num_places(), 8192u);
  EXPECT_EQ(network.hops(0, 1), 2u);
  EXPECT_EQ(network.latency_factor(0, 1), 12);
  EXPECT_EQ(network.latency_factor(0, 2), 13);
  // The route from corner to corner of the block of 4 x 4 x 8 routers has 3 + 3 + 7 hops.
  EXPECT_EQ(network.latency_factor(0, 255), 13 + 12);
}

TEST(Machines, a_machine_with_uniform_memory_access_has_one_memory_domain) {
  EXPECT_EQ(machine_called("Tigerton").num_domains(), 1u);
}

}  // namespace
}  // namespace poise
