// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/speed_groups.h"

#include <gtest/gtest.h>
#include <set>

#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(SpeedGroups, each_place_is_in_exactly_one_group) {
  for (const char* text : {"core:1", "core:7", "core:9 speeds:1,0.5", "core:12 speeds:4,4,2,1,3"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    std::vector<double> busy_s(machine.num_places());
    for (PlaceId p = 0; p < machine.num_places(); ++p) busy_s[p] = 10 - 0.5 * p;
    const SpeedGroups groups(machine, busy_s);
    std::set<PlaceId> seen;
    for (const SpeedGroup& group : groups.all()) {
      EXPECT_TRUE(group.has_one_speed());
      EXPECT_EQ(group.least(), group.places.back());
      for (PlaceId i = 0; i < group.places.size(); ++i) {
        const PlaceId p = group.place(i);
        EXPECT_TRUE(seen.insert(p).second);
        EXPECT_EQ(machine.speed_of(p), group.max_speed);
        EXPECT_EQ(group.index_from(p), i);
        EXPECT_EQ(group.index_from(p + 1), i + 1);
        EXPECT_EQ(group.busy.busy_s(i), busy_s[p]);
        EXPECT_EQ(groups.busy_s(p), busy_s[p]);
      }
      EXPECT_EQ(group.index_from(machine.num_places()), group.places.size());
    }
    EXPECT_EQ(seen.size(), machine.num_places());
  }
}

TEST(SpeedGroups, places_of_similar_speed_share_a_group_if_there_are_too_many_different_speeds) {
  MachineParts parts = machine_from_text("core:100").parts();
  for (PlaceId p = 0; p < 100; ++p) parts.places[p].speed = 1 + p * 37 % 100;
  const Machine machine(parts);
  const SpeedGroups groups(machine, std::vector<double>(100, 0));
  EXPECT_EQ(groups.all().size(), 32u);
  double slower = 0;
  for (const SpeedGroup& group : groups.all()) {
    EXPECT_LT(slower, group.min_speed);
    EXPECT_LE(group.max_speed - group.min_speed, 3);
    for (const PlaceId p : group.places) {
      EXPECT_LE(group.min_speed, machine.speed_of(p));
      EXPECT_GE(group.max_speed, machine.speed_of(p));
    }
    slower = group.max_speed;
  }
}

TEST(SpeedGroups, the_least_busy_place_of_a_group_is_updated_when_busy_times_change) {
  const Machine machine = machine_from_text("core:6 speeds:1,0.5");
  SpeedGroups groups(machine, {3, 3, 2, 2, 1, 1});
  EXPECT_EQ(groups.all()[1].least(), 4u);
  groups.add(4, 1.5);
  EXPECT_EQ(groups.busy_s(4), 2.5);
  EXPECT_EQ(groups.all()[1].least(), 2u);
  groups.set(5, 9);
  EXPECT_EQ(groups.all()[0].least(), 3u);
}

}  // namespace
}  // namespace poise
