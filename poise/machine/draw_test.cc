// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/draw.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "poise/machine/discover.h"
#include "poise/machine/json.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Draw, equal_subtrees_are_drawn_once) {
  const std::string text =
      draw_machine(machine_from_text("node:20 numa:2 core:16 factors:10,1.5,1"));
  EXPECT_THAT(text, HasSubstr("20 nodes, 40 memory domains, 640 places\n"
                              "└─ 20 × node\n"
                              "   └─ 2 × numa\n"
                              "      └─ 16 × core\n"));
  EXPECT_THAT(text, HasSubstr("NUMA factors: 1.5 (given)"));
}

TEST(Draw, unequal_subtrees_are_drawn_separately) {
  const std::string text = draw_machine(machine_from_json(R"({"poise_machine": 1, "name": "hybrid",
      "levels": [{"name": "l2", "count": 4}, {"name": "core", "count": ["2 x 1", "2 x 4"]}],
      "speeds": ["2 x 1", "8 x 0.6"], "threads": ["2 x 2", "8 x 1"]})",
                                                          "hybrid.json"));
  EXPECT_THAT(text, HasSubstr("├─ 2 × l2\n"
                              "│  └─ 1 × core, 2 threads, speed 1\n"
                              "└─ 2 × l2\n"
                              "   └─ 4 × core, speed 0.6\n"));
}

TEST(Draw, drawings_of_regular_machines_have_the_same_number_of_lines_whatever_the_size) {
  const auto lines = [](const char* text) {
    const std::string page = draw_machine(machine_from_text(text));
    return std::count(page.begin(), page.end(), '\n');
  };
  EXPECT_EQ(lines("torus:2x2x2 numa:2 core:2"), lines("torus:16x16x16 numa:2 core:4"));
  EXPECT_LT(lines("numa:64 core:2"), 40);
}

TEST(Draw, a_machine_in_which_no_two_parts_are_equal_is_drawn_in_fewer_than_80_lines) {
  std::string counts;
  for (int i = 1; i <= 300; ++i) counts += fmt::format("{}{}", i > 1 ? "," : "", i);
  const std::string json = fmt::format(
      R"({{"poise_machine": 1, "levels": [{{"name": "l3", "count": 300}},
          {{"name": "core", "count": [{}]}}]}})",
      counts);
  const std::string page = draw_machine(machine_from_json(json, "irregular.json"));
  EXPECT_LT(std::count(page.begin(), page.end(), '\n'), 80);
  EXPECT_THAT(page, HasSubstr("of several kinds"));
}

TEST(Draw, shows_the_network_only_if_the_machine_has_one) {
  const std::string text =
      draw_machine(machine_from_text("torus:4x4 node:2 core:2 factors:10,5,1 hop:0.5"));
  EXPECT_THAT(text, HasSubstr("Network: torus 4 × 4, 2 nodes per router (given)"));
  EXPECT_THAT(text, HasSubstr("one hop: 10, each hop more: + 0.5"));
  EXPECT_THAT(draw_machine(machine_from_text("core:4")), Not(HasSubstr("Network")));
}

TEST(Draw, shows_what_messages_and_migrations_cost) {
  const std::string text = draw_machine(
      machine_from_text("node:2 core:2 gap:2e-6 migrated_task:3e-3 migrated_byte:4e-9"));
  EXPECT_THAT(text, HasSubstr("network card 12.5 GB/s, 2 us a message (1 a node)\n"));
  EXPECT_THAT(text, HasSubstr("migration of a task 3000 us and 4 ns/B, at each end\n"));
}

TEST(Draw, numbers_of_bytes_are_shown_in_binary_units) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(32768), "32 KiB");
  EXPECT_EQ(bytes_text(25165824), "24 MiB");
  EXPECT_EQ(bytes_text(1610612736), "1.5 GiB");
}

/// The part of a drawing from `begin` up to the next empty line or, if there is none, to the end.
std::string part_of(const Machine& machine, const std::string& begin) {
  const std::string text = draw_machine(machine);
  const std::size_t first = text.find(begin);
  if (first == text.npos) return "";
  return text.substr(first, std::min(text.find("\n\n", first), text.size()) + 1 - first);
}

