// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/example_testing.h"

namespace poise {
namespace {

TEST(Refine, moves_nothing_if_the_imbalance_is_within_the_tolerance) {
  const Example near = example("core:2", {10, 10.9}, {0, 1});  // 10.9 is 4 % above the mean, 10.45
  EXPECT_EQ(near.placed("refine"), near.current);
}

TEST(Refine, moves_the_smallest_task_whose_move_brings_a_place_below_the_threshold) {
  // Place 0 has a load of 17 s and the average is 12 s. Moving the task of 5 s balances the places.
  // The task of 4 s is too small for that, and the task of 8 s would overload place 1.
  const Example uneven = example("core:2", {8, 5, 4, 7}, {0, 0, 0, 1});
  EXPECT_EQ(uneven.placed("refine"), Placement(std::vector<PlaceId>{0, 1, 0, 1}));
}

TEST(Refine, moves_the_largest_tasks_that_fit_if_no_single_task_is_large_enough) {
  const Example uneven = example("core:3", {4, 4, 3, 3, 2, 2}, {0, 0, 0, 0, 0, 0});
  const Metrics after = uneven.metrics(uneven.placed("refine"));
  EXPECT_EQ(after.makespan_s, 6);
  EXPECT_EQ(after.migrations, 4u);
}

TEST(Refine, reaches_the_shortest_makespan_even_if_the_requested_tolerance_cannot_be_reached) {
  // The load of the first task is 6 s, nearly three times the average load of a place, so in the
  // best placement this task has a place of its own.
  const Example lumpy = example("core:4", {6, 1, 1, 1}, {0, 0, 0, 0});
  const Metrics after = lumpy.metrics(lumpy.placed("refine"));
  EXPECT_EQ(after.makespan_s, 6);
  EXPECT_EQ(after.migrations, 1u);
}

TEST(Refine, keeps_the_current_placement_if_no_move_of_a_single_task_improves_it) {
  const Example stuck = example("core:2", {3, 3, 3}, {0, 0, 1});
  EXPECT_EQ(stuck.placed("refine"), stuck.current);
  const Example pair = example("core:3", {2, 2, 2, 2}, {0, 0, 1, 2});
  EXPECT_EQ(pair.placed("refine"), pair.current);
}

TEST(Refine, accounts_for_speeds_of_places_and_for_background_load) {
  Example mixed = example("core:3 speeds:1,4,1", {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0});
  mixed.workload.background_s = {0, 0, 5};
  const Placement placed = mixed.placed("refine:tolerance=1");
  for (const PlaceId p : placed.places()) EXPECT_NE(p, 2u);
  EXPECT_EQ(mixed.metrics(placed).makespan_s, 5);  // the background load, which stays
}

TEST(Refine, reaches_its_tolerance_with_few_migrations) {
  Random random(11);
  Example large{flat_machine(64), {}, Placement(6400)};
  large.current = blocked(6400, 64);
  for (TaskId t = 0; t < 6400; ++t)
    large.workload.tasks.push_back({(t < 800 ? 3 : 1) * random.uniform(0.5, 1.5)});
  const Metrics before = large.metrics(large.current);
  const Metrics after = large.metrics(large.placed("refine"));
  EXPECT_GT(before.imbalance, 2.2);
  EXPECT_LE(after.imbalance, 1.05 + 1e-12);
  // One eighth of the places have 2.4 times the average load, so 1.4/8 of all load must move. This
  // is the load of about 467 tasks from these places.
  EXPECT_LT(after.migrations, 500u);
}

}  // namespace
}  // namespace poise
