// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/discover.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <tuple>
#include <unistd.h>
#include <vector>

#include "tests/support/paths.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/random.h"

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

TEST(Discover, this_host_has_at_least_one_place_that_this_process_may_use) {
  const Machine machine = discover_machine();
  EXPECT_GE(machine.num_places(), 1u);
  EXPECT_EQ(machine.levels().back().name, "core");
  EXPECT_EQ(machine.num_nodes(), 1u);
  EXPECT_FALSE(machine.name().empty());
}

TEST(Discover, all_hardware_threads_of_a_core_form_one_place) {
  const Machine machine = machine_from_hwloc_synthetic("pack:2 [numa] l3:2 core:3 pu:2");
  EXPECT_EQ(names_of_levels(machine), "numa:2 l3:4 core:12 ");
  EXPECT_EQ(machine.levels()[0].also, "package");
  EXPECT_EQ(machine.num_domains(), 2u);
  EXPECT_EQ(machine.place(1).os_index, 2u);
  EXPECT_EQ(machine.parts().facts.threads, std::vector<std::uint32_t>(12, 2));
}

/// Builds hwloc XML for topologies that synthetic text cannot describe.
class Xml {
 public:
  Xml& open(const char* type, std::uint64_t units, std::uint64_t nodes,
            const std::string& more = "") {
    text_ += object(type, units, nodes, more) + ">";
    return *this;
  }
  Xml& close() {
    text_ += "</object>";
    return *this;
  }
  Xml& numa(std::uint32_t os_index, std::uint64_t units, const std::string& more = "") {
    text_ += object("NUMANode", units, std::uint64_t{1} << os_index,
                    fmt::format(" os_index=\"{}\" local_memory=\"1024\" {}", os_index, more)) +
             "/>";
    return *this;
  }
  /// Adds a core with its processing units.
  Xml& core(std::uint64_t units, std::uint64_t nodes) {
    open("Core", units, nodes);
    for (std::uint32_t unit = 0; unit < 64; ++unit)
      if ((units >> unit & 1) != 0)
        text_ +=
            object("PU", std::uint64_t{1} << unit, nodes, fmt::format(" os_index=\"{}\"", unit)) +
            "/>";
    return close();
  }
  Xml& cpukind(std::uint64_t units, const std::string& infos) {
    kinds_ += fmt::format("<cpukind cpuset=\"{:#x}\">{}</cpukind>", units, infos);
    return *this;
  }
  static std::string info(const char* name, const char* value) {
    return fmt::format("<info name=\"{}\" value=\"{}\"/>", name, value);
  }
  std::string text() const {
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<topology version=\"2.0\">{}{}</topology>\n",
        text_, kinds_);
  }
  Machine machine() const { return machine_from_hwloc_xml(text(), "test.xml"); }

 private:
  std::string object(const char* type, std::uint64_t units, std::uint64_t nodes,
                     const std::string& more) {
    return fmt::format(
        "<object type=\"{}\" gp_index=\"{}\" cpuset=\"{:#x}\" complete_cpuset=\"{:#x}\" "
        "nodeset=\"{:#x}\" complete_nodeset=\"{:#x}\" {}",
        type, ++objects_, units, units, nodes, nodes, more);
  }

  std::string text_, kinds_;
  int objects_ = 0;
};

std::string machine_allowing(std::uint64_t units, std::uint64_t nodes) {
  return fmt::format("os_index=\"0\" allowed_cpuset=\"{:#x}\" allowed_nodeset=\"{:#x}\"", units,
                     nodes);
}

TEST(Discover, cores_and_hardware_threads_that_the_process_may_not_use_are_left_out) {
  Xml xml;
  xml.open("Machine", 0xff, 1, machine_allowing(0b11001110, 1)).numa(0, 0xff);
  for (int core = 0; core < 4; ++core) xml.core(0b11u << 2 * core, 1);
  const Machine machine = xml.close().machine();
  ASSERT_EQ(machine.num_places(), 3u);
  EXPECT_EQ(machine.place(0).os_index, 1u) << "the first thread of core 0 is not allowed";
  EXPECT_EQ(machine.place(1).os_index, 2u);
  EXPECT_EQ(machine.place(2).os_index, 6u);
  EXPECT_EQ(machine.parts().facts.threads, (std::vector<std::uint32_t>{1, 2, 2}));
}

