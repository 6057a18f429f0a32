// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/charm_dump.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "tests/support/test_folder.h"
#include "tests/support/text_of_error.h"

#include "poise/base/file.h"
#include "poise/trace/trace.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A writer of dumps that shares no code with the reader.

std::string le(std::uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}
std::string i32(std::int64_t value) { return le(static_cast<std::uint64_t>(value), 4); }
std::string f64(double value) { return le(std::bit_cast<std::uint64_t>(value), 8); }

struct Layout {
  const char* name;
  bool is_6_10, has_pointers, has_cpu_times;
};
constexpr Layout kLayouts[] = {{"charm_6_10", true, true, false},
                               {"charm_7_and_8", false, false, false},
                               {"charm_6_10_without_pointers", true, false, false},
                               {"charm_6_10_with_cpu_times", true, true, true},
                               {"charm_7_and_8_with_cpu_times", false, false, true},
                               {"charm_6_10_without_pointers_with_cpu_times", true, false, true}};

struct Writer {
  Layout layout = kLayouts[0];
  int pes = 2;
  double slow = 1;  // speed of the last processor
  struct Item {
    int array, id, from;
    double load_s;
    bool migratable = true;
  };
  std::vector<Item> objects = {{7, 100, 0, 0.5}, {7, 200, 1, 0.25}, {8, 100, 1, 2, false}};
  std::vector<std::string> records = {};
  int first_pe = 0;  // number of the first processor

  /// Sizes of the entries of a processor and of an object.
  std::size_t pe_size() const { return layout.has_cpu_times ? 57 : 41; }
  std::size_t object_size() const {
    return 32 + (layout.has_pointers ? 12 : 0) + (layout.has_cpu_times ? 8 : 0);
  }
  /// Offset of the first processor's entry.
  std::size_t pes_at() const { return layout.is_6_10 ? 40 : 36; }
  /// Offset of the first object's entry, after its pointer.
  std::size_t objects_at() const {
    return pes_at() + pes * pe_size() + (layout.is_6_10 ? 0 : 8) + (layout.has_pointers ? 12 : 0);
  }

  static std::string from_object(int array, int id) {
    return i32(-1) + i32(array) + le(static_cast<std::uint64_t>(id), 8);
  }
  static std::string from_pe(int pe) { return i32(pe) + i32(0) + le(0xdeadbeefdeadbeef, 8); }
  void to_object(const std::string& from, int array, int id, int messages, int bytes) {
    records.push_back(from + "\x02" + i32(array) + le(static_cast<std::uint64_t>(id), 8) + i32(0) +
                      i32(messages) + i32(bytes));
  }
  void to_pe(const std::string& from, int pe, int messages, int bytes) {
    records.push_back(from + "\x01" + i32(pe) + i32(messages) + i32(bytes));
  }
  void multicast(const std::string& from, const std::vector<std::pair<int, int>>& to, int messages,
                 int bytes) {
    std::string record = from + "\x03" + i32(static_cast<int>(to.size()));
    for (const auto& [array, id] : to) record += i32(array) + le(static_cast<std::uint64_t>(id), 8);
    records.push_back(record + i32(messages) + i32(bytes));
  }

  std::string bytes() const {
    std::string head("\x10\xEA\xBD\xF9\x01\x01\x02\x04\x08\x10\x01\x04\x08\x01\x01\x08", 16);
    const auto n = static_cast<std::int64_t>(objects.size());
    const auto count = [&](std::int64_t value) {
      return layout.is_6_10 ? "" : le(static_cast<std::uint64_t>(value), 8);
    };
    std::int64_t migratable = 0;
    for (const Item& object : objects) migratable += object.migratable;
    std::string file = head + i32(3) + i32(pes);
    if (layout.is_6_10)
      file += i32(pes) + i32(n) + i32(migratable) + i32(std::ssize(records));
    else
      file += i32(migratable);
    file += count(pes);
    for (int p = 0; p < pes; ++p)
      file += f64(3 + p) + f64(1) + f64(0.125 * p) +
              (layout.has_cpu_times ? f64(2.5) + f64(0.25) : "") + f64(p == pes - 1 ? slow : 1.0) +
              "\x01" + i32(1) + i32(first_pe + p);
    file += count(n);
    for (const Item& object : objects) {
      if (layout.has_pointers) file += i32(8) + "pointer!";
      file += i32(object.array) + i32(0) + le(static_cast<std::uint64_t>(object.id), 8) + i32(1) +
              f64(object.load_s) + (layout.has_cpu_times ? f64(0.75) : "") +
              le(object.migratable, 1) + le(0, 1) + le(0xabcd, 2);
    }
    file += count(n);
    for (const Item& object : objects) file += i32(object.from);
    if (layout.is_6_10)
      for (const Item& object : objects) file += i32(object.from);
    file += count(std::ssize(records));
    for (const std::string& record : records) file += record;
    return file;
  }
};

