// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/convert.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "runtimes/charm/consume.h"
#include "tests/support/seeds.h"
#include "tests/support/text_of_error.h"

#include "poise/base/random.h"

namespace poise::charm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// In these tests PE p is place p.
PeMap plain(std::uint32_t pes) {
  PeMap pe_map;
  for (std::uint32_t pe = 0; pe < pes; ++pe) {
    pe_map.pe_of_place.push_back(pe);
    pe_map.place_of_pe.push_back(pe);
  }
  return pe_map;
}

Converted convert(const Statistics& statistics, const PeMap& pe_map) {
  const std::vector<double> speeds(pe_map.pe_of_place.size(), 1);
  return converted(statistics, pe_map, speeds, Messages::convert);
}

Statistics three_objects() {
  Statistics statistics;
  statistics.pes.resize(2);
  statistics.objects = {
      {{5, 8}, 1, 0, 1, true}, {{9, -7}, 2, 10, 0, false}, {{1, 8}, 3, 0, 1, true}};
  return statistics;
}

std::string error_of(const Statistics& statistics) {
  return text_of_error([&] { convert(statistics, plain(2)); });
}

TEST(Convert, objects_become_tasks_in_order_of_name) {
  const Statistics statistics = three_objects();
  const double speeds[] = {1, 0.5};
  const Converted rows = converted(statistics, plain(2), speeds, Messages::convert);
  EXPECT_THAT(rows.row_of_task, ElementsAre(1, 2, 0));
  EXPECT_THAT(rows.phase.current.places(), ElementsAre(0, 1, 1));
  EXPECT_EQ(rows.phase.workload.tasks[0].load_s, 2);
  EXPECT_EQ(rows.phase.workload.tasks[0].bytes, 10u);
  EXPECT_FALSE(rows.phase.workload.tasks[0].movable);
  EXPECT_EQ(rows.phase.workload.tasks[1].load_s, 1.5);  // converted to seconds at speed 1
}

TEST(Convert, a_place_gets_the_background_load_of_its_pe_or_0_if_that_load_is_negative) {
  Statistics statistics = three_objects();
  statistics.pes[0].background_s = -1e-9;
  statistics.pes[1].background_s = 0.25;
  PeMap pe_map{{1, 0}, {1, 0}};
  EXPECT_THAT(convert(statistics, pe_map).phase.workload.background_s, ElementsAre(0.25, 0));
}

TEST(Convert, messages_that_a_callback_lists_come_after_those_stored_in_the_statistics) {
  Statistics statistics = three_objects();
  statistics.messages = {{{5, 8}, {1, 8}, -1, 0, 0, 3, 30}};
  statistics.more_messages.visit_all = [](const MessageVisitor& visit) {
    visit({{1, 8}, {9, -7}, -1, 0, 0, 4, 40}, {});
    visit({{9, -7}, {}, -1, 1, 2, 5, 50}, {{1, 8}, {1, 8}, {5, 8}});
  };
  std::vector<std::uint64_t> bytes;
  for (const Message& message : convert(statistics, plain(2)).phase.workload.messages)
    bytes.push_back(message.bytes);
  EXPECT_THAT(bytes, ElementsAre(30, 40, 50, 50));
  statistics.more_messages.visit_all = [](const MessageVisitor& visit) {
    visit({{9, -7}, {}, -1, 1, 2, 5, 50}, {{1, 8}});
  };
  EXPECT_THAT(error_of(statistics), HasSubstr("has only 1 rows"));
}

