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

}  // namespace
}  // namespace poise
