// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/local_search.h"

#include <gtest/gtest.h>

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

TEST(LocalSearch, tried_exchanges_of_tasks_count_towards_the_limit_of_scans_even_without_messages) {
  // All places are full, so tasks can only be exchanged. At the end of the search, each task of the
  // busiest place has been tried with tasks of all other places, without success.
  const Machine machine = machine_from_text("core:16");
  Random random(1);
  Workload workload;
  for (TaskId t = 0; t < 320; ++t) workload.tasks.push_back({.load_s = random.uniform()});
  workload.capacity.per_place = 20;
  const Placement current = blocked(320, 16);
  const Problem problem{machine, workload, current, machine.costs()};
  const auto shared = std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
  LocalSearch search(problem, current, shared, 0);
  EXPECT_GT(search.run({.exponent = 48, .swaps = true}, 1e9), 20 * 15 * kTuning.candidates);
  LocalSearch short_search(problem, current, shared, 0);
  EXPECT_LT(short_search.run({.exponent = 48, .swaps = true}, 1000), 100'000);
}

TEST(LocalSearch, rounding_errors_do_not_count_as_gains_of_perturbations) {
  // Busy times of 100 s change by nanoseconds, so that after many moves their last digits differ.
  const Machine machine = with_formula(machine_from_text("core:2"), CostFormula::physical);
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  Workload workload;
  workload.tasks = {{0, 0}, {1e-9, 5}, {1, 0}, {0, 5}, {1, 0}};
  workload.messages = {{4, 3, 1, kMany}, {3, 4, 1, 1'000'000}, {3, 0, 1, 1'000'000},
                       {2, 0, 1, kMany}, {4, 0, 5, 1'000'000}, {1, 0, 1, kMany},
                       {0, 4, 1, kMany}, {0, 2, 5, kMany},     {1, 4, 1, kMany}};
  workload.capacity.per_place = 3;
  const Placement current({1, 0, 1, 0, 0});
  const Problem problem{machine, workload, current, machine.costs()};
  const auto shared = std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
  LocalSearch search(problem, current, shared, 0);
  search.limit_migration(1e9);
  search.start_trials(10);
  Random random(1);
  std::size_t gains = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const double before_s = search.shortest_s();
    search.try_perturbation(random, {.exponent = 48, .swaps = true}, 1e9);
    if (search.shortest_s() < before_s) ++gains;
  }
  EXPECT_LT(gains, 10u);  // there are only ten placements
}

}  // namespace
}  // namespace poise