TEST(Convert, messages_that_a_callback_lists_in_reverse_order_are_converted_in_the_original_order) {
  const auto list = [](const MessageVisitor& visit, int number) {
    const std::vector<ObjectName> receivers = {{1, 8}, {9, -7}, {5, 8}};
    if (number == 1)
      visit({{5, 8}, {}, -1, 0, 3, 2, 20}, receivers);
    else
      visit({{1, 8}, {9, -7}, -1, 0, 0, 1, number * 10u}, receivers);
  };
  Statistics statistics = three_objects();
  statistics.messages = {{{5, 8}, {1, 8}, -1, 0, 0, 3, 30}, {{5, 8}, {9, -7}, -1, 0, 0, 4, 40}};
  Statistics freed = statistics;
  statistics.more_messages.visit_all = [&](const MessageVisitor& visit) {
    for (int number = 0; number < 3; ++number) list(visit, number);
  };
  freed.more_messages.visit_all = [&](const MessageVisitor& visit) {
    for (int number = 2; number >= 0; --number) list(visit, number);
  };
  freed.more_messages.frees_from_last = true;
  const auto of = [](const Statistics& from) {
    std::vector<std::tuple<TaskId, TaskId, std::uint64_t>> messages;
    for (const Message& message : convert(from, plain(2)).phase.workload.messages)
      messages.emplace_back(message.from, message.to, message.bytes);
    return messages;
  };
  EXPECT_EQ(of(statistics).size(), 7u);
  EXPECT_EQ(of(freed), of(statistics));
}

TEST(Consume, visits_all_rows_of_a_vector_from_the_last_to_the_first_and_frees_their_memory) {
  constexpr std::size_t kRows = 100'000;
  std::vector<std::vector<int>> rows;  // each row owns heap memory
  for (std::size_t i = 0; i < kRows; ++i) rows.push_back({static_cast<int>(i)});
  int expected = kRows;
  consume(rows, [&](const std::vector<int>& row) { ASSERT_EQ(row, std::vector{--expected}); });
  EXPECT_EQ(expected, 0);
  EXPECT_EQ(rows.capacity(), 0u);
  consume(rows, [](const std::vector<int>&) { FAIL() << "there are no rows"; });
}

TEST(Convert, objects_that_a_callback_lists_come_after_those_stored_in_the_statistics) {
  const Statistics stored = three_objects();
  Statistics listed = stored;
  listed.objects.resize(1);
  listed.more_objects = {2, [&](std::size_t i) { return stored.objects[i + 1]; }};
  ASSERT_EQ(listed.num_objects(), 3u);
  const Converted expected = convert(stored, plain(2)), result = convert(listed, plain(2));
  EXPECT_EQ(result.row_of_task, expected.row_of_task);
  EXPECT_EQ(result.phase.current, expected.phase.current);
  for (TaskId t = 0; t < 3; ++t)
    EXPECT_EQ(result.phase.workload.tasks[t].load_s, expected.phase.workload.tasks[t].load_s);
}

TEST(Convert, messages_to_or_from_unknown_objects_are_dropped) {
  Statistics statistics = three_objects();
  statistics.messages = {{{5, 8}, {1, 8}, -1, 0, 0, 3, 300},
                         {{5, 8}, {2, 8}, -1, 0, 0, 1, 1},
                         {{5, 7}, {1, 8}, -1, 0, 0, 1, 1}};
  const Workload workload = convert(statistics, plain(2)).phase.workload;
  ASSERT_EQ(workload.messages.size(), 1u);
  EXPECT_EQ(workload.messages[0].from, 2u);
  EXPECT_EQ(workload.messages[0].to, 1u);
  EXPECT_EQ(workload.messages[0].count, 3u);
  EXPECT_EQ(workload.messages[0].bytes, 300u);
  EXPECT_EQ(workload.num_tasks(), 3u);
}

TEST(Convert, messages_to_objects_on_pes_outside_the_statistics_are_listed_separately) {
  Statistics statistics = three_objects();
  statistics.messages = {{{5, 8}, {1, 8}, -1, 0, 0, 3, 300, 1},
                         {{5, 8}, {2, 8}, -1, 0, 0, 1, 1, 7},
                         {{}, {3, 8}, 1, 0, 0, 1, 1, 6},
                         {{5, 8}, {4, 8}, -1, 0, 0, 1, 1, -1},
                         {{5, 7}, {2, 8}, -1, 0, 0, 1, 1, 7}};
  EXPECT_TRUE(convert(statistics, plain(2)).outside.empty());
  statistics.has_all_pes = false;
  const Converted rows = convert(statistics, plain(2));
  EXPECT_EQ(rows.phase.workload.messages.size(), 1u);
  EXPECT_EQ(rows.phase.workload.num_tasks(), 3u);
  ASSERT_EQ(rows.outside.size(), 2u) << "only known senders and known PEs";
  EXPECT_TRUE(same(rows.outside[0].to, {2, 8}));
  EXPECT_EQ(rows.outside[0].last_known_pe, 7);
  EXPECT_EQ(rows.outside[0].from, 2u);
  EXPECT_TRUE(same(rows.outside[1].to, {3, 8}));
  EXPECT_EQ(rows.outside[1].from, 3u + 1u) << "PE 1";
}

