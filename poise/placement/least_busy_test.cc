// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/least_busy.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

PlaceId scan(const std::vector<double>& busy_s, PlaceId first, PlaceId last) {
  return static_cast<PlaceId>(std::min_element(busy_s.begin() + first, busy_s.begin() + last) -
                              busy_s.begin());
}

TEST(LeastBusy, finds_the_same_place_as_a_full_search_after_many_changes) {
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<double> busy_s(1 + random.below(70));
    const auto num_places = static_cast<PlaceId>(busy_s.size());
    for (double& value : busy_s) value = static_cast<double>(random.below(5));
    LeastBusy places(busy_s);
    for (int change = 0; change < 500; ++change) {
      const auto p = static_cast<PlaceId>(random.below(num_places));
      busy_s[p] = static_cast<double>(random.below(5));
      places.set(p, busy_s[p]);
      ASSERT_EQ(places.least(), scan(busy_s, 0, num_places));
      const auto first = static_cast<PlaceId>(random.below(num_places));
      const auto last = static_cast<PlaceId>(first + 1 + random.below(num_places - first));
      ASSERT_EQ(places.least_in(first, last), scan(busy_s, first, last));
      const auto is_idle_enough = [](double value) { return value < 1; };
      ASSERT_EQ(places.next_in(first, last, is_idle_enough),
                std::find_if(busy_s.begin() + first, busy_s.begin() + last, is_idle_enough) -
                    busy_s.begin());
    }
  }
}

TEST(LeastBusy, a_negative_zero_counts_as_zero) {
  LeastBusy places({1, -0.0, 2, 3});
  places.set(0, 0.5);
  EXPECT_EQ(places.least(), 1u);
  places.set(2, -0.0);
  EXPECT_EQ(places.least_in(0, 4), 1u);
  places.set(1, 1);
  places.set(3, 0.25);
  EXPECT_EQ(places.least(), 2u);
}

TEST(LeastBusy, a_single_place_is_the_least_busy_and_an_empty_list_is_a_programming_error) {
  LeastBusy places({5});
  EXPECT_EQ(places.least(), 0u);
  places.add(0, 1.5);
  EXPECT_EQ(places.busy_s(0), 6.5);
  EXPECT_EQ(places.least(), 0u);
  EXPECT_EQ(places.busy_s().size(), 1u);
  EXPECT_DEATH(LeastBusy({}), "num_places_ > 0 does not hold");
}

}  // namespace
}  // namespace poise
