// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/text.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Text, parses_and_prints_durations_with_their_unit) {
  EXPECT_EQ(parse_duration_s("30s"), 30);
  EXPECT_EQ(parse_duration_s("100ms"), 0.1);
  EXPECT_EQ(parse_duration_s("2.5us"), 2.5e-6);
  EXPECT_EQ(parse_duration_s("20ns"), 2e-8);
  EXPECT_EQ(parse_duration_s("0s"), 0);
  for (const char* text :
       {"", "s", "30", "30 s", "-1s", "nans", "infs", "1m", "1h", "ms", "1e999s"})
    EXPECT_EQ(parse_duration_s(text), std::nullopt) << text;
}

}  // namespace
}  // namespace poise
