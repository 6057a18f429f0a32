// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/omp_watch.h"

#include <gtest/gtest.h>

namespace poise::profile {
namespace {

TEST(omp_watch, time_at_barriers_or_outside_of_parallel_regions_does_not_count_as_work) {
  OmpThread thread;
  thread.enter_region(100, 2);
  thread.begin_wait(130);
  thread.end_wait(150);
  thread.begin_wait(155);
  thread.end_wait(900);  // a worker waits at a region's end until the next region begins
  thread.leave_region(900);
  EXPECT_EQ(thread.worked_ns(), 35);
  thread.enter_region(1000, 2);
  thread.leave_region(1001);
  EXPECT_EQ(thread.worked_ns(), 36);
}

TEST(omp_watch, tasks_that_a_thread_runs_while_it_waits_at_a_barrier_count_as_work) {
  OmpThread thread;
  thread.enter_region(0, 4);
  thread.begin_wait(10);
  thread.begin_task(20);
  thread.begin_task(25);  // this task begins directly after the first
  thread.end_task(40);
  thread.end_wait(50);
  // The thread runs this task without waiting: afterwards it continues to work in the region.
  thread.begin_task(60);
  thread.end_task(70);
  thread.begin_wait(80);
  thread.leave_region(100);
  EXPECT_EQ(thread.worked_ns(), 10 + 20 + 30);
}

TEST(omp_watch, a_region_of_one_thread_counts_as_work_only_inside_a_region_of_several_threads) {
  OmpThread thread;
  thread.enter_region(0, 1);
  thread.begin_wait(5);
  thread.end_wait(6);
  thread.leave_region(10);
  EXPECT_EQ(thread.worked_ns(), 0);
  thread.enter_region(10, 2);
  thread.enter_region(20, 1);
  thread.leave_region(30);
  thread.leave_region(50);
  EXPECT_EQ(thread.worked_ns(), 40);
}

}  // namespace
}  // namespace poise::profile