Machine read(const std::string& json) { return machine_from_json(json, "test.json"); }

TEST(Draw, the_tree_shows_threads_and_speeds_and_memory_and_caches_where_they_belong) {
  const Machine box = read(R"({"poise_machine": 1, "name": "box", "processor": "CPU X",
      "levels": [{"name": "numa", "count": 2, "also": "package l3"},
                 {"name": "core", "count": [2, 3]}],
      "numa": {"latency_factor": [[1, 2], [2, 1]]}, "threads": [2, 2, 1, 1, 1],
      "speeds": [1, 1, 0.75, 0.75, 0.75],
      "memory_bytes": [1073741824, 2147483648],
      "caches": [{"name": "l3", "bytes": 33554432, "count": 2},
                 {"name": "l1", "bytes": 32768, "count": 5}]})");
  EXPECT_TRUE(
      draw_machine(box).starts_with("box: 1 node, 2 memory domains, 5 places\n"
                                    "CPU X\n"
                                    "├─ 1 × numa (package l3), memory 1 GiB, l3 32 MiB\n"
                                    "│  └─ 2 × core, 2 threads, speed 1, l1 32 KiB\n"
                                    "└─ 1 × numa (package l3), memory 2 GiB, l3 32 MiB\n"
                                    "   └─ 3 × core, speed 0.75, l1 32 KiB\n"
                                    "\nNUMA factors: 2 (given)\n"))
      << draw_machine(box);
  // The memory of a domain with one core is drawn on the line of the core.
  EXPECT_THAT(draw_machine(read(R"({"poise_machine": 1, "memory_bytes": [1024, 1024],
      "levels": [{"name": "numa", "count": 2}, {"name": "core", "count": 1}],
      "numa": {"latency_factor": [[1, 2], [2, 1]]}, "speeds": [2]})")),
              HasSubstr("places\n└─ 2 × numa\n   └─ 1 × core, memory 1 KiB, speed 2\n\n"));
  EXPECT_THAT(draw_machine(read(R"({"poise_machine": 1, "memory_bytes": [1024, 1024],
      "levels": [{"name": "numa", "count": 2}, {"name": "core", "count": [1, 3]}],
      "numa": {"latency_factor": [[1, 2], [2, 1]]}})")),
              HasSubstr("places\n├─ 1 × numa\n│  └─ 1 × core, memory 1 KiB\n"
                        "└─ 1 × numa, memory 1 KiB\n   └─ 3 × core\n\n"));
}

TEST(Draw, groups_that_differ_only_in_deeper_levels_are_drawn_separately) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "node", "count": 3},
      {"name": "l3", "count": 2}, {"name": "core", "count": [2, 2, 2, 1, 2, 2]}]})");
  EXPECT_TRUE(draw_machine(machine).find("3 nodes, 3 memory domains, 11 places\n"
                                         "├─ 1 × node\n"
                                         "│  └─ 2 × l3\n"
                                         "│     └─ 2 × core\n"
                                         "├─ 1 × node\n"
                                         "│  ├─ 1 × l3\n"
                                         "│  │  └─ 2 × core\n"
                                         "│  └─ 1 × l3\n"
                                         "│     └─ 1 × core\n"
                                         "└─ 1 × node\n"
                                         "   └─ 2 × l3\n"
                                         "      └─ 2 × core\n") != std::string::npos)
      << draw_machine(machine);
}

TEST(Draw, at_most_24_different_subtrees_are_drawn_below_one_group) {
  const auto drawn = [](int groups) {
    std::string counts;
    for (int i = 1; i <= groups; ++i) counts += fmt::format("{}{}", i > 1 ? "," : "", i);
    return draw_machine(read(fmt::format(
        R"({{"poise_machine": 1, "levels": [{{"name": "l3", "count": {}}},
            {{"name": "core", "count": [{}]}}]}})",
        groups, counts)));
  };
  EXPECT_THAT(drawn(24), HasSubstr("└─ 1 × l3\n   └─ 24 × core\n"));
  EXPECT_THAT(drawn(24), Not(HasSubstr("of several kinds")));
  EXPECT_THAT(drawn(26), HasSubstr("├─ 1 × l3\n│  └─ 24 × core\n└─ 2 × l3, of several kinds\n\n"));
}

