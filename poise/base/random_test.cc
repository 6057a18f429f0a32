// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/random.h"

#include <cmath>
#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(Random, draws_the_same_numbers_on_every_platform) {
  // These are the reference values of xoshiro256** started from splitmix64(0).
  Random random(0);
  EXPECT_EQ(random.bits(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.bits(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.bits(), 0x1a5f849d4933e6e0u);
}

TEST(Random, draws_below_n_give_each_integer_from_0_to_n_minus_1_about_equally_often) {
  Random random(1);
  int seen[7] = {};
  for (int i = 0; i < 7000; ++i) {
    const auto drawn = random.below(7);
    ASSERT_LT(drawn, 7u);
    ++seen[drawn];
  }
  for (const int times : seen) EXPECT_NEAR(times, 1000, 150);
  EXPECT_EQ(random.below(0), 0u);
  EXPECT_EQ(random.below(1), 0u);
}

TEST(Random, normally_distributed_numbers_have_mean_0_and_variance_1) {
  Random random(2);
  double sum = 0, squares = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.02);
  EXPECT_NEAR(squares / kDraws, 1, 0.02);
}

TEST(Random, portable_exp_and_log_agree_with_the_standard_library) {
  for (double x = -700; x < 700; x += 0.37)
    EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-12) << x;
  for (double x = 1e-300; x < 1e300; x *= 1.7)
    EXPECT_NEAR(portable_log(x), std::log(x), 1e-14 * std::max(1.0, std::fabs(std::log(x)))) << x;
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
}

}  // namespace
}  // namespace poise
