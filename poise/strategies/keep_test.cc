// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>

#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

TEST(Keep, moves_nothing_even_if_one_place_has_all_tasks) {
  const Machine machine = flat_machine(4);
  Workload workload;
  workload.tasks.assign(8, {.load_s = 1});
  const Placement current(workload.num_tasks(), 3);
  EXPECT_EQ(parse_strategy("keep").rebalance({machine, workload, current, machine.costs()}),
            current);
}

}  // namespace
}  // namespace poise
