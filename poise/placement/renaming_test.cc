// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/renaming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

Placement at(std::vector<PlaceId> places) { return Placement(std::move(places)); }

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({load_s});
  return workload;
}

TEST(Renaming, numbers_the_parts_of_a_partition_so_that_most_load_stays_on_its_place) {
  const std::vector<double> shares(3, 1.0 / 3);
  const Placement renamed = renamed_to_stay(flat_machine(3), with_loads({5, 1, 2, 3, 1}),
                                            at({0, 1, 1, 2, 0}), at({2, 0, 0, 1, 0}), shares);
  EXPECT_THAT(renamed.places(), ElementsAre(0, 1, 1, 2, 1));
}

TEST(Renaming, tasks_that_share_a_node_still_share_a_node_after_places_are_renamed) {
  // Part p holds the tasks that the new partition gives to place p; parts 0 and 1 share node 0. The
  // 4 s of load that are now on place 0 belong to part 1. But of the load of parts 0 and 1
  // together, 6 s are now on node 1 and only 4 s on node 0, so both parts go to node 1.
  const std::vector<double> shares(4, 0.25);
  const Placement renamed =
      renamed_to_stay(machine_from_text("node:2 core:2"), with_loads({5, 1, 4, 4}),
                      at({2, 3, 0, 1}), at({0, 1, 1, 3}), shares);
  EXPECT_THAT(renamed.places(), ElementsAre(2, 3, 3, 1));
}

TEST(Renaming, never_swaps_the_places_of_two_parts_of_different_size) {
  const std::vector<double> shares{0.5, 0.25, 0.25};
  const Placement renamed =
      renamed_to_stay(flat_machine(3), with_loads({2, 1, 1}), at({1, 0, 0}), at({0, 1, 2}), shares);
  EXPECT_THAT(renamed.places(), ElementsAre(0, 1, 2));
}

TEST(Renaming, leaves_pinned_tasks_on_their_places) {
  Workload workload = with_loads({9, 1, 1});
  workload.tasks[0].movable = false;
  const Placement renamed = renamed_to_stay(flat_machine(2), workload, at({0, 0, 1}), at({0, 1, 0}),
                                            std::vector<double>{0.5, 0.5});
  EXPECT_THAT(renamed.places(), ElementsAre(0, 0, 1));
}

TEST(Renaming, changes_nothing_if_the_new_partition_is_the_current_one) {
  const Placement current = at({2, 1, 1, 0, 3});
  EXPECT_EQ(renamed_to_stay(flat_machine(5), with_loads({1, 0, 2, 3, 0}), current, current,
                            std::vector<double>(5, 0.2)),
            current);
}

}  // namespace
}  // namespace poise
