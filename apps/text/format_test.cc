// SPDX-License-Identifier: BSD-3-Clause

#include "apps/text/format.h"

#include <gtest/gtest.h>

namespace poise::apps {
namespace {

TEST(Format, numbers_have_four_digits_and_a_unit) {
  EXPECT_EQ(seconds_text(12.3456), "12.35 s");
  EXPECT_EQ(seconds_text(0.0123456), "12.35 ms");
  EXPECT_EQ(seconds_text(1e-6), "1.000 µs");
  EXPECT_EQ(seconds_text(3e-12), "0.003 ns");
  EXPECT_EQ(seconds_text(0), "0 s");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(2.5e9), "2.500 GB");
}

TEST(Format, a_number_rounded_up_to_a_power_of_ten_has_four_digits) {
  EXPECT_EQ(digits(9.99996), "10.00");
  EXPECT_EQ(digits(99.9999), "100.0");
  EXPECT_EQ(digits(999.99), "1000");
  EXPECT_EQ(seconds_text(0.99999), "1.000 s");
  EXPECT_EQ(seconds_text(0.9999), "999.9 ms");
  EXPECT_EQ(digits(1e7), "1e+07");
}

TEST(Format, whole_numbers_have_commas_between_thousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1000), "1,000");
  EXPECT_EQ(count_text(1234567), "1,234,567");
}

TEST(Format, a_noun_is_singular_after_1_and_plural_after_0) {
  EXPECT_EQ(count_text(1, "node"), "1 node");
  EXPECT_EQ(count_text(0, "node"), "0 nodes");
}

TEST(Format, a_relative_change_has_a_sign_and_is_unknown_for_a_base_of_zero) {
  EXPECT_EQ(change_text(1, 2), "-50.0%");
  EXPECT_EQ(change_text(3, 2), "+50.0%");
  EXPECT_EQ(change_text(2.0001, 2), "0.0%");
  EXPECT_EQ(change_text(2, 0), "-");
}

TEST(Format, a_column_has_enough_decimals_for_its_smallest_value) {
  EXPECT_EQ(decimals_for(std::vector<double>{1, 250, 3}), 0);
  EXPECT_EQ(decimals_for(std::vector<double>{12.5, 250, 0}), 1);
  EXPECT_EQ(decimals_for(std::vector<double>{0.0000125, 250}), 4);
}

}  // namespace
}  // namespace poise::apps
