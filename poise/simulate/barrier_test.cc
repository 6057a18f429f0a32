// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/barrier.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "poise/machine/text.h"

namespace poise {
namespace {

/// Messages between nodes take 1 s; everything else takes no time.
Machine nodes_one_second_apart(const char* levels) {
  return machine_from_text(std::string(levels) +
                           " core:1 factors:1,1 overhead:0 latency:1 bandwidth:0 bus:0 copy:0");
}

TEST(Barrier, takes_one_latency_for_each_doubling_of_the_number_of_places) {
  EXPECT_EQ(barrier_end_s(nodes_one_second_apart("node:1"), std::vector<double>{5}), 5);
  EXPECT_EQ(barrier_end_s(nodes_one_second_apart("node:2"), std::vector<double>(2, 5)), 6);
  EXPECT_EQ(barrier_end_s(nodes_one_second_apart("node:5"), std::vector<double>(5, 5)), 8);
  EXPECT_EQ(barrier_end_s(nodes_one_second_apart("node:8"), std::vector<double>(8, 5)), 8);
}

TEST(Barrier, no_place_leaves_before_it_knows_that_the_last_place_has_arrived) {
  std::vector<double> enters_s(8, 0);
  enters_s[3] = 100;
  EXPECT_EQ(barrier_end_s(nodes_one_second_apart("node:8"), enters_s), 103);
}

TEST(Barrier, each_message_takes_cpu_time_of_its_sender_and_of_its_receiver) {
  const Machine machine = machine_from_text(
      "node:3 core:1 factors:1,1 overhead:0.125 latency:0.25 bandwidth:0 bus:0 copy:0");
  // In the first round, place 0 waits for place 2, place 1 for place 0, and place 2 for place 1.
  // The places end this round at 5.5, 1.25 and 5.25 s. In the second round, they wait for places 1,
  // 2 and 0.
  EXPECT_DOUBLE_EQ(barrier_end_s(machine, std::vector<double>{0, 1, 5}),
                   5.5 + 0.125 + 0.25 + 0.125);
  EXPECT_DOUBLE_EQ(barrier_end_s(machine, std::vector<double>{5, 1, 0}),
                   5.5 + 0.125 + 0.25 + 0.125);
  EXPECT_DOUBLE_EQ(barrier_end_s(machine, std::vector<double>{0, 0, 0}), 2 * 0.5);
}

/// The time at which a barrier ends if its messages have a latency of 1 s between nodes and 1/4 s
/// inside a node.
double naive_end_s(std::uint32_t per_node, std::vector<double> enters_s) {
  const std::size_t count = enters_s.size();
  for (std::size_t distance = 1; distance < count; distance *= 2) {
    std::vector<double> left_s(count);
    for (std::size_t p = 0; p < count; ++p) {
      const std::size_t from = (p + count - distance) % count;
      const bool is_near = from / per_node == p / per_node;
      left_s[p] = std::max(enters_s[p], enters_s[from] + (is_near ? 0.25 : 1)) + 2 * 0.375;
    }
    enters_s = left_s;
  }
  return *std::max_element(enters_s.begin(), enters_s.end());
}

TEST(Barrier,
     in_each_round_every_place_waits_for_a_place_twice_as_far_away_as_in_the_previous_round) {
  for (std::uint32_t nodes = 1; nodes <= 4; ++nodes)
    for (std::uint32_t per_node = 1; per_node <= 3; ++per_node) {
      const Machine machine =
          machine_from_text("node:" + std::to_string(nodes) + " core:" + std::to_string(per_node) +
                            " factors:4,1 overhead:0.375 latency:0.25 bandwidth:0 bus:0 copy:0");
      std::vector<double> enters_s;
      for (std::uint32_t p = 0; p < nodes * per_node; ++p) enters_s.push_back(0.5 * (p * p % 7));
      EXPECT_DOUBLE_EQ(barrier_end_s(machine, enters_s), naive_end_s(per_node, enters_s))
          << nodes << " nodes of " << per_node;
    }
}

}  // namespace
}  // namespace poise