std::string error_of(const std::string& bytes) {
  return text_of_error([&] { charm::read_dump("lb.0", bytes); });
}

std::string error_of_trace(const std::string& path) {
  return text_of_error([&] { read_trace(path); });
}

class CharmDump : public testing::TestWithParam<Layout> {
 protected:
  Writer writer_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Layouts, CharmDump, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return std::string(layout.param.name); });

TEST_P(CharmDump, the_size_of_a_file_matches_the_documented_layout) {
  writer_.to_object(Writer::from_object(7, 100), 7, 200, 1, 1);
  writer_.to_pe(Writer::from_object(7, 100), 1, 1, 1);
  writer_.multicast(Writer::from_object(7, 100), {{7, 200}, {8, 100}}, 1, 1);
  const std::size_t records = 41 + 29 + 29 + 2 * 12;
  const std::size_t counts = GetParam().is_6_10 ? 40 : 60, places = GetParam().is_6_10 ? 8 : 4;
  EXPECT_EQ(writer_.bytes().size(),
            counts + writer_.pe_size() * 2 + (writer_.object_size() + places) * 3 + records);
}

TEST_P(CharmDump, objects_become_tasks_and_processors_become_places) {
  const Trace trace = charm::read_dump("lb.0", writer_.bytes());
  const Phase& phase = trace.phases.at(0);
  EXPECT_EQ(trace.num_places, 2u);
  EXPECT_FALSE(trace.machine.has_value());
  ASSERT_EQ(phase.workload.num_tasks(), 3u);
  EXPECT_EQ(phase.workload.tasks[0].load_s, 0.5);
  EXPECT_EQ(phase.workload.tasks[0].bytes, 0u);
  EXPECT_FALSE(phase.workload.tasks[2].movable);
  EXPECT_THAT(phase.placement.places(), ElementsAre(0, 1, 1));
  EXPECT_THAT(phase.workload.background_s, ElementsAre(0, 0.125));
  EXPECT_EQ(phase.wall_s, 4);
  EXPECT_EQ(phase.names[2].collection, 8);
  EXPECT_EQ(phase.names[2].id, 100u);
}

TEST_P(CharmDump, reads_messages_whose_sender_or_receiver_is_an_object_or_a_processor) {
  writer_.to_object(Writer::from_object(7, 200), 7, 100, 3, 300);
  writer_.to_object(Writer::from_object(7, 200), 9, 999, 1, 1);  // an unknown receiver
  writer_.to_object(Writer::from_pe(1), 8, 100, 2, 20);
  writer_.to_pe(Writer::from_object(7, 100), 1, 4, 40);
  const Phase phase = charm::read_dump("lb.0", writer_.bytes()).phases.at(0);
  const auto& messages = phase.workload.messages;
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].from, 1u);
  EXPECT_EQ(messages[0].to, 0u);
  EXPECT_EQ(messages[0].count, 3u);
  EXPECT_EQ(messages[0].bytes, 300u);
  EXPECT_EQ(messages[1].from, 3u);
  EXPECT_EQ(messages[2].to, 3u);
  EXPECT_EQ(phase.names[3].kind, TaskName::Kind::place);
  EXPECT_EQ(phase.placement.of(3), 1u);
  EXPECT_FALSE(phase.workload.tasks[3].movable);
}

TEST_P(CharmDump, every_member_of_a_multicast_receives_the_whole_message) {
  writer_.multicast(Writer::from_object(7, 100), {{7, 200}, {9, 9}, {8, 100}}, 2, 64);
  const Phase phase = charm::read_dump("lb.0", writer_.bytes()).phases.at(0);
  ASSERT_EQ(phase.workload.messages.size(), 2u);
  for (const Message& message : phase.workload.messages) {
    EXPECT_EQ(message.from, 0u);
    EXPECT_EQ(message.count, 2u);
    EXPECT_EQ(message.bytes, 64u);
  }
}

