// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/backoff.h"

#include <gtest/gtest.h>

#include "poise/online/lending_tuning.h"

namespace poise::tasks {
namespace {

TEST(Backoff, delays_a_message_by_at_most_one_percent_of_the_preceding_idle_time) {
  for (double idle_s = 10e-3; idle_s < 100; idle_s *= 2)
    EXPECT_LE(idle_sleep_s(idle_s), 0.01 * idle_s);
}

// A poll after a sleep takes about 30 us.
TEST(Backoff, polls_of_a_thread_that_stays_idle_take_less_than_one_percent_of_a_core) {
  double idle_s = lending_tuning::kMaxPause_s, polls_s = 0;
  for (; idle_s < 10; idle_s += idle_sleep_s(idle_s)) polls_s += 30e-6;
  EXPECT_LE(polls_s, 0.01 * idle_s);
}

}  // namespace
}  // namespace poise::tasks
