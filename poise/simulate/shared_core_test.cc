// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/shared_core.h"

#include <gtest/gtest.h>

namespace poise {
namespace {

TEST(SharedCore, a_rank_computes_only_during_its_own_time_slices) {
  // The rank has the core from -1 to 3 s, from 7 to 11 s, and so on.
  const SharedCore core{.slice_s = 4, .offset_s = 1};
  EXPECT_EQ(core.held_from_s(2), 2);
  EXPECT_EQ(core.held_from_s(3), 7);
  EXPECT_EQ(core.end_s(0, 3), 3);
  EXPECT_EQ(core.end_s(0, 4), 8);
  EXPECT_EQ(core.end_s(5, 1), 8);
  EXPECT_EQ(core.end_s(0, 8), 16);  // 3 s in the first slice, 4 s in the second, 1 s in the third
}

TEST(SharedCore, the_rank_is_never_delayed_if_it_has_no_competitor) {
  EXPECT_EQ(SharedCore{}.held_from_s(2), 2);
  EXPECT_EQ(SharedCore{}.end_s(2, 3), 5);
}

}  // namespace
}  // namespace poise
