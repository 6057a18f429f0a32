// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/barrier.h"

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

}  // namespace
}  // namespace poise
