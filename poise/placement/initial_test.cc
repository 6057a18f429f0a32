// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/initial.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string_view>
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

TEST(InitialPlacement, the_uneven_placement_gives_each_place_fewer_tasks_than_the_previous_place) {
  EXPECT_EQ(tasks_per_place("uneven", 1600, 4), (std::vector<int>{700, 500, 300, 100}));
}

TEST(InitialPlacement, the_random_placement_gives_every_place_about_equally_many_tasks) {
  for (const int count : tasks_per_place("random", 40000, 4)) EXPECT_NEAR(count, 10000, 400);
}

TEST(InitialPlacement, unknown_names_are_refused) {
  EXPECT_THROW(initial_placement("blocks", 4, 2, 0), Error);
}

std::vector<PlaceId> places_of(std::string_view name, TaskId num_tasks, std::uint32_t num_places) {
  const Placement placement = initial_placement(name, num_tasks, num_places, 5);
  return {placement.places().begin(), placement.places().end()};
}

TEST(InitialPlacement,
     blocked_and_round_robin_placements_equal_those_of_the_functions_with_these_names) {
  EXPECT_EQ(initial_placement("blocked", 7, 3, 0), blocked(7, 3));
  EXPECT_EQ(initial_placement("round_robin", 7, 3, 0), round_robin(7, 3));
  EXPECT_EQ(places_of("blocked", 5, 2), (std::vector<PlaceId>{0, 0, 0, 1, 1}));
  EXPECT_EQ(places_of("round_robin", 5, 2), (std::vector<PlaceId>{0, 1, 0, 1, 0}));
}

TEST(InitialPlacement, the_number_of_tasks_per_place_falls_linearly_in_the_uneven_placement) {
  for (const TaskId tasks : {1u, 10u, 97u, 1000u})
    for (const std::uint32_t places : {1u, 2u, 3u, 7u, 16u}) {
      const std::vector<PlaceId> placed = places_of("uneven", tasks, places);
      ASSERT_EQ(placed.size(), tasks);
      EXPECT_TRUE(std::is_sorted(placed.begin(), placed.end()));
      for (std::uint32_t q = 1; q <= places; ++q) {
        const auto below =
            std::count_if(placed.begin(), placed.end(), [&](PlaceId p) { return p < q; });
        EXPECT_NEAR(static_cast<double>(below),
                    1.0 * tasks * q * (2 * places - q) / (places * places), 0.51)
            << tasks << " tasks, " << places << " places, " << q;
      }
    }
}

TEST(InitialPlacement, the_random_placement_depends_on_the_seed_alone) {
  EXPECT_EQ(initial_placement("random", 50, 7, 1), initial_placement("random", 50, 7, 1));
  EXPECT_NE(initial_placement("random", 50, 7, 1), initial_placement("random", 50, 7, 2));
}

TEST(InitialPlacement, visits_all_tasks_in_order_with_their_places_in_the_initial_placement) {
  for (const auto name : initial_placements())
    for (const std::uint32_t places : {1u, 3u, 5u}) {
      SCOPED_TRACE(name);
      std::vector<PlaceId> visited;
      visit_initial_placement(name, 11, places, 5, [&](TaskId t, PlaceId p) {
        EXPECT_EQ(t, visited.size());
        visited.push_back(p);
      });
      EXPECT_EQ(visited, places_of(name, 11, places));
      EXPECT_EQ(visited.size(), 11u);
    }
}

}  // namespace
}  // namespace poise
