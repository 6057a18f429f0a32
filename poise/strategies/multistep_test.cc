// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>
#include <string>

#include "poise/base/error.h"
#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({load_s});
  return workload;
}

TEST(Multistep, decides_like_its_inner_strategy_if_there_are_no_earlier_phases) {
  const Machine machine = flat_machine(8);
  const Workload workload = generate(parse_recipe("stencil3d"), 500, 1).front();
  const Placement current = blocked(500, 8);
  const Problem problem{machine, workload, current, machine.costs()};
  int inner_strategies = 0;
  for (const Strategy& inner : strategies()) {
    if (inner.name == "multistep" || inner.is_oracle) continue;
    ++inner_strategies;
    EXPECT_EQ(parse_strategy(fmt::format("multistep:inner={}", inner.name)).rebalance(problem),
              parse_strategy(inner.name).rebalance(problem))
        << inner.name;
  }
  EXPECT_GE(inner_strategies, 2);
}

TEST(Multistep, balances_predicted_loads) {
  // The loads predicted for the next phase are 4, 1, 1, 2. So the first task must be alone on a
  // place, although it is the lightest in the last phase.
  const std::vector<std::vector<double>> past{{0, 5, 5, 2}, {1, 4, 4, 2}, {2, 3, 3, 2}};
  const Workload now = with_loads({3, 2, 2, 2});
  const Machine machine = flat_machine(2);
  const Placement current(4);
  const Problem problem{machine, now, current, machine.costs(), 0, past};
  const Placement placed =
      parse_strategy("multistep:inner=greedy,predictor=trend").rebalance(problem);
  EXPECT_NE(placed.of(0), placed.of(1));
  EXPECT_EQ(placed.of(1), placed.of(2));
  EXPECT_EQ(placed.of(2), placed.of(3));

  const Workload next = with_loads({4, 1, 1, 2});
  EXPECT_EQ(placed, parse_strategy("greedy").rebalance({machine, next, current, machine.costs()}));
}

TEST(Multistep, passes_the_number_of_remaining_steps_to_its_inner_strategy) {
  // Moving a task takes 1 s and saves 0.1 s per step.
  Workload workload = with_loads({0.1, 0.1});
  for (Task& task : workload.tasks) task.bytes = 1'000'000'000;
  const Machine machine = flat_machine(2);
  const Placement together(2);
  for (const double steps : {2.0, 1000.0}) {
    const Problem problem{.machine = machine,
                          .workload = workload,
                          .current = together,
                          .costs = machine.costs(),
                          .steps = steps};
    EXPECT_EQ(parse_strategy("multistep:inner=poise").rebalance(problem) == together, steps == 2);
  }
}

TEST(Multistep, multistep_cannot_be_its_own_inner_strategy) {
  EXPECT_THROW(parse_strategy("multistep:inner=multistep"), Error);
}

}  // namespace
}  // namespace poise
