// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

Placement rebalanced(const char* strategy, const Machine& machine, const Workload& workload,
                     const Placement& current) {
  return parse_strategy(strategy).rebalance({machine, workload, current, machine.costs()});
}

TEST(GreedyRefine, moves_a_task_only_if_keeping_it_would_make_its_place_busier_than_the_threshold) {
  Workload workload;
  for (const double load_s : {4.0, 3.0, 3.0, 2.0}) workload.tasks.push_back({load_s});
  const Placement current(4, 1);
  // The threshold is 6.3 s. The task of 4 s stays. Both tasks of 3 s move, because 4 s + 3 s exceed
  // the threshold. The task of 2 s stays, because 4 s + 2 s do not.
  EXPECT_EQ(rebalanced("greedy_refine", flat_machine(2), workload, current),
            Placement(std::vector<PlaceId>{1, 0, 0, 1}));
}

TEST(GreedyRefine, balances_nearly_as_well_as_greedy_with_far_fewer_migrations) {
  Random random(5);
  const Machine machine = flat_machine(32);
  Workload workload;
  for (TaskId t = 0; t < 3200; ++t)
    workload.tasks.push_back({(t < 400 ? 3 : 1) * random.uniform(0.5, 1.5)});
  const Placement current = blocked(3200, 32);
  const auto metrics = [&](const char* strategy) {
    return evaluate(machine, workload, machine.costs(), current,
                    rebalanced(strategy, machine, workload, current));
  };
  const Metrics greedy = metrics("greedy"), refined = metrics("greedy_refine");
  EXPECT_LE(refined.imbalance, 1.05 + 1e-12);
  EXPECT_LT(refined.migrations, greedy.migrations / 3);
}

}  // namespace
}  // namespace poise
