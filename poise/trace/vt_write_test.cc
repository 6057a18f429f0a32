// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/paths.h"
#include "tests/support/seeds.h"
#include "tests/support/test_folder.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/machine/text.h"
#include "poise/trace/brotli.h"
#include "poise/trace/trace_testing.h"
#include "poise/trace/vt.h"

namespace poise {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class VtWrite : public testing::Test {
 protected:
  json rank(int r) const {
    return json::parse(read_file(folder_ + "/out." + std::to_string(r) + ".json"));
  }
  Trace there_and_back(const Trace& trace, const std::string& ending = ".json") const {
    write_trace(trace, folder_ + "/out" + ending);
    return read_trace(folder_ + "/out");
  }

  const TestFolder test_folder_;
  const std::string folder_ = test_folder_.path();
};

TEST_F(VtWrite, everything_in_a_trace_except_the_machine_is_unchanged_after_writing_and_reading) {
  expect_same(there_and_back(full_trace()), full_trace());
}

TEST_F(VtWrite, a_trace_is_unchanged_after_writing_and_reading_files_compressed_with_brotli) {
  expect_same(there_and_back(full_trace(), ".json.br"), full_trace());
  EXPECT_TRUE(brotli_decompress(read_file(folder_ + "/out.0.json.br")).has_value());
}

TEST_F(VtWrite, a_phase_of_infinite_duration_is_refused) {
  Trace trace = full_trace();
  trace.phases[1].wall_s = std::numeric_limits<double>::infinity();
  try {
    write_trace(trace, folder_ + "/out.json");
    FAIL() << "the trace was written";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("phase 6: its time is inf s"));
  }
}

// Some brotli streams begin with bytes that look like a line of a CSV file.
TEST_F(VtWrite, a_file_compressed_with_brotli_is_recognised_even_if_its_first_bytes_look_like_csv) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Trace trace = random_trace(seed);
    trace.num_places = 1;
    trace.phases[0].placement = Placement(trace.phases[0].workload.num_tasks());
    write_trace(trace, folder_ + "/out.json.br");
    const Trace found = read_trace(folder_ + "/out.0.json.br");
    EXPECT_EQ(found.phases[0].workload.num_tasks(), trace.phases[0].workload.num_tasks());
  }
}

TEST_F(VtWrite, if_a_trace_has_no_home_ranks_each_task_gets_its_current_rank_as_home_rank) {
  for (std::uint64_t seed = 0; seed < num_seeds(50); ++seed) {
    SCOPED_TRACE(seed);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    Trace expected = random_trace(seed);
    const Trace found = there_and_back(expected);
    Phase& phase = expected.phases[0];
    const auto places = phase.placement.places();
    phase.workload.homes.assign(places.begin(), places.end());
    std::ranges::stable_sort(phase.workload.messages, {},
                             [](const Message& m) { return std::pair(m.from, m.to); });
    expect_same(found, expected);
  }
}

TEST_F(VtWrite, a_phase_with_a_single_optional_value_is_unchanged_after_writing_and_reading) {
  const auto expect_unchanged = [&](const auto& change) {
    Trace trace = random_trace(2);
    trace.phases[0].workload.messages.clear();
    trace.phases[0].workload.homes.assign(trace.phases[0].workload.num_tasks(), 0);
    change(trace.phases[0], trace.num_places);
    expect_same(there_and_back(trace), trace);
    return rank(0)["phases"][0].contains("user_defined");
  };
  using Places = std::uint32_t;
  EXPECT_FALSE(expect_unchanged([](Phase&, Places) {}));
  EXPECT_TRUE(expect_unchanged([](Phase& phase, Places) { phase.workload.overlap = 0.25; }));
  EXPECT_TRUE(expect_unchanged(
      [](Phase& phase, Places) { phase.workload.loads_include = LoadsInclude::send; }));
  EXPECT_TRUE(expect_unchanged([](Phase& phase, Places) { phase.wall_s = 3; }));
  EXPECT_TRUE(expect_unchanged(
      [](Phase& phase, Places places) { phase.workload.background_s.assign(places, 0.5); }));
  EXPECT_TRUE(expect_unchanged(
      [](Phase& phase, Places places) { phase.workload.place_bytes.assign(places, 7); }));
}