TEST(Convert, a_message_sent_to_a_pe_other_than_that_of_its_receiver_is_listed_as_a_detour) {
  Statistics statistics = three_objects();  // the tasks 1 and 2 are on PE 1
  statistics.messages = {{{9, -7}, {1, 8}, -1, 0, 0, 1, 1, 4},
                         {{9, -7}, {5, 8}, -1, 0, 0, 1, 1, 6},
                         {{}, {5, 8}, 0, 0, 0, 1, 1, 4},
                         {{9, -7}, {1, 8}, -1, 0, 0, 1, 1, -1}};
  EXPECT_TRUE(convert(statistics, plain(2)).detours.empty()) << "the PEs' numbers are unknown";
  statistics.pes[0].number = 4;
  statistics.pes[1].number = 6;
  const Converted rows = convert(statistics, plain(2));
  ASSERT_EQ(rows.detours.size(), 2u);
  EXPECT_EQ(rows.detours[0].from, 0u);
  EXPECT_EQ(rows.detours[0].to, 1u);
  EXPECT_EQ(rows.detours[1].from, 3u) << "the task of PE 0";
  EXPECT_EQ(rows.detours[1].to, 2u);
}

TEST(Convert,
     a_message_to_an_object_on_an_unavailable_pe_makes_a_detour_if_it_was_sent_to_another_pe) {
  Statistics statistics = three_objects();  // object 9 is pinned to PE 0
  statistics.pes[0].number = 4;
  statistics.pes[1].number = 6;
  const PeMap pe_map{{1}, {kNoPlace, 0}};
  for (const std::int32_t last_known_pe : {4, 6}) {
    statistics.messages = {{{5, 8}, {9, -7}, -1, 0, 0, 1, 1, last_known_pe}};
    EXPECT_EQ(convert(statistics, pe_map).detours.size(), last_known_pe == 6 ? 1u : 0u);
  }
}

TEST(Convert, every_member_of_a_multicast_receives_the_whole_message) {
  Statistics statistics = three_objects();
  statistics.receivers = {{0, 0}, {1, 8}, {77, 8}, {9, -7}};
  statistics.messages = {{{5, 8}, {}, -1, 1, 3, 2, 64}};
  const Workload workload = convert(statistics, plain(2)).phase.workload;
  ASSERT_EQ(workload.messages.size(), 2u);
  EXPECT_EQ(workload.messages[0].to, 1u);
  EXPECT_EQ(workload.messages[1].to, 0u);
  EXPECT_EQ(workload.messages[1].count, 2u);
  EXPECT_EQ(workload.messages[1].bytes, 64u);
}

TEST(Convert, a_message_sent_by_a_pe_comes_from_a_task_that_is_pinned_to_this_pe) {
  Statistics statistics = three_objects();
  // The sender's name is uninitialised and happens to equal that of an object.
  statistics.messages = {{{5, 8}, {9, -7}, 1, 0, 0, 1, 8},
                         {{0, 0}, {1, 8}, 1, 0, 0, 2, 16},
                         {{0, 0}, {404, 8}, 0, 0, 0, 2, 16}};
  const Converted rows = convert(statistics, plain(2));
  const Workload& workload = rows.phase.workload;
  ASSERT_EQ(workload.num_tasks(), 4u);  // 3 objects and PE 1; PE 0 sends only to an unknown object
  EXPECT_FALSE(workload.tasks[3].movable);
  EXPECT_EQ(workload.tasks[3].load_s, 0);
  EXPECT_EQ(rows.phase.current.of(3), 1u);
  EXPECT_EQ(rows.row_of_task.size(), 3u);
  ASSERT_EQ(workload.messages.size(), 2u);
  for (const Message& message : workload.messages) EXPECT_EQ(message.from, 3u);
}

