// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/json.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

void expect_same(const Machine& a, const Machine& b) {
  ASSERT_EQ(a.num_places(), b.num_places());
  ASSERT_EQ(a.num_domains(), b.num_domains());
  ASSERT_EQ(a.num_nodes(), b.num_nodes());
  ASSERT_EQ(a.levels().size(), b.levels().size());
  for (std::size_t l = 0; l < a.levels().size(); ++l) {
    EXPECT_EQ(a.levels()[l].name, b.levels()[l].name);
    EXPECT_EQ(a.levels()[l].also, b.levels()[l].also);
    EXPECT_EQ(a.levels()[l].first_place, b.levels()[l].first_place);
  }
  const std::uint32_t step = 1 + a.num_places() / 64;
  for (PlaceId p = 0; p < a.num_places(); p += step)
    for (PlaceId q = 0; q < a.num_places(); q += step) {
      ASSERT_EQ(a.message_factor(p, q), b.message_factor(p, q)) << p << " to " << q;
      ASSERT_EQ(a.byte_factor(p, q), b.byte_factor(p, q));
      ASSERT_EQ(a.hops(p, q), b.hops(p, q));
    }
  EXPECT_EQ(machine_to_json(a), machine_to_json(b));
}

Machine read(std::string_view text) { return machine_from_json(text, "file.json"); }

TEST(MachineJson, machines_are_unchanged_after_writing_them_to_json_and_reading_them_back) {
  for (const char* text :
       {"core:1", "node:20 numa:2 core:2 factors:10,1.5,1", "rack:2 node:4 core:2 factors:20,10,1",
        "torus:8x8x8 numa:4 core:8 factors:10,1.5,1 hop:0.5", "torus:4x4 node:2 core:2",
        "mesh:3x5 core:2", "dragonfly:9x4 node:2 core:2", "package:4 l2:2 core:2",
        "numa:2 core:4 speeds:1,1,0.5,0.25 message:1e-6 byte:1e-10"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    expect_same(machine, read(machine_to_json(machine)));
  }
}

TEST(MachineJson, twenty_equal_nodes_share_one_description_in_the_file) {
  const std::string json = machine_to_json(machine_from_text("node:20 numa:2 core:16"));
  EXPECT_LT(json.size(), 1000u) << json;
}

TEST(MachineJson, sizes_of_unequal_groups_may_be_written_with_repetition_such_as_2_x_4) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [
      {"name": "node", "count": 2}, {"name": "l2", "count": 4},
      {"name": "core", "count": ["2 x 1", "2 x 4"]}],
      "speeds": ["2 x 1", "8 x 0.6"], "os_index": ["0-9"]})");
  EXPECT_EQ(machine.num_places(), 20u);
  EXPECT_EQ(machine.speed_of(12), 0.6);
  EXPECT_EQ(machine.place(12).os_index, 2u);
  EXPECT_EQ(machine.levels()[1].first_place,
            (std::vector<PlaceId>{0, 1, 2, 6, 10, 11, 12, 16, 20}));
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, the_nodes_of_a_job_may_be_anywhere_on_a_torus) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "node", "count": 4}],
      "network": {"shape": "torus", "dims": [8], "nodes_per_router": 2, "latency_factor": 10,
                  "factor_per_hop": 1, "same_router_factor": 5, "routers": [0, 3]}})");
  EXPECT_EQ(machine.message_factor(0, 1), 5);
  EXPECT_EQ(machine.message_factor(0, 2), 12);
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, a_memory_domain_need_not_be_a_node_socket_or_other_level_of_the_machine) {
  const Machine machine = read(R"({"poise_machine": 1, "levels": [{"name": "core", "count": 6}],
      "domains": [2, 4], "numa": {"latency_factor": [[1, 2], [3, 1]]}})");
  EXPECT_EQ(machine.num_domains(), 2u);
  EXPECT_EQ(machine.latency_factor(1, 0), 3);
  expect_same(machine, read(machine_to_json(machine)));
}

TEST(MachineJson, errors_name_the_file_and_the_json_key_that_is_wrong) {
  const auto error_of = [](std::string_view text) -> std::string {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string head = R"({"poise_machine": 1, "levels": [{"name": "numa", "count": 2},
      {"name": "core", "count": 2}], )";
  const std::pair<std::string, const char*> cases[] = {
      {"", "file.json: invalid JSON"},
      {"{\"poise_machine\": 1,", "file.json: invalid JSON: syntax error at byte 21"},
      {"[1e999]", "file.json: invalid JSON"},
      {"[]", "the machine is not a JSON object"},
      {"{}", "lacks \"poise_machine\""},
      {R"({"poise_machine": 2})", "poise_machine must be 1"},
      {R"({"poise_machine": 1, "levels": []})", "levels is empty"},
      {R"({"poise_machine": 1, "levels": [{"name": "core", "count": 0}]})", "levels[0].count"},
      {R"({"poise_machine": 1, "levels": [{"name": "core", "count": 1e9}]})", "levels[0].count"},
      {R"({"poise_machine": 1, "levels": [{"name": "core", "count": -1}]})", "levels[0].count"},
      {R"({"poise_machine": 1, "levels": [{"name": "a", "count": 3}, {"name": "b", "count": [1, 2]}]})",
       "levels[1].count has 2 numbers, but 3 are needed"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2]]}})", "numa.latency_factor[1]"},
      {head + R"("numa": {"latency_factor": [[1, -2], [2, 1]]}})", "numa.latency_factor[0][1]"},
      {head + R"("numa": {"latency_factor": [[2, 2], [2, 1]]}})", "must be 1"},
      {head + R"("numa": {"latency_factor": [[1]]}})",
       "file.json: machine: node 0 has 2 memory domains"},
      {head + R"("num": 1})", "did you mean \"numa\""},
      {head + R"("domains": "l3"})", "domains is \"l3\""},
      {head + R"("domains": [3]})", "domains must list how many places"},
      {head + R"("summary": {"places": 5}})",
       "summary.places is 5, but the other JSON keys give 4 as the number of places"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "speeds": ["9 x 1"]})", "speeds[0]"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "speeds": 0})", "speed 0"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "network": {"shape": "torus"}})",
       "network lacks \"dims\""},
      {head +
           R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "network": {"shape": "torus", "dims": [0]}})",
       "the torus network has invalid dimensions"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]], "source": "guessed"}})",
       "numa.source"},
      {head + R"("numa": {"latency_factor": [[1, 2], [2, 1]]}, "os_index": [0, 1, 2, 1e12]})",
       "os_index"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(error_of(text).find(expected), std::string::npos) << text << "\n" << error_of(text);
}

TEST(MachineJson, json_text_that_is_cut_off_at_any_byte_is_refused) {
  const std::string json = machine_to_json(machine_from_text("torus:4x4 node:2 numa:2 core:2"));
  for (std::size_t length = 0; length + 2 < json.size(); ++length)
    EXPECT_THROW(read(json.substr(0, length)), Error) << length;
}

TEST(MachineJson, deep_nesting_is_an_error_not_a_crash) {
  EXPECT_THROW(read(std::string(200000, '[')), Error);
  EXPECT_THROW(read(std::string(200000, '[') + std::string(200000, ']')), Error);
}

}  // namespace
}  // namespace poise
