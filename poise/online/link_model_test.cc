// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/link_model.h"

#include <gtest/gtest.h>
#include <limits>

namespace poise {
namespace {

TEST(RobustMin, the_estimate_follows_smaller_samples_quickly_and_larger_ones_slowly) {
  RobustMin floor(8);
  floor.learn(4);
  EXPECT_LE(floor.value(), 7);
  floor.learn(14);
  EXPECT_LT(floor.value(), 7.5);
}

TEST(RobustMin, hardly_rises_after_one_huge_sample) {
  RobustMin latency_s(10e-6);
  latency_s.learn(2);
  EXPECT_LT(latency_s.value(), 11e-6);
}

TEST(RobustMin, rises_when_all_samples_are_larger_than_the_estimate) {
  RobustMin latency_s(10e-6);
  for (int i = 0; i < 200; ++i) latency_s.learn(1e-3);
  EXPECT_NEAR(latency_s.value(), 1e-3, 1e-5);
}

TEST(LearntLink, learns_latency_from_round_trips) {
  LearntLink way;
  for (int i = 0; i < 200; ++i) way.learn_round_trip(100 + i, 50, 100 + i + 2e-3);
  EXPECT_NEAR(way.latency_s.value(), 1e-3, 1e-5);
}

// The program did something else for ten seconds between the two waits.
TEST(LearntLink, ignores_a_round_trip_whose_request_was_sent_before_the_current_call_of_wait) {
  LearntLink way;
  for (int i = 0; i < 200; ++i) way.learn_round_trip(100, 110, 110.1);
  EXPECT_DOUBLE_EQ(way.latency_s.value(), LearntLink().latency_s.value());
}

constexpr PeerLocality kNearFront{7, 1};
PeerLocality elsewhere(std::uint32_t group) {
  return {group, std::numeric_limits<double>::infinity()};
}

void answer(LinkModel& ways, const PeerLocality& to, double there_and_back_s) {
  for (int i = 0; i < 500; ++i)
    ways.learn(to, [&](LearntLink& way) { way.learn_round_trip(0, 0, there_and_back_s); });
}

TEST(LinkModel, estimates_the_latency_to_an_unknown_node_from_the_latencies_to_known_nodes) {
  LinkModel ways;
  answer(ways, kNearFront, 2e-6);
  answer(ways, elsewhere(1), 200e-6);
  answer(ways, elsewhere(2), 40e-6);
  EXPECT_NEAR(ways.latency_s(kNearFront), 1e-6, 1e-7);
  EXPECT_NEAR(ways.latency_s(elsewhere(1)), 100e-6, 1e-6);
  EXPECT_NEAR(ways.latency_s(elsewhere(2)), 20e-6, 1e-6);
  // The estimate is close to the latency to the node that answered last.
  EXPECT_NEAR(ways.latency_s(elsewhere(3)), 20e-6, 1e-6);
}

TEST(LinkModel,
     the_latency_to_a_domain_is_estimated_from_the_machine_until_a_rank_there_has_answered) {
  const PeerLocality across{3, 2.5};
  LinkModel ways;
  answer(ways, kNearFront, 2e-6);
  EXPECT_NEAR(ways.latency_s(across), 2.5e-6, 1e-7);
  EXPECT_DOUBLE_EQ(ways.seconds_per_byte(across), 2.5 * ways.seconds_per_byte(kNearFront));
  answer(ways, across, 3e-6);
  EXPECT_NEAR(ways.latency_s(across), 1.5e-6, 1e-7);
  EXPECT_NEAR(ways.latency_s({4, 2.5}), 2.5e-6, 1e-7);  // no rank of domain 4 has answered
  EXPECT_NEAR(ways.latency_s(kNearFront), 1e-6, 1e-7);
}

TEST(LinkModel, a_link_out_of_the_memory_domain_never_counts_as_faster_than_one_inside) {
  for (const PeerLocality& far : {elsewhere(1), PeerLocality{2, 2}}) {
    LinkModel ways;
    ways.learn(kNearFront, [](LearntLink& way) { way.seconds_per_byte.learn(3e-10); });
    for (int i = 0; i < 100; ++i)
      ways.learn(far, [](LearntLink& way) { way.seconds_per_byte.learn(1e-12); });
    EXPECT_GT(ways.seconds_per_byte(kNearFront), 1e-10);
    EXPECT_EQ(ways.seconds_per_byte(far), ways.seconds_per_byte(kNearFront));
  }
}

}  // namespace
}  // namespace poise
