// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <vector>

#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

TEST(Rotate, moves_every_movable_task_to_the_next_place) {
  const Machine machine = flat_machine(3);
  Workload workload;
  workload.tasks.resize(4);
  workload.tasks[1].movable = false;
  const Placement current(std::vector<PlaceId>{0, 1, 2, 1});
  EXPECT_EQ(parse_strategy("rotate").rebalance({machine, workload, current, machine.costs()}),
            Placement(std::vector<PlaceId>{1, 1, 0, 2}));
}

}  // namespace
}  // namespace poise
