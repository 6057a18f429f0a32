// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/workload.h"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

#include "tests/support/text_of_error.h"

#include "poise/base/error.h"
#include "poise/workload/checks.h"

namespace poise {
namespace {

using testing::HasSubstr;

/// Two tasks on two places, with values in most of the optional columns.
Workload full() {
  return {.tasks = {{.load_s = 1, .bytes = 1u << 20}, {.load_s = 2}},
          .messages = {{.from = 0, .to = 1, .count = 3, .bytes = 100}},
          .background_s = {0.5, 0},
          .positions = {{0, 0, 0}, {1, 1, 1}},
          .homes = {0, 1},
          .memory = {{.footprint_bytes = 10, .working_bytes = 5, .shared_block = 0}, {}},
          .shared_block_bytes = {1000},
          .place_bytes = {1, 2},
          .subphase_load_s = {{0.5, 0.5}, {2, 0}}};
}

std::string complaint(const Workload& workload) {
  return text_of_error([&] { check(workload, 2); });
}

TEST(Workload, accepts_a_workload_in_which_every_column_has_the_right_length) {
  EXPECT_EQ(complaint(full()), "no error");
  Workload most = full();
  most.tasks[0].load_s = 9e14;
  most.tasks[0].bytes = most.messages[0].count = most.messages[0].bytes =
      most.memory[0].footprint_bytes = std::uint64_t{1} << 52;
  EXPECT_EQ(complaint(most), "no error");
}

TEST(Workload, throws_for_invalid_loads_and_coordinates) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1.0}) {
    Workload task = full(), background = full(), subphase = full();
    task.tasks[1].load_s = background.background_s[1] = subphase.subphase_load_s[1][0] = value;
    EXPECT_THAT(complaint(task), HasSubstr("task 1 has load"));
    EXPECT_THAT(complaint(background), HasSubstr("place 1 has background load"));
    EXPECT_THAT(complaint(subphase), HasSubstr("in a subphase"));
  }
  Workload position = full();
  position.positions[1][2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint(position), HasSubstr("task 1 has coordinate nan"));
}

TEST(Workload, throws_if_the_sum_of_loads_or_of_messages_or_of_bytes_is_too_large) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  const auto with = [](const auto& change) {
    Workload workload = full();
    change(workload);
    return complaint(workload);
  };
  EXPECT_THAT(with([](Workload& w) { w.tasks[0].load_s = w.tasks[1].load_s = 6e14; }),
              HasSubstr("total number of seconds of work exceeds the limit of 1e+15"));
  EXPECT_THAT(with([](Workload& w) { w.background_s[0] = 1.5e308; }), HasSubstr("seconds of work"));
  EXPECT_THAT(with([](Workload& w) {
                w.subphase_load_s[0] = {1e308, 1e308};
              }),
              HasSubstr("in subphases"));
  EXPECT_THAT(with([](Workload& w) { w.messages[0].count = kHuge; }),
              HasSubstr("total number of messages exceeds the limit of 9.01e+15"));
  EXPECT_THAT(with([](Workload& w) { w.messages[0].bytes = kHuge; }),
              HasSubstr("bytes of messages"));
  EXPECT_THAT(with([](Workload& w) { w.tasks[0].bytes = w.tasks[1].bytes = kHuge / 2 + 1; }),
              HasSubstr("bytes of tasks"));
  EXPECT_THAT(with([](Workload& w) { w.memory[1].working_bytes = kHuge; }),
              HasSubstr("bytes of memory"));
  EXPECT_THAT(with([](Workload& w) { w.shared_block_bytes[0] = kHuge; }),
              HasSubstr("bytes of memory"));
  EXPECT_THAT(with([](Workload& w) { w.place_bytes[0] = kHuge; }), HasSubstr("bytes of memory"));
}

TEST(Workload, accepts_sums_that_equal_the_limits_and_refuses_larger_ones) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  const auto accepts = [](const auto& change) {
    Workload workload = full();
    change(workload);
    return complaint(workload) == "no error";
  };
  for (const bool is_more : {false, true}) {
    const double seconds = is_more ? 0.5 : 0;
    const std::uint64_t more = is_more ? 2 : 0;  // a double cannot represent 2^53 + 1
    EXPECT_NE(accepts([&](Workload& w) { w.tasks[0].load_s = 1e15 - 2.5 + seconds; }), is_more);
    EXPECT_NE(accepts([&](Workload& w) { w.background_s[1] = 1e15 - 3.5 + seconds; }), is_more);
    EXPECT_NE(accepts([&](Workload& w) {
                w.subphase_load_s[0] = {1e15 - 2.5, 0.5 + seconds};
              }),
              is_more);
    EXPECT_NE(accepts([&](Workload& w) { w.tasks[1].bytes = kMost - (1u << 20) + more; }), is_more);
    EXPECT_NE(accepts([&](Workload& w) { w.messages[0].count = kMost + more; }), is_more);
    EXPECT_NE(accepts([&](Workload& w) { w.messages[0].bytes = kMost + more; }), is_more);
    EXPECT_NE(accepts([&](Workload& w) { w.place_bytes[1] = kMost - 1016 + more; }), is_more);
    EXPECT_NE(accepts([&](Workload& w) { w.memory[1].footprint_bytes = kMost - 1018 + more; }),
              is_more);
  }
}

