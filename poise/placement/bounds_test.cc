// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/bounds.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

TEST(Bounds, no_placement_of_a_small_problem_beats_the_lower_bounds) {
  Random random(3);
  int tighter = 0;
  for (const char* text : {"numa:2 core:2 factors:2,1 message:0.2", "node:2 core:2 message:0.1",
                           "torus:4 core:1 message:0.3", "core:4 speeds:1,0.5 message:0.2"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    for (int problem = 0; problem < 6; ++problem) {
      Workload workload;
      Placement current(6);
      for (TaskId t = 0; t < 6; ++t) {
        workload.tasks.push_back({.load_s = 0.2 + random.uniform(), .bytes = random.below(100)});
        current.move(t, static_cast<PlaceId>(random.below(4)));
      }
      for (int m = 0; m < 12; ++m)
        workload.messages.push_back({static_cast<TaskId>(random.below(6)),
                                     static_cast<TaskId>(random.below(2)), 1 + random.below(3)});
      const double bound_s = iteration_bound_s(machine, workload, machine.costs(), current);
      tighter += bound_s > makespan_bound_s(machine, workload, current) * (1 + 1e-9);
      for (std::uint32_t code = 0; code < 1u << 12; ++code) {
        Placement placement(6);
        for (TaskId t = 0; t < 6; ++t) placement.move(t, code >> (2 * t) & 3);
        const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placement);
        ASSERT_GE(metrics.iteration_s, bound_s * (1 - 1e-12));
        const LeastMigrations least =
            least_migrations(machine, workload, current, metrics.makespan_s);
        ASSERT_LE(least.tasks, metrics.migrations);
        ASSERT_LE(least.bytes, metrics.migrated_bytes);
      }
    }
  }
  EXPECT_GE(tighter, 6);
}

TEST(Bounds, no_placement_beats_the_lower_bounds_if_work_of_several_kinds_overlaps) {
  const Machine machine = machine_from_text("core:2 message:0.2");
  for (const bool has_speeds : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Random random(seed);
      Workload workload;
      workload.subphase_rule = SubphaseRule::overlap;
      if (has_speeds)
        workload.subphase_speed = {1, 4, 2, 1};  // index: place * subphases + subphase
      Placement current(5);
      for (TaskId t = 0; t < 5; ++t) {
        const double cpu_s = random.uniform(), gpu_s = random.uniform();
        workload.tasks.push_back({.load_s = cpu_s + gpu_s, .bytes = 100});
        workload.subphase_load_s.push_back({cpu_s, gpu_s});
        workload.messages.push_back({t, static_cast<TaskId>(random.below(5))});
        current.move(t, static_cast<PlaceId>(random.below(2)));
      }
      const double bound_s = iteration_bound_s(machine, workload, machine.costs(), current);
      for (std::uint32_t code = 0; code < 1u << 5; ++code) {
        Placement placement(5);
        for (TaskId t = 0; t < 5; ++t) placement.move(t, code >> t & 1);
        const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placement);
        ASSERT_GE(metrics.iteration_s, bound_s * (1 - 1e-12)) << "seed " << seed;
        const LeastMigrations least =
            least_migrations(machine, workload, current, metrics.makespan_s);
        ASSERT_LE(least.tasks, metrics.migrations) << "seed " << seed;
        ASSERT_LE(least.bytes, metrics.migrated_bytes) << "seed " << seed;
      }
    }
}

TEST(Bounds, lower_bounds_are_valid_and_often_tight_if_some_work_is_fixed_to_places) {
  Random random(5);
  int tight = 0;
  for (int problem = 0; problem < 50; ++problem) {
    SCOPED_TRACE(problem);
    const Machine machine = machine_from_text(problem % 2 == 0 ? "core:3" : "core:3 speeds:1,2,1");
    Workload workload;
    Placement current(7);
    for (TaskId t = 0; t < 7; ++t) {
      const bool is_heavy = t < 3;
      workload.tasks.push_back(
          {.load_s = (is_heavy ? 2 : 0.3) * (0.5 + random.uniform()), .movable = t < 5});
      current.move(t, static_cast<PlaceId>(random.below(3)));
    }
    workload.background_s = {random.uniform(), 0, random.uniform()};
    const double bound_s = makespan_bound_s(machine, workload, current);
    double least_s = std::numeric_limits<double>::infinity();
    for (std::uint32_t code = 0; code < 243; ++code) {
      Placement placement = current;
      for (std::uint32_t t = 0, rest = code; t < 5; ++t, rest /= 3) placement.move(t, rest % 3);
      const std::vector<double> works_s = work_s(machine, workload, placement);
      least_s = std::min(least_s, *std::max_element(works_s.begin(), works_s.end()));
    }
    ASSERT_GE(least_s, bound_s * (1 - 1e-12));
    tight += least_s <= bound_s * 1.1;
  }
  EXPECT_GE(tight, 20);
}

TEST(Bounds, each_sender_adds_the_smaller_of_its_load_and_message_time_to_the_iteration_bound) {
  const Machine machine = machine_from_text("core:4 message:0.5");
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 2}, {.load_s = 0.25}};
  workload.messages = {{1, 0, 1, 0}, {2, 0, 1, 0}};
  EXPECT_DOUBLE_EQ(iteration_bound_s(machine, workload, machine.costs(), Placement(3, 0)), 2);
  workload.messages = {{1, 0, 1, 0}, {1, 0, 2, 0}, {2, 0, 1, 0}};
  EXPECT_DOUBLE_EQ(iteration_bound_s(machine, workload, machine.costs(), Placement(3, 0)), 2.75);
}

TEST(Bounds,
     bounds_on_migrated_tasks_and_bytes_are_exact_if_two_of_three_equally_long_tasks_must_move) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  workload.tasks = {
      {.load_s = 3, .bytes = 30}, {.load_s = 3, .bytes = 10}, {.load_s = 3, .bytes = 20}};
  const LeastMigrations least = least_migrations(machine, workload, Placement(3, 0), 3);
  EXPECT_EQ(least.tasks, 2u);
  EXPECT_EQ(least.bytes, 29u);  // the bound is 30 bytes minus a margin for rounding
}

TEST(Bounds, one_task_must_move_if_its_load_is_exactly_what_exceeds_the_makespan) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.tasks = {{.load_s = 1, .bytes = 10}, {.load_s = 2, .bytes = 100}};
  const double makespan_s = 1 / (1 + 1e-9);  // 1 s if multiplied by the margin for rounding
  const LeastMigrations least = least_migrations(machine, workload, Placement(2, 0), makespan_s);
  EXPECT_EQ(least.tasks, 1u);
  EXPECT_EQ(least.bytes, 60u);  // the task of 10 bytes and half of the other
}

TEST(Bounds, tasks_that_cannot_move_or_have_no_load_or_are_on_other_places_need_not_move) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  workload.tasks = {{.load_s = 9, .bytes = 1, .movable = false},
                    {.load_s = 0, .bytes = 2},
                    {.load_s = 1, .bytes = 30},
                    {.load_s = 5, .bytes = 400}};
  const Placement current(std::vector<PlaceId>{0, 0, 0, 1});
  const LeastMigrations least = least_migrations(machine, workload, current, 5);
  EXPECT_EQ(least.tasks, 1u);
  EXPECT_EQ(least.bytes, 30u);
  EXPECT_EQ(least_migrations(machine, workload, current, 10).tasks, 0u);
}

}  // namespace
}  // namespace poise
