// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/samples.h"

#include <gtest/gtest.h>

#include "runtimes/profile/tuning.h"

namespace poise::profile {
namespace {

TEST(samples, two_ranks_keep_samples_of_the_same_collectives_even_if_one_is_late) {
  Samples a, b;
  for (std::size_t i = 0; i < 5 * tuning::kMaxSamples; ++i) {
    if (a.next()) a.keep(static_cast<std::int64_t>(i), 1, {});
    if (b.next()) b.keep(static_cast<std::int64_t>(7 * i), 2, {});
  }
  ASSERT_EQ(a.kept().size(), b.kept().size());
  EXPECT_LT(a.kept().size(), tuning::kMaxSamples);
  EXPECT_GT(a.kept().size(), tuning::kMaxSamples / 4);
  for (std::size_t i = 0; i < a.kept().size(); ++i) {
    EXPECT_EQ(a.kept()[i].sequence, b.kept()[i].sequence);
    EXPECT_EQ(static_cast<std::uint64_t>(a.kept()[i].entered_ns), a.kept()[i].sequence);
  }
}

TEST(samples, the_first_1000_collectives_are_all_recorded) {
  Samples samples;
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(samples.next());
  EXPECT_EQ(samples.stride(), 1u);
}

TEST(samples, the_wait_for_the_last_rank_is_at_most_the_time_of_the_call) {
  const Sample sample{.entered_ns = 100, .took_ns = 50, .part = {true, true}};
  EXPECT_EQ(waited_ns(sample, 130), 30);
  EXPECT_EQ(waited_ns(sample, 100), 0);
  EXPECT_EQ(waited_ns(sample, 90), 0);
  EXPECT_EQ(waited_ns(sample, 400), 50);
  EXPECT_EQ(waited_ns({.entered_ns = 100, .took_ns = 50, .part = {true, false}}, 130), 0);
}

}  // namespace
}  // namespace poise::profile
