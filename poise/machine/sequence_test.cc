// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/sequence.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

std::vector<double> read(const std::vector<std::string>& items) {
  std::vector<double> numbers;
  for (const std::string& item : items) EXPECT_TRUE(append_item(item, 1000, numbers)) << item;
  return numbers;
}

TEST(Sequence, an_item_is_a_number_or_a_repetition_or_a_range) {
  EXPECT_EQ(read({"5", "0.5", "3 x 2", "0-3"}), (std::vector<double>{5, 0.5, 2, 2, 2, 0, 1, 2, 3}));
}

TEST(Sequence, writes_a_list_in_its_shortest_repeating_form) {
  EXPECT_EQ(items_of({4, 4, 4, 4}), (std::vector<std::string>{"4"}));
  EXPECT_EQ(items_of({1, 1, 2, 1, 1, 2}), (std::vector<std::string>{"2 x 1", "2"}));
  EXPECT_EQ(items_of({0, 1, 2, 3, 8}), (std::vector<std::string>{"0-3", "8"}));
  EXPECT_TRUE(items_of({}).empty());
}

TEST(Sequence, rejects_unknown_items_and_lists_that_are_too_long) {
  std::vector<double> numbers;
  for (const char* item :
       {"", "x", "3 x", " x 3", "-1 x 2", "3-1", "a-b", "nan", "1e9 x 1", "1001 x 1", "0-1000",
        "18446744073709551615 x 1", "0-18446744073709551615"})
    EXPECT_FALSE(append_item(item, 1000, numbers)) << item;
  EXPECT_TRUE(numbers.empty());
}

TEST(Sequence, a_list_can_be_repeated_only_to_a_multiple_of_its_length) {
  std::vector<double> numbers{1, 2};
  EXPECT_FALSE(repeat_to(5, numbers));
  EXPECT_FALSE(repeat_to(1, numbers));
  EXPECT_TRUE(repeat_to(6, numbers));
  EXPECT_EQ(numbers, (std::vector<double>{1, 2, 1, 2, 1, 2}));
}

TEST(Sequence, random_lists_are_unchanged_after_writing_and_reading) {
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<double> numbers;
    const std::size_t length = 1 + random.below(20);
    for (std::size_t i = 0; i < length; ++i)
      numbers.push_back(random.below(4) == 0 ? random.uniform()
                                             : static_cast<double>(random.below(3)));
    const std::size_t size = length * (1 + random.below(4));
    ASSERT_TRUE(repeat_to(size, numbers));
    std::vector<double> back = read(items_of(numbers));
    ASSERT_TRUE(repeat_to(size, back));
    EXPECT_EQ(back, numbers);
  }
}

TEST(Sequence, an_item_may_have_as_many_numbers_as_the_limit_allows) {
  const auto appended = [](const char* item, std::size_t limit) {
    std::vector<double> numbers{7};
    const bool is_done = append_item(item, limit, numbers);
    EXPECT_EQ(numbers[0], 7);
    EXPECT_TRUE(is_done || numbers.size() == 1) << item;
    return is_done ? numbers.size() - 1 : 99;
  };
  EXPECT_EQ(appended("5", 1), 1u);
  EXPECT_EQ(appended("5", 0), 99u);
  EXPECT_EQ(appended("3 x 2", 3), 3u);
  EXPECT_EQ(appended("3 x 2", 2), 99u);
  EXPECT_EQ(appended("0 x 2", 0), 0u);
  EXPECT_EQ(appended("4-6", 3), 3u);
  EXPECT_EQ(appended("4-6", 2), 99u);
  EXPECT_EQ(appended("4-4", 1), 1u);
  EXPECT_EQ(read({"11-13", "2 x -0.5"}), (std::vector<double>{11, 12, 13, -0.5, -0.5}));
}

/// Writes a list in the simplest way. Tries all periods; at each number, looks for a range and for
/// a run of equal numbers that begin there.
std::vector<std::string> naive_items(std::vector<double> numbers) {
  for (std::size_t period = 1; period < numbers.size(); ++period) {
    bool repeats = numbers.size() % period == 0;
    for (std::size_t i = period; i < numbers.size(); ++i)
      repeats = repeats && numbers[i] == numbers[i - period];
    if (repeats) numbers.resize(period);
  }
  std::vector<std::string> items;
  for (std::size_t i = 0; i < numbers.size();) {
    const bool is_whole = numbers[i] >= 0 && numbers[i] == std::floor(numbers[i]);
    std::size_t run = 1, range = 1;
    while (i + run < numbers.size() && numbers[i + run] == numbers[i]) ++run;
    while (is_whole && i + range < numbers.size() &&
           numbers[i + range] == numbers[i] + static_cast<double>(range))
      ++range;
    if (range >= 3)
      items.push_back(fmt::format("{}-{}", numbers[i], numbers[i + range - 1]));
    else if (run > 1)
      items.push_back(fmt::format("{} x {}", run, numbers[i]));
    else
      items.push_back(fmt::format("{}", numbers[i]));
    i += range >= 3 ? range : run;
  }
  return items;
}

TEST(Sequence, the_shortest_period_of_a_list_is_written_as_ranges_and_repetitions) {
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    std::vector<double> numbers;
    const std::size_t pieces = 1 + random.below(4);
    for (std::size_t i = 0; i < pieces; ++i) {
      const double first = random.below(5) == 0 ? 0.5 : static_cast<double>(random.below(3));
      const double step = static_cast<double>(random.below(3)) / 2;
      for (std::uint64_t k = 1 + random.below(4), n = 0; n < k; ++n)
        numbers.push_back(first + step * static_cast<double>(n));
    }
    const std::size_t length = numbers.size();
    ASSERT_TRUE(repeat_to(length * (1 + random.below(3)), numbers));
    if (random.below(4) == 0) numbers.pop_back();
    if (numbers.empty()) continue;
    EXPECT_EQ(items_of(numbers), naive_items(numbers)) << "round " << round;
  }
}

TEST(Sequence, ranges_contain_only_whole_numbers_that_are_neither_negative_nor_huge) {
  using Items = std::vector<std::string>;
  EXPECT_EQ(items_of({-1, 0, 1}), (Items{"-1", "0", "1"}));
  EXPECT_EQ(items_of({-3, -2, -1, 0, 1, 2}), (Items{"-3", "-2", "-1", "0-2"}));
  EXPECT_EQ(items_of({0.5, 1.5, 2.5}), (Items{"0.5", "1.5", "2.5"}));
  EXPECT_EQ(items_of({9007199254740989, 9007199254740990, 9007199254740991}),
            (Items{"9007199254740989-9007199254740991"}));
  EXPECT_EQ(items_of({9007199254740990, 9007199254740991, 9007199254740992}).size(), 3u);
}

}  // namespace
}  // namespace poise
