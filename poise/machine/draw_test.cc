// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/draw.h"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(Draw, the_drawing_of_a_machine_without_equal_parts_has_fewer_than_80_lines) {
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

}  // namespace
}  // namespace poise