TEST(Discover, large_and_small_cores_have_different_speeds) {
  Xml xml;
  xml.open("Machine", 0xff, 1, machine_allowing(0xff, 1)).numa(0, 0xff);
  for (int core = 0; core < 2; ++core)
    xml.open("L2Cache", 0b11u << 2 * core, 1,
             "cache_size=\"2048\" depth=\"2\" cache_linesize=\"64\" cache_type=\"0\"")
        .core(0b11u << 2 * core, 1)
        .close();
  xml.open("L2Cache", 0xf0, 1,
           "cache_size=\"4096\" depth=\"2\" cache_linesize=\"64\" cache_type=\"0\"");
  for (int core = 4; core < 8; ++core) xml.core(1u << core, 1);
  xml.close().close();
  xml.cpukind(0x0f, Xml::info("CoreType", "IntelCore") + Xml::info("FrequencyMaxMHz", "5000"));
  xml.cpukind(0xf0, Xml::info("CoreType", "IntelAtom") + Xml::info("FrequencyMaxMHz", "4000"));
  const Machine machine = xml.machine();
  EXPECT_EQ(names_of_levels(machine), "numa:1 l2:3 core:6 ");
  EXPECT_EQ(machine.speed_of(0), 1);
  EXPECT_NEAR(machine.speed_of(5), 0.7 * 4 / 5, 1e-12);
  EXPECT_EQ(machine.parts().speed_source, Source::firmware);
}

TEST(Discover, core_speeds_follow_the_capacity_reported_by_the_kernel_rather_than_clock_rates) {
  Xml xml;
  xml.open("Machine", 3, 1, machine_allowing(3, 1)).numa(0, 3).core(1, 1).core(2, 1).close();
  xml.cpukind(1, Xml::info("LinuxCapacity", "256") + Xml::info("FrequencyMaxMHz", "2000"));
  xml.cpukind(2, Xml::info("LinuxCapacity", "1024") + Xml::info("FrequencyMaxMHz", "2500"));
  const Machine machine = xml.machine();
  EXPECT_EQ(machine.speed_of(0), 0.25);
  EXPECT_EQ(machine.speed_of(1), 1);
}

TEST(Discover, cores_have_equal_speeds_if_the_kind_of_one_of_them_is_unknown) {
  Xml xml;
  xml.open("Machine", 7, 1, machine_allowing(7, 1)).numa(0, 7);
  xml.core(1, 1).core(2, 1).core(4, 1).close();
  xml.cpukind(1, Xml::info("FrequencyMaxMHz", "2000"));
  xml.cpukind(2, Xml::info("FrequencyMaxMHz", "2500"));
  const Machine machine = xml.machine();
  EXPECT_TRUE(machine.has_equal_speeds());
  EXPECT_EQ(machine.speed_of(2), 1);
}

TEST(Discover, memory_without_cores_is_reported_but_is_not_a_memory_domain) {
  Xml xml;
  xml.open("Machine", 0xf, 0b111, machine_allowing(0xf, 0b111)).numa(2, 0xf, "subtype=\"NVM\"");
  for (int package = 0; package < 2; ++package)
    xml.open("Package", 0b11u << 2 * package, 1u << package,
             fmt::format("os_index=\"{}\"", package))
        .numa(static_cast<std::uint32_t>(package), 0b11u << 2 * package)
        .core(1u << 2 * package, 1u << package)
        .core(2u << 2 * package, 1u << package)
        .close();
  const Machine machine = xml.close().machine();
  EXPECT_EQ(machine.num_domains(), 2u);
  const Facts& facts = machine.parts().facts;
  ASSERT_EQ(facts.other_memory.size(), 1u);
  EXPECT_EQ(facts.other_memory[0].os_index, 2u);
  EXPECT_EQ(facts.other_memory[0].kind, "NVM");
  EXPECT_EQ(facts.memory_bytes, (std::vector<std::uint64_t>{1024, 1024}));
}

/// Packages of two cores and one NUMA node each; group g contains packages_per_group[g] packages.
/// The process may use only the NUMA nodes in the mask `nodes`, and the processing units in
/// `units`.
Xml packages_with_memory(const std::vector<int>& packages_per_group, std::uint64_t nodes,
                         std::uint64_t units = ~std::uint64_t{0}) {
  unsigned count = 0, package = 0;
  for (const int packages : packages_per_group) count += static_cast<unsigned>(packages);
  const std::uint64_t all_units = (std::uint64_t{1} << 2 * count) - 1;
  const std::uint64_t all_nodes = (std::uint64_t{1} << count) - 1;
  const auto range = [](unsigned first, unsigned end) {
    return (std::uint64_t{1} << end) - (std::uint64_t{1} << first);
  };
  Xml xml;
  xml.open("Machine", all_units, all_nodes, machine_allowing(all_units & units, nodes));
  for (const int packages : packages_per_group) {
    const unsigned end = package + static_cast<unsigned>(packages);
    xml.open("Group", range(2 * package, 2 * end), range(package, end), "kind=\"1\" subkind=\"0\"");
    for (; package < end; ++package)
      xml.open("Package", range(2 * package, 2 * package + 2), range(package, package + 1),
               fmt::format("os_index=\"{}\"", package))
          .numa(package, range(2 * package, 2 * package + 2))
          .core(range(2 * package, 2 * package + 1), range(package, package + 1))
          .core(range(2 * package + 1, 2 * package + 2), range(package, package + 1))
          .close();
    xml.close();
  }
  return xml.close();
}

