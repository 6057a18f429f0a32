// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/native.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/seeds.h"
#include "tests/support/test_folder.h"
#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/base/file.h"
#include "poise/base/random.h"
#include "poise/trace/crc32.h"
#include "poise/trace/trace_testing.h"

namespace poise {
namespace {

using testing::HasSubstr;

std::string error_of_reading(const std::string& bytes) {
  return text_of_error([&] { native::read("t.poise", bytes); });
}

TEST(Crc32, gives_the_same_checksum_as_zlib) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926u);
  EXPECT_EQ(crc32("6789", crc32("12345")), 0xCBF43926u);
  EXPECT_EQ(crc32(""), 0u);
}

TEST(Native, a_trace_with_all_kinds_of_data_is_unchanged_after_writing_and_reading) {
  Trace trace = full_trace();
  trace.phases[0].workload.loads_include = LoadsInclude::send_and_receive;
  trace.phases[0].workload.overlap = 0.25;
  expect_same(native::read("t.poise", native::write(trace)), trace);
}

TEST(Native, a_trace_with_a_single_task_is_unchanged_after_writing_and_reading) {
  Trace trace;
  trace.num_places = 1;
  Phase& phase = trace.phases.emplace_back();
  phase.workload.tasks.push_back({1});
  phase.placement = Placement(1);
  expect_same(native::read("t.poise", native::write(trace)), trace);
}

TEST(Native,
     a_trace_whose_column_entries_take_the_fewest_bytes_is_unchanged_after_writing_and_reading) {
  Trace trace;
  trace.num_places = 2;
  Phase& phase = trace.phases.emplace_back();
  phase.id = 3;
  Workload& workload = phase.workload;
  workload.tasks.resize(9);
  for (TaskId t = 0; t < 9; ++t) workload.tasks[t].movable = t % 3 > 0;
  workload.messages = {{0, 1, 2, 3}};
  workload.background_s = {0, 1};
  workload.positions.resize(9);
  workload.homes.assign(9, 1);
  workload.memory.resize(9);
  workload.shared_block_bytes = {5};
  workload.place_bytes = {6, 7};
  workload.subphase_load_s.resize(9);
  phase.names.resize(9);
  phase.placement = Placement(TaskId{9}, 1);
  expect_same(native::read("t.poise", native::write(trace)), trace);
}

TEST(Native, attachments_of_a_file_can_be_read_and_do_not_change_its_trace) {
  const Trace trace = full_trace();
  const std::string bytes =
      native::write(trace, {{"abcd", "first"}, {"prof", std::string("a\0b", 3)}});
  expect_same(native::read("t.poise", bytes), trace);
  EXPECT_EQ(native::attachment("t.poise", bytes, "prof"), std::string("a\0b", 3));
  EXPECT_EQ(native::attachment("t.poise", bytes, "abcd"), "first");
  EXPECT_EQ(native::attachment("t.poise", bytes, "none"), std::nullopt);
}

TEST(Native, refuses_every_truncated_file_and_gives_the_byte_offset_of_the_error) {
  const std::string bytes = native::write(full_trace());
  EXPECT_THAT(error_of_reading(""), HasSubstr("t.poise: the file is empty"));
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_THAT(error_of_reading(bytes.substr(0, size)), HasSubstr("t.poise: byte ")) << size;
}

TEST(Native, refuses_every_file_with_a_changed_byte_and_gives_the_byte_offset_of_the_error) {
  const std::string bytes = native::write(full_trace());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_THAT(error_of_reading(damaged), HasSubstr("t.poise: byte ")) << i;
  }
}

TEST(Native, bytes_after_the_end_are_refused) {
  const std::string bytes = native::write(full_trace());
  EXPECT_THAT(error_of_reading(bytes + "x"), HasSubstr("1 bytes follow the end"));
}

