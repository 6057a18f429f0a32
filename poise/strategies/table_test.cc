// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

#include "poise/strategies/strategy.h"

namespace poise {
namespace {

std::vector<std::string_view> names_with(bool Strategy::*property) {
  std::vector<std::string_view> names;
  for (const Strategy& row : strategies())
    if (row.*property) names.push_back(row.name);
  return names;
}

TEST(StrategyTable, says_which_strategies_start_from_the_current_placement_or_ignore_messages) {
  using testing::ElementsAre;
  EXPECT_THAT(
      names_with(&Strategy::is_incremental),
      ElementsAre("keep", "poise", "greedy_refine", "refine", "refine_comm", "anneal", "optimal"));
  EXPECT_THAT(names_with(&Strategy::ignores_messages),
              ElementsAre("keep", "random", "rotate", "greedy", "greedy_refine", "refine", "orb"));
  EXPECT_THAT(names_with(&Strategy::is_oracle), ElementsAre("anneal", "optimal"));
}

TEST(StrategyTable, has_eighteen_strategies_with_different_names) {
  std::vector<std::string_view> names;
  for (const Strategy& row : strategies()) names.push_back(row.name);
  EXPECT_THAT(names, testing::Not(testing::Contains("")));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(names.size(), 18u);
}

}  // namespace
}  // namespace poise
