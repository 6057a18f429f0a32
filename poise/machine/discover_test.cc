#include "poise/machine/discover.h"

#include <filesystem>
#include <gtest/gtest.h>

#include "tests/support/paths.h"

#include "poise/base/error.h"
#include "poise/base/file.h"

namespace poise {
namespace {

std::string names_of_levels(const Machine& machine) {
  std::string names;
  for (const Level& level : machine.levels())
    names += fmt::format("{}:{} ", level.name, level.num_groups());
  return names;
}

Machine real_machine(const std::string& name) {
  return machine_from_hwloc_xml(read_file(POISE_TEST_DATA "/topologies/" + name), name);
}

#define SKIP_WITHOUT_DATA()                                    \
  if (!std::filesystem::exists(POISE_TEST_DATA "/topologies")) \
  GTEST_SKIP() << "no topologies in " POISE_TEST_DATA

TEST(Discover, this_machine_has_places_and_they_are_its_own) {
  const Machine machine = discover_machine();
  EXPECT_GE(machine.num_places(), 1u);
  EXPECT_EQ(machine.levels().back().name, "core");
  EXPECT_EQ(machine.num_nodes(), 1u);
  EXPECT_FALSE(machine.name().empty());
}

TEST(Discover, several_threads_of_a_core_are_one_place) {
  const Machine machine = machine_from_hwloc_synthetic("pack:2 [numa] l3:2 core:3 pu:2");
  EXPECT_EQ(names_of_levels(machine), "numa:2 l3:4 core:12 ");
  EXPECT_EQ(machine.levels()[0].also, "package");
  EXPECT_EQ(machine.num_domains(), 2u);
  EXPECT_EQ(machine.place(1).os_index, 2u);
  EXPECT_EQ(machine.parts().facts.threads, std::vector<std::uint32_t>(12, 2));
}

TEST(Discover, processing_units_without_cores_are_places) {
  EXPECT_EQ(machine_from_hwloc_synthetic("pack:2 pu:3").num_places(), 6u);
}

TEST(Discover, every_real_topology_becomes_a_machine) {
  SKIP_WITHOUT_DATA();
  const std::tuple<const char*, const char*, std::uint32_t> cases[] = {
      {"16amd64-4distances.xml", "group:2 numa:8 core:16 ", 8},
      {"192em64t-24n8c2t.xml", "numa:24 core:192 ", 24},
      {"24em64t-2n6c2t-pci.xml", "numa:2 core:12 ", 2},
      {"64intel64-heteromem.xml", "package:1 numa:4 l2:8 core:16 ", 4},
      {"96em64t-4n4d3ca2co-pci.xml", "numa:4 package:16 l2:48 core:96 ", 4},
      {"fakecpukinds.xml", "numa:1 core:2 ", 1}};
  for (const auto& [file, levels, domains] : cases) {
    SCOPED_TRACE(file);
    const Machine machine = real_machine(file);
    EXPECT_EQ(names_of_levels(machine), levels);
    EXPECT_EQ(machine.num_domains(), domains);
  }
}

TEST(Discover, bad_synthetic_text_is_refused) {
  for (const char* text :
       {"", "pack:0", "pu", "pack:2 nonsense:3 pu:1", "pack:99999 core:99999", "pack:2(", "[numa"})
    EXPECT_THROW(machine_from_hwloc_synthetic(text), Error) << text;
}

TEST(Discover, what_is_no_topology_is_refused_by_name) {
  for (const char* xml :
       {"", "<", "<topology version=\"3.0\">", "{}", "<?xml version=\"1.0\"?><a/>"})
    try {
      machine_from_hwloc_xml(xml, "some.xml");
      FAIL() << xml;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("some.xml")) << error.what();
    }
}

}  // namespace
}  // namespace poise
