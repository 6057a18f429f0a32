#include "runtimes/tasks/measured.h"

#include <gtest/gtest.h>

namespace poise::tasks {
namespace {

TEST(Floor, follows_smaller_values_quickly_and_larger_ones_slowly) {
  Floor floor(8);
  floor.learn(4);
  EXPECT_DOUBLE_EQ(floor.value(), 7);
  floor.learn(14);
  EXPECT_LT(floor.value(), 7.5);
}

TEST(Floor, hardly_rises_when_a_message_slept_for_seconds) {
  Floor latency_s(10e-6);
  latency_s.learn(2);
  EXPECT_LT(latency_s.value(), 11e-6);
}

TEST(Floor, gets_to_where_all_values_are_larger) {
  Floor latency_s(10e-6);
  for (int i = 0; i < 200; ++i) latency_s.learn(1e-3);
  EXPECT_NEAR(latency_s.value(), 1e-3, 1e-5);
}

TEST(Way, learns_its_latency_from_answers) {
  Way way;
  for (int i = 0; i < 200; ++i) way.answered(100 + i, 50, 100 + i + 2e-3);
  EXPECT_NEAR(way.latency_s.value(), 1e-3, 1e-5);
}

// The program did something else for ten seconds between two waits.
TEST(Way, learns_nothing_from_an_answer_to_what_was_asked_before_this_wait) {
  Way way;
  for (int i = 0; i < 200; ++i) way.answered(100, 110, 110.1);
  EXPECT_DOUBLE_EQ(way.latency_s.value(), Way().latency_s.value());
}

}  // namespace
}  // namespace poise::tasks
