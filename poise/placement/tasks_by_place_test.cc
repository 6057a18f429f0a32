// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/tasks_by_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(TasksByPlace, lists_the_movable_tasks_of_each_place_heaviest_first) {
  Workload workload;
  workload.tasks = {{1}, {3}, {.load_s = 9, .movable = false}, {2}, {3}};
  const TasksByPlace tasks(workload, Placement(std::vector<PlaceId>{2, 2, 2, 0, 2}), 4);
  EXPECT_THAT(tasks.on(0), testing::ElementsAre(LoadedTask{3, 2}));
  EXPECT_THAT(tasks.on(1), testing::IsEmpty());
  EXPECT_THAT(tasks.on(2),
              testing::ElementsAre(LoadedTask{1, 3}, LoadedTask{4, 3}, LoadedTask{0, 1}));
  EXPECT_THAT(tasks.on(3), testing::IsEmpty());
}

}  // namespace
}  // namespace poise