std::vector<DomainId> domains_of_places(const Machine& machine) {
  std::vector<DomainId> domains;
  for (const Place& place : machine.places()) domains.push_back(place.domain);
  return domains;
}

TEST(Discover, cores_join_the_nearest_usable_numa_node_if_the_process_may_not_use_their_own_node) {
  // Packages 0 and 1 form a group; packages 2 and 3 form another. Only the NUMA nodes of packages 1
  // and 2 are usable.
  const Machine machine = packages_with_memory({2, 2}, 0b0110).machine();
  EXPECT_EQ(domains_of_places(machine), (std::vector<DomainId>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(machine.parts().facts.numa_index, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(machine.parts().facts.memory_bytes, (std::vector<std::uint64_t>{1024, 1024}));
  EXPECT_EQ(names_of_levels(machine), "numa:2 package:4 core:8 ");
  EXPECT_GT(machine.latency_factor(0, 1), 1);
}

TEST(Discover, cores_at_equal_distance_from_two_usable_numa_nodes_join_the_first) {
  const Machine machine = packages_with_memory({1, 1, 1}, 0b101).machine();
  EXPECT_EQ(domains_of_places(machine), (std::vector<DomainId>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(machine.parts().facts.numa_index, (std::vector<std::uint32_t>{0, 2}));
}

TEST(Discover, all_cores_form_one_memory_domain_if_the_process_may_use_none_of_their_numa_nodes) {
  const Machine machine = packages_with_memory({1, 1, 1}, 0b100, 0b001111).machine();
  EXPECT_EQ(domains_of_places(machine), (std::vector<DomainId>{0, 0, 0, 0}));
  EXPECT_TRUE(machine.parts().facts.numa_index.empty());
  ASSERT_EQ(machine.parts().facts.other_memory.size(), 1u);
  EXPECT_EQ(machine.parts().facts.other_memory[0].os_index, 2u);
}

TEST(Discover, a_core_with_dram_and_faster_memory_belongs_to_the_domain_of_the_dram) {
  SKIP_WITHOUT_DATA();
  const Machine machine = real_machine("64intel64-heteromem.xml");
  EXPECT_EQ(machine.parts().facts.numa_index, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  ASSERT_EQ(machine.parts().facts.other_memory.size(), 4u);
  EXPECT_EQ(machine.parts().facts.other_memory[0].kind, "HBM");
}

TEST(Discover, all_levels_of_an_asymmetric_tree_are_found) {
  // Three packages: one with two L3 caches, one with none, and one that is a single core.
  const std::string l3 = "cache_size=\"4096\" depth=\"3\" cache_linesize=\"64\" cache_type=\"0\"";
  Xml xml;
  xml.open("Machine", 0x7f, 1, machine_allowing(0x7f, 1)).numa(0, 0x7f);
  xml.open("Package", 0x0f, 1, "os_index=\"0\"");
  xml.open("L3Cache", 0x03, 1, l3).core(1, 1).core(2, 1).close();
  xml.open("L3Cache", 0x0c, 1, l3).core(4, 1).core(8, 1).close().close();
  xml.open("Package", 0x30, 1, "os_index=\"1\"").core(0x10, 1).core(0x20, 1).close();
  xml.open("Package", 0x40, 1, "os_index=\"2\"").core(0x40, 1).close().close();
  const Machine machine = xml.machine();
  EXPECT_EQ(names_of_levels(machine), "numa:1 package:3 l3:4 core:7 ");
  EXPECT_EQ(machine.levels()[2].first_place, (std::vector<PlaceId>{0, 2, 4, 6, 7}));
}

TEST(Discover, distances_between_numa_nodes_reported_by_the_firmware_become_latency_factors) {
  SKIP_WITHOUT_DATA();
  const Machine machine = real_machine("192em64t-24n8c2t.xml");
  EXPECT_EQ(machine.parts().numa_source, Source::firmware);
  EXPECT_EQ(machine.latency_factor(0, 0), 1);
  EXPECT_EQ(machine.latency_factor(0, 1), 5);
  EXPECT_EQ(machine.latency_factor(0, 10), 7.9);
  EXPECT_EQ(real_machine("64intel64-heteromem.xml").parts().numa_source, Source::assumed);
}

TEST(Discover, each_processing_unit_is_a_place_if_the_topology_lists_no_cores) {
  EXPECT_EQ(machine_from_hwloc_synthetic("pack:2 pu:3").num_places(), 6u);
}

TEST(Discover, topologies_of_six_real_machines_give_the_expected_levels_and_memory_domains) {
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

TEST(Discover, every_hwloc_xml_file_in_the_folder_of_test_data_can_be_read) {
  SKIP_WITHOUT_DATA();
  for (const auto& entry : std::filesystem::directory_iterator(POISE_TEST_DATA "/topologies")) {
    if (entry.path().extension() != ".xml") continue;
    SCOPED_TRACE(entry.path());
    EXPECT_NO_THROW(real_machine(entry.path().filename()));
  }
}

/// A small machine with everything that a file may contain: caches, two domains, distances, kinds
/// of cores.
std::string small_xml() {
  Xml xml;
  xml.open("Machine", 0xf, 3, machine_allowing(0xf, 3));
  for (unsigned package = 0; package < 2; ++package)
    xml.open("Package", 0b11u << 2 * package, 1u << package,
             fmt::format("os_index=\"{}\"", package))
        .numa(package, 0b11u << 2 * package)
        .open("L2Cache", 0b11u << 2 * package, 1u << package,
              "cache_size=\"2048\" depth=\"2\" cache_linesize=\"64\" cache_type=\"0\"")
        .core(1u << 2 * package, 1u << package)
        .core(2u << 2 * package, 1u << package)
        .close()
        .close();
  xml.close();
  xml.cpukind(0x3, Xml::info("CoreType", "IntelCore") + Xml::info("FrequencyMaxMHz", "5000"));
  xml.cpukind(0xc, Xml::info("CoreType", "IntelAtom") + Xml::info("FrequencyMaxMHz", "4000"));
  std::string text = xml.text();
  text.insert(text.find("<cpukind"),
              "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\">"
              "<indexes length=\"4\">0 1 </indexes><u64values length=\"12\">10 20 20 10 "
              "</u64values></distances2>");
  return text;
}

/// True if the text can be read as a machine. If it cannot, reading must throw an Error of one line
/// that names the file; otherwise the test fails.
bool is_machine(const std::string& xml) {
  try {
    return machine_from_hwloc_xml(xml, "damaged.xml").num_places() > 0;
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("damaged.xml: ", 0), 0u) << text;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
    return false;
  }
}

TEST(Discover, xml_that_makes_hwloc_abort_is_an_error) {
  // Without the first package's complete_cpuset, hwloc 2 dereferences a null pointer.
  std::string xml = small_xml();
  ASSERT_TRUE(is_machine(xml));
  const std::size_t begin = xml.find(" complete_cpuset=", xml.find("\"Package\""));
  xml.erase(begin, xml.find(" nodeset=", begin) - begin);
  EXPECT_FALSE(is_machine(xml));
}

TEST(Discover, damaged_xml_gives_a_machine_or_an_error_but_no_crash) {
  const std::string whole = small_xml();
  const Machine machine = machine_from_hwloc_xml(whole, "small.xml");
  EXPECT_EQ(machine.latency_factor(0, 1), 2);
  EXPECT_NEAR(machine.speed_of(3), 0.7 * 4 / 5, 1e-12);
  constexpr std::uint64_t kSeed = 1;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  int taken = 0;
  for (int i = 0; i < 25; ++i) {
    is_machine(whole.substr(0, random.below(whole.size())));
    std::string damaged = whole;
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      char& byte = damaged[random.below(whole.size())];
      byte = static_cast<char>(byte ^ (1 << random.below(8)));
    }
    taken += is_machine(damaged);
    std::string cut = whole;  // will lack a piece from its middle, such as an attribute
    cut.erase(random.below(whole.size()), 1 + random.below(60));
    taken += is_machine(cut);
  }
  EXPECT_GT(taken, 0) << "not one of them reached the end";
}

TEST(Discover, hwloc_synthetic_descriptions_of_huge_machines_are_refused) {
  EXPECT_EQ(machine_from_hwloc_synthetic("numa:16 core:32 pu:2").num_places(), 512u);
  EXPECT_EQ(machine_from_hwloc_synthetic("pack:2(memory=1000000) core:2 pu:2").num_places(), 4u);
  for (const char* text : {"pu:513", "pu:0x1000", "64 64 pu:64", "numa:65536 pu:1", "pu:-1",
                           "pack:500 [numa] core:500 pu:1", "[pu:99999999999999999999]",
                           "pack:4 [numa] l3:2l2 (core:47 pu:224", "pack:4 l2 [core:47 pu:224]",
                           "pack:24 core:20 numa:21 pu:1"})
    EXPECT_THROW(machine_from_hwloc_synthetic(text), Error) << text;
}

TEST(Discover, invalid_hwloc_synthetic_descriptions_are_refused) {
  for (const char* text :
       {"", "pack:0", "pu", "pack:2 nonsense:3 pu:1", "pack:99999 core:99999", "pack:2(", "[numa"})
    EXPECT_THROW(machine_from_hwloc_synthetic(text), Error) << text;
}

TEST(Discover, the_error_for_a_file_without_a_valid_hwloc_topology_names_the_file) {
  for (const char* xml :
       {"", "<", "<topology version=\"3.0\">", "{}", "<?xml version=\"1.0\"?><a/>"})
    try {
      machine_from_hwloc_xml(xml, "some.xml");
      FAIL() << xml;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("some.xml")) << error.what();
    }
}

TEST(Discover, the_machine_has_the_name_of_this_host) {
  char host[256] = "";
  ASSERT_EQ(::gethostname(host, sizeof host - 1), 0);
  EXPECT_EQ(discover_machine().name(), host);
}

constexpr const char* kL2 = "depth=\"2\" cache_linesize=\"64\" cache_type=\"0\"";
constexpr const char* kL3 = "depth=\"3\" cache_linesize=\"128\" cache_type=\"0\"";

TEST(Discover, caches_of_the_same_level_and_size_are_counted_together) {
  Xml xml;
  xml.open("Machine", 0x3f, 1, machine_allowing(0x3f, 1)).numa(0, 0x3f);
  xml.open("L3Cache", 0x3f, 1, fmt::format("cache_size=\"4096\" {}", kL3));
  for (int pair = 0; pair < 3; ++pair)
    xml.open("L2Cache", 0b11u << 2 * pair, 1,
             fmt::format("cache_size=\"{}\" {}", pair == 1 ? 4096 : 2048, kL2))
        .core(1u << 2 * pair, 1)
        .core(2u << 2 * pair, 1)
        .close();
  const Machine machine = xml.close().close().machine();
  const std::vector<Cache>& caches = machine.parts().facts.caches;
  ASSERT_EQ(caches.size(), 3u);
  const Cache expected[] = {{"l3", 4096, 1, 128}, {"l2", 2048, 2, 64}, {"l2", 4096, 1, 64}};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(caches[i].name, expected[i].name);
    EXPECT_EQ(caches[i].bytes, expected[i].bytes);
    EXPECT_EQ(caches[i].count, expected[i].count);
    EXPECT_EQ(caches[i].line_bytes, expected[i].line_bytes);
  }
  EXPECT_EQ(names_of_levels(machine), "numa:1 l2:3 core:6 ");
  EXPECT_EQ(machine.levels()[0].also, "l3");
}

TEST(Discover, omits_a_level_only_if_each_of_its_groups_has_one_core) {
  EXPECT_EQ(names_of_levels(machine_from_hwloc_synthetic("l3:2 l2:2 core:1 pu:2")),
            "numa:1 l3:2 core:4 ");
  Xml xml;
  xml.open("Machine", 0b111, 1, machine_allowing(0b111, 1)).numa(0, 0b111);
  xml.open("L2Cache", 0b011, 1, fmt::format("cache_size=\"2048\" {}", kL2));
  xml.core(0b001, 1).core(0b010, 1).close();
  xml.open("L2Cache", 0b100, 1, fmt::format("cache_size=\"2048\" {}", kL2));
  xml.core(0b100, 1).close().close();
  EXPECT_EQ(names_of_levels(xml.machine()), "numa:1 l2:2 core:3 ");
}

TEST(Discover, levels_of_the_same_type_are_numbered) {
  EXPECT_EQ(names_of_levels(machine_from_hwloc_synthetic("group:2 group:3 group:2 core:2 pu:1")),
            "numa:1 group:2 group2:6 group3:12 core:24 ");
}

TEST(Discover,
     an_example_machine_has_the_expected_bus_bandwidth_and_name_and_place_order_and_factors) {
  const Machine machine = machine_from_hwloc_synthetic("numa:2 core:10 pu:2");
  EXPECT_EQ(machine.costs().bus_bytes_per_s, 10 * 3.5e9);
  EXPECT_EQ(machine.name(), "numa:2 core:10 pu:2");
  for (PlaceId p = 0; p < 20; ++p) {
    EXPECT_EQ(machine.place(p).os_index, 2 * p);
    EXPECT_EQ(machine.domain_of(p), p / 10);
  }
  EXPECT_EQ(machine.parts().facts.numa_index, (std::vector<std::uint32_t>{0, 1}));
  for (DomainId from = 0; from < 2; ++from)
    for (DomainId to = 0; to < 2; ++to) {
      EXPECT_EQ(machine.latency_factor(from, to), from == to ? 1 : 1.5);
      EXPECT_EQ(machine.bandwidth_factor(from, to), 1);
    }
}

/// A machine of `count` packages, each with one core and its own NUMA node, with a matrix of
/// latencies that the firmware reports. Row i and column i belong to the NUMA node order[i].
Machine with_latencies(unsigned count, const std::vector<unsigned>& order,
                       const std::vector<unsigned>& latencies) {
  const std::uint64_t all = (std::uint64_t{1} << count) - 1;
  Xml xml;
  xml.open("Machine", all, all, machine_allowing(all, all));
  for (unsigned package = 0; package < count; ++package)
    xml.open("Package", 1u << package, 1u << package, fmt::format("os_index=\"{}\"", package))
        .numa(package, 1u << package)
        .core(1u << package, 1u << package)
        .close();
  std::string text = xml.close().text();
  const std::string indexes = fmt::format("{} ", fmt::join(order, " "));
  const std::string values = fmt::format("{} ", fmt::join(latencies, " "));
  text.insert(text.find("</topology>"),
              fmt::format("<distances2 type=\"NUMANode\" nbobjs=\"{}\" kind=\"5\" "
                          "indexing=\"os\"><indexes length=\"{}\">{}</indexes><u64values "
                          "length=\"{}\">{}</u64values></distances2>",
                          order.size(), indexes.size(), indexes, values.size(), values));
  return machine_from_hwloc_xml(text, "distances.xml");
}

TEST(Discover, the_latency_factor_is_relative_to_the_local_latency_of_the_reading_domain) {
  const std::vector<std::vector<double>> expected{
      {1, 2.5, 1.75}, {1.5, 1, 2}, {3, 4, 1}};  // [from][to]
  // Rows are readers, columns the NUMA nodes whose memory they read.
  const Machine machines[] = {with_latencies(3, {0, 1, 2}, {10, 15, 30, 25, 10, 40, 35, 40, 20}),
                              with_latencies(3, {2, 0, 1}, {20, 35, 40, 30, 10, 15, 40, 25, 10})};
  for (const Machine& machine : machines) {
    EXPECT_EQ(machine.parts().numa_source, Source::firmware);
    for (DomainId from = 0; from < 3; ++from)
      for (DomainId to = 0; to < 3; ++to) {
        EXPECT_EQ(machine.latency_factor(from, to), expected[from][to]) << from << " to " << to;
        EXPECT_EQ(machine.bandwidth_factor(from, to), 1);
      }
  }
}

TEST(Discover, latencies_that_are_implausible_or_not_known_for_all_domains_are_ignored) {
  const auto source_of = [](unsigned latency) {
    return with_latencies(2, {0, 1}, {10, latency, 20, 10}).parts().numa_source;
  };
  for (const unsigned latency : {10u, 11u, 10000u})
    EXPECT_EQ(source_of(latency), Source::firmware) << latency;
  for (const unsigned latency : {1u, 9u, 10001u, 10009u})
    EXPECT_EQ(source_of(latency), Source::assumed) << latency;
  const Machine partial = with_latencies(3, {0, 1}, {10, 30, 30, 10});
  EXPECT_EQ(partial.parts().numa_source, Source::assumed);
  for (DomainId from = 0; from < 3; ++from)
    for (DomainId to = 0; to < 3; ++to)
      EXPECT_EQ(partial.latency_factor(from, to), from == to ? 1 : 1.5);
}

/// The speeds of cores of different kinds; kind k is described by infos[k].
std::vector<double> speeds_of_kinds(const std::vector<std::string>& infos, Source& source,
                                    const std::vector<int>& efficiencies = {}) {
  const auto count = static_cast<unsigned>(infos.size());
  const std::uint64_t all = (std::uint64_t{1} << count) - 1;
  Xml xml;
  xml.open("Machine", all, 1, machine_allowing(all, 1)).numa(0, all);
  for (unsigned core = 0; core < count; ++core) xml.core(1u << core, 1);
  xml.close();
  for (unsigned kind = 0; kind < count; ++kind) xml.cpukind(1u << kind, infos[kind]);
  std::string text = xml.text();
  for (std::size_t kind = 0, at = 0; kind < efficiencies.size(); ++kind) {
    at = text.find("<cpukind ", at) + std::string_view("<cpukind ").size();
    text.insert(at, fmt::format("forced_efficiency=\"{}\" ", efficiencies[kind]));
  }
  const Machine machine = machine_from_hwloc_xml(text, "kinds.xml");
  source = machine.parts().speed_source;
  std::vector<double> speeds;
  for (const Place& place : machine.places()) speeds.push_back(place.speed);
  return speeds;
}

TEST(Discover, speeds_come_from_the_best_source_that_covers_all_kinds_of_cores) {
  const auto capacity = [](const char* value) { return Xml::info("LinuxCapacity", value); };
  const auto max_mhz = [](const char* value) { return Xml::info("FrequencyMaxMHz", value); };
  const auto base_mhz = [](const char* value) { return Xml::info("FrequencyBaseMHz", value); };
  const std::string small = Xml::info("CoreType", "IntelAtom"),
                    large = Xml::info("CoreType", "IntelCore");
  using Speeds = std::vector<double>;
  const std::tuple<std::vector<std::string>, Speeds, Source> cases[] = {
      {{capacity("1") + max_mhz("9"), capacity("4") + max_mhz("8")}, {0.25, 1}, Source::firmware},
      {{capacity("1") + max_mhz("1"), max_mhz("4")}, {0.25, 1}, Source::firmware},
      {{max_mhz("2000") + base_mhz("1"), base_mhz("4")}, {0.25, 1}, Source::firmware},
      {{base_mhz("3000") + large, base_mhz("1500") + small}, {1, 0.35}, Source::firmware},
      {{max_mhz("1000") + small, max_mhz("1400") + large}, {0.5, 1}, Source::firmware}};
  for (const auto& [infos, expected, source] : cases) {
    Source found = Source::given;
    const Speeds speeds = speeds_of_kinds(infos, found);
    ASSERT_EQ(speeds.size(), expected.size());
    for (std::size_t p = 0; p < speeds.size(); ++p)
      EXPECT_NEAR(speeds[p], expected[p], 1e-12) << infos[0] << infos[1];
    EXPECT_EQ(found, source) << infos[0] << infos[1];
  }
}

TEST(Discover, speeds_are_estimated_from_the_order_of_core_kinds_if_only_this_order_is_known) {
  Source source = Source::given;
  const std::vector<double> speeds = speeds_of_kinds(
      {Xml::info("X", "1"), Xml::info("X", "2"), Xml::info("X", "3")}, source, {7, 3, 5});
  ASSERT_EQ(speeds.size(), 3u);
  EXPECT_NEAR(speeds[0], 1, 1e-12);
  EXPECT_NEAR(speeds[1], 0.75 * 0.75, 1e-12);
  EXPECT_NEAR(speeds[2], 0.75, 1e-12);
  EXPECT_EQ(source, Source::assumed);
}

TEST(Discover,
     a_core_belongs_to_the_nearest_dram_or_if_there_is_no_dram_to_the_nearest_other_memory) {
  const auto package = [](Xml& xml, std::uint32_t first_numa, const char* first, const char* second,
                          unsigned units) {
    xml.open("Package", units, 0b11u << first_numa, fmt::format("os_index=\"{}\"", first_numa))
        .numa(first_numa, units, first)
        .numa(first_numa + 1, units, second)
        .core(units, 0b11u << first_numa)
        .close();
  };
  Xml xml;
  xml.open("Machine", 0xf, 0xff, machine_allowing(0xf, 0xff));
  package(xml, 0, "subtype=\"HBM\"", "", 0b1);
  package(xml, 2, "subtype=\"HBM\"", "subtype=\"DRAM\"", 0b10);
  package(xml, 4, "", "subtype=\"HBM\"", 0b100);
  package(xml, 6, "subtype=\"HBM\"", "subtype=\"NVM\"", 0b1000);
  std::string text = xml.close().text();
  const Machine machine = machine_from_hwloc_xml(text, "memory.xml");
  EXPECT_EQ(machine.parts().facts.numa_index, (std::vector<std::uint32_t>{1, 3, 4, 6}));
  std::string others;
  for (const Memory& memory : machine.parts().facts.other_memory) {
    EXPECT_EQ(memory.bytes, 1024u);
    others += fmt::format("{}{} ", memory.os_index, memory.kind);
  }
  EXPECT_EQ(others, "0HBM 2HBM 5HBM 7NVM ");
}

TEST(Discover, the_processor_name_is_the_model_of_the_first_package) {
  Xml xml;
  xml.open("Machine", 0b11, 1, machine_allowing(0b11, 1)).numa(0, 0b11);
  for (unsigned package = 0; package < 2; ++package)
    xml.open("Package", 1u << package, 1, fmt::format("os_index=\"{}\"", package))
        .core(1u << package, 1)
        .close();
  std::string text = xml.close().text();
  EXPECT_EQ(machine_from_hwloc_xml(text, "x.xml").parts().facts.processor, "");
  for (const char* model : {"Second", "First"}) {  // describes the last package first
    const std::size_t at = *model == 'F' ? text.find("\"Package\"") : text.rfind("\"Package\"");
    text.insert(text.find('>', at) + 1, Xml::info("CPUModel", model));
  }
  EXPECT_EQ(machine_from_hwloc_xml(text, "x.xml").parts().facts.processor, "First");
}

TEST(Discover, cores_without_usable_memory_join_the_neighbouring_domain_in_the_same_group) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    Random random(seed);
    std::vector<int> packages_per_group(1 + random.below(3));
    std::vector<std::size_t> group_of_package;
    for (std::size_t group = 0; group < packages_per_group.size(); ++group) {
      packages_per_group[group] = 1 + static_cast<int>(random.below(3));
      group_of_package.insert(group_of_package.end(),
                              static_cast<std::size_t>(packages_per_group[group]), group);
    }
    const std::size_t packages = group_of_package.size();
    const std::uint64_t nodes = 1 + random.below((std::uint64_t{1} << packages) - 1);
    std::uint64_t units = 0;
    std::vector<std::size_t> package_of_place;
    for (std::size_t package = 0; package < packages; ++package) {
      const std::uint64_t cores = 1 + random.below(3);  // bit 0: the first core, bit 1: the second
      units |= cores << 2 * package;
      package_of_place.insert(package_of_place.end(), cores == 3 ? 2 : 1, package);
    }
    SCOPED_TRACE(fmt::format("seed {}, nodes {:b}, units {:b}", seed, nodes, units));
    const Machine machine = packages_with_memory(packages_per_group, nodes, units).machine();
    ASSERT_EQ(machine.num_places(), package_of_place.size());
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      const std::size_t own = package_of_place[p];
      std::optional<std::size_t> before, after;  // the nearest packages with usable memory
      for (std::size_t package = 0; package <= own; ++package)
        if ((nodes >> package & 1) != 0) before = package;
      for (std::size_t package = packages; package-- > own;)
        if ((nodes >> package & 1) != 0) after = package;
      const bool is_after =
          !before || (after && group_of_package[*after] == group_of_package[own] &&
                      group_of_package[*before] != group_of_package[own]);
      EXPECT_EQ(machine.parts().facts.numa_index.at(machine.domain_of(p)),
                is_after ? *after : *before)
          << "place " << p;
    }
  }
}

