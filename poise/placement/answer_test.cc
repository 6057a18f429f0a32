// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(CheckAnswer, refuses_missing_tasks_unknown_places_and_moves_of_pinned_tasks) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 1, .movable = false}};
  const Placement current(std::vector<PlaceId>{0, 1});
  const Problem problem{machine, workload, current, machine.costs()};
  const auto trouble = [&](std::vector<PlaceId> places) -> std::string {
    try {
      check_answer(problem, Placement(std::move(places)));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(trouble({2, 1}), "");
  EXPECT_THAT(trouble({2}), testing::HasSubstr("the placement has 1 tasks"));
  EXPECT_THAT(trouble({3, 1}), testing::HasSubstr("task 0 is at place 3"));
  EXPECT_EQ(trouble({2, 0}),
            "task 1 is pinned to place 1, but the new placement has it at place 0");
}

}  // namespace
}  // namespace poise
