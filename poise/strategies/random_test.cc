// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <vector>

#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

TEST(RandomStrategy, spreads_tasks_evenly_and_depends_on_the_seed) {
  const Machine machine = flat_machine(10);
  Workload workload;
  workload.tasks.resize(10000);
  const Placement current(workload.num_tasks());
  const Choice random = parse_strategy("random");
  const Placement placed = random.rebalance({machine, workload, current, machine.costs(), 1});
  std::vector<int> tasks_on(10);
  for (const PlaceId p : placed.places()) ++tasks_on[p];
  for (const int count : tasks_on) EXPECT_NEAR(count, 1000, 150);  // five standard deviations
  EXPECT_NE(placed, random.rebalance({machine, workload, current, machine.costs(), 2}));
}

}  // namespace
}  // namespace poise
