// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/counter.h"

#include <gmock/gmock.h>
#include <sys/types.h>
#include <unistd.h>

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace poise::juggle {
namespace {

void compute(double work_s) {
  for (const double end_s = thread_cpu_now_s() + work_s; thread_cpu_now_s() < end_s;) {
  }
}

// In a virtual machine the counter continues while the host runs something else on the core, but
// cpu time does not. So the count lies between cpu time and wall time; the tolerance of 1 % covers
// the drift between their clocks.
TEST(Counter, counts_at_least_the_cpu_time_of_a_thread_and_at_most_the_elapsed_time) {
  const double opened_s = wall_now_s();
  const Descriptor counter = open_counter(0, Counted::time);
  if (!counter) GTEST_SKIP() << "nothing can be counted here";
  const double before_s = thread_cpu_now_s();
  compute(0.05);
  const double used_s = thread_cpu_now_s() - before_s;
  const auto count = read_counter(counter);
  ASSERT_TRUE(count);
  EXPECT_GE(1e-9 * *count, 0.99 * used_s);
  EXPECT_LE(1e-9 * *count, 1.01 * (wall_now_s() - opened_s));
}

TEST(Counter, counts_nothing_while_a_thread_sleeps) {
  const Descriptor counter = open_counter(0, Counted::time);
  if (!counter) GTEST_SKIP() << "nothing can be counted here";
  const double before_s = wall_now_s();
  const auto first = read_counter(counter);
  while (wall_now_s() - before_s < 0.05) ::usleep(50'000);
  const auto second = read_counter(counter);
  ASSERT_TRUE(first && second);
  EXPECT_LT(1e-9 * (*second - *first), 0.5 * (wall_now_s() - before_s));
}

TEST(Counter, the_count_of_instructions_increases_with_work) {
  const Descriptor counter = open_counter(0, Counted::instructions);
  if (!counter) GTEST_SKIP() << "no instructions can be counted here";
  compute(0.01);
  const auto first = read_counter(counter);
  compute(0.03);
  const auto second = read_counter(counter);
  ASSERT_TRUE(first && second);
  EXPECT_GT(*first, 1e4);
  EXPECT_GT(*second, 2 * *first);
}

TEST(Counter, returns_nothing_if_the_counter_of_a_thread_cannot_be_opened_or_read) {
  EXPECT_FALSE(read_counter(Descriptor()));
  EXPECT_FALSE(open_counter(1 << 30, Counted::time));
}

TEST(Counter, parses_the_name_of_a_measure_of_progress_and_throws_for_an_unknown_name) {
  EXPECT_EQ(progress_source_named("instructions"), ProgressSource::instructions);
  EXPECT_EQ(progress_source_named("auto"), ProgressSource::automatic);
  EXPECT_THROW(progress_source_named("instruction"), Error);
}

}  // namespace
}  // namespace poise::juggle
