// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/initial.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/error.h"

namespace poise {
namespace {

std::vector<int> tasks_per_place(std::string_view name, TaskId num_tasks, std::uint32_t places) {
  const Placement placement = initial_placement(name, num_tasks, places, 1);
  check(placement, num_tasks, places);
  std::vector<int> counts(places);
  for (const PlaceId p : placement.places()) ++counts[p];
  return counts;
}

TEST(InitialPlacement, every_named_placement_puts_each_task_on_an_existing_place) {
  for (const auto name : initial_placements())
    for (const TaskId tasks : {1u, 7u, 1000u})
      for (const std::uint32_t places : {1u, 3u, 64u}) tasks_per_place(name, tasks, places);
}

TEST(InitialPlacement, the_uneven_placement_gives_each_place_fewer_tasks_than_the_place_before) {
  EXPECT_EQ(tasks_per_place("uneven", 1600, 4), (std::vector<int>{700, 500, 300, 100}));
}

TEST(InitialPlacement, the_random_placement_gives_every_place_about_equally_many_tasks) {
  for (const int count : tasks_per_place("random", 40000, 4)) EXPECT_NEAR(count, 10000, 400);
}

TEST(InitialPlacement, unknown_names_are_refused) {
  EXPECT_THROW(initial_placement("blocks", 4, 2, 0), Error);
}

}  // namespace
}  // namespace poise
