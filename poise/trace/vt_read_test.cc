// SPDX-License-Identifier: BSD-3-Clause

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.h"
#include "tests/support/test_folder.h"
#include "tests/support/text_of_error.h"

#include "poise/base/file.h"
#include "poise/trace/brotli.h"
#include "poise/trace/vt.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns the trace that join() makes of these texts, the files of ranks 0, 1, and so on.
Trace join_texts(const std::vector<std::string>& texts) {
  std::vector<vt::RankFile> files;
  for (const std::string& text : texts) {
    const auto rank = static_cast<std::uint32_t>(files.size());
    files.push_back(vt::parse_rank_file("data." + std::to_string(rank) + ".json", rank, text));
  }
  return vt::join(std::move(files));
}

std::string error_of(const std::vector<std::string>& texts) {
  return text_of_error([&] { join_texts(texts); });
}

/// Returns the JSON of an object with these numbers as its id and its home.
std::string object(int id, int home, bool migratable = true) {
  return R"({"type":"object","id":)" + std::to_string(id) + R"(,"home":)" + std::to_string(home) +
         R"(,"migratable":)" + (migratable ? "true}" : "false}");
}

std::string task(const std::string& entity, double time_s, const std::string& more = "") {
  return R"({"entity":)" + entity + R"(,"node":0,"resource":"cpu","time":)" +
         std::to_string(time_s) + more + "}";
}

std::string message(const std::string& from, const std::string& to, int count, int bytes) {
  return R"({"type":"SendRecv","from":)" + from + R"(,"to":)" + to + R"(,"messages":)" +
         std::to_string(count) + R"(,"bytes":)" + std::to_string(bytes) + ".0}";
}

std::string phase(int id, const std::string& tasks, const std::string& communications = "") {
  return R"({"id":)" + std::to_string(id) + R"(,"tasks":[)" + tasks + R"(],"communications":[)" +
         communications + "]}";
}

std::string rank_file(const std::string& phases, const std::string& metadata = "") {
  return R"({"type":"LBDatafile",)" + metadata + R"("phases":[)" + phases + "]}";
}

TEST(VtRead, senders_and_receivers_are_found_in_the_files_of_other_ranks) {
  const Trace trace = join_texts(
      {rank_file(phase(3, task(object(20, 0), 0.5), message(object(10, 1), object(20, 0), 7, 96))),
       rank_file(phase(3, task(object(10, 1), 0.25) + "," + task(object(30, 0, false), 1)))});
  ASSERT_EQ(trace.phases.size(), 1u);
  const Phase& only = trace.phases[0];
  EXPECT_EQ(trace.num_places, 2u);
  EXPECT_EQ(only.id, 3u);
  ASSERT_EQ(only.workload.num_tasks(), 3u);
  EXPECT_EQ(only.workload.tasks[0].load_s, 0.25);
  EXPECT_EQ(only.workload.tasks[1].load_s, 0.5);
  EXPECT_FALSE(only.workload.tasks[2].movable);
  EXPECT_THAT(only.placement.places(), ElementsAre(1, 0, 1));
  EXPECT_THAT(only.workload.homes, ElementsAre(1, 0, 0));
  ASSERT_EQ(only.workload.messages.size(), 1u);
  EXPECT_EQ(only.workload.messages[0].from, 0u);
  EXPECT_EQ(only.workload.messages[0].to, 1u);
  EXPECT_EQ(only.workload.messages[0].count, 7u);
  EXPECT_EQ(only.workload.messages[0].bytes, 96u);
}

TEST(VtRead, a_task_keeps_its_number_when_it_moves_to_another_rank) {
  const std::string a = task(object(5, 0), 1), b = task(object(6, 1), 2);
  const Trace trace = join_texts(
      {rank_file(phase(0, a) + "," + phase(1, b)), rank_file(phase(0, b) + "," + phase(1, a))});
  for (const Phase& each : trace.phases) EXPECT_EQ(each.workload.tasks[0].load_s, 1);
  EXPECT_THAT(trace.phases[0].placement.places(), ElementsAre(0, 1));
  EXPECT_THAT(trace.phases[1].placement.places(), ElementsAre(1, 0));
}

