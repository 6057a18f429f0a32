// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/measurements.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"

namespace poise::objects {
namespace {

Measurements two_ranks() {
  Measurements all;
  all.rows = {{.id = 2, .place = 1, .cpu_s = 3, .wall_s = 6, .bytes = 30},
              {.id = 0, .place = 0, .cpu_s = 1, .wall_s = 2, .bytes = 10, .movable = 0},
              {.id = 1, .place = 1, .cpu_s = 2, .wall_s = 4, .bytes = 20}};
  all.messages = {{2, 0, 1, 5}, {0, 1, 2, 7}, {2, 0, 1, 5}};
  all.places = {{1, 0.5, 9}, {0, 0.25, 9}};
  return all;
}

TEST(Measurements, tasks_are_sorted_by_object_id_and_background_loads_by_place) {
  const auto [workload, current] = phase_of(two_ranks(), 3, 2, false, 1);
  ASSERT_EQ(workload.num_tasks(), 3u);
  for (TaskId t = 0; t < 3; ++t) {
    EXPECT_EQ(workload.tasks[t].load_s, t + 1.0);
    EXPECT_EQ(workload.tasks[t].bytes, 10 * (t + 1));
    EXPECT_EQ(workload.tasks[t].movable, t != 0);
  }
  EXPECT_EQ(current, Placement(std::vector<PlaceId>{0, 1, 1}));
  EXPECT_EQ(workload.background_s, (std::vector<double>{0.25, 0.5}));
  ASSERT_EQ(workload.messages.size(), 2u);
  EXPECT_EQ(workload.messages[1].count, 2u);
  EXPECT_EQ(workload.messages[1].bytes, 10u);
  EXPECT_TRUE(workload.positions.empty());
}

TEST(Measurements, loads_are_listed_in_the_order_of_tasks_for_every_subphase) {
  Measurements all = two_ranks();
  EXPECT_TRUE(phase_of(all, 3, 2, false, 1).workload.subphase_load_s.empty());
  all.num_subphases = 2;
  for (PlaceRow& place : all.places) place.num_subphases = 2;
  all.subphase_s = {1, 2, 0, 1, 2, 0};
  EXPECT_EQ(phase_of(all, 3, 2, false, 2).workload.subphase_load_s,
            (std::vector<std::vector<double>>{{0, 0.5}, {1, 0}, {0.5, 1}}));
}

TEST(Measurements, loads_are_wall_or_cpu_seconds_divided_by_the_number_of_threads_per_place) {
  const auto [workload, current] = phase_of(two_ranks(), 3, 2, true, 4);
  EXPECT_EQ(workload.tasks[2].load_s, 1.5);
}

TEST(Measurements, loads_of_objects_on_a_slow_core_are_converted_to_a_core_of_speed_1) {
  Measurements own;
  own.rows = {{.id = 4, .place = 7, .cpu_s = 3, .wall_s = 6}, {.id = 5, .place = 6, .cpu_s = 2}};
  own.num_subphases = 2;
  own.subphase_s = {1, 2, 2, 0};
  const double speeds[] = {1, 0.5};  // of the places 6 and 7
  to_speed_1(own, 6, speeds);
  EXPECT_EQ(own.rows[0].cpu_s, 1.5);
  EXPECT_EQ(own.rows[0].wall_s, 3);
  EXPECT_EQ(own.rows[1].cpu_s, 2);
  EXPECT_EQ(own.subphase_s, (std::vector<double>{0.5, 1, 2, 0}));
}

TEST(Measurements, measurements_are_refused_unless_every_object_appears_exactly_once) {
  EXPECT_THROW(phase_of(two_ranks(), 4, 2, false, 1), Error);
  Measurements twice = two_ranks();
  twice.rows[2].id = 0;
  EXPECT_THROW(phase_of(twice, 3, 2, false, 1), Error);
}

TEST(Measurements, measurements_are_refused_if_ranks_have_different_numbers_of_subphases) {
  Measurements all = two_ranks();
  all.num_subphases = 2;
  for (PlaceRow& place : all.places) place.num_subphases = 2;
  all.subphase_s = {1, 2, 0, 1};  // too few: three objects with two subphases need six loads
  EXPECT_THROW(phase_of(all, 3, 2, false, 1), Error);
  all.subphase_s = {1, 2, 0, 1, 2, 0};  // six loads, but the places have 3 and 1 subphases
  all.places[0].num_subphases = 3;
  all.places[1].num_subphases = 1;
  EXPECT_THROW(phase_of(all, 3, 2, false, 1), Error);
}

}  // namespace
}  // namespace poise::objects