TEST(Discover, hwloc_synthetic_descriptions_up_to_the_limits_are_accepted) {
  EXPECT_EQ(machine_from_hwloc_synthetic("core:512 pu:1").num_places(), 512u);
  EXPECT_THROW(machine_from_hwloc_synthetic("pack:33 core:500 pu:1"), Error);
  EXPECT_THROW(machine_from_hwloc_synthetic("core:129 pu:128"), Error);
  EXPECT_EQ(machine_from_hwloc_synthetic(" pack:2  core:0x3 pu:1 ").num_places(), 6u);
  EXPECT_EQ(machine_from_hwloc_synthetic("(memory=9999) pack:3 core:2 pu:1").num_places(), 6u);
  EXPECT_EQ(machine_from_hwloc_synthetic("pack:3(memory=9999) [numa(memory=9999)] core:2 pu:1")
                .num_domains(),
            3u);
}

TEST(Discover, cores_belong_to_the_domain_of_the_memory_behind_their_memory_side_cache) {
  Xml xml;
  xml.open("Machine", 0b11, 0b11, machine_allowing(0b11, 0b11));
  for (unsigned package = 0; package < 2; ++package)
    xml.open("Package", 1u << package, 1u << package, fmt::format("os_index=\"{}\"", package))
        .open("MemCache", 1u << package, 1u << package,
              "cache_size=\"2048\" depth=\"1\" cache_linesize=\"64\" cache_type=\"0\"")
        .numa(package, 1u << package)
        .close()
        .core(1u << package, 1u << package)
        .close();
  const Machine machine = xml.close().machine();
  EXPECT_EQ(machine.num_domains(), 2u);
  EXPECT_EQ(machine.parts().facts.numa_index, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(machine.parts().facts.caches.empty());
}

}  // namespace
}  // namespace poise
