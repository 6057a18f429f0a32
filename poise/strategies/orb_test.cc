// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

Placement orb(const Machine& machine, const Workload& workload, const Placement& current) {
  return parse_strategy("orb").rebalance({machine, workload, current, machine.costs()});
}

/// A grid of tasks, each with a load of 1 s. Tasks are numbered along x first.
Workload grid(int width, int height) {
  Workload workload;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      workload.tasks.push_back({1});
      workload.positions.push_back({static_cast<double>(x), static_cast<double>(y), 0});
    }
  return workload;
}

TEST(Orb, cuts_a_grid_across_its_longest_side) {
  const Placement placed = orb(flat_machine(4), grid(4, 2), Placement(8));
  EXPECT_THAT(placed.places(), testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(Orb, fast_places_get_more_load_and_places_with_background_load_get_less) {
  Workload line = grid(8, 1);
  EXPECT_THAT(orb(machine_from_text("core:2 speeds:3,1"), line, Placement(8)).places(),
              testing::ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
  line.background_s = {0, 100, 4, 0};
  EXPECT_THAT(orb(flat_machine(4), line, Placement(8)).places(),
              testing::ElementsAre(0, 0, 0, 0, 3, 3, 3, 3));
}

TEST(Orb, the_load_of_a_pinned_task_counts_at_the_place_where_it_is_pinned) {
  Workload line = grid(6, 1);
  line.tasks[0] = {.load_s = 3, .movable = false};
  EXPECT_THAT(orb(flat_machine(2), line, Placement(6, 1)).places(),
              testing::ElementsAre(1, 0, 0, 0, 0, 1));
}

TEST(Orb, cuts_between_nodes_before_it_cuts_between_the_places_of_a_node) {
  // The machine has three nodes of two places. The first cut is between nodes and not between the
  // places of the second node, so the tasks of each node are neighbours on the line.
  const Machine machine = machine_from_text("node:3 core:2");
  const Placement placed = orb(machine, grid(12, 1), Placement(12));
  EXPECT_THAT(placed.places(), testing::ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
}

TEST(Orb, spreads_tasks_over_the_places_if_all_have_load_0_and_equal_positions) {
  Workload workload = grid(4, 1);
  for (Task& task : workload.tasks) task.load_s = 0;
  for (auto& position : workload.positions) position = {7, 7, 7};
  EXPECT_THAT(orb(flat_machine(4), workload, Placement(4)).places(),
              testing::ElementsAre(0, 1, 2, 3));
}

TEST(Orb, balances_a_large_grid_of_unequal_tasks_and_cuts_few_edges) {
  Random random(2);
  Workload workload = grid(100, 100);
  for (Task& task : workload.tasks) task.load_s = random.uniform(0.5, 1.5);
  for (TaskId t = 0; t < 10000; ++t) {
    if (t % 100 != 99) workload.messages.push_back({t, t + 1, 1, 1});
    if (t < 9900) workload.messages.push_back({t, t + 100, 1, 1});
  }
  const Machine machine = machine_from_text("node:4 core:4");
  const Placement current = round_robin(10000, 16);
  const Placement placed = orb(machine, workload, current);
  const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placed);
  EXPECT_LT(metrics.imbalance, 1.01);
  // Cutting the grid into 4 by 4 squares would cut 600 edges: six lines, each across 100 edges.
  // Because the loads are unequal, the lines have steps and cut more edges.
  const auto cut =
      std::count_if(workload.messages.begin(), workload.messages.end(),
                    [&](const Message& m) { return placed.of(m.from) != placed.of(m.to); });
  EXPECT_LT(cut, 700);
}

TEST(Orb, throws_if_tasks_have_no_positions) {
  Workload workload = grid(2, 1);
  workload.positions.clear();
  try {
    orb(flat_machine(2), workload, Placement(2));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no positions"));
  }
  workload = grid(2, 1);
  workload.positions[1][2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(orb(flat_machine(2), workload, Placement(2)), Error);
}

}  // namespace
}  // namespace poise
