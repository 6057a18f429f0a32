// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/vacating.h"

#include <gmock/gmock.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::charm {
namespace {

using testing::ElementsAre;

/// Four tasks; the second is pinned.
OwnArrays four_tasks() {
  OwnArrays arrays;
  arrays.ids = {1, 2, 3, 4};
  arrays.load_s = {1, 2, 3, 4};
  arrays.pinned = {0, 1, 0, 0};
  arrays.background_s = 5;
  return arrays;
}

TEST(Vacating, an_unavailable_place_gets_a_very_low_speed) {
  const Machine machine = machine_from_text("core:3"), slow = slowed(machine, {0, 1, 0});
  EXPECT_EQ(slow.speed_of(0), machine.speed_of(0));
  EXPECT_LT(slow.speed_of(1), 1e-6);
  EXPECT_THROW(slowed(machine, {1, 1, 1}), Error);
}

TEST(Vacating, background_load_and_loads_of_pinned_tasks_are_set_to_zero_on_an_unavailable_place) {
  OwnArrays arrays = four_tasks();
  drop_fixed_loads(arrays);
  EXPECT_THAT(arrays.load_s, ElementsAre(1, 0, 3, 4));
  EXPECT_EQ(arrays.background_s, 0);
}

TEST(Vacating, movable_tasks_leave_unavailable_places_and_no_task_moves_to_one) {
  const Unavailable unavailable{0, 1, 0, 1};
  std::vector<std::uint32_t> from_1{1, 1, 3, 2}, from_2{1, 2, 0, 3};
  avoid(unavailable, four_tasks(), 1, from_1);
  EXPECT_THAT(from_1, ElementsAre(0, 1, 0, 2));
  avoid(unavailable, four_tasks(), 2, from_2);
  EXPECT_THAT(from_2, ElementsAre(2, 2, 0, 2));
}

}  // namespace
}  // namespace poise::charm