TEST(Draw, numa_factors_are_drawn_as_a_matrix_if_they_differ) {
  MachineParts parts = machine_from_text("numa:3 core:1").parts();
  NodeKind& kind = parts.node_kinds[0];
  kind.latency_factor = {1, 2.5, 10, 3, 1, 4, 5, 123.4, 1};
  EXPECT_EQ(part_of(Machine(parts), "NUMA"),
            "NUMA factors: 2.5 to 123.4 (assumed)\n"
            "  from\\to     0     1     2\n"
            "        0     1   2.5    10\n"
            "        1     3     1     4\n"
            "        2     5 123.4     1\n");
  kind.bandwidth_factor = kind.latency_factor;
  EXPECT_THAT(part_of(Machine(parts), "NUMA"), HasSubstr("1\n  seconds per byte: the same\n"));
  kind.latency_factor = {1, 2, 2, 2, 1, 2, 2, 2, 1};
  kind.bandwidth_factor = {1, 3, 3, 3, 1, 4, 3, 3, 1};
  EXPECT_EQ(part_of(Machine(parts), "NUMA"),
            "NUMA factors: 2 (assumed)\n"
            "  seconds per byte: 3 to 4\n"
            "  from\\to    0    1    2\n"
            "        0    1    3    3\n"
            "        1    3    1    4\n"
            "        2    3    3    1\n");
}

TEST(Draw, a_matrix_has_at_most_24_columns) {
  for (const std::size_t domains : {24u, 25u}) {
    MachineParts parts = machine_from_text(fmt::format("numa:{} core:1", domains)).parts();
    parts.node_kinds[0].latency_factor[1] = 7;
    const std::string text = part_of(Machine(parts), "NUMA");
    EXPECT_THAT(text, HasSubstr("NUMA factors: 1.5 to 7 (assumed)\n"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), domains == 24 ? 26 : 1);
  }
}

TEST(Draw, numa_factors_are_drawn_for_each_kind_of_node_that_has_several_domains) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "node", "count": 3},
      {"name": "numa", "count": [1, 2, 2]}], "numa": {"kinds": [{"latency_factor": [[1]]},
      {"latency_factor": [[1, 2], [2, 1]]}, {"latency_factor": [[1, 3], [3, 1]]}],
      "kind_of_node": [0, 1, 2]}})");
  const std::string text = draw_machine(machine);
  EXPECT_THAT(text, HasSubstr("\n\nNUMA factors of kind 1: 2 (given)\n"
                              "\nNUMA factors of kind 2: 3 (given)\n\n"));
  EXPECT_THAT(text, Not(HasSubstr("kind 0")));
}

TEST(Draw,
     message_cost_factors_inside_a_domain_are_listed_by_the_finest_level_that_two_places_share) {
  constexpr const char* kHead = "Messages inside a domain, by the smallest group they stay in ";
  const auto inside = [](const char* text) {
    return part_of(machine_from_text(text), "Messages inside").substr(std::strlen(kHead));
  };
  EXPECT_EQ(inside("core:4"), "(assumed)\n  machine    1\n");
  EXPECT_EQ(inside("l3:2 core:3 factors:1.25,1"), "(given)\n  machine    1.25\n  l3         1\n");
  EXPECT_EQ(inside("package:1 core:2 factors:2,1.5"), "(given)\n  package    1.5\n");
  EXPECT_EQ(inside("numa:2 l3:2 l2:1 core:3 factors:4,3,2,1.5"),
            "(given)\n  numa       3\n  l2         1.5\n");
  EXPECT_EQ(inside("node:2 numa:2 core:2 factors:9,4,1.5"), "(given)\n  numa       1.5\n");
  MachineParts parts = machine_from_text("l3:2 core:3").parts();
  parts.facts.measurement.levels = {{"l3", {80, 70, 90.25}}, {"machine", {200, 190, 210}}};
  EXPECT_EQ(part_of(Machine(parts), "Messages inside").substr(std::strlen(kHead)),
            "(assumed)\n  machine    1, one way 200 ns [190, 210]\n"
            "  l3         1, one way 80 ns [70, 90.25]\n");
}

