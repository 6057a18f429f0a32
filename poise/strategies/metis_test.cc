// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

struct Example {
  Machine machine;
  Workload workload;
  Placement current;

  Placement placed(const char* strategy = "metis", std::uint64_t seed = 0) const {
    return parse_strategy(strategy).rebalance({machine, workload, current, machine.costs(), seed});
  }
  Metrics metrics(const Placement& placement) const {
    return evaluate(machine, workload, machine.costs(), current, placement);
  }
  std::size_t cut(const Placement& placement) const {
    return static_cast<std::size_t>(std::count_if(
        workload.messages.begin(), workload.messages.end(),
        [&](const Message& m) { return placement.of(m.from) != placement.of(m.to); }));
  }
};

/// A square grid with loads around 1, tasks placed round-robin.
Example grid(const char* machine, TaskId side) {
  Random random(side);
  Example made{machine_from_text(machine), {}, {}};
  for (TaskId t = 0; t < side * side; ++t) {
    made.workload.tasks.push_back({random.uniform(0.5, 1.5)});
    if (t % side + 1 < side) made.workload.messages.push_back({t, t + 1, 1, 10});
    if (t + side < side * side) made.workload.messages.push_back({t, t + side, 1, 10});
  }
  made.current = round_robin(side * side, made.machine.num_places());
  return made;
}

class Metis : public testing::Test {
 protected:
  void SetUp() override {
    try {
      grid("core:2", 2).placed();
    } catch (const Error& error) {
      if (std::string_view(error.what()).find("built without") == std::string_view::npos) throw;
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(Metis, cuts_few_edges_of_a_grid_into_equal_parts) {
  const Example square = grid("core:16", 64);
  for (const char* strategy : {"metis", "metis:method=kway"}) {
    SCOPED_TRACE(strategy);
    const Placement placed = square.placed(strategy);
    EXPECT_LT(square.metrics(placed).imbalance, 1.05);
    EXPECT_LT(square.cut(placed), 3 * 64 * 2 * 3 / 2);  // straight cuts: 6 lines of 64
  }
}

TEST_F(Metis, accounts_for_speeds_and_pinned_tasks) {
  Example mixed = grid("core:4 speeds:1,0.5,1,1", 40);
  mixed.workload.background_s = {0, 0, 300, 1e6};
  for (TaskId t = 0; t < 40; ++t) mixed.workload.tasks[t * 41].movable = false;
  const Placement placed = mixed.placed();
  const std::vector<double> busy_s = work_s(mixed.machine, mixed.workload, placed);
  EXPECT_NEAR(busy_s[1] / busy_s[0], 1, 0.06);
  EXPECT_NEAR(busy_s[2] / busy_s[0], 1, 0.06);
  // Ten tasks are pinned to place 3.
  EXPECT_EQ(std::count(placed.places().begin(), placed.places().end(), 3u), 10);
}

TEST_F(Metis, moves_few_tasks_in_a_second_decision) {
  Example again = grid("node:4 core:4", 48);
  again.current = again.placed();
  const Placement next = again.placed();
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

}  // namespace
}  // namespace poise
