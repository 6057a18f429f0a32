// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/polling.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

constexpr double kMin_s = 5e-6;

TEST(Polling, is_never_due_before_the_minimum_interval_has_passed) {
  EXPECT_FALSE(poll_is_due({.since_s = 4e-6, .has_messages = true}, kMin_s));
  EXPECT_TRUE(poll_is_due({.since_s = 6e-6, .has_messages = true}, kMin_s));
}

TEST(Polling, takes_at_most_a_thousandth_of_busy_time_if_senders_announce_their_messages) {
  PollView view{.all_notify = true, .remaining_s = 10, .poll_cost_s = 1e-6};
  view.since_s = 0.9e-3;
  EXPECT_FALSE(poll_is_due(view, kMin_s));
  view.since_s = 1.1e-3;
  EXPECT_TRUE(poll_is_due(view, kMin_s));
}

TEST(Polling, becomes_more_frequent_as_less_work_remains) {
  PollView view{.since_s = 50e-6, .remaining_s = 1e-3, .poll_cost_s = 1e-6};
  EXPECT_FALSE(poll_is_due(view, kMin_s));
  view.remaining_s = 0.4e-3;
  EXPECT_TRUE(poll_is_due(view, kMin_s));
}

TEST(Batches, a_batch_of_tasks_takes_little_time_and_leaves_tasks_for_other_threads) {
  EXPECT_EQ(next_batch(1e-6, 100000), lending_tuning::kMaxBatch);
  EXPECT_EQ(next_batch(100e-6, 100000), 3u);
  EXPECT_EQ(next_batch(1e-6, 40), 4u);
  EXPECT_EQ(next_batch(1, 100000), 1u);
}

TEST(ProgressSleep, is_long_if_other_ranks_can_wake_the_progress_thread) {
  const ProgressSleep sleep(2e-3);
  EXPECT_EQ(sleep.next_s(true, 1e-3, 1e-3), lending_tuning::kMaxUnneededSleep_s);
}

TEST(ProgressSleep, becomes_shorter_as_a_queue_of_long_tasks_runs_empty) {
  const ProgressSleep sleep(2e-3);
  EXPECT_DOUBLE_EQ(sleep.next_s(false, 20e-3, 10e-3), 4e-3);
  EXPECT_DOUBLE_EQ(sleep.next_s(false, 20e-3, 1e-6), lending_tuning::kMaxProgressSleep_s);
  EXPECT_DOUBLE_EQ(sleep.next_s(false, 1e-3, 1e-3), 2e-3);  // the minimum
}

TEST(ProgressSleep, lasts_twice_as_long_after_a_sleep_during_which_another_thread_polled) {
  ProgressSleep sleep(2e-3);
  sleep.polled(false);
  EXPECT_DOUBLE_EQ(sleep.next_s(false, 1, 1e-3), 2 * lending_tuning::kMaxProgressSleep_s);
  for (int i = 0; i < 9; ++i) sleep.polled(false);
  EXPECT_DOUBLE_EQ(sleep.next_s(false, 10, 1e-3), lending_tuning::kMaxUnneededSleep_s);
  sleep.polled(true);
  EXPECT_DOUBLE_EQ(sleep.next_s(false, 10, 1e-3), lending_tuning::kMaxProgressSleep_s);
}

TEST(WakeBackoff, the_delay_doubles_after_each_wake_up_without_a_loan_and_a_loan_resets_it) {
  WakeBackoff backoff;
  EXPECT_DOUBLE_EQ(backoff.after(0), lending_tuning::kMinWakeBackoff_s);
  EXPECT_DOUBLE_EQ(backoff.after(0), 2 * lending_tuning::kMinWakeBackoff_s);
  for (int i = 0; i < 9; ++i) backoff.after(0);
  EXPECT_DOUBLE_EQ(backoff.after(0), lending_tuning::kMaxWakeBackoff_s);
  EXPECT_EQ(backoff.after(1), 0);
  EXPECT_DOUBLE_EQ(backoff.after(0), lending_tuning::kMinWakeBackoff_s);
}

TEST(Results, an_idle_rank_sends_results_at_once_but_a_busy_rank_first_collects_several) {
  EXPECT_TRUE(results_are_due(true, 0));
  EXPECT_FALSE(results_are_due(false, 50e-6));
  EXPECT_TRUE(results_are_due(false, 150e-6));
}

}  // namespace
}  // namespace poise