TEST(Draw, shows_the_message_cost_factors_of_networks_of_every_shape) {
  const auto network = [](const Machine& machine) { return part_of(machine, "Network"); };
  EXPECT_EQ(network(machine_from_text("node:2 core:2 factors:9,1")),
            "Network: tree (given)\n  between nodes: 9\n");
  EXPECT_EQ(network(machine_from_text("hall:2 rack:3 node:2 core:2 factors:20,12.5,10,1")),
            "Network: tree (given)\n  between nodes: 20\n  inside one hall: 12.5\n"
            "  inside one rack: 10\n");
  EXPECT_EQ(network(machine_from_text("torus:4x3 core:2 factors:10,1 hop:0.5")),
            "Network: torus 4 × 3 (given)\n  one hop: 10, each hop more: + 0.5\n");
  EXPECT_EQ(network(machine_from_text("mesh:5 node:2 core:2 factors:10,4,1 hop:2")),
            "Network: mesh 5, 2 nodes per router (given)\n  on one router: 4\n"
            "  one hop: 10, each hop more: + 2\n");
  MachineParts parts = machine_from_text("node:4 core:1 factors:8,1").parts();
  parts.network.tiers = {{{0, 0, 1, 2}, 3}};
  parts.network.bandwidth_factor = 2;
  EXPECT_EQ(network(Machine(parts)),
            "Network: tree (given)\n  between nodes: 8\n  inside one of 3 groups: 3\n"
            "  seconds per byte: 2\n");
  parts = machine_from_text("node:2 core:1").parts();
  parts.network.shape = Network::Shape::matrix;
  parts.network.matrix_nodes = 2;
  parts.network.matrix = {1, 2, 3, 1};
  EXPECT_EQ(network(Machine(parts)),
            "Network: matrix (assumed)\n  between nodes: 2 to 3\n"
            "  from\\to    0    1\n        0    1    2\n        1    3    1\n");
  parts = machine_from_text("core:2").parts();
  parts.network.factor = 17.5;
  EXPECT_EQ(network(Machine(parts)), "");
  parts.network_source = Source::measured;
  EXPECT_EQ(network(Machine(parts)), "Network to other nodes: 17.5 (measured)\n");
}

TEST(Draw, shows_every_cost_in_its_unit) {
  MachineParts parts = machine_from_text("hall:2 rack:2 node:2 core:2").parts();
  CostModel& costs = parts.costs;
  costs.inside = {1e-6, 2e-6, 3e-9, 4e-6, 2};
  costs.network = {5e-6, 6e-6, 7e-9, 8e-6, 1};
  costs.bus_bytes_per_s = 2.5e10;
  costs.card_bytes_per_s = 0;
  costs.card_s_per_message = 9e-6;
  costs.cards = 3;
  costs.uplink_bytes_per_s = {1e9, 2e9};
  costs.shared_network_bytes_per_s = 1;
  costs.seconds_per_migrated_task = 1.5e-5;
  costs.seconds_per_migrated_byte = 2.5e-9;
  costs.seconds_per_message = 0.125;
  costs.seconds_per_byte = 0.25;
  EXPECT_EQ(part_of(Machine(parts), "Costs of messages, physical model"),
            "Costs of messages, physical model:\n"
            "  inside a node  send 1 us, receive 2 us, copy 3 ns/B, latency 4 us x factor\n"
            "  between nodes  send 5 us, receive 6 us, copy 7 ns/B, latency 8 us x factor\n"
            "  memory bus 25 GB/s, network card unlimited, 9 us a message (3 a node)\n"
            "  uplink of each group in tier 0: 1 GB/s\n"
            "  uplink of each group in tier 1: 2 GB/s\n"
            "  one network shared by all nodes: 1e-09 GB/s\n"
            "  migration of a task 15 us and 2.5 ns/B, at each end\n"
            "Costs of messages, nuco model: 0.125 s per message, 0.25 s per byte, each times its "
            "factor\n");
  EXPECT_THAT(draw_machine(machine_from_text("core:2")), Not(HasSubstr("shared by all nodes")));
}