TEST(Convert, objects_must_leave_an_unavailable_pe_and_none_may_move_to_it) {
  Statistics statistics = three_objects();
  statistics.messages = {{{}, {5, 8}, 0, 0, 0, 1, 8}};  // sent by the unavailable PE
  const PeMap pe_map{{1}, {kNoPlace, 0}};
  statistics.objects[2].pe = 0;
  const Converted rows = convert(statistics, pe_map);
  EXPECT_THAT(rows.phase.current.places(), ElementsAre(0, 0, 0));
  // Task 0 is pinned to PE 0, which is unavailable, so its load is dropped.
  EXPECT_EQ(rows.phase.workload.tasks[0].load_s, 0);
  EXPECT_EQ(rows.phase.workload.tasks[1].load_s, 3);
  EXPECT_TRUE(rows.phase.workload.messages.empty());
  EXPECT_THAT(pes_of(rows.phase.current, rows.row_of_task, statistics, pe_map),
              ElementsAre(1, 0, 1));
}

TEST(Convert, contradictory_statistics_are_refused) {
  Statistics statistics = three_objects();
  statistics.objects.push_back({{5, 8}, 1, 0, 0, true});
  EXPECT_THAT(error_of(statistics), HasSubstr("object 5 of array 8 appears twice"));
  statistics = three_objects();
  statistics.objects[0].pe = 2;
  EXPECT_THAT(error_of(statistics), HasSubstr("is on PE 2, but there are 2 PEs"));
  statistics = three_objects();
  statistics.objects[0].wall_s = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(error_of(statistics), HasSubstr("object 5 of array 8 has a load of nan s"));
  statistics.objects[0].wall_s = -1;
  EXPECT_THAT(error_of(statistics), HasSubstr("has a load of -1 s"));
  statistics = three_objects();
  statistics.pes[1].background_s = std::numeric_limits<double>::infinity();
  EXPECT_THAT(error_of(statistics), HasSubstr("PE 1 has a background load of inf s"));
  statistics = three_objects();
  statistics.messages = {{{5, 8}, {1, 8}, 2, 0, 0, 1, 1}};
  EXPECT_THAT(error_of(statistics), HasSubstr("PE 2 sends a message, but there are 2 PEs"));
  statistics.messages = {{{5, 8}, {}, -1, 0xffffffff, 0xffffffff, 1, 1}};
  EXPECT_THAT(error_of(statistics),
              HasSubstr("a multicast has 4294967295 receivers, starting at row 4294967295 of"));
}

/// Random statistics: the names of objects differ in few or in many bits, and there are messages of
/// all kinds, some of them from or to an unknown object.
Statistics drawn(Random& random, std::uint32_t pes) {
  Statistics statistics;
  statistics.pes.resize(pes);
  std::set<std::pair<std::int32_t, std::uint64_t>> names;
  const std::uint64_t ids = random.below(2) == 0 ? 50 : ~std::uint64_t{0};
  for (std::uint64_t n = 1 + random.below(60); n > 0; --n)
    names.insert({static_cast<std::int32_t>(random.below(3)) - 1, random.below(ids)});
  const auto pe = [&] { return static_cast<std::int32_t>(random.below(pes)); };
  std::vector<ObjectName> all{{12345, 6}};
  for (const auto& [array, id] : names) {
    all.push_back({id, array});
    statistics.objects.push_back({all.back(), static_cast<double>(random.below(1000)),
                                  random.below(9), pe(), random.below(4) != 0});
  }
  const auto name = [&] { return all[random.below(all.size())]; };
  for (int i = 0; i < 20; ++i) statistics.receivers.push_back(name());
  for (std::uint64_t m = random.below(200); m > 0; --m) {
    const auto first = static_cast<std::uint32_t>(random.below(21));
    const auto num =
        random.below(3) == 0 ? static_cast<std::uint32_t>(random.below(21 - first)) : 0;
    statistics.messages.push_back({name(), name(), random.below(4) == 0 ? pe() : -1, first, num,
                                   static_cast<std::uint32_t>(random.below(9)),
                                   static_cast<std::uint32_t>(random.below(99))});
  }
  return statistics;
}

