// SPDX-License-Identifier: BSD-3-Clause
// Checks that the strategy `poise` never calls another strategy of Poise. The linker sends every
// call of a strategy's function to a function of this file (option --wrap), which counts it.
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "poise/base/error.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

std::map<std::string, int> calls;

// Defines the function that counts calls of strategy `name`. `length` is the length of `name`,
// which the mangled C++ name contains.
#define POISE_COUNTED(name, length)                                                           \
  Placement real_##name(const Problem&, const Knobs&) asm("__real__ZN5poise" #length #name    \
                                                          "ERKNS_7ProblemERKNS_5KnobsE");     \
  Placement counted_##name(const Problem&, const Knobs&) asm("__wrap__ZN5poise" #length #name \
                                                             "ERKNS_7ProblemERKNS_5KnobsE");  \
  Placement counted_##name(const Problem& problem, const Knobs& knobs) {                      \
    ++calls[#name];                                                                           \
    return real_##name(problem, knobs);                                                       \
  }

}  // namespace

POISE_COUNTED(keep, 4)
POISE_COUNTED(random, 6)
POISE_COUNTED(rotate, 6)
POISE_COUNTED(greedy, 6)
POISE_COUNTED(greedy_refine, 13)
POISE_COUNTED(refine, 6)
POISE_COUNTED(greedy_comm, 11)
POISE_COUNTED(refine_comm, 11)
POISE_COUNTED(orb, 3)
POISE_COUNTED(metis, 5)
POISE_COUNTED(scotch, 6)
POISE_COUNTED(nuco, 4)
POISE_COUNTED(numa, 4)
POISE_COUNTED(treematch, 9)
POISE_COUNTED(anneal, 6)
POISE_COUNTED(optimal, 7)
POISE_COUNTED(multistep, 9)

namespace {

/// Balances a problem by `strategy`. Returns how many calls of strategies this causes.
int calls_of(const std::string& strategy, const char* recipe, TaskId tasks) {
  const Machine machine = with_formula(machine_from_text("node:2 numa:2 core:2 factors:10,1.5,1"),
                                       CostFormula::physical);
  const Workload workload = generate(parse_recipe(recipe), tasks, 1).front();
  const Placement current =
      initial_placement("round_robin", workload.num_tasks(), machine.num_places(), 1);
  calls.clear();
  parse_strategy(strategy).rebalance({machine, workload, current, machine.costs(), 1});
  int sum = 0;
  for (const auto& [name, count] : calls) sum += count;
  return sum;
}

TEST(Calls, the_counter_counts_a_run_of_every_strategy_except_poise) {
  for (const Strategy& strategy : strategies()) {
    if (strategy.name == "poise") continue;
    SCOPED_TRACE(std::string(strategy.name));
    try {
      EXPECT_GE(calls_of(std::string(strategy.name), "random", 8), 1);
    } catch (const Error&) {  // the strategy ran, but lacks its library or positions
      EXPECT_EQ(calls[std::string(strategy.name)], 1);
    }
  }
}

TEST(Calls, the_strategy_poise_calls_no_other_strategy) {
  for (const char* recipe : {"stencil3d:skew=lognormal", "rmat:messages=20", "leanmd"})
    for (const char* settings : {"poise", "poise:steps=1000", "poise:steps=1000,passes=2"})
      EXPECT_EQ(calls_of(settings, recipe, 300), 0) << recipe << " " << settings;
}

}  // namespace
}  // namespace poise
