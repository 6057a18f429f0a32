// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/tick_clock.h"

#include <gtest/gtest.h>

#include "runtimes/profile/machinery.h"

#include "poise/base/clock.h"

namespace poise::profile {
namespace {

/// Each reading of the TickClock is compared with readings of the monotonic clock just before and
/// just after it. So the test passes even if it is interrupted between these readings.
TEST(tick_clock, differs_from_the_monotonic_clock_by_at_most_two_microseconds) {
  constexpr std::int64_t kError_ns = 2000;
  TickClock ticks;
  const std::int64_t begin_ns = wall_now_ns();
  int outside = 0, all = 0;
  for (std::int64_t now_ns = begin_ns; now_ns < begin_ns + 200'000'000 || all < 1000;
       now_ns = wall_now_ns(), ++all) {
    const std::int64_t before_ns = wall_now_ns();
    const std::int64_t read_ns = ticks.read_ns();
    const std::int64_t after_ns = wall_now_ns();
    outside += read_ns < before_ns - kError_ns || read_ns > after_ns + kError_ns ? 1 : 0;
  }
  EXPECT_EQ(outside, 0);
}

}  // namespace
}  // namespace poise::profile
