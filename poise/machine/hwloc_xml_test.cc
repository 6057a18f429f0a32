// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/hwloc_xml.h"

#include <cstdlib>
#include <gtest/gtest.h>

#include "poise/machine/discover.h"

namespace poise {
namespace {

/// While an object of this type exists, hwloc shows another machine instead of this host.
class OtherHost {
 public:
  explicit OtherHost(const char* synthetic) { ::setenv("HWLOC_SYNTHETIC", synthetic, 1); }
  ~OtherHost() { ::unsetenv("HWLOC_SYNTHETIC"); }
};

TEST(HwlocXml, numa_latency_and_bandwidth_factors_are_unchanged_after_writing_and_reading_xml) {
  const OtherHost host("numa:3 core:2 pu:1");
  MachineParts parts = discover_machine().parts();
  ASSERT_EQ(parts.node_kinds[0].num_domains, 3u);
  parts.node_kinds[0].latency_factor = {1, 1.25, 2, 1.5, 1, 2.125, 3, 4, 1};
  parts.node_kinds[0].bandwidth_factor = {1, 2, 4, 1.25, 1, 5, 8, 10, 1};
  const Machine measured(parts);
  const Machine read = machine_from_hwloc_xml(hwloc_xml_of_host(measured), "x");
  ASSERT_EQ(read.num_domains(), 3u);
  for (DomainId from = 0; from < 3; ++from)
    for (DomainId to = 0; to < 3; ++to) {
      EXPECT_DOUBLE_EQ(read.latency_factor(from, to), measured.latency_factor(from, to));
      EXPECT_DOUBLE_EQ(read.bandwidth_factor(from, to), measured.bandwidth_factor(from, to));
    }
  EXPECT_EQ(read.parts().numa_source, Source::measured);
}

TEST(HwlocXml, the_xml_of_a_host_with_one_numa_node_contains_no_distance_matrix) {
  const OtherHost host("numa:1 core:2 pu:1");
  const std::string xml = hwloc_xml_of_host(discover_machine());
  EXPECT_EQ(xml.find(kHwlocLatency), std::string::npos);
  EXPECT_EQ(machine_from_hwloc_xml(xml, "x").num_places(), 2u);
}

}  // namespace
}  // namespace poise