TEST(Native, the_reading_mode_recover_returns_the_complete_phases_before_the_damage) {
  Trace trace = full_trace();
  const std::string bytes = native::write(trace);
  std::size_t most = 0;
  Trace first = trace;
  first.phases.resize(1);
  constexpr std::size_t kEndSize = 16 + 1;
  for (std::size_t size = native::write(first).size() - kEndSize; size < bytes.size(); ++size) {
    const Trace found = native::read("t.poise", bytes.substr(0, size), native::Reading::recover);
    ASSERT_LE(found.phases.size(), trace.phases.size());
    EXPECT_GE(found.phases.size(), most);
    most = found.phases.size();
    expect_same(found.phases[0], trace.phases[0]);
  }
  EXPECT_THROW(native::read("t.poise", bytes.substr(0, 40), native::Reading::recover), Error);
  EXPECT_EQ(most, trace.phases.size());
}

TEST(Native, an_interrupted_recording_keeps_its_complete_phases) {
  const Trace trace = full_trace();
  const TestFolder folder;
  const std::string path = folder.file("recording.poise");
  {
    native::Recording recording(path, trace.num_places);
    for (const Phase& phase : trace.phases) recording.add(phase);
  }
  EXPECT_THAT(error_of_reading(read_file(path)), HasSubstr("poise convert --recover"));
  EXPECT_THROW(read_trace(path), Error);
  expect_same(read_trace(path, {.recover = true}), trace);

  native::Recording recording(path, trace.num_places);
  for (const Phase& phase : trace.phases) recording.add(phase);
  recording.finish();
  expect_same(read_trace(path), trace);
}

// The following tests write sections by hand, with valid checksums but invalid content.

std::string fixed(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) bytes += static_cast<char>(value % 128 + 128);
  return bytes + static_cast<char>(value);
}

std::string section(const std::string& tag, const std::string& payload) {
  const std::string rest = tag + fixed(payload.size(), 8) + payload;
  return fixed(crc32(rest), 4) + rest;
}

std::string column(const std::string& name, const std::string& data) {
  return varint(name.size()) + name + varint(data.size()) + data;
}

std::string file_with(const std::string& phase_payload) {
  return std::string(native::kMagic) + fixed(1, 4) + section("head", varint(2)) +
         section("phas", phase_payload) + section("end ", varint(1));
}

std::string phase_head(std::uint64_t tasks, std::uint64_t messages) {
  return varint(7) + fixed(0, 8) + varint(tasks) + varint(messages);
}

const std::string kLoads = column("load_s", std::string(8, '\0'));
const std::string kPlaces = column("place", varint(1));

TEST(Native, columns_that_a_file_does_not_contain_get_default_values) {
  const Trace trace = native::read(
      "t.poise", file_with(phase_head(1, 1) + kLoads + kPlaces + column("from", varint(0)) +
                           column("to", varint(0)) + column("from the future", "abc")));
  const Workload& workload = trace.phases.at(0).workload;
  EXPECT_TRUE(workload.tasks.at(0).movable);
  EXPECT_EQ(workload.messages.at(0).count, 1u);
  EXPECT_EQ(trace.phases[0].placement.of(0), 1u);
}

TEST(Native, counts_larger_than_the_file_are_refused_before_memory_is_allocated) {
  const std::uint64_t billion = 1'000'000'000;
  EXPECT_THAT(error_of_reading(file_with(phase_head(billion, 0) + kLoads + kPlaces)),
              HasSubstr("\"load_s\" has 8 bytes for 1000000000 items"));
  EXPECT_THAT(error_of_reading(file_with(phase_head(billion, 0))), HasSubstr("no column"));
  EXPECT_THAT(error_of_reading(file_with(phase_head(~std::uint64_t{0}, 0))),
              HasSubstr("the maximum is"));
  EXPECT_THAT(error_of_reading(
                  file_with(phase_head(1, billion) + kLoads + kPlaces + column("from", "abc"))),
              HasSubstr("\"from\" has 3 bytes for 1000000000 items"));
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 0) + varint(4) + "name" + varint(billion))),
              HasSubstr("1000000000 bytes should follow"));
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 0) + kLoads + kPlaces +
                                         column("subphase_load_s", varint(billion)))),
              HasSubstr("ends inside the loads of 1000000000 subphases"));
  EXPECT_THAT(error_of_reading(file_with(
                  phase_head(1, 0) + kLoads + kPlaces +
                  column("name", varint(0) + varint(1) + varint(0) + varint(0) + varint(billion)))),
              HasSubstr("ends inside an index of 1000000000 numbers"));
  const std::string head = std::string(native::kMagic) + fixed(1, 4);
  EXPECT_THAT(error_of_reading(head + section("head", varint(1ull << 40))),
              HasSubstr("the trace has 1099511627776 places"));
}

