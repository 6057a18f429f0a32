// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

#include "poise/strategies/strategy.h"

namespace poise {
namespace {

TEST(StrategyTable, strategies_have_different_names) {
  std::vector<std::string_view> names;
  for (const Strategy& row : strategies()) names.push_back(row.name);
  EXPECT_THAT(names, testing::Not(testing::Contains("")));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace poise
