// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/wait.h"

#include <cmath>
#include <gtest/gtest.h>

#include "poise/base/random.h"

namespace poise::profile {
namespace {

TEST(wait, a_wait_belongs_to_the_phase_in_which_its_call_began) {
  std::vector<Phase> phases = {{.begin_ns = 10, .end_ns = 20}, {.begin_ns = 20, .end_ns = 30}};
  add_waits({{.entered_ns = 5, .took_ns = 9, .waited_ns = 9, .for_whom = 1},  // before the first
             {.entered_ns = 20, .took_ns = 4, .waited_ns = 3, .for_whom = 2},
             {.entered_ns = 19,
              .took_ns = 7,
              .waited_ns = 6,
              .for_whom = 2,
              .what = WaitsFor::message,
              .is_for_receiver = true},
             {.entered_ns = 25, .took_ns = 2, .waited_ns = 1, .for_whom = 2}},
            phases);
  EXPECT_EQ(phases[0].waiting[0].samples, 0u);
  EXPECT_EQ(phases[0].waiting[1].for_receiver_ns, 6);
  EXPECT_EQ(phases[1].waiting[0].samples, 2u);
  EXPECT_EQ(phases[1].waiting[0].waited_ns, 4);
  EXPECT_EQ(phases[1].waiting[0].sampled_ns, 6);
  EXPECT_EQ(phases[1].waiting[0].for_whom,
            (std::vector<std::pair<std::uint32_t, std::int64_t>>{{2, 4}}));
}

TEST(wait, the_estimated_wait_is_exact_if_every_call_was_sampled) {
  Waiting waiting;
  add({.took_ns = 2'000'000'000, .waited_ns = 1'000'000'000, .for_whom = 0}, waiting);
  const Estimate estimate = estimated(waiting, 1, 2'000'000'000);
  EXPECT_DOUBLE_EQ(estimate.seconds, 1);
  EXPECT_DOUBLE_EQ(estimate.half_width_s, 0);
  EXPECT_EQ(estimated({}, 10, 5).seconds, 0);
}

/// The 95 % interval contains the true waiting time in about 95 of 100 runs, and is not too wide.
TEST(wait, the_confidence_interval_of_the_estimated_wait_contains_the_true_wait) {
  Random random(17);
  int covered = 0;
  double widths = 0, truths = 0;
  constexpr int kRuns = 1000, kCalls = 4000, kStride = 4;
  for (int run = 0; run < kRuns; ++run) {
    Waiting waiting;
    double truth = 0;
    std::int64_t all_ns = 0;
    for (int i = 0; i < kCalls; ++i) {
      const auto took = static_cast<std::int64_t>(1000 + random.below(9000));
      const std::int64_t waited = random.below(2) == 0 ? 0 : took * 3 / 4;
      truth += 1e-9 * static_cast<double>(waited);
      all_ns += took;
      if (random.below(kStride) == 0)
        add({.took_ns = took, .waited_ns = waited, .for_whom = 1}, waiting);
    }
    const Estimate estimate = estimated(waiting, kCalls, all_ns);
    covered += std::abs(estimate.seconds - truth) <= estimate.half_width_s ? 1 : 0;
    widths += estimate.half_width_s;
    truths += truth;
  }
  EXPECT_GT(covered, kRuns * 92 / 100);
  EXPECT_LT(covered, kRuns * 98 / 100);
  EXPECT_LT(widths, 0.07 * truths);
}

TEST(wait, a_call_that_waits_for_several_ranks_is_recorded_once_with_its_longest_wait) {
  std::vector<Wait> waits = {{.entered_ns = 9, .took_ns = 5, .waited_ns = 1, .for_whom = 4},
                             {.entered_ns = 3, .took_ns = 8, .waited_ns = 2, .for_whom = 1},
                             {.entered_ns = 3, .took_ns = 8, .waited_ns = 7, .for_whom = 2},
                             {.entered_ns = 3, .took_ns = 8}};
  keep_longest(waits);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].waited_ns, 7);
  EXPECT_EQ(waits[0].for_whom, 2);
  EXPECT_EQ(waits[1].for_whom, 4);
}

}  // namespace
}  // namespace poise::profile