TEST_F(VtWrite, messages_between_tasks_and_ranks_are_unchanged_after_writing_and_reading) {
  Trace trace;
  trace.num_places = 2;
  Phase& phase = trace.phases.emplace_back();
  phase.workload.tasks = {{1, 0, true}, {0, 0, false}, {0, 0, false}};
  phase.workload.messages = {{0, 2, 1, 1}, {2, 0, 2, 2}, {2, 1, 3, 3}};
  phase.workload.homes = {0, 0, 1};
  phase.names = {{1, 0, {}, -1, TaskName::Kind::id},
                 {0, -1, {}, -1, TaskName::Kind::place},
                 {1, -1, {}, -1, TaskName::Kind::place}};
  phase.placement = Placement(std::vector<PlaceId>{0, 0, 1});
  expect_same(there_and_back(trace), trace);
  EXPECT_TRUE(rank(1)["phases"][0]["tasks"].empty());
  const auto type = [&](int r, int m) { return rank(r)["phases"][0]["communications"][m]["type"]; };
  EXPECT_EQ(type(0, 0), "CollectionToNode") << "from a task to a rank";
  EXPECT_EQ(type(1, 0), "NodeToCollection") << "from a rank to a task";
  EXPECT_EQ(type(1, 1), "CollectionToNode") << "from a rank to a rank";
}

TEST_F(VtWrite, collections_and_groups_of_objects_can_have_the_id_0) {
  Trace trace = full_trace();
  for (Phase& phase : trace.phases) {
    phase.names[0].object_group = 0;
    phase.names[1].collection = 0;
  }
  expect_same(there_and_back(trace), trace);
}

TEST_F(VtWrite, the_nodes_of_the_machine_are_unchanged_after_writing_and_reading) {
  Trace trace = random_trace(1);
  trace.machine = machine_from_text("node:" + std::to_string(trace.num_places) + " core:1");
  const Trace found = there_and_back(trace);
  ASSERT_TRUE(found.machine);
  EXPECT_EQ(found.machine->num_nodes(), trace.num_places);
  EXPECT_EQ(rank(0)["metadata"]["shared_node"]["size"], 1);
}

TEST_F(VtWrite, each_file_names_the_node_of_its_rank_if_the_machine_has_one_place_per_rank) {
  Trace trace;
  trace.num_places = 6;
  Phase& phase = trace.phases.emplace_back();
  phase.workload.tasks.resize(1);
  phase.placement = Placement(1);
  trace.machine = machine_from_text("node:2 core:3");
  write_trace(trace, folder_ + "/out.json");
  for (int r = 0; r < 6; ++r) {
    const json expected{{"id", r / 3}, {"size", 3}, {"rank", r % 3}, {"num_nodes", 2}};
    EXPECT_EQ(rank(r)["metadata"]["shared_node"], expected);
  }
  trace.machine = machine_from_text("node:4 core:3");
  write_trace(trace, folder_ + "/out.json");
  EXPECT_FALSE(rank(0)["metadata"].contains("shared_node"));
}

