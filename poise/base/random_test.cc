// SPDX-License-Identifier: BSD-3-Clause

#include "poise/base/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace poise {
namespace {

TEST(Random, draws_the_same_numbers_on_every_platform) {
  // These are the reference values of xoshiro256** started from splitmix64(0).
  Random random(0);
  EXPECT_EQ(random.bits(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(random.bits(), 0xbf6e1f784956452au);
  EXPECT_EQ(random.bits(), 0x1a5f849d4933e6e0u);
  for (int i = 3; i < 999; ++i) random.bits();
  EXPECT_EQ(random.bits(), 0x7aac8c483a2edd2fu);
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

TEST(Random, discards_64_bit_random_numbers_that_would_make_small_results_more_likely) {
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  for (const std::uint64_t bound : {std::uint64_t{2}, std::uint64_t{3}, kHalf - 1, kHalf, kHalf + 1,
                                    kHalf + kHalf / 2, ~std::uint64_t{0}}) {
    Random random(5), bits(5);
    // 2^64 mod bound: draws below it would make small results more likely, so they are discarded.
    const std::uint64_t rest = (~std::uint64_t{0} % bound + 1) % bound;
    for (int i = 0; i < 200; ++i) {
      std::uint64_t drawn = bits.bits();
      while (drawn < rest) drawn = bits.bits();
      ASSERT_EQ(random.below(bound), drawn % bound) << bound;
    }
  }
}

TEST(Random, different_seeds_give_different_numbers) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    EXPECT_NE(Random(seed).bits(), Random(seed + 1).bits());
}

TEST(Random, portable_exp_and_log_are_exact_at_the_limits_of_their_ranges) {
  EXPECT_EQ(portable_exp(-746), 0);
  EXPECT_GT(portable_exp(-745), 0);
  EXPECT_NEAR(portable_exp(709) / std::exp(709), 1, 1e-12);
  EXPECT_EQ(portable_exp(711), std::numeric_limits<double>::infinity());
  for (double x = -2; x < 2; x += 0.01)
    EXPECT_NEAR(portable_exp(x), std::exp(x), 1e-14 * std::exp(x)) << x;
  for (double x = 0.3; x < 3; x += 0.01) EXPECT_NEAR(portable_log(x), std::log(x), 1e-15) << x;
}

}  // namespace
}  // namespace poise
