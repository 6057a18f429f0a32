// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/balance/run_strategy.h"

#include <atomic>
#include <chrono>
#include <future>
#include <gmock/gmock.h>
#include <sched.h>
#include <stdexcept>
#include <thread>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::balance {
namespace {

using testing::HasSubstr;

std::shared_ptr<const OwnedProblem> problem_of(Placement (*rebalance)(const Problem&,
                                                                      const Knobs&)) {
  static Strategy strategy = strategies()[0];
  strategy.name = "test";
  strategy.rebalance = rebalance;
  MeasuredPhase phase;
  phase.workload.tasks = {{1, 0, true}, {1, 0, true}, {1, 0, false}};
  phase.current = Placement({0, 0, 0});
  return std::make_shared<const OwnedProblem>(
      OwnedProblem{flat_machine(2), phase, {}, {&strategy, Knobs({})}});
}

TEST(RunStrategy, returns_a_valid_placement) {
  const Outcome outcome = run_strategy(problem_of([](const Problem&, const Knobs&) {
                                         return Placement({0, 1, 0});
                                       }),
                                       0);
  EXPECT_EQ(outcome.trouble, "");
  EXPECT_EQ(outcome.placement, Placement({0, 1, 0}));
}

TEST(RunStrategy, keeps_the_current_placement_if_the_strategy_throws) {
  const Outcome outcome = run_strategy(problem_of([](const Problem&, const Knobs&) -> Placement {
                                         throw std::runtime_error("out of luck");
                                       }),
                                       0);
  EXPECT_EQ(outcome.trouble, "out of luck");
  EXPECT_EQ(outcome.placement, Placement({0, 0, 0}));
}

TEST(RunStrategy, keeps_the_current_placement_if_the_strategy_throws_an_int) {
  const Outcome outcome =
      run_strategy(problem_of([](const Problem&, const Knobs&) -> Placement { throw 1; }), 10);
  EXPECT_EQ(outcome.trouble, "it threw something that is not a std::exception");
  EXPECT_EQ(outcome.placement, Placement({0, 0, 0}));
}

TEST(RunStrategy, keeps_the_current_placement_if_the_new_one_is_invalid) {
  for (Placement (*invalid)(const Problem&, const Knobs&) : {
           +[](const Problem&, const Knobs&) {
             return Placement({0, 2, 0});
           },
           +[](const Problem&, const Knobs&) {
             return Placement(std::vector<PlaceId>{0, 1});
           },
           +[](const Problem&, const Knobs&) { return Placement(); },
       })
    for (const double budget_s : {0.0, 10.0}) {
      const Outcome outcome = run_strategy(problem_of(invalid), budget_s);
      EXPECT_NE(outcome.trouble, "");
      EXPECT_EQ(outcome.placement, Placement({0, 0, 0}));
    }
}

TEST(RunStrategy, keeps_the_current_placement_if_a_pinned_task_would_move) {
  const Outcome outcome = run_strategy(problem_of([](const Problem&, const Knobs&) {
                                         return Placement({1, 0, 1});
                                       }),
                                       0);
  EXPECT_THAT(outcome.trouble, HasSubstr("task 2 is pinned to place 0"));
  EXPECT_EQ(outcome.placement, Placement({0, 0, 0}));
}

TEST(RunStrategy, accepts_a_time_budget_beyond_the_range_of_the_clock) {
  const auto problem = problem_of([](const Problem&, const Knobs&) {
    return Placement({0, 1, 0});
  });
  EXPECT_EQ(run_strategy(problem, 1e300).trouble, "");
}

TEST(RunStrategy, keeps_the_current_placement_if_the_strategy_exceeds_its_time_budget) {
  static std::promise<void> may_end, has_ended;
  const Outcome outcome = run_strategy(problem_of([](const Problem& problem, const Knobs&) {
                                         may_end.get_future().wait();
                                         has_ended.set_value_at_thread_exit();
                                         return problem.current;
                                       }),
                                       1e-3);
  may_end.set_value();
  has_ended.get_future().wait();  // the detached strategy must not outlive the test
  EXPECT_THAT(outcome.trouble, HasSubstr("longer than its budget of 0.001 s"));
  EXPECT_EQ(outcome.placement, Placement({0, 0, 0}));
}

TEST(RunStrategy,
     starts_no_strategy_while_the_maximum_number_of_overdue_strategies_is_still_running) {
  static std::promise<void> may_end;
  static const std::shared_future<void> ends = may_end.get_future().share();
  static std::atomic<std::size_t> num_calls = 0;
  const OwnedProblem original = *problem_of([](const Problem& given, const Knobs&) {
    ++num_calls;
    ends.wait();
    return given.current;
  });
  const auto run = [&](double budget_s, Overdue& overdue) {
    return run_strategy(std::make_shared<const OwnedProblem>(original), budget_s, &overdue).trouble;
  };
  Overdue overdue;
  for (std::size_t i = 0; i < kMaxOverdue; ++i)
    EXPECT_THAT(run(1e-3, overdue), HasSubstr("longer than its budget"));
  EXPECT_THAT(run(1e-3, overdue), HasSubstr("still running"));
  may_end.set_value();
  for (const auto& problem : overdue)
    while (!problem.expired()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(num_calls, kMaxOverdue);
  EXPECT_EQ(run(100, overdue), "");
}

TEST(RunStrategy, a_strategy_that_exceeded_its_time_budget_continues_at_idle_priority) {
  static std::promise<int> policy;  // the scheduling policy at the strategy's end
  run_strategy(problem_of([](const Problem& problem, const Knobs&) {
                 for (int i = 0; i < 60'000 && sched_getscheduler(0) != SCHED_IDLE; ++i)
                   std::this_thread::sleep_for(std::chrono::milliseconds(1));
                 policy.set_value(sched_getscheduler(0));
                 return problem.current;
               }),
               1e-3);
  EXPECT_EQ(policy.get_future().get(), SCHED_IDLE);
}

TEST(RunStrategy, reports_an_invalid_workload_without_calling_the_strategy) {
  OwnedProblem bad = *problem_of([](const Problem&, const Knobs&) -> Placement {
    throw std::runtime_error("the strategy was called");
  });
  bad.phase.workload.messages.push_back({0, 7, 1, 1});
  const Outcome outcome = run_strategy(std::make_shared<const OwnedProblem>(bad), 0);
  EXPECT_THAT(outcome.trouble, HasSubstr("7"));
}

}  // namespace
}  // namespace poise::balance