TEST(Native, files_with_values_out_of_range_are_refused) {
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 0) + kLoads + column("place", varint(2)))),
              HasSubstr("place 2 is too large; there are 2"));
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 1) + kLoads + kPlaces +
                                         column("from", varint(1)) + column("to", varint(0)))),
              HasSubstr("a message names task -1, but there are 1 tasks"));
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 0) + kLoads + kPlaces + kPlaces)),
              HasSubstr("\"place\" comes twice"));
  EXPECT_THAT(error_of_reading(
                  file_with(phase_head(1, 0) + column("load_s", std::string(9, '0')) + kPlaces)),
              HasSubstr("has 1 more bytes"));
  EXPECT_THAT(error_of_reading(
                  file_with(phase_head(1, 0) + kLoads + column("place", std::string(11, '\xff')))),
              HasSubstr("more than 64 bits"));
  EXPECT_THAT(error_of_reading(std::string(native::kMagic) + fixed(2, 4)), HasSubstr("version 2"));
  const auto with = [](const std::string& columns) {
    return error_of_reading(file_with(phase_head(1, 0) + kLoads + kPlaces + columns));
  };
  const std::string nothing = varint(0) + varint(0) + varint(0) + varint(0);
  EXPECT_EQ(with(column("name", varint(2) + nothing)), "no error");
  EXPECT_THAT(with(column("name", varint(3) + nothing)), HasSubstr("kind of name 3 is too large"));
  EXPECT_THAT(with(column("name", nothing)), HasSubstr("\"name\" has 4 bytes for 1 items"));
  EXPECT_EQ(with(column("communication", varint(2) + fixed(0, 8))), "no error");
  EXPECT_THAT(with(column("communication", varint(3) + fixed(0, 8))),
              HasSubstr("kind of load 3 is too large"));
  EXPECT_THAT(with(column("home", varint(2))), HasSubstr("home 2 is too large; there are 2"));
  // The block numbers 0, -1, 1, -2 are stored as 0, 1, 2, 3.
  EXPECT_EQ(with(column("memory", varint(0) + varint(0) + varint(1))), "no error");
  EXPECT_THAT(with(column("memory", varint(0) + varint(0) + varint(3))),
              HasSubstr("shared block -2 does not exist"));
  EXPECT_THAT(with(column("memory", varint(0) + varint(0) + varint(std::uint64_t{1} << 32))),
              HasSubstr("shared block 2147483648 does not exist"));
}

TEST(Native, files_without_a_required_column_or_phase_are_refused) {
  const std::string places = column("place", varint(0));
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 0) + places)),
              HasSubstr("a phase with tasks has no column \"load_s\""));
  EXPECT_THAT(error_of_reading(file_with(phase_head(1, 1) + kLoads + places)),
              HasSubstr("a phase with messages has no column \"from\""));
  EXPECT_THAT(
      error_of_reading(file_with(phase_head(1, 1) + kLoads + places + column("from", varint(0)))),
      HasSubstr("a phase with messages has no column \"to\""));
  EXPECT_EQ(error_of_reading(file_with(phase_head(0, 0))), "no error");
  const std::string head = std::string(native::kMagic) + fixed(1, 4) + section("head", varint(2));
  EXPECT_THAT(error_of_reading(head + section("end ", varint(1))),
              HasSubstr("the file should have 1 phases, but has 0"));
  EXPECT_THAT(error_of_reading(std::string(native::kMagic) + fixed(1, 4) +
                               section("phas", phase_head(0, 0))),
              HasSubstr("the first section is not \"head\""));
}

