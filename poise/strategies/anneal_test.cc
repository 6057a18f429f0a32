// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

double iteration_s(const char* strategy, const Problem& problem) {
  const Placement placed = parse_strategy(strategy).rebalance(problem);
  return evaluate(problem.machine, problem.workload, problem.costs, problem.current, placed)
      .iteration_s;
}

TEST(Anneal, iterations_are_at_most_1_percent_longer_than_the_optimum_on_average) {
  const Machine machine = machine_from_text("numa:2 core:2 factors:2,1 message:0.01");
  Random random(7);
  constexpr int kProblems = 20;
  double sum = 0;
  for (int problem_number = 0; problem_number < kProblems; ++problem_number) {
    SCOPED_TRACE(problem_number);
    Workload workload;
    for (int t = 0; t < 9; ++t) workload.tasks.push_back({.load_s = 1 + random.uniform()});
    for (int m = 0; m < 12; ++m)
      workload.messages.push_back({static_cast<TaskId>(random.below(9)),
                                   static_cast<TaskId>(random.below(9)), 1 + random.below(20)});
    const Placement current = round_robin(9, 4);
    const Problem problem{machine, workload, current, machine.costs(), 1};
    const double optimum_s = iteration_s("optimal", problem);
    const double ratio = iteration_s("anneal", problem) / optimum_s;
    EXPECT_LE(ratio, 1.05);
    EXPECT_GE(ratio, 1 - 1e-9);
    sum += ratio;
  }
  EXPECT_LE(sum / kProblems, 1.01);
}

TEST(Anneal, more_sweeps_give_a_better_result_and_the_seed_changes_the_result) {
  const Machine machine = machine_from_text("node:2 numa:2 core:2 factors:10,1.5,1");
  const Workload workload =
      generate(parse_recipe("stencil2d:messages=10,skew=lognormal"), 160, 3).front();
  const Placement current = initial_placement("random", 160, 8, 1);
  const Problem problem{machine, workload, current, machine.costs(), 1};
  const double few_s = iteration_s("anneal:sweeps=30", problem),
               many_s = iteration_s("anneal:sweeps=1000", problem);
  EXPECT_LT(few_s, iteration_s("keep", problem));
  EXPECT_LT(many_s, 0.95 * few_s);
  EXPECT_NE(parse_strategy("anneal:seed=1").rebalance(problem),
            parse_strategy("anneal:seed=2").rebalance(problem));
}

}  // namespace
}  // namespace poise