TEST_P(CharmDump, loads_are_multiplied_by_the_speed_of_the_processor_that_measured_them) {
  writer_.slow = 0.5;
  const Trace trace = charm::read_dump("lb.0", writer_.bytes());
  ASSERT_TRUE(trace.machine.has_value());
  EXPECT_EQ(trace.machine->speed_of(1), 0.5);
  EXPECT_EQ(trace.phases[0].workload.tasks[0].load_s, 0.5);
  EXPECT_EQ(trace.phases[0].workload.tasks[2].load_s, 1);
}

TEST_P(CharmDump, byte_counts_that_overflowed_int_are_read_as_unsigned) {
  writer_.records.push_back(Writer::from_object(7, 100) + "\x02" + i32(7) + le(200, 8) + i32(0) +
                            i32(1) + le(3'000'000'000, 4));
  EXPECT_EQ(charm::read_dump("lb.0", writer_.bytes()).phases[0].workload.messages.at(0).bytes,
            3'000'000'000u);
}

TEST_P(CharmDump, refuses_every_truncated_or_extended_file_and_gives_the_byte_offset_of_the_error) {
  writer_.to_object(Writer::from_object(7, 200), 7, 100, 3, 300);
  const std::string bytes = writer_.bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THAT(error_of(bytes.substr(0, size)), HasSubstr("lb.0: byte ")) << size;
  EXPECT_THAT(error_of(bytes + "x"), HasSubstr("lb.0: byte "));
}

TEST_P(CharmDump, counts_larger_than_the_file_are_refused_before_memory_is_allocated) {
  const std::string good = writer_.bytes();
  for (std::size_t at = 20; at + 4 <= writer_.pes_at(); at += 4) {
    std::string bytes = good;
    bytes.replace(at, 4, le(1'000'000'000, 4));
    EXPECT_THAT(error_of(bytes), HasSubstr("lb.0: byte ")) << at;
  }
}

TEST_P(CharmDump, the_error_about_a_processor_that_is_far_too_slow_names_the_file) {
  writer_.slow = 1e-12;
  EXPECT_THAT(error_of(writer_.bytes()), HasSubstr("lb.0: machine: a place has speed 1e-12"));
}

TEST_P(CharmDump, objects_are_sorted_by_array_and_id_together_with_their_loads_and_processors) {
  writer_.objects = {{8, 1, 1, 0.5}, {7, 9, 0, 0.25, false}, {7, 2, 1, 2}, {-1, 5, 0, 0}};
  writer_.to_object(Writer::from_object(8, 1), 7, 9, 1, 1);
  const Phase phase = charm::read_dump("lb.0", writer_.bytes()).phases.at(0);
  ASSERT_EQ(phase.workload.num_tasks(), 4u);
  const std::vector<double> loads_s{0, 2, 0.25, 0.5};
  const std::vector<std::int64_t> arrays{-1, 7, 7, 8};
  const std::vector<std::uint64_t> ids{5, 2, 9, 1};
  for (TaskId t = 0; t < 4; ++t) {
    EXPECT_EQ(phase.workload.tasks[t].load_s, loads_s[t]);
    EXPECT_EQ(phase.workload.tasks[t].movable, t != 2);
    EXPECT_EQ(phase.names[t].collection, arrays[t]);
    EXPECT_EQ(phase.names[t].id, ids[t]);
    EXPECT_EQ(phase.names[t].object_group, -1);
    EXPECT_EQ(phase.names[t].kind, TaskName::Kind::id);
  }
  EXPECT_THAT(phase.placement.places(), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(phase.workload.messages.at(0).from, 3u);
  EXPECT_EQ(phase.workload.messages.at(0).to, 2u);
  EXPECT_EQ(phase.workload.loads_include, LoadsInclude::send_and_receive);
}

TEST_P(CharmDump, a_processor_that_sends_or_receives_becomes_one_pinned_task_without_load) {
  writer_.first_pe = -1;  // the processor with the number -1 never sends or receives
  writer_.pes = 4;
  writer_.objects.pop_back();
  for (const int pe : {2, 1, 2, 77}) {
    writer_.to_pe(Writer::from_object(7, 100), pe, 1, 10);
    writer_.to_object(Writer::from_pe(pe), 7, 200, 1, 10);
  }
  const Phase phase = charm::read_dump("lb.0", writer_.bytes()).phases.at(0);
  ASSERT_EQ(phase.workload.num_tasks(), 4u);
  EXPECT_THAT(phase.placement.places(), ElementsAre(0, 1, 3, 2));
  for (TaskId t = 2; t < 4; ++t) {
    EXPECT_EQ(phase.workload.tasks[t].load_s, 0);
    EXPECT_EQ(phase.workload.tasks[t].bytes, 0u);
    EXPECT_FALSE(phase.workload.tasks[t].movable);
    EXPECT_TRUE(
        (phase.names[t] == TaskName{phase.placement.of(t), -1, {}, -1, TaskName::Kind::place}));
  }
  std::vector<std::pair<TaskId, TaskId>> ends;
  for (const Message& message : phase.workload.messages)
    ends.emplace_back(message.from, message.to);
  EXPECT_EQ(ends, (std::vector<std::pair<TaskId, TaskId>>{
                      {0, 2}, {2, 1}, {0, 3}, {3, 1}, {0, 2}, {2, 1}}));
}

TEST_P(CharmDump, accepts_lists_that_end_exactly_where_the_file_ends) {
  writer_.objects.clear();
  for (const int pes : {1, 40}) {
    writer_.pes = pes;
    EXPECT_EQ(charm::read_dump("lb.0", writer_.bytes()).num_places,
              static_cast<std::uint32_t>(pes));
  }
  for (int id = 0; id < 40; ++id) writer_.objects.push_back({1, id, id, 1});
  EXPECT_EQ(charm::read_dump("lb.0", writer_.bytes()).phases[0].workload.num_tasks(), 40u);
  const auto num_messages = [&] {
    return charm::read_dump("lb.0", writer_.bytes()).phases[0].workload.messages.size();
  };
  writer_.to_pe(Writer::from_object(1, 3), 0, 1, 1);
  EXPECT_EQ(num_messages(), 1u);
  writer_.to_object(Writer::from_object(1, 3), 1, 4, 1, 1);
  EXPECT_EQ(num_messages(), 2u);
  std::vector<std::pair<int, int>> all;
  for (int id = 0; id < 40; ++id) all.emplace_back(1, id);
  writer_.multicast(Writer::from_object(1, 3), all, 1, 1);
  EXPECT_EQ(num_messages(), 42u);
}

TEST_P(CharmDump, invalid_processors_and_objects_are_refused) {
  using Field = std::pair<std::size_t, std::string>;
  const double kInfinite = std::numeric_limits<double>::infinity();
  const std::string good = writer_.bytes();
  const std::size_t cpu = GetParam().has_cpu_times ? 16 : 0, load_at = writer_.objects_at() + 20,
                    flags_at = load_at + 8 + cpu / 2, pe = writer_.pe_size();
  std::vector<Field> pe_fields{{24 + cpu + 8, "\x02"}, {24 + cpu + 8 + 5, i32(-2)}},
      object_fields{{flags_at, "\x02"}, {flags_at + 1, "\x02"}};
  for (const double value : {-1.0, kInfinite, std::nan("")}) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{16}, 24 + cpu})
      pe_fields.emplace_back(at, f64(value));
    object_fields.emplace_back(load_at, f64(value));
  }
  for (const auto& [at, bytes] : pe_fields) {
    std::string bad = good;
    bad.replace(writer_.pes_at() + pe + at, bytes.size(), bytes);
    EXPECT_THAT(error_of(bad), HasSubstr("lb.0: byte ")) << at;
  }
  for (const auto& [at, bytes] : object_fields) {
    std::string bad = good;
    bad.replace(at, bytes.size(), bytes);
    EXPECT_THAT(error_of(bad), HasSubstr("lb.0: byte ")) << at;
  }
}

TEST_P(CharmDump, objects_on_missing_processors_and_contradictory_counts_are_refused) {
  const auto with_object = [&](int pe) {
    Writer writer = writer_;
    writer.objects[1].from = pe;
    return error_of(writer.bytes());
  };
  EXPECT_EQ(with_object(0), "no error");
  for (const int pe : {-1, 2})
    EXPECT_THAT(with_object(pe), HasSubstr("is on a processor that")) << pe;
  const auto with_count = [&](std::size_t at, int count) {
    std::string bytes = writer_.bytes();
    bytes.replace(at, 4, i32(count));
    return error_of(bytes);
  };
  for (const int announced : {0, 1, 3})
    EXPECT_THAT(with_count(20, announced), HasSubstr("the number of processors is 0 or differs"));
  const std::size_t migratable = GetParam().is_6_10 ? 32 : 24;
  EXPECT_EQ(with_count(migratable, 3), "no error");
  EXPECT_THAT(with_count(migratable, 4), HasSubstr("the number of migratable objects exceeds"));
  writer_.pes = 0;
  writer_.objects.clear();
  EXPECT_THAT(error_of(writer_.bytes()), HasSubstr("the number of processors is 0 or differs"));
}

TEST_P(CharmDump, messages_of_an_unknown_type_and_processors_without_speed_are_refused) {
  writer_.records.push_back(Writer::from_object(7, 100) + "\x04" + i32(1) + i32(1) + i32(1));
  EXPECT_THAT(error_of(writer_.bytes()), HasSubstr("a message has a type other than 1, 2 or 3"));
  writer_.records.clear();
  writer_.slow = 0;
  EXPECT_THAT(error_of(writer_.bytes()), HasSubstr("lb.0: processor 1 has speed 0"));
}

TEST_P(CharmDump, speeds_are_relative_to_the_fastest_processor) {
  writer_.pes = 3;
  writer_.slow = 4;
  const Trace trace = charm::read_dump("lb.0", writer_.bytes());
  ASSERT_TRUE(trace.machine);
  EXPECT_EQ(trace.machine->speed_of(0), 0.25);
  EXPECT_EQ(trace.machine->speed_of(2), 1);
  EXPECT_EQ(trace.phases[0].workload.tasks[2].load_s, 2 * 0.25);
}

TEST(CharmSeries, the_number_of_a_single_dump_is_the_number_after_the_last_dot_of_its_name_or_0) {
  const TestFolder folder;
  const auto id_of = [&](const std::string& name) {
    write_file(folder.file(name), Writer().bytes());
    return read_trace(folder.file(name)).phases.at(0).id;
  };
  EXPECT_EQ(id_of("lb.12"), 12u);
  EXPECT_EQ(id_of("lb.x"), 0u);
  EXPECT_EQ(id_of("7"), 0u);
  EXPECT_EQ(id_of("other.13"), 13u);
  EXPECT_EQ(charm::find_series(folder.file("lb")).size(), 1u);
  EXPECT_TRUE(charm::find_series(folder.file("")).empty());
  EXPECT_TRUE(charm::find_series(folder.file("l")).empty());
}

TEST_P(CharmDump, duplicate_objects_are_refused) {
  writer_.objects.push_back(writer_.objects[0]);
  EXPECT_THAT(error_of(writer_.bytes()), HasSubstr("object 100 of array 7 appears twice"));
}

TEST_P(CharmDump, refuses_dumps_of_unsupported_machines_or_format_versions) {
  std::string bytes = writer_.bytes();
  bytes[10] = 0;
  EXPECT_THAT(error_of(bytes), HasSubstr("byte 10: not a Charm++ LB dump of a 64-bit"));
  bytes = writer_.bytes();
  bytes[16] = 2;
  EXPECT_THAT(error_of(bytes), HasSubstr("byte 16: the LB dump has version 2"));
}

TEST_P(CharmDump, a_series_of_dumps_is_read_as_one_trace_with_one_phase_per_dump) {
  const TestFolder folder;
  const std::string name = folder.file("lb");
  for (const int number : {9, 10}) {
    writer_.objects[0].load_s = number;
    write_file(name + "." + std::to_string(number), writer_.bytes());
  }
  const Trace trace = read_trace(name);
  ASSERT_EQ(trace.phases.size(), 2u);
  EXPECT_EQ(trace.phases[0].id, 9u);
  EXPECT_EQ(trace.phases[1].workload.tasks[0].load_s, 10);
  EXPECT_EQ(read_trace(name + ".10").phases.at(0).id, 10u);

  write_file(name + ".010", writer_.bytes());
  EXPECT_THAT(error_of_trace(name), HasSubstr(name + ".10 both have the dump number 10"));
  std::filesystem::remove(name + ".010");
  write_file(name + ".12", writer_.bytes());
  EXPECT_THAT(error_of_trace(name),
              HasSubstr(".11 is missing; the series of dumps from number 9 to number 12"));
  std::filesystem::remove(name + ".10");
  EXPECT_THAT(error_of_trace(name),
              HasSubstr(".10 is missing; the series of dumps from number 9 to number 12"));
  write_file(name + ".10", writer_.bytes());
  writer_.pes = 3;
  write_file(name + ".11", writer_.bytes());
  EXPECT_THAT(error_of_trace(name),
              HasSubstr(".11: the dump has 3 processors, but " + name + ".9 has 2; all dumps"));
}

}  // namespace
}  // namespace poise
