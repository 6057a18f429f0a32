// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/polling.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

constexpr double kMin_s = 5e-6;

TEST(Polling, no_poll_is_due_before_the_minimum_interval_has_passed) {
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

TEST(Polling, polls_become_more_frequent_as_less_work_remains) {
  PollView view{.since_s = 50e-6, .remaining_s = 1e-3, .poll_cost_s = 1e-6};
  EXPECT_FALSE(poll_is_due(view, kMin_s));
  view.remaining_s = 0.4e-3;
  EXPECT_TRUE(poll_is_due(view, kMin_s));
}

TEST(Polling, a_poll_is_due_when_its_cost_is_a_hundredth_of_the_time_since_the_last_poll) {
  PollView view{.remaining_s = 1e3, .poll_cost_s = 3e-6};
  for (const bool all_notify : {false, true}) {
    view.all_notify = all_notify;
    view.poll_cost_s = all_notify ? 30e-6 : 3e-6;
    view.since_s = 0.99 * view.poll_cost_s / lending_tuning::kWastedShare;
    EXPECT_FALSE(poll_is_due(view, kMin_s));
    view.since_s = 1.01 * view.poll_cost_s / lending_tuning::kWastedShare;
    EXPECT_TRUE(poll_is_due(view, kMin_s));
  }
  EXPECT_FALSE(poll_is_due({.since_s = 0.9e-3, .all_notify = true, .poll_cost_s = 1e-6}, kMin_s));
  EXPECT_TRUE(poll_is_due({.since_s = 1e-3, .all_notify = true, .poll_cost_s = 1e-6}, kMin_s));
  EXPECT_TRUE(poll_is_due({.since_s = kMin_s, .has_messages = true}, kMin_s));
}

TEST(Batches, a_batch_of_tasks_takes_little_time_and_leaves_most_queued_tasks_to_other_threads) {
  EXPECT_EQ(next_batch(1e-6, 100000), lending_tuning::kMaxAtOnce);
  EXPECT_EQ(next_batch(60e-6, 100000), 3u);
  EXPECT_EQ(next_batch(1e-6, 40), 4u);
  EXPECT_EQ(next_batch(1, 100000), 1u);
}

TEST(ProgressSleep, is_long_if_other_ranks_can_wake_the_progress_thread) {
  EXPECT_EQ(progress_sleep_s(2e-3, true, 1e-3, 1e-3), lending_tuning::kMaxSleep_s);
}

TEST(ProgressSleep, becomes_shorter_as_a_queue_of_long_tasks_runs_empty) {
  EXPECT_DOUBLE_EQ(progress_sleep_s(2e-3, false, 40e-3, 10e-3), 4e-3);
  EXPECT_DOUBLE_EQ(progress_sleep_s(2e-3, false, 10, 2), lending_tuning::kMaxSleep_s);
  EXPECT_DOUBLE_EQ(progress_sleep_s(2e-3, false, 1e-3, 1e-3), 2e-3);  // the minimum
}

TEST(ProgressSleep, is_long_if_no_tasks_or_only_short_tasks_are_queued) {
  EXPECT_EQ(progress_sleep_s(2e-3, false, 0, 0), lending_tuning::kMaxSleep_s);
  EXPECT_EQ(progress_sleep_s(2e-3, false, 20e-3, 1e-6), lending_tuning::kMaxSleep_s);
}

TEST(WakeBackoff, the_delay_doubles_after_each_wake_up_without_a_loan_and_is_reset_by_a_loan) {
  WakeBackoff backoff;
  EXPECT_DOUBLE_EQ(backoff.after(0), lending_tuning::kNewsDelay_s);
  EXPECT_DOUBLE_EQ(backoff.after(0), 2 * lending_tuning::kNewsDelay_s);
  for (int i = 0; i < 9; ++i) backoff.after(0);
  EXPECT_DOUBLE_EQ(backoff.after(0), lending_tuning::kMaxSleep_s);
  EXPECT_EQ(backoff.after(1), 0);
  EXPECT_DOUBLE_EQ(backoff.after(0), lending_tuning::kNewsDelay_s);
}

TEST(Results, an_idle_rank_sends_results_immediately_but_a_busy_rank_first_collects_several) {
  EXPECT_TRUE(results_are_due(true, 0));
  EXPECT_FALSE(results_are_due(false, 0.9 * lending_tuning::kNewsDelay_s));
  EXPECT_TRUE(results_are_due(false, 1.1 * lending_tuning::kNewsDelay_s));
}

}  // namespace
}  // namespace poise