using Key = std::tuple<std::uint64_t, std::int32_t>;

/// Adds up the bytes of messages for each pair of sender and receiver, in a simple way with maps.
/// The test compares the conversion with these sums.
std::map<std::tuple<int, Key, Key>, std::uint64_t> bytes_by_name(const Statistics& statistics,
                                                                 const PeMap& pe_map) {
  std::set<Key> known;
  for (const ObjectRow& object : statistics.objects)
    known.insert({object.name.id, object.name.array});
  std::map<std::tuple<int, Key, Key>, std::uint64_t> sums;
  for (const MessageRow& row : statistics.messages) {
    std::vector<ObjectName> receivers{row.to};
    if (row.num_receivers > 0)
      receivers.assign(statistics.receivers.begin() + row.first_receiver,
                       statistics.receivers.begin() + row.first_receiver + row.num_receivers);
    const bool by_pe = row.from_pe >= 0;
    if (by_pe && pe_map.place_of_pe[static_cast<std::size_t>(row.from_pe)] == kNoPlace) continue;
    const Key from = by_pe ? Key{} : Key{row.from.id, row.from.array};
    if (!by_pe && !known.contains(from)) continue;
    for (const ObjectName& to : receivers)
      if (known.contains({to.id, to.array}))
        sums[{row.from_pe, from, {to.id, to.array}}] += row.bytes;
  }
  return sums;
}

TEST(Convert, agrees_with_a_simple_reference_conversion_for_any_order_of_the_objects) {
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::uint32_t pes = 1 + static_cast<std::uint32_t>(random.below(5));
    PeMap pe_map = plain(pes);
    if (pes > 1 && random.below(2) == 0) {  // the first PE is unavailable
      pe_map = {{}, {kNoPlace}};
      for (std::uint32_t pe = 1; pe < pes; ++pe) {
        pe_map.place_of_pe.push_back(pe - 1);
        pe_map.pe_of_place.push_back(pe);
      }
    }
    Statistics statistics = drawn(random, pes);
    const Converted rows = convert(statistics, pe_map);
    const auto& [workload, current] = rows.phase;
    ASSERT_NO_THROW(check(workload, static_cast<std::uint32_t>(pe_map.pe_of_place.size())));
    ASSERT_NO_THROW(check(current, workload.num_tasks(),
                          static_cast<std::uint32_t>(pe_map.pe_of_place.size())));

    std::map<std::tuple<int, Key, Key>, std::uint64_t> sums;
    const auto key_of = [&](TaskId t) {
      const ObjectName& name = statistics.objects[rows.row_of_task[t]].name;
      return Key{name.id, name.array};
    };
    for (const Message& message : workload.messages) {
      const bool by_pe = message.from >= rows.row_of_task.size();
      const int pe = by_pe ? static_cast<int>(pe_map.pe_of_place[current.of(message.from)]) : -1;
      sums[{pe, by_pe ? Key{} : key_of(message.from), key_of(message.to)}] += message.bytes;
    }
    EXPECT_EQ(sums, bytes_by_name(statistics, pe_map));

    const std::vector<std::int32_t> stay = pes_of(current, rows.row_of_task, statistics, pe_map);
    for (std::size_t i = 0; i < stay.size(); ++i) {
      const ObjectRow& object = statistics.objects[i];
      const bool is_gone =
          pe_map.place_of_pe[static_cast<std::size_t>(object.pe)] == kNoPlace && object.movable;
      if (is_gone)
        EXPECT_NE(pe_map.place_of_pe[static_cast<std::size_t>(stay[i])], kNoPlace);
      else
        EXPECT_EQ(stay[i], object.pe);
    }

    std::vector<Task> tasks = workload.tasks;
    std::reverse(statistics.objects.begin(), statistics.objects.end());
    const Converted other = convert(statistics, pe_map);
    EXPECT_EQ(other.phase.current, current);
    ASSERT_EQ(other.phase.workload.num_tasks(), tasks.size());
    for (TaskId t = 0; t < tasks.size(); ++t)
      EXPECT_EQ(other.phase.workload.tasks[t].load_s, tasks[t].load_s);
  }
}

}  // namespace
}  // namespace poise::charm
