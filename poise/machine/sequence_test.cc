// SPDX-License-Identifier: BSD-3-Clause

#include "poise/machine/sequence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace poise
