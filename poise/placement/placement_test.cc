// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/placement.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "poise/base/error.h"

namespace poise {
namespace {

Placement at(std::vector<PlaceId> places) { return Placement(std::move(places)); }

TEST(Placement, tasks_are_dealt_in_turn_or_in_blocks_whose_sizes_differ_by_at_most_one) {
  EXPECT_EQ(round_robin(7, 3), at({0, 1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(blocked(7, 3), at({0, 0, 0, 1, 1, 2, 2}));
  for (TaskId tasks = 0; tasks < 30; ++tasks)
    for (std::uint32_t places = 1; places < 12; ++places) {
      std::vector<std::uint32_t> sizes(places, 0);
      PlaceId last = 0;
      const Placement placement = blocked(tasks, places);
      for (const PlaceId p : placement.places()) {
        ASSERT_LT(p, places);
        EXPECT_LE(last, p);
        last = p;
        ++sizes[p];
      }
      for (const std::uint32_t size : sizes) {
        EXPECT_GE(size, tasks / places);
        EXPECT_LE(size, (tasks + places - 1) / places);
      }
    }
}

TEST(Placement, the_function_migrations_lists_tasks_whose_places_differ_and_sorts_them_by_id) {
  const std::vector<Migration> expected{{0, 4, 1}, {2, 0, 3}, {4, 2, 0}};
  EXPECT_EQ(migrations(at({4, 1, 0, 3, 2}), at({1, 1, 3, 3, 0})), expected);
  EXPECT_TRUE(migrations(at({1, 2}), at({1, 2})).empty());
}

TEST(Placement, a_placement_must_give_each_task_an_existing_place) {
  EXPECT_NO_THROW(check(at({0, 2, 1}), 3, 3));
  EXPECT_NO_THROW(check(at({}), 0, 1));
  EXPECT_THROW(check(at({0, 2, 1}), 2, 3), Error);
  EXPECT_THROW(check(at({0, 2, 1}), 4, 3), Error);
  EXPECT_THROW(check(at({0, 2, 1}), 3, 2), Error);
  EXPECT_THROW(check(at({3, 0, 1}), 3, 3), Error);
  EXPECT_THROW(check(at({0, 0, 3}), 3, 3), Error);
}

}  // namespace
}  // namespace poise
