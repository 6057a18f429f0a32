// SPDX-License-Identifier: BSD-3-Clause

#include <gtest/gtest.h>

#include "tests/support/brute_force.h"
#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

Workload drawn(TaskId num_tasks, Random& random) {
  Workload workload;
  for (TaskId t = 0; t < num_tasks; ++t)
    workload.tasks.push_back({.load_s = 1 + random.uniform(), .movable = random.below(5) != 0});
  for (TaskId m = 0; m < 2 * num_tasks; ++m)
    workload.messages.push_back({static_cast<TaskId>(random.below(num_tasks)),
                                 static_cast<TaskId>(random.below(num_tasks)), 1 + random.below(20),
                                 random.below(100)});
  return workload;
}

/// Compares the placement that `optimal` finds with the best of all placements.
void expect_optimum(const Machine& machine, const Workload& workload) {
  const Placement current = round_robin(6, machine.num_places());
  const Problem problem{machine, workload, current, machine.costs()};
  Placement scratch = current;
  const double least_s = least_iteration_s(problem, 0, scratch);
  const Placement found = parse_strategy("optimal").rebalance(problem);
  EXPECT_NEAR(iteration_s(problem, found), least_s, 1e-9 * least_s);
}

TEST(Optimal, finds_a_placement_as_good_as_the_best_of_all_placements) {
  for (const char* text :
       {"core:2 message:0.01", "numa:2 core:2 factors:3,1 message:0.01 byte:1e-3",
        "core:3 speeds:1,0.5,0.25 message:0.05"}) {
    const Machine machine = machine_from_text(text);
    Random random(11);
    for (int problem_number = 0; problem_number < 12; ++problem_number) {
      SCOPED_TRACE(fmt::format("{}: problem {}", text, problem_number));
      expect_optimum(machine, drawn(6, random));
    }
  }
}

TEST(Optimal, finds_the_best_placement_if_an_iteration_has_subphases) {
  POISE_SKIP_IF_SLOW();
  // The speeds of two places in three subphases; index: place * subphases + subphase.
  const std::vector<double> speeds = {1, 2, 0.5, 1, 0.5, 2};
  for (const char* text : {"core:2 message:0.01", "core:3 speeds:1,0.5,0.25 message:0.05"})
    for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical})
      for (const SubphaseRule rule : {SubphaseRule::wait, SubphaseRule::overlap})
        for (const bool has_speeds : {false, true}) {
          const Machine machine = with_formula(machine_from_text(text), formula);
          if (has_speeds && machine.num_places() != 2) continue;
          Random random(12);
          for (int problem_number = 0; problem_number < 12; ++problem_number) {
            SCOPED_TRACE(fmt::format("{}, {}, rule {}, {}: problem {}", text, name_of(formula),
                                     static_cast<int>(rule), has_speeds, problem_number));
            Workload workload = drawn(6, random);
            workload.subphase_rule = rule;
            for (TaskId t = 0; t < 6; ++t)
              workload.subphase_load_s.push_back(
                  {random.uniform(), random.uniform(), t < 3 ? 3.0 : 0.0});
            if (has_speeds) workload.subphase_speed = speeds;
            workload.background_s.assign(machine.num_places(), 0.25);
            expect_optimum(machine, workload);
          }
        }
}

TEST(Optimal, refuses_a_large_problem_with_an_error_that_suggests_anneal) {
  const Machine machine = flat_machine(10);
  Workload workload;
  workload.tasks.assign(11, {.load_s = 1});
  const Placement current = blocked(11, 10);
  const Problem problem{machine, workload, current, machine.costs()};
  EXPECT_NO_THROW(parse_strategy("optimal:placements=1e11").rebalance(problem));
  try {
    parse_strategy("optimal").rebalance(problem);
    FAIL() << "10^11 placements are more than 10^10";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "strategy optimal: 11 movable tasks have 1e+11 possible placements on 10 places, but the "
        "limit (knob placements) is 1e+10; strategy anneal finds nearly optimal placements");
  }
}

}  // namespace
}  // namespace poise
