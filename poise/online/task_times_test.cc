// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/task_times.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(TaskTimes, estimates_hardly_rise_when_a_short_task_is_preempted) {
  TaskTimes times(1);
  for (int i = 0; i < 10000; ++i) times.learn(0, 20e-6, 1);
  times.learn(0, 4e-3, 1);
  EXPECT_NEAR(times.per_unit(0), 20e-6, 0.1e-6);
}

TEST(TaskTimes, a_batch_changes_the_estimate_as_much_as_the_same_tasks_measured_individually) {
  TaskTimes rows(1), tasks(1);
  for (int i = 0; i < 8; ++i) rows.learn(0, 30e-6, 1), tasks.learn(0, 30e-6, 1);
  for (int i = 0; i < 160; ++i) tasks.learn(0, 20e-6, 1);
  for (int i = 0; i < 10; ++i) rows.learn(0, 320e-6, 16, 16);
  EXPECT_NEAR(rows.per_unit(0), tasks.per_unit(0), 0.2e-6);
}

TEST(TaskTimes, estimates_hardly_rise_when_one_task_of_a_batch_is_preempted) {
  TaskTimes times(1);
  for (int i = 0; i < 1000; ++i) times.learn(0, 320e-6, 16, 16);
  times.learn(0, 4.3e-3, 16, 16);
  EXPECT_NEAR(times.per_unit(0), 20e-6, 0.1e-6);
}

TEST(TaskTimes, the_estimate_adapts_within_16_tasks_when_tasks_suddenly_take_twice_as_long) {
  TaskTimes times(1);
  for (int i = 0; i < 100; ++i) times.learn(0, 0.5, 2);
  EXPECT_DOUBLE_EQ(times.per_unit(0), 0.25);
  for (int i = 0; i < 16; ++i) times.learn(0, 1, 2);
  EXPECT_GT(times.per_unit(0), 0.45);
}

TEST(RemainingTime,
     the_remaining_time_of_a_running_task_is_estimated_from_its_elapsed_and_expected_time) {
  EXPECT_DOUBLE_EQ(remaining_s(0, 2e-3), 2e-3);
  EXPECT_DOUBLE_EQ(remaining_s(1.5e-3, 2e-3), 0.5e-3);
  EXPECT_DOUBLE_EQ(remaining_s(3e-3, 2e-3), 0);
  EXPECT_DOUBLE_EQ(remaining_s(0.5, 2e-3), 0.5);  // the task has run for longer than expected
  EXPECT_DOUBLE_EQ(remaining_s(0.5, 0), 0.5);     // the expected time is unknown
}

TEST(RemainingTime,
     the_end_of_a_task_is_unpredictable_if_its_mean_time_is_unknown_or_far_exceeded) {
  EXPECT_EQ(remaining_deviation_s(1.5e-3, 2e-3, 0.1e-3), 0.1e-3);
  EXPECT_TRUE(std::isinf(remaining_deviation_s(0, 0, 0)));
  EXPECT_TRUE(std::isinf(remaining_deviation_s(0.5, 0, 0)));
  EXPECT_TRUE(std::isinf(remaining_deviation_s(0.5, 2e-3, 0.1e-3)));
}

TEST(TaskTimes, the_deviation_of_equal_tasks_is_zero_and_hardly_rises_when_one_is_preempted) {
  TaskTimes times(1);
  for (int i = 0; i < 100; ++i) times.learn(0, 1e-3, 1);
  EXPECT_EQ(times.deviation(0), 0);
  times.learn(0, 1, 1);
  EXPECT_LT(times.deviation(0), 0.4);
  for (int i = 0; i < 40; ++i) times.learn(0, 1e-3, 1);
  EXPECT_LT(times.deviation(0), 0.1);
}

TEST(TaskTimes, the_deviation_is_0_5_if_tasks_alternately_take_0_5_and_1_5_times_the_mean) {
  TaskTimes times(1);
  for (int i = 0; i < 1000; ++i) times.learn(0, i % 2 == 0 ? 0.5e-6 : 1.5e-6, 1);
  EXPECT_NEAR(times.deviation(0), 0.5, 0.05);
}

TEST(TaskTimes, tasks_whose_times_are_proportional_to_their_stated_costs_have_no_deviation) {
  TaskTimes times(1);
  for (int cost = 1; cost < 100; ++cost) times.learn(0, cost * 1e-6, cost);
  EXPECT_NEAR(times.deviation(0), 0, 1e-12);
}

TEST(TaskTimes, a_slow_first_task_has_no_lasting_influence_on_the_estimate) {
  TaskTimes times(1);
  times.learn(0, 1e-3, 1);
  for (int i = 0; i < 1000; ++i) times.learn(0, 20e-6, 1);
  EXPECT_NEAR(times.per_unit(0), 20e-6, 2e-6);
}

}  // namespace
}  // namespace poise
