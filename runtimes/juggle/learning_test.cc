// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/juggle/learning.h"

#include <chrono>
#include <gmock/gmock.h>
#include <thread>

namespace poise::juggle {
namespace {

using testing::Each;
using testing::ElementsAre;

constexpr int kEnough = 8;

TEST(LearnedSpeeds, all_speeds_count_as_equal_until_every_cpu_has_been_probed_often_enough) {
  LearnedSpeeds learned;
  for (int probe = 0; probe < kEnough; ++probe) learned.note(0, 1000);
  for (int probe = 0; probe < kEnough - 1; ++probe) learned.note(1, 500);
  EXPECT_TRUE(learned.knows(0));
  EXPECT_FALSE(learned.knows(1));
  EXPECT_THAT(learned.of({0, 1}), ElementsAre(1, 1));
  learned.note(1, 500);
  EXPECT_THAT(learned.of({0, 1}), ElementsAre(1, 0.5));
  EXPECT_THAT(learned.of({0, 1, 7}), ElementsAre(1, 1, 1)) << "nothing is known of cpu 7";
}

TEST(LearnedSpeeds, are_relative_to_the_fastest_of_the_given_cpus) {
  LearnedSpeeds learned;
  for (int probe = 0; probe < kEnough; ++probe)
    for (const CpuId cpu : {3, 4, 5}) learned.note(cpu, 1000.0 / cpu);
  EXPECT_THAT(learned.of({3, 5}), ElementsAre(1, testing::DoubleEq(0.6)));
  EXPECT_THAT(learned.of({5}), ElementsAre(1));
  EXPECT_THAT(learned.of({}), ElementsAre());
}

TEST(LearnedSpeeds, speeds_that_differ_by_less_than_the_margin_count_as_equal) {
  LearnedSpeeds learned;
  for (int probe = 0; probe < kEnough; ++probe)
    for (const CpuId cpu : {0, 1, 2}) learned.note(cpu, 1000 - 100 * cpu);
  EXPECT_THAT(learned.of({0, 1, 2}), Each(1));
}

TEST(LearnedSpeeds, are_not_affected_by_disturbed_probes) {
  LearnedSpeeds learned;
  for (int probe = 0; probe < 40; ++probe) {
    learned.note(0, probe % 3 == 0 ? 300 : 1000);
    learned.note(1, probe % 7 == 0 ? 900 : 100);
    EXPECT_THAT(learned.of({0, 1}), Each(1)) << probe;
  }
}

TEST(LearnedSpeeds, adapt_to_a_cpu_that_becomes_slow_and_recovers) {
  LearnedSpeeds learned;
  for (const double now : {1000.0, 400.0, 1000.0}) {
    for (int probe = 0; probe < kEnough; ++probe) {
      learned.note(0, 1000);
      learned.note(1, now);
    }
    EXPECT_THAT(learned.of({0, 1}), ElementsAre(1, now / 1000));
  }
}

TEST(LearnedSpeeds, the_cpu_with_the_fewest_probes_is_probed_next) {
  LearnedSpeeds learned;
  EXPECT_EQ(learned.next({2, 3}), 2u);
  learned.note(2, 1000);
  EXPECT_EQ(learned.next({2, 3}), 3u);
  EXPECT_EQ(learned.next({2}), 2u);
  learned.note(3, 1000);
  EXPECT_EQ(learned.next({2, 3}), 2u);
}

TEST(SpeedProbe, measures_each_cpu_and_keeps_the_affinity_of_the_calling_thread) {
  const Cpus own = allowed_cpus();
  SpeedProbe probe;
  EXPECT_FALSE(probe.result());
  probe.start(CPU_SETSIZE - 1);  // usually no such cpu exists; otherwise the loop skips its result
  for (const CpuId cpu : own) {
    std::optional<ProbeResult> result;
    while (!result || result->cpu != cpu) {
      probe.start(cpu);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      result = probe.result();
    }
    EXPECT_GT(result->rate, 0);
  }
  EXPECT_EQ(allowed_cpus(), own);
}

TEST(SpeedProbe, can_be_stopped_during_a_probe) {
  for (int time = 0; time < 20; ++time) {
    SpeedProbe probe;
    probe.start(allowed_cpus().front());
  }
}

}  // namespace
}  // namespace poise::juggle
