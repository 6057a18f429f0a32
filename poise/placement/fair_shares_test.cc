// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/fair_shares.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(FairShares, are_proportional_to_the_speeds_if_there_is_no_fixed_work) {
  Workload workload;
  workload.tasks.assign(5, {1});
  const auto shares = fair_shares(machine_from_text("core:3 speeds:1,2,1"), workload, Placement(5));
  EXPECT_THAT(shares, ElementsAre(0.25, 0.5, 0.25));
}

TEST(FairShares, give_nothing_to_a_place_with_too_much_fixed_work) {
  Workload workload;
  workload.tasks = {{3}, {3}, {.load_s = 9, .movable = false}};
  workload.background_s = {2, 0, 0, 0};
  // Place 1 has 9 s of fixed work and gets no more. The other three places share 2 s of fixed and 6
  // s of movable work, so each is busy for 8 / 3 s.
  const auto shares = fair_shares(flat_machine(4), workload, Placement(3, 1));
  EXPECT_THAT(shares, ElementsAre(DoubleNear(1.0 / 9, 1e-12), 0, DoubleNear(4.0 / 9, 1e-12),
                                  DoubleNear(4.0 / 9, 1e-12)));
}

TEST(FairShares, are_proportional_to_the_speeds_if_all_task_loads_are_0) {
  Workload workload;
  workload.tasks = {{0}};
  workload.background_s = {5, 0};
  EXPECT_THAT(fair_shares(flat_machine(2), workload, Placement(1)), ElementsAre(0.5, 0.5));
}

TEST(FairShares, add_up_to_1_even_if_fixed_work_is_far_larger_than_movable_work) {
  Workload workload;
  workload.tasks = {{1e-300}};
  workload.background_s = {1e100, 1e100, 1e100};
  const auto shares = fair_shares(flat_machine(3), workload, Placement(1));
  EXPECT_DOUBLE_EQ(std::accumulate(shares.begin(), shares.end(), 0.0), 1);
}

TEST(FairShares, make_all_places_that_receive_movable_work_equally_busy) {
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = machine_from_text("core:9 speeds:1,0.5,3");
    Workload workload;
    for (int t = 0; t < 40; ++t)
      workload.tasks.push_back({.load_s = random.uniform(), .movable = random.below(2) == 0});
    for (int p = 0; p < 9; ++p) workload.background_s.push_back(4 * random.uniform());
    Placement current(40);
    double movable_s = 0;
    for (TaskId t = 0; t < 40; ++t) {
      current.move(t, static_cast<PlaceId>(random.below(9)));
      if (workload.tasks[t].movable) movable_s += workload.tasks[t].load_s;
    }
    const auto shares = fair_shares(machine, workload, current);
    const auto ground_s = fixed_work_s(machine, workload, current);
    double level_s = 0;
    for (PlaceId p = 0; p < 9; ++p)
      if (shares[p] > 0) level_s = ground_s[p] + shares[p] * movable_s / machine.speed_of(p);
    for (PlaceId p = 0; p < 9; ++p)
      EXPECT_NEAR(std::max(ground_s[p], level_s),
                  ground_s[p] + shares[p] * movable_s / machine.speed_of(p), 1e-9);
  }
}

}  // namespace
}  // namespace poise