TEST(VtRead, tasks_with_the_same_seq_id_are_distinct_if_their_home_ranks_differ) {
  const auto entity = [](int home) {
    return R"({"type":"object","seq_id":4,"collection_id":7,"migratable":true,"home":)" +
           std::to_string(home) + "}";
  };
  const Trace trace =
      join_texts({rank_file(phase(0, task(entity(0), 1), message(entity(1), entity(0), 1, 8))),
                  rank_file(phase(0, task(entity(1), 2)))});
  const Workload& workload = trace.phases[0].workload;
  EXPECT_EQ(workload.messages[0].from, 1u);
  EXPECT_EQ(workload.messages[0].to, 0u);
  EXPECT_EQ(trace.phases[0].names[1].collection, 7);
  EXPECT_EQ(trace.phases[0].names[1].kind, TaskName::Kind::sequence);
}

TEST(VtRead, reads_the_sizes_and_footprints_and_shared_blocks_of_tasks_from_user_defined_data) {
  const std::string user = R"(,"user_defined":{"task_serialized_bytes":1024.0,"shared_id":9,)"
                           R"("shared_bytes":1e9,"task_footprint_bytes":2048.0,"home_rank":0,)"
                           R"("task_working_bytes":64.0,"rank_working_bytes":5e8}})";
  const std::string with = task(object(1, 0), 1).substr(0, task(object(1, 0), 1).size() - 1) + user;
  const Trace trace = join_texts({rank_file(phase(0, with + "," + task(object(2, 0), 1)))});
  const Workload& workload = trace.phases[0].workload;
  EXPECT_EQ(workload.tasks[0].bytes, 1024u);
  ASSERT_EQ(workload.memory.size(), 2u);
  EXPECT_EQ(workload.memory[0].footprint_bytes, 2048u);
  EXPECT_EQ(workload.memory[0].working_bytes, 64u);
  EXPECT_EQ(workload.memory[0].shared_block, 0);
  EXPECT_EQ(workload.memory[1].shared_block, -1);
  EXPECT_THAT(workload.shared_block_bytes, ElementsAre(1'000'000'000u));
  EXPECT_THAT(workload.place_bytes, ElementsAre(500'000'000u));
}

std::string with_data(int id, const std::string& fields) {
  return task(object(id, 0), 1, R"(,"user_defined":{)" + fields + "}");
}

TEST(VtRead,
     shared_blocks_are_numbered_in_the_order_of_their_ids_and_a_block_with_two_sizes_is_refused) {
  const auto block = [](int id, int bytes) {
    return R"("shared_id":)" + std::to_string(id) + R"(,"shared_bytes":)" + std::to_string(bytes);
  };
  const std::string first = phase(0, with_data(1, block(9, 90)) + "," + with_data(2, block(3, 30))),
                    second = phase(0, with_data(3, block(9, 90)) + "," + with_data(4, ""));
  const Workload workload = join_texts({rank_file(first), rank_file(second)}).phases.at(0).workload;
  EXPECT_THAT(workload.shared_block_bytes, ElementsAre(30u, 90u));
  std::vector<std::int32_t> blocks;
  for (const TaskMemory& memory : workload.memory) blocks.push_back(memory.shared_block);
  EXPECT_THAT(blocks, ElementsAre(1, 0, 1, -1));
  const Workload only =
      join_texts({rank_file(phase(0, with_data(1, R"("shared_id":0)")))}).phases.at(0).workload;
  ASSERT_EQ(only.memory.size(), 1u);
  EXPECT_EQ(only.memory[0].shared_block, 0);
  EXPECT_THAT(only.shared_block_bytes, ElementsAre(0u));
  EXPECT_THAT(error_of({rank_file(first), rank_file(phase(0, with_data(3, block(9, 91))))}),
              HasSubstr("data.1.json: phase 0: shared block 9 has 91 bytes according to one task, "
                        "but 90 bytes"));
}

TEST(VtRead, a_task_without_a_position_or_subphases_or_a_home_rank_gets_default_values) {
  const std::string homeless = R"({"type":"object","id":7,"migratable":true})";
  const Trace trace = join_texts(
      {rank_file(phase(0, with_data(1, R"("position_y":2.5,"position_z":-3,"position_w":9)"))),
       rank_file(phase(0, task(object(4, 0), 1, R"(,"subphases":[{"time":1.5},{"time":0}])") + "," +
                              task(homeless, 2) + "," + with_data(9, R"("home_rank":1)")))});
  const Workload& workload = trace.phases.at(0).workload;
  using Point = std::array<double, 3>;
  EXPECT_THAT(workload.positions, ElementsAre(Point{0, 2.5, -3}, Point{}, Point{}, Point{}));
  using Loads = std::vector<double>;
  EXPECT_THAT(workload.subphase_load_s, ElementsAre(Loads{}, Loads{1.5, 0}, Loads{}, Loads{}));
  EXPECT_THAT(workload.homes, ElementsAre(0u, 0u, 1u, 1u));
  const Trace without = join_texts({rank_file(phase(0, task(homeless, 1)))});
  EXPECT_TRUE(without.phases[0].workload.homes.empty());
  EXPECT_TRUE(without.phases[0].workload.memory.empty());
  EXPECT_TRUE(without.phases[0].workload.positions.empty());
}

TEST(VtRead,
     takes_the_largest_time_and_the_largest_overlap_of_all_ranks_and_every_background_load) {
  const auto file = [](int id, const std::string& fields) {
    std::string text = phase(0, task(object(id, 0), 1));
    text.pop_back();
    return rank_file(text + R"(,"user_defined":{)" + fields + "}}");
  };
  const Phase only =
      join_texts({file(1, R"("wall_s":2,"loads_include":1,"overlap":0.5,"background_s":0.125)"),
                  file(2, R"("wall_s":3,"loads_include":2,"overlap":0.25)"),
                  file(3, R"("rank_working_bytes":7.6)")})
          .phases.at(0);
  EXPECT_EQ(only.wall_s, 3);
  EXPECT_EQ(only.workload.loads_include, LoadsInclude::send_and_receive);
  EXPECT_EQ(only.workload.overlap, 0.5);
  EXPECT_THAT(only.workload.background_s, ElementsAre(0.125, 0, 0));
  EXPECT_THAT(only.workload.place_bytes, ElementsAre(0u, 0u, 8u));
  EXPECT_THAT(error_of({file(1, R"("loads_include":3)")}), HasSubstr("it must be 0, 1 or 2"));
}

TEST(VtRead, tasks_that_no_rank_lists_are_identified_by_their_id_or_by_their_seq_id_and_home_rank) {
  const auto sequence = [](int id, int home) {
    return R"({"type":"object","seq_id":)" + std::to_string(id) + R"(,"home":)" +
           std::to_string(home) + R"(,"migratable":false})";
  };
  const std::string own = object(1, 0);
  std::string messages;
  for (const std::string& to :
       {object(7, 1, false), object(7, 0, false), sequence(4, 1), sequence(4, 0), sequence(4, 1),
        std::string(R"({"type":"node","id":1})")})
    messages += (messages.empty() ? "" : ",") + message(own, to, 1, 8);
  const Trace trace =
      join_texts({rank_file(phase(0, task(own, 1), messages)), rank_file(phase(0, ""))});
  const Phase& only = trace.phases.at(0);
  std::vector<std::uint64_t> ids;
  for (const TaskName& name : only.names) ids.push_back(name.id);
  EXPECT_THAT(ids, ElementsAre(1u, 7u, 4u, 4u, 1u));
  EXPECT_THAT(only.placement.places(), ElementsAre(0, 1, 0, 1, 1));
  std::vector<TaskId> receivers;
  for (const Message& each : only.workload.messages) receivers.push_back(each.to);
  EXPECT_THAT(receivers, ElementsAre(1u, 1u, 2u, 3u, 3u, 4u));
  EXPECT_THAT(error_of({rank_file(phase(0, task(own, 1), message(own, sequence(4, 1), 1, 8)))}),
              HasSubstr("the receiver of a message is the task with seq_id 4 of home 1, which "
                        "no rank lists; the home of such an object must be a rank from 0 to 0, "
                        "but it is 1"));
}

TEST(VtRead,
     a_message_to_a_seq_id_with_the_wrong_home_is_refused_if_several_homes_use_this_seq_id) {
  const auto entity = [](int id, const std::string& home) {
    return R"({"type":"object","seq_id":)" + std::to_string(id) + home + R"(,"migratable":true})";
  };
  const std::string first = entity(4, R"(,"home":0)"), second = entity(4, R"(,"home":1)"),
                    last = entity(5, R"(,"home":0)"), wrong = entity(4, R"(,"home":2)"),
                    beyond = entity(5, R"(,"home":1)"), unknown = entity(4, "");
  const std::string other = rank_file(phase(0, task(second, 1)));
  const auto told = [&](const std::string& to) {
    return error_of(
        {rank_file(phase(0, task(first, 1) + "," + task(last, 1), message(last, to, 1, 8))),
         other});
  };
  EXPECT_EQ(told(first), "no error");
  EXPECT_EQ(told(second), "no error");
  EXPECT_EQ(told(beyond), "no error") << "only one task has this seq_id";
  EXPECT_THAT(told(wrong), HasSubstr("the receiver of a message is the task with seq_id 4 of home "
                                     "2; several tasks have this seq_id"));
  EXPECT_THAT(told(unknown), HasSubstr("the task with seq_id 4; several tasks have this seq_id"));
}

TEST(VtRead,
     only_a_pinned_object_with_id_0_and_no_collection_stands_for_the_work_of_a_rank_outside_tasks) {
  const auto count = [](const std::string& entity) {
    return join_texts({rank_file(phase(0, task(object(1, 0), 1) + "," + task(entity, 0.5)))})
        .phases.at(0)
        .workload.num_tasks();
  };
  const auto with = [](const std::string& fields) {
    return R"({"type":"object","home":0,)" + fields + "}";
  };
  EXPECT_EQ(count(with(R"("id":0,"migratable":false)")), 1u);
  EXPECT_EQ(count(with(R"("id":0,"migratable":true)")), 2u);
  EXPECT_EQ(count(with(R"("id":2,"migratable":false)")), 2u);
  EXPECT_EQ(count(with(R"("seq_id":0,"migratable":false)")), 2u);
  EXPECT_EQ(count(with(R"("id":0,"migratable":false,"collection_id":0)")), 2u);
  EXPECT_EQ(count(with(R"("id":0,"migratable":false,"objgroup_id":0)")), 2u);
}

TEST(VtRead,
     messages_of_kinds_that_vt_does_not_support_are_skipped_and_incomplete_messages_refused) {
  const auto with = [](const std::string& fields) {
    return std::vector{rank_file(phase(0, task(object(1, 0), 1), "{" + fields + "}"))};
  };
  const std::string from = R"("from":)" + object(1, 0), to = R"("to":)" + object(1, 0);
  EXPECT_TRUE(join_texts(with(R"("bytes":8.0,"messages":1)")).phases[0].workload.messages.empty());
  EXPECT_THAT(error_of(with(R"("type":"SendRecv")")), HasSubstr("it has no \"from\""));
  EXPECT_THAT(error_of(with(to)), HasSubstr("it has no \"from\""));
  EXPECT_THAT(error_of(with(from)), HasSubstr("it has no \"to\""));
  EXPECT_THAT(error_of(with(from + "," + to)), HasSubstr("it has no \"messages\""));
  EXPECT_THAT(error_of(with(from + "," + to + R"(,"messages":1)")),
              HasSubstr("it has no \"bytes\""));
}

TEST(VtRead, sizes_and_ranks_that_are_out_of_range_are_refused) {
  const auto with = [](const std::string& data) {
    return error_of({rank_file(phase(0, with_data(1, data)))});
  };
  EXPECT_EQ(with(R"("task_serialized_bytes":4503599627370496)"), "no error");
  EXPECT_THAT(with(R"("task_serialized_bytes":-1)"), HasSubstr("it must be from 0 to 2^63 bytes"));
  EXPECT_THAT(with(R"("task_serialized_bytes":1e19)"), HasSubstr("must be from 0 to 2^63 bytes"));
  EXPECT_THAT(with(R"("position_x":"a")"), HasSubstr("\"position_x\" is not a number"));
  EXPECT_THAT(with(R"("home_rank":4294967296)"), HasSubstr("\"home_rank\" is not a rank"));
  EXPECT_THAT(with(R"("home_rank":-1)"), HasSubstr("is not an integer of at least 0"));
  const auto receiver = [](const std::string& to) {
    return error_of({rank_file(phase(0, task(object(1, 0), 1), message(object(1, 0), to, 1, 1)))});
  };
  EXPECT_THAT(receiver(R"({"type":"node","seq_id":0})"), HasSubstr("a node without a rank"));
  EXPECT_THAT(receiver(R"({"type":"node","id":4294967296})"), HasSubstr("a node without a rank"));
  EXPECT_THAT(receiver(R"({"type":"rank","id":0})"), HasSubstr("neither object nor node"));
  EXPECT_THAT(error_of({rank_file(phase(0, task(R"({"type":"node","id":0})", 1)))}),
              HasSubstr("a node is listed as a task"));
}

TEST(VtRead, reads_the_load_of_each_task_in_each_subphase) {
  const Trace trace = join_texts({rank_file(phase(
      0, task(object(1, 0), 3, R"(,"subphases":[{"id":0,"time":1.0},{"id":1,"time":2.0}])")))});
  EXPECT_THAT(trace.phases[0].workload.subphase_load_s, ElementsAre(ElementsAre(1, 2)));
}

TEST(VtRead, a_pinned_receiver_that_no_rank_lists_becomes_a_task_without_load) {
  const Trace trace = join_texts(
      {rank_file(phase(0, task(object(1, 0), 1), message(object(1, 0), object(4, 1, false), 1, 8))),
       rank_file(phase(0, ""))});
  const Workload& workload = trace.phases[0].workload;
  ASSERT_EQ(workload.num_tasks(), 2u);
  EXPECT_EQ(workload.tasks[1].load_s, 0);
  EXPECT_FALSE(workload.tasks[1].movable);
  EXPECT_EQ(trace.phases[0].placement.of(1), 1u);
}

TEST(VtRead, messages_sent_outside_of_any_task_come_from_a_pinned_task_of_the_rank) {
  const std::string node = R"({"type":"node","id":0})";
  const std::string nobody = object(0, 0, false);
  const Trace trace =
      join_texts({rank_file(phase(0, task(object(1, 0), 1) + "," + task(nobody, 0),
                                  message(node, object(1, 0), 2, 8))),
                  rank_file(phase(0, task(nobody, 0.5), message(nobody, object(1, 0), 3, 16)))});
  const Phase& only = trace.phases[0];
  ASSERT_EQ(only.workload.num_tasks(), 3u);
  EXPECT_EQ(only.names[1].kind, TaskName::Kind::place);
  EXPECT_THAT(only.placement.places(), ElementsAre(0, 0, 1));
  EXPECT_EQ(only.workload.messages[0].from, 1u);
  EXPECT_EQ(only.workload.messages[1].from, 2u);
  EXPECT_THAT(only.workload.background_s, ElementsAre(0, 0.5));
}

TEST(VtRead, phases_listed_as_identical_to_the_previous_phase_become_copies_of_it) {
  const std::string metadata = R"("metadata":{"type":"LBDatafile","rank":0,"phases":{"count":6,)"
                               R"("skipped":{"list":[3],"range":[]},)"
                               R"("identical_to_previous":{"list":[5],"range":[[1,2]]}}},)";
  const Trace trace = join_texts({rank_file(
      phase(0, task(object(1, 0), 1)) + "," + phase(4, task(object(1, 0), 9)), metadata)});
  std::vector<std::uint64_t> ids;
  std::vector<double> loads_s;
  for (const Phase& each : trace.phases) {
    ids.push_back(each.id);
    loads_s.push_back(each.workload.tasks[0].load_s);
  }
  EXPECT_THAT(ids, ElementsAre(0, 1, 2, 4, 5));
  EXPECT_THAT(loads_s, ElementsAre(1, 1, 1, 9, 9));
}

TEST(VtRead, repeated_phases_are_refused_if_all_copies_together_exceed_the_size_limit) {
  // A copy of an empty phase of one rank has the size 65 (see size_of() in vt_join.cc), so 258111
  // copies have the size 2^24 - 1.
  const auto repeated = [](int times) {
    const std::string last = phase(times + 1, task(object(1, 0), 1) + "," + task(object(2, 0), 1),
                                   message(object(1, 0), object(2, 0), 1, 1) + "," +
                                       message(object(2, 0), object(1, 0), 1, 1));
    return rank_file(phase(0, "") + "," + last,
                     R"("metadata":{"phases":{"identical_to_previous":{"range":[[1,)" +
                         std::to_string(times) + "]]}}},");
  };
  EXPECT_EQ(join_texts({repeated(258'111)}).phases.size(), 1u);
  EXPECT_THAT(error_of({repeated(258'112)}),
              HasSubstr("data.0.json: phase 258113: \"identical_to_previous\" repeats phases so"));
}

TEST(VtRead, a_rank_without_any_phase_counts_as_a_rank_without_tasks) {
  const Trace trace = join_texts({rank_file(phase(0, task(object(1, 0), 1))), rank_file("")});
  EXPECT_EQ(trace.num_places, 2u);
  EXPECT_EQ(trace.phases[0].workload.num_tasks(), 1u);
}

TEST(VtRead, brotli_is_recognised_by_its_content) {
  const std::string text = rank_file(phase(0, task(object(1, 0), 1)));
  EXPECT_EQ(join_texts({brotli_compress(text)}).phases[0].workload.num_tasks(), 1u);
  const std::string stream = brotli_compress(text);
  EXPECT_THAT(error_of({stream.substr(0, stream.size() / 2)}), HasSubstr("it is damaged"));
  EXPECT_THAT(error_of({stream + "x"}), HasSubstr("it is damaged"));
}

TEST(VtRead, a_byte_order_mark_before_the_json_is_ignored) {
  const Trace trace = join_texts({"\xEF\xBB\xBF" + rank_file(phase(0, task(object(1, 0), 1)))});
  EXPECT_EQ(trace.phases[0].workload.num_tasks(), 1u);
}

TEST(VtRead, a_brotli_stream_that_expands_too_much_is_refused) {
  std::string stream = brotli_compress(std::string(std::size_t{32} << 20, ' '));
  ASSERT_LT(stream.size(), 1000u);
  EXPECT_EQ(brotli_decompress(stream), std::nullopt);
}

TEST(VtRead, phases_in_which_no_rank_has_tasks_are_left_out) {
  const Trace trace = join_texts(
      {rank_file(phase(0, "") + "," + phase(1, task(object(1, 0), 1)) + "," + phase(2, ""))});
  ASSERT_EQ(trace.phases.size(), 1u);
  EXPECT_EQ(trace.phases[0].id, 1u);
}

TEST(VtRead, errors_name_the_file_and_the_phase) {
  const std::string ok = task(object(1, 0), 1);
  const auto in_tasks = [](const std::string& tasks) {
    return error_of({rank_file(phase(8, tasks))});
  };
  EXPECT_THAT(
      in_tasks(ok + "," + ok),
      HasSubstr("data.0.json: phase 8: there is a second entry for the task with id 1; the first "
                "entry is in data.0.json"));
  EXPECT_THAT(in_tasks(task(object(1, 0), -1)), HasSubstr("phase 8: task 0: \"time\" is -1"));
  EXPECT_THAT(in_tasks(R"({"time":1.0})"), HasSubstr("phase 8: task 0: it has no \"entity\""));
  EXPECT_THAT(in_tasks(R"({"entity":)" + object(1, 0) + "}"), HasSubstr("no \"time\""));
  EXPECT_THAT(in_tasks(R"({"time":"1","entity":)" + object(1, 0) + "}"),
              HasSubstr("\"time\" is not a number"));
  EXPECT_THAT(in_tasks(task(object(1, 9), 1)),
              HasSubstr("the home of the task with id 1 is rank 9, but there are 1 ranks"));
  EXPECT_THAT(in_tasks(task(R"({"type":"object","migratable":true})", 1)),
              HasSubstr("neither \"id\" nor \"seq_id\""));
  EXPECT_THAT(in_tasks(task(object(1, 0), 1, R"(,"subphases":[{"id":1,"time":1.0}])")),
              HasSubstr("subphase 1 is out of order; 0 is expected"));
  EXPECT_THAT(in_tasks(""), HasSubstr("data.0.json: no phase of the trace has tasks"));
  EXPECT_THAT(
      error_of({rank_file(phase(8, ok, message(object(1, 0), object(2, 0), 1, 1)))}),
      HasSubstr("phase 8: the receiver of a message is the task with id 2, but no rank lists"));
  EXPECT_THAT(error_of({rank_file(phase(8, ok, message(object(2, 0), object(1, 0), 1, 1)))}),
              HasSubstr("the sender of a message is the task with id 2"));
  EXPECT_THAT(error_of({rank_file(phase(8, ok, message(object(1, 0), object(1, 0), -1, 1)))}),
              HasSubstr("communication 0: \"messages\" is not an integer of at least 0"));
  EXPECT_THAT(
      error_of({rank_file(phase(8, ok, message(object(1, 0), R"({"type":"node","id":1})", 1, 1)))}),
      HasSubstr("the home of such an object must be a rank from 0 to 0, but it is 1"));
  EXPECT_THAT(error_of({rank_file(phase(8, ok) + "," + phase(8, ok))}), HasSubstr("twice"));
  EXPECT_THAT(error_of({rank_file(phase(0, ok) + "," + phase(1, ok)),
                        rank_file(phase(0, task(object(2, 0), 1)))}),
              HasSubstr("data.1.json: phase 1 is missing"));
}

TEST(VtRead, errors_name_the_file_that_has_no_phases_or_invalid_json_or_invalid_metadata) {
  EXPECT_THAT(error_of({"{\"phases\":[\n{\"id\":0,}]}"}),
              HasSubstr("data.0.json: invalid JSON: syntax error at byte 21"));
  EXPECT_THAT(error_of({R"({"phases":[{"id":1e999}]})"}),
              HasSubstr("data.0.json: invalid JSON: a number is out of range"));
  EXPECT_THAT(error_of({"[]"}), HasSubstr("data.0.json: "));
  EXPECT_THAT(error_of({"# from to"}), HasSubstr("none of the formats"));
  EXPECT_THAT(error_of({"\x1F\x8B\x08"}), HasSubstr("compressed by gzip"));
  EXPECT_THAT(error_of({"{}"}), HasSubstr("no \"phases\""));
  EXPECT_THAT(error_of({R"({"phases":7})"}), HasSubstr("\"phases\" is not an array"));
  EXPECT_THAT(error_of({R"({"type":"LBStatsfile","phases":[]})"}), HasSubstr("LBStatsfile"));
  EXPECT_THAT(error_of({rank_file("", R"("metadata":{"rank":3},)")}), HasSubstr("give rank 3"));
  EXPECT_THAT(error_of({rank_file("")}), HasSubstr("no phases"));
  const auto repeating = [](const std::string& identical) {
    return rank_file(phase(0, task(object(1, 0), 1)),
                     R"("metadata":{"phases":{"identical_to_previous":{)" + identical + "}}},");
  };
  EXPECT_THAT(error_of({repeating(R"("range":[[1,18446744073709551615]])")}), HasSubstr("range"));
  EXPECT_THAT(error_of({repeating(R"("range":[[1,400000000000]])")}), HasSubstr("range"));
  EXPECT_THAT(error_of({repeating(R"("range":[[1]])")}), HasSubstr("two numbers"));
  EXPECT_THAT(error_of({repeating(R"("range":[[3,2]])")}), HasSubstr("has the range 3 to 2"));
  EXPECT_THAT(error_of({repeating(R"("range":[[1,262145]])")}), HasSubstr("the range 1 to 262145"));
  EXPECT_THAT(error_of({repeating(R"("range":[[1,131072],[131073,262145]])")}),
              HasSubstr("has more than 262144 phases"));
  EXPECT_THAT(error_of({repeating(R"("list":[18446744073709551615])")}), HasSubstr("range"));
  EXPECT_THAT(
      error_of({rank_file(phase(4, task(object(1, 0), 1)),
                          R"("metadata":{"phases":{"identical_to_previous":{"list":[3]}}},)")}),
      HasSubstr("phase 3 is identical to the one before, but there is none"));
  EXPECT_EQ(join_texts({repeating(R"("list":[0,2])")}).phases.size(), 2u);
  EXPECT_THAT(error_of({rank_file("", R"("metadata":{"type":"Other"},)")}),
              HasSubstr("its type is \"Other\""));
}

class VtFiles : public testing::Test {
 protected:
  void add(const std::string& name, int id = 0) {
    write_file(folder_ + "/" + name, rank_file(phase(0, task(object(id, 0), 1))));
  }
  std::string error_of_reading(const std::string& name) {
    return text_of_error([&] { read_trace(folder_ + "/" + name); });
  }
  const TestFolder test_folder_;
  const std::string folder_ = test_folder_.path();
};

TEST_F(VtFiles, the_folder_or_the_common_stem_or_any_one_file_selects_the_whole_trace) {
  add("data.0.json", 1);
  add("data.1.json.br", 2);
  add("unrelated.txt", 3);
  for (const char* name : {"", "/data", "/data.0.json", "/data.1.json.br"})
    EXPECT_EQ(read_trace(folder_ + name).num_places, 2u) << name;
}

TEST_F(VtFiles, files_whose_names_do_not_consist_of_a_stem_and_a_rank_are_ignored) {
  add("data.0.json", 1);
  for (const char* name : {"data.json", ".5.json", "other.x.json", "other.4294967295.json",
                           "other.-1.json", "other.3.jsonx", "json", ".json", "7.json"})
    add(name, 2);
  EXPECT_EQ(read_trace(folder_).num_places, 1u);
  EXPECT_EQ(read_trace(folder_ + "/7.json").phases[0].names[0].id, 2u);
  add("other.1.json.br", 2);
  EXPECT_THAT(error_of_reading(""), HasSubstr("the folder has 2 series"));
}

TEST_F(VtFiles, if_a_rank_has_no_file_the_error_names_the_missing_file) {
  add("data.0.json", 1);
  add("data.2.json", 2);
  EXPECT_THAT(error_of_reading(""),
              HasSubstr("data.1.json is missing, although there is a file for rank 2"));
}

TEST_F(VtFiles, if_a_rank_has_two_files_the_error_names_both_files) {
  add("data.0.json", 1);
  add("data.0.json.br", 1);
  EXPECT_THAT(error_of_reading(""), HasSubstr("are both for rank 0"));
}

TEST_F(VtFiles, a_folder_with_two_series_of_files_is_refused_and_the_error_asks_to_choose_one) {
  add("a.0.json", 1);
  add("b.0.json", 2);
  EXPECT_THAT(error_of_reading(""), HasSubstr("give the path of one series, for example"));
  EXPECT_EQ(read_trace(folder_ + "/b").num_places, 1u);
}

TEST_F(VtFiles, an_empty_folder_is_refused) {
  EXPECT_THAT(error_of_reading(""), HasSubstr("no vt LBDatafiles"));
}

std::string real_trace(const std::string& name) {
  return std::string(POISE_TEST_DATA) + "/traces/" + name;
}

/// Returns rank files whose metadata name these nodes.
std::vector<std::string> files_on(const std::vector<int>& nodes) {
  std::vector<std::string> texts;
  for (const int node : nodes)
    texts.push_back(rank_file(
        phase(0, task(object(static_cast<int>(texts.size()), 0), 1)),
        R"("metadata":{"shared_node":{"id":)" + std::to_string(node) + R"(,"size":2}},)"));
  return texts;
}

TEST(VtRead, builds_a_machine_if_the_files_name_the_node_of_each_rank) {
  const Trace trace = join_texts(files_on({7, 7, 3, 3, 5, 5}));
  ASSERT_TRUE(trace.machine);
  EXPECT_EQ(trace.machine->num_nodes(), 3u);
  EXPECT_EQ(trace.machine->node_of_place(3), 1u);
  EXPECT_EQ(trace.machine->num_places(), 6u);
}

TEST(VtRead, builds_no_machine_unless_all_nodes_have_the_same_number_of_consecutive_ranks) {
  for (const std::vector<int>& nodes :
       {std::vector{0, 1, 0, 1}, {0, 0, 1}, {0, 1, 1}, {0, 0, 1, 1, 1}})
    EXPECT_FALSE(join_texts(files_on(nodes)).machine);
  std::vector<std::string> texts = files_on({0, 1});
  texts[1] = rank_file(phase(0, task(object(1, 0), 1)));
  EXPECT_FALSE(join_texts(texts).machine) << "a rank does not name its node";
}

TEST(VtRealFiles, reads_the_brotli_files_of_a_run_on_16_nodes) {
  const std::string path = real_trace("nolb-8color-16nodes-11firstphases");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  const Trace trace = read_trace(path);
  EXPECT_EQ(trace.num_places, 32u);
  ASSERT_EQ(trace.phases.size(), 11u);
  std::size_t num_messages = 0, num_tasks = 0;
  for (const Phase& each : trace.phases) {
    num_messages += each.workload.messages.size();
    for (const TaskName& name : each.names) num_tasks += name.kind == TaskName::Kind::id;
  }
  // An independent script counted these numbers in the same files.
  EXPECT_EQ(num_messages, 15238u);
  EXPECT_EQ(num_tasks, 5280u);
}

TEST(VtRealFiles, reads_the_memory_sizes_of_tasks_and_ranks_in_a_published_example) {
  const std::string path = real_trace("user-defined-memory-toy-problem/toy_mem");
  if (!std::filesystem::exists(path + ".0.json")) GTEST_SKIP() << "no " << path;
  const Workload workload = read_trace(path).phases[0].workload;
  EXPECT_EQ(workload.num_tasks(), 32u);
  EXPECT_EQ(workload.shared_block_bytes.size(), 12u);
  EXPECT_THAT(workload.place_bytes,
              ElementsAre(980'000'000u, 980'000'000u, 980'000'000u, 980'000'000u));
}

}  // namespace
}  // namespace poise
