// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/to_measured.h"

#include <gtest/gtest.h>

namespace poise::profile {
namespace {

TEST(to_measured, waits_cover_all_calls_not_only_the_sampled_ones) {
  Phase phase{.label = 3, .begin_ns = 0, .end_ns = 10'000'000'000};
  phase.totals.useful_ns = 4'000'000'000;
  phase.useful_cpu_ns = 3'000'000'000;
  phase.queued_ns = 500'000'000;
  phase.totals.may_wait_calls = {2, 10};
  phase.totals.may_wait_ns = {3'000'000'000, 2'000'000'000};
  phase.waiting[0] = {.samples = 2,
                      .sampled_ns = 3'000'000'000,
                      .waited_ns = 1'000'000'000,
                      .for_whom = {{1, 1'000'000'000}}};
  phase.waiting[1] = {.samples = 5,
                      .sampled_ns = 1'000'000'000,
                      .waited_ns = 500'000'000,
                      .for_whom = {{1, 500'000'000}}};  // half of the time was compared
  std::vector<RankProfile> ranks(2);
  ranks[0] = {.rank = 0, .num_ranks = 2, .host = "a", .phases = {phase}, .names = {{3, "solve"}}};
  ranks[1] = {.rank = 1, .num_ranks = 2, .host = "b", .phases = {phase}};
  const MeasuredRun run = measured(ranks);
  EXPECT_NO_THROW(check(run));
  EXPECT_EQ(run.node_of_rank, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(run.phases[0].name, "solve");
  const RankTimes& times = run.phases[0].ranks[0];
  EXPECT_DOUBLE_EQ(times.wall_s, 10);
  EXPECT_DOUBLE_EQ(times.useful_s, 4);
  EXPECT_DOUBLE_EQ(times.load_s, 3.5);
  EXPECT_DOUBLE_EQ(times.waited.value, 2);
  ASSERT_EQ(times.waited_for.size(), 2u);
  EXPECT_DOUBLE_EQ(times.waited_for[0].second + times.waited_for[1].second, 2);
  EXPECT_TRUE(run.knows_waiting);
  ranks[1].is_complete = false;
  EXPECT_FALSE(measured(ranks).knows_waiting);
}

}  // namespace
}  // namespace poise::profile
