// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/total_time.h"

#include <gmock/gmock.h>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/distributed/split_testing.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

/// The times that each simulated rank predicts for the placement `after`.
std::vector<PlannedTimes> times_on_ranks(const Problem& problem, const Placement& after) {
  const std::vector<OwnArrays> own = split(problem);
  std::vector<std::vector<std::uint32_t>> targets(own.size());
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
    targets[problem.current.of(t)].push_back(after.of(t));
  std::vector<PlannedTimes> times(own.size());
  SimulatedRanks simulated(static_cast<std::uint32_t>(own.size()));
  simulated.run([&](const poise_communication& table) {
    Communicator ranks(table);
    OwnTasks tasks = own[table.rank].view(true);
    tasks.loads_include = problem.workload.loads_include;
    const OwnGraph graph(ranks, tasks);
    times[table.rank] = planned_times(ranks, problem.machine, tasks, graph, targets[table.rank]);
  });
  return times;
}

TEST(PlannedTimes,
     each_rank_gets_the_times_that_the_function_evaluate_computes_from_the_whole_problem) {
  for (std::uint64_t seed = 0; seed < fewer_if_sanitized(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    OwnedProblem owned = random_problem(random);
    owned.machine =
        with_formula(owned.machine, seed % 3 == 0 ? CostFormula::nuco : CostFormula::physical);
    owned.workload.loads_include = seed % 2 == 0 ? LoadsInclude::none : LoadsInclude::send;
    const Problem problem = owned.view();
    Placement after = problem.current;
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
      if (random.below(2) == 0) after.move(t, random.below(problem.machine.num_places()));
    for (const Placement& placement : {after, problem.current}) {
      const Metrics expected = evaluate(problem.machine, problem.workload, problem.machine.costs(),
                                        problem.current, placement);
      for (const PlannedTimes& times : times_on_ranks(problem, placement)) {
        EXPECT_NEAR(times.iteration_s, expected.iteration_s, 1e-9 * expected.iteration_s);
        EXPECT_NEAR(times.migration_s, expected.migration_s, 1e-9 * expected.migration_s);
      }
    }
  }
}

}  // namespace
}  // namespace poise