TEST(Workload, adds_numbers_and_throws_if_their_sum_is_too_large) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
  const auto error_of = [](std::uint64_t total, const std::vector<std::uint64_t>& numbers) {
    try {
      checked_sum(total, numbers, "bytes");
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(checked_sum(3, std::vector<std::uint64_t>(1000, 7), "bytes"), 7003);
  EXPECT_EQ(checked_sum(0, std::vector<std::uint64_t>(1024, kMost / 1024), "bytes"), kMost);
  EXPECT_THAT(error_of(1, std::vector<std::uint64_t>(1024, kMost / 1024)),
              HasSubstr("total number of bytes exceeds the limit of 9.01e+15"));
  EXPECT_THAT(error_of(kMost, {1}), HasSubstr("bytes"));
  EXPECT_THAT(error_of(0, std::vector<std::uint64_t>(512, kMost)), HasSubstr("bytes"));
  // In 64 bits, the sum of these bytes wraps around to 0, which is below the limit, but
  // checked_sum() must throw nevertheless.
  EXPECT_THAT(error_of(0, {~std::uint64_t{0}, 1}), HasSubstr("bytes"));
  EXPECT_THAT(error_of(0, std::vector<std::uint64_t>(2048, kMost)), HasSubstr("bytes"));
}

TEST(Workload, throws_for_invalid_speeds_in_subphases) {
  const auto with = [](std::vector<double> speeds) {
    Workload workload = full();
    workload.subphase_speed = std::move(speeds);
    return complaint(workload);
  };
  EXPECT_EQ(with({1, 1e-300, 1e300, 4}), "no error");
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double value : {0.0, -1.0, kInfinite, -kInfinite, std::nan("")})
    EXPECT_THAT(with({1, 1, value, 1}), HasSubstr("place 1 has speed")) << value;
  EXPECT_THAT(with({1, -2, 1, 1}), HasSubstr("place 0 has speed -2 in subphase 1"));
  EXPECT_THAT(with({1, 1}),
              HasSubstr("2 speeds, but there must be 4: one for each of the 2 places and each of "
                        "the 2 subphases or kinds of work"));
}

TEST(Workload, throws_if_the_overlap_is_not_between_0_and_1) {
  Workload workload = full();
  for (const double overlap : {0.0, 0.5, 1.0}) {
    workload.overlap = overlap;
    EXPECT_EQ(complaint(workload), "no error") << overlap;
  }
  for (const double overlap : {-1e-9, 1 + 1e-9, std::nan("")}) {
    workload.overlap = overlap;
    EXPECT_THAT(complaint(workload), HasSubstr("overlap, the share of communication")) << overlap;
  }
}

TEST(Workload,
     throws_if_all_tasks_together_need_more_cores_than_all_places_or_all_domains_together_have) {
  const auto with = [](Capacity capacity) {
    Workload workload = full();
    workload.capacity = std::move(capacity);
    return complaint(workload);
  };
  // The arguments are per_place (0: no limit) and the lists of_places, of_domains and cores.
  EXPECT_EQ(with({0, {}, {}, {100, 100}}), "no error") << "there is no limit";
  EXPECT_EQ(with({1, {}, {}, {}}), "no error") << "each task takes one core";
  EXPECT_EQ(with({2, {}, {}, {3, 1}}), "no error");
  EXPECT_THAT(with({0, {1, 0}, {}, {}}),
              HasSubstr("there are 2 tasks, but all places together may hold only 1"));
  EXPECT_THAT(with({2, {}, {}, {3, 2}}),
              HasSubstr("the tasks take 5 cores in total, but all places together have only 4"));
  EXPECT_EQ(with({0, {1, 3}, {}, {2, 2}}), "no error");
  EXPECT_THAT(with({9, {1, 2}, {}, {2, 2}}), HasSubstr("have only 3"));
  EXPECT_EQ(with({0, {}, {1, 3}, {2, 2}}), "no error");
  EXPECT_THAT(with({4, {}, {1, 2}, {2, 2}}), HasSubstr("have only 3"));
  EXPECT_THAT(with({0, {}, {}, {1}}), HasSubstr("\"cores per task\" has 1 entries"));
  EXPECT_THAT(with({0, {9}, {}, {}}), HasSubstr("\"cores of places\" has 1 entries"));
}

TEST(Workload, throws_for_wrong_column_lengths_and_for_references_to_missing_tasks_or_blocks) {
  Workload message = full(), column = full(), block = full();
  message.messages[0].to = 2;
  column.homes.push_back(0);
  block.memory[0].shared_block = 1;
  EXPECT_THAT(complaint(message), HasSubstr("to task 2"));
  EXPECT_THAT(complaint(column), HasSubstr("column \"homes\" has 3 entries; it must have 2"));
  EXPECT_THAT(complaint(block), HasSubstr("shared block 1, but there are only 1 shared blocks"));
  EXPECT_THAT(complaint({}), HasSubstr("no tasks"));
  Workload sender = full();
  sender.messages[0].from = 2;
  EXPECT_THAT(complaint(sender), HasSubstr("message 0 goes from task 2 to task 1"));
}

TEST(Workload, throws_if_an_optional_column_lacks_an_entry) {
  const auto expect_refused = [](auto Workload::*column, const char* name) {
    Workload workload = full();
    (workload.*column).pop_back();
    EXPECT_THAT(complaint(workload), HasSubstr(name));
    (workload.*column).clear();
    EXPECT_EQ(complaint(workload), "no error") << name;
  };
  expect_refused(&Workload::background_s, "\"background load\" has 1 entries; it must have 2");
  expect_refused(&Workload::positions, "\"positions\" has 1 entries");
  expect_refused(&Workload::homes, "\"homes\" has 1 entries");
  expect_refused(&Workload::memory, "\"task memory\" has 1 entries");
  expect_refused(&Workload::place_bytes, "\"place memory\" has 1 entries");
  expect_refused(&Workload::subphase_load_s, "\"loads of subphases\" has 1 entries");
}

}  // namespace
}  // namespace poise