TEST_F(VtWrite, a_failed_write_leaves_no_partial_files_and_its_error_says_which_files_are_new) {
  std::filesystem::create_directories(folder_ + "/out.1.json/blocks");
  EXPECT_THAT([&] { write_trace(full_trace(), folder_ + "/out.json"); },
              testing::ThrowsMessage<Error>(
                  AllOf(HasSubstr("cannot write " + folder_ + "/out.1.json"),
                        HasSubstr("the files up to " + folder_ + "/out.0.json are new"))));
  std::filesystem::create_directories(folder_ + "/other.0.json/blocks");
  EXPECT_THAT([&] { write_trace(full_trace(), folder_ + "/other.json"); },
              testing::ThrowsMessage<Error>(HasSubstr("no file was changed")));
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

/// Checks the rules of vt's validator: every key has the right type, and times and bytes are
/// floats.
void expect_valid_entity(const json& entity) {
  EXPECT_TRUE(entity.at("type").is_string());
  EXPECT_TRUE(entity.at("home").is_number_integer());
  EXPECT_TRUE(entity.at("migratable").is_boolean());
  EXPECT_TRUE(entity.contains("id") || entity.contains("seq_id"));
  const bool needs_collection = entity["migratable"].get<bool>() && entity.contains("seq_id");
  EXPECT_TRUE(!needs_collection || entity.contains("collection_id"));
  for (const auto& [key, value] : entity.items()) {
    const bool is_integer = key == "id" || key == "seq_id" || key == "home" ||
                            key == "collection_id" || key == "objgroup_id";
    EXPECT_TRUE(is_integer || key == "index" || key == "type" || key == "migratable") << key;
    EXPECT_TRUE(!is_integer || value.is_number_integer()) << key;
  }
  for (const json& i : entity.value("index", json::array())) EXPECT_TRUE(i.is_number_integer());
}

void expect_valid_task(const json& task) {
  expect_valid_entity(task.at("entity"));
  EXPECT_TRUE(task.at("node").is_number_integer());
  EXPECT_TRUE(task.at("resource").is_string());
  EXPECT_TRUE(task.at("time").is_number_float()) << task;
  for (const json& subphase : task.value("subphases", json::array())) {
    EXPECT_TRUE(subphase.at("id").is_number_integer());
    EXPECT_TRUE(subphase.at("time").is_number_float());
  }
  const json user_defined = task.value("user_defined", json::object());
  for (const auto& [key, value] : user_defined.items())
    EXPECT_TRUE(value.is_number_float() != (key == "shared_id" || key == "home_rank")) << key;
}

TEST_F(VtWrite, the_files_pass_the_validator_of_vt) {
  Trace trace = full_trace();
  trace.phases[0].workload.tasks[1].load_s = 4e14;
  trace.phases[1].names.clear();
  write_trace(trace, folder_ + "/out", "vt");
  for (int r = 0; r < 3; ++r) {
    const json file = rank(r);
    EXPECT_EQ(file.at("type"), "LBDatafile");
    EXPECT_EQ(file.at("metadata").at("rank"), r);
    for (const json& phase : file.at("phases")) {
      EXPECT_TRUE(phase.at("id").is_number_integer());
      for (const json& task : phase.at("tasks")) expect_valid_task(task);
      for (const json& message : phase.at("communications")) {
        EXPECT_TRUE(message.at("type").is_string());
        EXPECT_TRUE(message.at("messages").is_number_integer());
        EXPECT_TRUE(message.at("bytes").is_number_float());
        expect_valid_entity(message.at("from"));
        expect_valid_entity(message.at("to"));
      }
    }
  }
}

TEST_F(VtWrite, refuses_to_write_if_files_of_another_trace_with_the_same_stem_would_remain) {
  write_file(folder_ + "/out.7.json", "{}");
  EXPECT_THAT([&] { write_trace(full_trace(), folder_ + "/out.json"); },
              testing::ThrowsMessage<Error>(HasSubstr("out.7.json belongs to another trace")));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/out.0.json"));
  std::filesystem::remove(folder_ + "/out.7.json");
  write_file(folder_ + "/out.3.json", "{}");
  EXPECT_THROW(write_trace(full_trace(), folder_ + "/out.json"), Error);
  std::filesystem::remove(folder_ + "/out.3.json");
  write_file(folder_ + "/out.2.json", "{}");
  write_file(folder_ + "/other.3.json", "{}");
  write_trace(full_trace(), folder_ + "/out.json");
  EXPECT_THROW(write_trace(full_trace(), folder_ + "/out.json.br"), Error);
}

TEST_F(VtWrite, a_trace_without_placement_is_refused) {
  Trace trace = random_trace(1);
  trace.phases[0].placement = Placement();
  EXPECT_THAT([&] { write_trace(trace, folder_ + "/out.json"); },
              testing::ThrowsMessage<Error>(HasSubstr("give a placement")));
}

TEST_F(VtWrite, real_traces_are_unchanged_after_writing_and_reading) {
  const std::string traces = std::string(POISE_TEST_DATA) + "/traces/";
  if (!std::filesystem::exists(traces)) GTEST_SKIP() << "no " << traces;
  for (const char* name :
       {"nolb-8color-16nodes-11firstphases", "synthetic-blocks/synthetic-dataset-blocks",
        "user-defined-memory-toy-problem/toy_mem"}) {
    SCOPED_TRACE(name);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    const Trace trace = read_trace(traces + name);
    const Trace once = there_and_back(trace);
    ASSERT_EQ(once.phases.size(), trace.phases.size());
    for (std::size_t i = 0; i < trace.phases.size(); ++i) {
      EXPECT_TRUE(once.phases[i].names == trace.phases[i].names);
      EXPECT_EQ(once.phases[i].placement, trace.phases[i].placement);
      EXPECT_EQ(once.phases[i].workload.messages.size(), trace.phases[i].workload.messages.size());
    }
    expect_same(there_and_back(once, ".json"), once);
  }
}

}  // namespace
}  // namespace poise
