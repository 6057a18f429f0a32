// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/affinities.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"

namespace poise::graphs {
namespace {

/// Numbers of all kinds, most of which fit into 32 bits.
double drawn(Random& random) {
  constexpr double kFourGiB = 4294967296;
  switch (random.below(8)) {
    case 0: return kFourGiB - 1;
    case 1: return random.below(100) == 0 ? kFourGiB : 0;
    case 2: return random.below(100) == 0 ? 0.5 : 1;
    default: return static_cast<double>(random.below(1 << 20));
  }
}

TEST(Affinities, keep_the_exact_value_of_each_number_that_is_stored_or_added) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Affinities affinities;
    std::vector<double> expected;
    for (int i = 0; i < 50; ++i) expected.push_back(drawn(random));
    for (const double value : expected) affinities.push_back(value);
    affinities.resize(60);
    expected.resize(60);
    for (int i = 0; i < 100; ++i) {
      const std::size_t at = random.below(60);
      const double value = drawn(random);
      if (i % 2 == 0) {
        affinities.set(at, value);
        expected[at] = value;
      } else {
        affinities.add(at, value);
        expected[at] += value;
      }
    }
    std::vector<double> held;
    for (const double value : affinities) held.push_back(value);
    EXPECT_EQ(held, expected);
  }
}

}  // namespace
}  // namespace poise::graphs
