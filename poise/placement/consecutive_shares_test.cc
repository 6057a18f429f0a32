// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/consecutive_shares.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/machine/text.h"

namespace poise {
namespace {

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({.load_s = load_s});
  return workload;
}

Placement placed(const char* machine_text, const Workload& workload, const Placement& current) {
  const Machine machine = machine_from_text(machine_text);
  return consecutive_shares({machine, workload, current, machine.costs()});
}

TEST(ConsecutiveShares, every_place_gets_consecutive_tasks_with_about_the_same_total_load) {
  const Workload workload = with_loads({4, 1, 1, 1, 1, 2, 2});
  EXPECT_EQ(placed("core:3", workload, Placement(7)),
            Placement(std::vector<PlaceId>{0, 1, 1, 1, 1, 2, 2}));
}

TEST(ConsecutiveShares, a_place_with_too_much_background_load_gets_no_task) {
  Workload workload = with_loads({1, 1, 1, 1});
  workload.background_s = {0, 9, 0};
  EXPECT_EQ(placed("core:3", workload, Placement(4)), Placement(std::vector<PlaceId>{0, 0, 2, 2}));
}

TEST(ConsecutiveShares, leaves_pinned_tasks_in_place) {
  Workload workload = with_loads({1, 1, 1, 1});
  workload.tasks[0].movable = false;
  const Placement current(std::vector<PlaceId>{1, 0, 0, 0});
  EXPECT_EQ(placed("core:2", workload, current), Placement(std::vector<PlaceId>{1, 0, 0, 1}));
}

}  // namespace
}  // namespace poise