TEST(Draw, memory_that_is_not_the_domain_of_any_place_is_listed_by_kind_and_size) {
  MachineParts parts = machine_from_text("core:2").parts();
  EXPECT_EQ(part_of(Machine(parts), "Memory that is"), "");
  parts.facts.other_memory = {{"HBM", 4, 1024}, {"", 6, 2048}, {"HBM", 5, 1024}, {"HBM", 7, 512}};
  EXPECT_EQ(part_of(Machine(parts), "Memory that is"),
            "Memory that is no place's domain\n"
            "  1 × 2 KiB (NUMA node 6)\n"
            "  1 × HBM, 512 B (NUMA node 7)\n"
            "  2 × HBM, 1 KiB (NUMA nodes 4, 5)\n");
}

TEST(Draw, the_last_lines_name_the_measured_host_and_the_sources_of_the_speeds_and_of_the_machine) {
  MachineParts parts = machine_from_text("core:2 speeds:1,0.5").parts();
  parts.speed_source = Source::firmware;
  parts.facts.measurement.host = "n1";
  parts.facts.measurement.latency_ns = {{100, 99.5, 101}};
  parts.facts.origin = "a paper";
  parts.facts.assumed = {"this", "that too"};
  EXPECT_TRUE(draw_machine(Machine(parts))
                  .ends_with("Measured on n1: local memory 100 ns [99.5, 101]\n"
                             "Speeds: firmware\n"
                             "Source: a paper\n"
                             "Assumed: this\n"
                             "Assumed: that too\n"))
      << draw_machine(Machine(parts));
  EXPECT_TRUE(draw_machine(machine_from_text("core:2")).ends_with("each times its factor\n"));
}

TEST(Draw, long_paragraphs_are_broken_into_lines_of_at_most_96_characters) {
  const auto source = [](const std::string& origin) {
    MachineParts parts = machine_from_text("core:1").parts();
    parts.facts.origin = origin;
    return part_of(Machine(parts), "Source:");
  };
  const std::string eighty(80, 'a'), seven(7, 'b'), eight(8, 'c');
  // "Source:" and a blank take 8 of the 96 columns of a line. Further lines are indented by 2.
  EXPECT_EQ(source(eighty + " " + seven + " d"), "Source: " + eighty + " " + seven + "\n  d\n");
  EXPECT_EQ(source(eighty + " " + eight + " d"), "Source: " + eighty + "\n  " + eight + " d\n");
  const std::string long_word(94, 'e');
  EXPECT_EQ(source("x " + long_word + " y"), "Source: x\n  " + long_word + "\n  y\n");
}

TEST(Draw, numbers_of_bytes_change_their_unit_at_1024) {
  const std::pair<std::uint64_t, const char*> cases[] = {{1, "1 B"},
                                                         {1023, "1023 B"},
                                                         {1024, "1 KiB"},
                                                         {1536, "1.5 KiB"},
                                                         {10 << 10, "10 KiB"},
                                                         {1023 << 10, "1023 KiB"},
                                                         {1 << 20, "1 MiB"},
                                                         {9961472, "9.5 MiB"},
                                                         {std::uint64_t{1} << 40, "1 TiB"},
                                                         {std::uint64_t{3} << 50, "3 PiB"},
                                                         {std::uint64_t{1} << 60, "1 EiB"},
                                                         {~std::uint64_t{0}, "16 EiB"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(bytes_text(bytes), text);
}

}  // namespace
}  // namespace poise
