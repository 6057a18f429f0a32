#include <gtest/gtest.h>

#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

TEST(Greedy, puts_the_heaviest_tasks_on_different_places) {
  const Machine machine = flat_machine(2);
  Workload workload;
  for (const double load_s : {3.0, 3.0, 2.0, 2.0, 2.0}) workload.tasks.push_back({load_s});
  const Placement current(workload.num_tasks());
  const Placement placed =
      parse_strategy("greedy").rebalance({machine, workload, current, machine.costs()});
  EXPECT_NE(placed.of(0), placed.of(1));
  EXPECT_EQ(evaluate(machine, workload, machine.costs(), current, placed).makespan_s, 7);
}

}  // namespace
}  // namespace poise
