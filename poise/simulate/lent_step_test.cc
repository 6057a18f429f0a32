// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/lent_step.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

TEST(LentStep, approaches_perfect_balance_with_many_tasks_on_one_place) {
  const Machine machine = machine_from_text("node:2 core:4");
  Workload workload;
  workload.tasks.assign(800, {.load_s = 1e-3});
  const double lent_s = lent_step_s(machine, workload, Placement(800, 0));
  EXPECT_GE(lent_s, 0.1);
  EXPECT_LE(lent_s, 0.115);
}

TEST(LentStep, takes_as_long_as_a_task_that_dominates_all_others) {
  const Machine machine = machine_from_text("core:4");
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 0.01}, {.load_s = 0.01}};
  EXPECT_NEAR(lent_step_s(machine, workload, Placement(3, 0)), 1, 1e-3);
}

TEST(LentStep, leaves_background_loads_and_pinned_tasks_where_they_are) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.background_s = {0.5, 0};
  workload.tasks = {{.load_s = 0.5, .movable = false}};
  EXPECT_NEAR(lent_step_s(machine, workload, Placement(1, 0)), 1, 1e-3);
}

TEST(LentStep, lending_never_beats_the_lower_bound_and_never_lengthens_a_step_by_much) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine =
        machine_from_text(random.below(2) ? "core:6" : "node:3 core:4 speeds:1,0.5");
    Workload workload;
    for (std::uint64_t t = random.below(200); t > 0; --t)
      workload.tasks.push_back({.load_s = random.uniform(0, 2e-3), .movable = random.below(8) > 0});
    Placement placement(workload.num_tasks(), 0);
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      placement.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
    const double lent_s = lent_step_s(machine, workload, placement);
    EXPECT_GE(lent_s, makespan_bound_s(machine, workload, placement) * (1 - 1e-9));
    const std::vector<double> work_s = poise::work_s(machine, workload, placement);
    const double alone_s = *std::max_element(work_s.begin(), work_s.end());
    EXPECT_LE(lent_s, 1.1 * alone_s + 1e-3);
  }
}

}  // namespace
}  // namespace poise
