// SPDX-License-Identifier: BSD-3-Clause

#include "faces/chameleon/ids.h"

#include <gtest/gtest.h>
#include <limits>
#include <set>

namespace poise::chameleon {
namespace {

constexpr auto kNoneInUse = [](int) { return false; };

TEST(Ids, task_ids_of_different_ranks_never_collide) {
  std::set<int> seen;
  for (int rank = 0; rank < 3; ++rank) {
    Ids ids(rank, 3);
    for (int t = 0; t < 100000; ++t) seen.insert(ids.next(kNoneInUse).value());
  }
  EXPECT_EQ(seen.size(), 300000u);
  EXPECT_GT(*seen.begin(), 0);
}

TEST(Ids, recognises_exactly_the_ids_that_it_has_assigned) {
  Ids ids(1, 4);
  const int first = ids.next(kNoneInUse).value(), second = ids.next(kNoneInUse).value();
  EXPECT_TRUE(ids.was_given(first) && ids.was_given(second));
  EXPECT_FALSE(ids.was_given(second + 4)) << "not yet";
  EXPECT_FALSE(ids.was_given(first + 1)) << "another rank's";
  EXPECT_FALSE(ids.was_given(0) || ids.was_given(1) || ids.was_given(-3)) << "no id at all";
}

TEST(Ids, when_the_largest_id_is_used_up_numbering_restarts_and_skips_ids_in_use) {
  constexpr int kRanks = std::numeric_limits<int>::max() / 11;  // ten ids per rank
  Ids ids(kRanks - 1, kRanks);
  const int first = ids.next(kNoneInUse).value(), second = ids.next(kNoneInUse).value();
  for (int t = 0; t < 8; ++t) EXPECT_GT(ids.next(kNoneInUse).value(), second);
  EXPECT_EQ(ids.next([&](int id) { return id == first; }), second);
  EXPECT_TRUE(ids.was_given(first));
}

TEST(Ids, returns_no_id_if_all_ids_are_in_use) {
  Ids ids(0, std::numeric_limits<int>::max() / 11);
  EXPECT_EQ(ids.next([](int) { return true; }), std::nullopt);
}

}  // namespace
}  // namespace poise::chameleon
