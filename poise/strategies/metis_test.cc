// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/strategies/library_testing.h"

namespace poise {
namespace {

std::size_t cut(const Example& example, const Placement& placement) {
  const auto& messages = example.workload.messages;
  return static_cast<std::size_t>(
      std::count_if(messages.begin(), messages.end(),
                    [&](const Message& m) { return placement.of(m.from) != placement.of(m.to); }));
}

class Metis : public LibraryTest {
 protected:
  Metis() : LibraryTest("metis") {}
};

TEST_F(Metis, divides_a_grid_into_parts_of_equal_load_and_cuts_few_edges) {
  const Example square = grid("core:16", 64);
  for (const char* strategy : {"metis", "metis:method=kway"}) {
    SCOPED_TRACE(strategy);
    const Placement placed = square.placed(strategy);
    EXPECT_LT(square.metrics(placed).imbalance, 1.05);
    EXPECT_LT(cut(square, placed), 3 * 64 * 2 * 3 / 2);  // 1.5 times 6 cuts of 64 edges each
  }
}

TEST_F(Metis, loads_are_proportional_to_the_speeds_of_places_and_pinned_tasks_do_not_move) {
  Example mixed = grid("core:4 speeds:1,0.5,1,1", 40);
  mixed.workload.background_s = {0, 0, 300, 1e6};
  for (TaskId t = 0; t < 40; ++t) mixed.workload.tasks[t * 41].movable = false;
  const Placement placed = mixed.placed("metis");
  const std::vector<double> busy_s = work_s(mixed.machine, mixed.workload, placed);
  EXPECT_NEAR(busy_s[1] / busy_s[0], 1, 0.06);
  EXPECT_NEAR(busy_s[2] / busy_s[0], 1, 0.06);
  // Ten tasks are pinned to place 3, which therefore gets no other task.
  EXPECT_EQ(std::count(placed.places().begin(), placed.places().end(), 3u), 10);
}

TEST_F(Metis, a_second_run_on_the_same_loads_moves_no_task_unless_the_option_stay_is_0) {
  Example again = grid("node:4 core:4", 48);
  again.current = again.placed("metis");
  const Placement next = again.placed("metis");
  EXPECT_EQ(next, again.current);
  EXPECT_NE(again.placed("metis:stay=0"), again.current);
}

TEST_F(Metis, prints_nothing_even_if_one_task_is_huge) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Example lumpy = grid(fmt::format("core:{}", 2 + random.below(60)).c_str(),
                         static_cast<TaskId>(1 + random.below(20)));
    for (Task& task : lumpy.workload.tasks)
      task.load_s = random.below(9) == 0 ? 0 : portable_exp(2 * random.normal());
    for (const char* strategy : {"metis", "metis:method=kway"})
      EXPECT_NO_THROW(lumpy.placed(strategy, seed));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Metis, balances_loads_even_if_some_tasks_are_larger_than_the_share_of_a_place) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Example lumpy = grid(seed % 2 == 0 ? "core:9" : "node:3 core:3 speeds:1,0.5,1", 12);
    for (Task& task : lumpy.workload.tasks)
      task.load_s = random.below(20) == 0 ? random.uniform(10, 30) : random.uniform(0.5, 1.5);
    if (seed % 3 == 0) lumpy.workload.background_s = {0, 9, 0, 0, 400, 0, 3, 0, 0};
    const Metrics metrics = lumpy.metrics(lumpy.placed("metis", seed));
    EXPECT_LE(metrics.makespan_s, 2 * metrics.makespan_bound_s);
    sum += metrics.makespan_s / metrics.makespan_bound_s;
  }
  EXPECT_LE(sum / 30, 1.144);
}

}  // namespace
}  // namespace poise
