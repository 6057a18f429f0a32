// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/clock.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"

namespace poise::profile {
namespace {

/// The other clock is 7 s ahead and 20 ppm faster.
std::int64_t theirs(std::int64_t ns) { return 7'000'000'000 + ns + ns / 50'000; }

std::vector<RoundTrip> trips_from(std::int64_t now_ns, Random& random) {
  std::vector<RoundTrip> trips;
  for (int i = 0; i < 32; ++i) {
    const auto there = static_cast<std::int64_t>(2'000 + random.below(100'000));
    const auto back = static_cast<std::int64_t>(2'000 + random.below(100'000));
    trips.push_back({now_ns, now_ns + there + back, theirs(now_ns + there)});
    now_ns += there + back;
  }
  return trips;
}

TEST(clock, the_estimated_clock_offset_differs_from_the_true_one_by_at_most_the_stated_error) {
  Random random(3);
  for (int run = 0; run < 100; ++run) {
    const ClockOffset offset = offset_of(trips_from(run * 1'000'000'000L, random));
    EXPECT_LE(std::abs(theirs(offset.at_ns) - offset.at_ns - offset.ahead_ns), offset.error_ns);
    EXPECT_LT(offset.error_ns, 60'000);
  }
}

TEST(clock, converts_times_between_clocks_that_run_at_different_rates) {
  Random random(4);
  CommonClock clock(offset_of(trips_from(0, random)));
  const std::int64_t end_ns = 1'000'000'000'000;
  EXPECT_GT(std::abs(clock.common_ns(end_ns) - theirs(end_ns)), 19'000'000);
  clock.add(offset_of(trips_from(end_ns, random)));
  for (std::int64_t at_ns = 0; at_ns <= end_ns; at_ns += end_ns / 10)
    EXPECT_LE(std::abs(clock.common_ns(at_ns) - theirs(at_ns)), clock.error_ns());
}

TEST(clock, offsets_and_errors_add_up_along_a_chain_of_ranks) {
  const ClockOffset sum = chained({5, 100, 3}, {7, -40, 4});
  EXPECT_EQ(sum.at_ns, 5);
  EXPECT_EQ(sum.ahead_ns, 60);
  EXPECT_EQ(sum.error_ns, 7);
}

TEST(clock, processes_on_one_host_share_a_clock) {
  EXPECT_EQ(clock_name(), clock_name());
  EXPECT_FALSE(clock_name().empty());
}

}  // namespace
}  // namespace poise::profile
