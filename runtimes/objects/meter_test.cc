// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/meter.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"

namespace poise::objects {
namespace {

class Dummy final : public AnyObject {
 public:
  void step(const Inbox&, Outbox&) override {}
  std::size_t bytes() const override { return 0; }
  void write(Buffer&) const override {}
  void describe(ObjectRow&) const override {}
};

std::vector<LocalObject> two_objects() {
  std::vector<LocalObject> objects(2);
  for (ObjectId id = 0; id < 2; ++id) {
    objects[id].id = id;
    objects[id].object = std::make_unique<Dummy>();
  }
  return objects;
}

class MeterTest : public testing::Test {
 protected:
  MeterTest() {
    objects_.update(two_objects(), std::vector<PlaceId>(2, 0));
    meter_.begin_phase(objects_);
  }
  LocalObjects objects_;
  Meter meter_;
};

TEST_F(MeterTest, a_new_phase_resets_the_times_of_the_phase_but_not_the_totals_of_the_run) {
  meter_.add_load(2, 3);
  meter_.add_idle(1);
  meter_.end_step(4);
  meter_.begin_phase(objects_);
  meter_.add_load(20, 30);
  meter_.add_idle(10);
  meter_.end_step(40);
  EXPECT_EQ(meter_.phase().steps, 1u);
  EXPECT_EQ(meter_.phase().own_load_s, 20);
  EXPECT_EQ(meter_.phase().run_load_s, 30);
  EXPECT_EQ(meter_.phase().idle_s, 10);
  EXPECT_EQ(meter_.phase().wall_s, 40);
  EXPECT_EQ(meter_.run().steps, 2u);
  EXPECT_EQ(meter_.run().run_load_s, 33);
  EXPECT_EQ(meter_.run().idle_s, 11);
  EXPECT_EQ(meter_.run().wall_s, 44);
}

TEST_F(MeterTest, the_totals_of_a_run_include_balancing_time_but_the_times_of_a_phase_do_not) {
  meter_.add_balancing(5);
  EXPECT_EQ(meter_.run().wall_s, 5);
  EXPECT_EQ(meter_.phase().wall_s, 0);
}

TEST_F(MeterTest, busy_time_is_the_background_load_plus_the_mean_object_load_of_a_thread) {
  meter_.add_load(6, 8);
  meter_.add_background(0.5);
  EXPECT_EQ(meter_.busy_s(objects_, 2), (std::vector<double>{3.5}));
}

TEST_F(MeterTest,
       if_each_thread_is_a_place_the_busy_time_of_the_rank_is_that_of_its_busiest_place) {
  LocalObjects objects({4, 5});
  objects.update(two_objects(), std::vector<PlaceId>{4, 5});
  meter_.begin_phase(objects);
  meter_.add_step(objects[0], 2, 3);
  meter_.add_step(objects[1], 4, 5);
  meter_.add_background(0.5);
  EXPECT_EQ(meter_.busy_s(objects, 2), (std::vector<double>{4}));
  meter_.add_background(2);
  EXPECT_EQ(meter_.busy_s(objects, 2), (std::vector<double>{4.5}));
  meter_.begin_phase(objects);
  meter_.enter_subphase(0, objects);
  meter_.add_step(objects[0], 4, 4);
  meter_.enter_subphase(1, objects);
  meter_.add_step(objects[0], 2, 2);
  meter_.add_step(objects[1], 6, 6);
  EXPECT_EQ(meter_.busy_s(objects, 2), (std::vector<double>{4, 6}));
}

TEST_F(MeterTest, loads_and_busy_times_are_measured_per_subphase) {
  meter_.enter_subphase(0, objects_);
  meter_.add_step(objects_[0], 4, 40);
  meter_.enter_subphase(1, objects_);
  meter_.add_step(objects_[0], 2, 20);
  meter_.add_step(objects_[1], 6, 60);
  meter_.add_background(1);
  EXPECT_EQ(objects_[0].wall_s, 60);
  EXPECT_EQ(objects_[0].subphase_s, (std::vector<double>{4, 2}));
  EXPECT_EQ(objects_[1].subphase_s, (std::vector<double>{0, 6}));
  EXPECT_EQ(meter_.busy_s(objects_, 2), (std::vector<double>{2.5, 4.5}));
}

TEST_F(MeterTest, refuses_subphase_numbers_of_64_and_above) {
  meter_.enter_subphase(63, objects_);
  EXPECT_THROW(meter_.enter_subphase(64, objects_), Error);
}

TEST_F(MeterTest, a_new_phase_keeps_the_number_of_subphases) {
  meter_.enter_subphase(2, objects_);
  meter_.add_step(objects_[0], 4, 40);
  meter_.begin_phase(objects_);
  EXPECT_EQ(objects_[0].wall_s, 0);
  EXPECT_EQ(objects_[0].subphase_s, (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace poise::objects