TEST(Native, refuses_to_write_a_trace_with_more_places_than_the_reader_accepts) {
  Trace trace = random_trace(1);
  trace.machine.reset();
  trace.num_places = 1 << 20;
  for (Phase& phase : trace.phases) {
    phase.workload.background_s.clear();
    phase.workload.place_bytes.clear();
  }
  EXPECT_EQ(native::read("t.poise", native::write(trace)).num_places, trace.num_places);
  ++trace.num_places;
  EXPECT_THROW(native::write(trace), Error);
}

TEST(Trace,
     each_phase_needs_a_higher_number_than_the_one_before_it_and_a_finite_time_of_at_least_0) {
  const auto complaint = [](const auto& change) {
    Trace trace = full_trace();
    change(trace);
    return text_of_error([&] { check(trace); });
  };
  EXPECT_EQ(complaint([](Trace&) {}), "no error");
  EXPECT_EQ(complaint([](Trace& trace) { trace.phases[0].wall_s = 0; }), "no error");
  EXPECT_EQ(complaint([](Trace& trace) { trace.phases[0].placement = Placement(); }), "no error");
  EXPECT_THAT(complaint([](Trace& trace) { trace.phases.clear(); }), HasSubstr("has no phases"));
  for (const std::uint64_t id : {4u, 3u})
    EXPECT_EQ(complaint([&](Trace& trace) { trace.phases[1].id = id; }),
              fmt::format("phase {} comes after phase 4; phase numbers must increase", id));
  for (const double wall_s : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(complaint([&](Trace& trace) { trace.phases[1].wall_s = wall_s; }),
                HasSubstr("phase 6: its time is "));
  EXPECT_THAT(complaint([](Trace& trace) { trace.phases[1].workload.homes.pop_back(); }),
              HasSubstr("phase 6: workload: column \"homes\""));
  EXPECT_THAT(complaint([](Trace& trace) { trace.phases[0].placement.move(2, 3); }),
              testing::StartsWith("phase 4: "));
}

TEST(Native, random_traces_are_unchanged_after_writing_and_reading) {
  for (std::uint64_t seed = 0; seed < num_seeds(50); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = random_trace(seed);
    expect_same(native::read("t.poise", native::write(trace)), trace);
  }
}

TEST(NativeRecording, a_full_disk_is_an_error_that_names_the_file) {
  EXPECT_THAT([] { native::Recording("/dev/full", 1); },
              testing::ThrowsMessage<Error>(HasSubstr("cannot write /dev/full: ")));
  EXPECT_THAT([] { native::Recording("/no/such/folder/t.poise", 1); },
              testing::ThrowsMessage<Error>(HasSubstr("cannot write /no/such/folder/t.poise: ")));
}

TEST(NativeRecording,
     two_simultaneous_recordings_can_write_to_the_same_device_but_not_to_the_same_file) {
  const TestFolder folder;
  const std::string path = folder.file("shared.poise");
  const Trace trace = random_trace(1);
  {
    native::Recording first(path, trace.num_places);
    EXPECT_THROW(native::Recording(path, trace.num_places), Error);
    first.add(trace.phases[0]);
    first.finish();
  }
  EXPECT_EQ(read_trace(path).phases.size(), 1u);
  EXPECT_NO_THROW(native::Recording(path, trace.num_places));
  const native::Recording nowhere("/dev/null", trace.num_places);
  EXPECT_NO_THROW(native::Recording("/dev/null", trace.num_places));
}

}  // namespace
}  // namespace poise
