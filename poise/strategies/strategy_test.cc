// SPDX-License-Identifier: BSD-3-Clause

#include "poise/strategies/strategy.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const char* list) {
  std::vector<std::string> texts;
  for (const Choice& choice : parse_strategies(list)) texts.push_back(choice.text());
  return texts;
}

TEST(ParseStrategies, an_item_without_a_strategy_name_is_another_option_of_the_previous_strategy) {
  EXPECT_THAT(texts("greedy"), ElementsAre("greedy"));
  EXPECT_THAT(texts("greedy,nuco:alpha=0.5,local=0,refine:tolerance=2,keep"),
              ElementsAre("greedy", "nuco:alpha=0.5,local=0", "refine:tolerance=2", "keep"));
  EXPECT_THAT(texts("nuco:alpha=0.5,nuco:alpha=0.25"),
              ElementsAre("nuco:alpha=0.5", "nuco:alpha=0.25"));
}

TEST(ParseStrategies, refuses_empty_and_unknown_names) {
  for (const char* list : {"", ",", "greedy,", ",greedy", "greedy,,keep", "greedi", "greedy,x=1"})
    EXPECT_THROW(parse_strategies(list), Error) << list;
}

TEST(Choice, parsing_the_text_of_a_choice_gives_the_same_choice) {
  for (const char* text : {"keep", "nuco:alpha=0.5", "poise:steps=3,candidates=5"}) {
    EXPECT_EQ(parse_strategy(text).text(), text);
    EXPECT_EQ(parse_strategy(parse_strategy(text).text()).text(), text);
  }
}

TEST(Choice,
     a_placement_that_violates_a_capacity_is_corrected_but_anneal_and_optimal_refuse_capacities) {
  const Machine machine = flat_machine(3);
  Workload workload;
  for (const double load_s : {9.0, 1.0, 1.0, 1.0, 1.0, 1.0})
    workload.tasks.push_back({.load_s = load_s});
  workload.capacity.per_place = 2;
  const Placement current = round_robin(6, 3);
  const Problem problem{machine, workload, current, machine.costs()};
  const Placement placed = parse_strategy("greedy").rebalance(problem);
  for (PlaceId p = 0; p < 3; ++p) EXPECT_EQ(std::ranges::count(placed.places(), p), 2) << p;
  for (const char* oracle : {"anneal", "optimal"})
    EXPECT_THROW(parse_strategy(oracle).rebalance(problem), Error) << oracle;
  workload.capacity.per_place = 0;
  EXPECT_NO_THROW(parse_strategy("anneal").rebalance(problem));
}

}  // namespace
}  // namespace poise
