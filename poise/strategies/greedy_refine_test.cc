// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/example_testing.h"

namespace poise {
namespace {

TEST(GreedyRefine,
     moves_a_task_only_if_the_busy_time_of_its_place_would_otherwise_exceed_the_threshold) {
  Workload workload;
  for (const double load_s : {4.0, 3.0, 3.0, 2.0}) workload.tasks.push_back({load_s});
  const Placement current(4, 1);
  // The threshold is 6.3 s. The task of 4 s stays. Both tasks of 3 s move, because 4 s + 3 s exceed
  // the threshold. The task of 2 s stays, because 4 s + 2 s are below the threshold.
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

TEST(GreedyRefine, gives_the_same_placement_as_a_reference_that_tries_all_places) {
  for (const char* text : {"core:5", "core:4 speeds:1,0.5,0.25,1"})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const OwnedProblem owned = random_crowd(machine_from_text(text), random);
      const Machine& machine = owned.machine;
      const Workload& workload = owned.workload;
      const Placement& current = owned.current;
      for (const double tolerance : {1.0, 1.25, 1.5}) {
        const std::vector<double> before_s = work_s(machine, workload, current);
        const double threshold_s = std::max(tolerance * average_s(machine, workload),
                                            makespan_bound_s(machine, workload, current));
        std::vector<double> busy_s(machine.num_places(), 0);
        std::vector<TaskId> heaviest_first;
        const auto time_s = [&](TaskId t, PlaceId p) {
          return workload.tasks[t].load_s / machine.speed_of(p);
        };
        for (TaskId t = 0; t < 20; ++t)
          if (workload.tasks[t].movable)
            heaviest_first.push_back(t);
          else
            busy_s[current.of(t)] += time_s(t, current.of(t));
        std::ranges::stable_sort(heaviest_first, [&](TaskId a, TaskId b) {
          return workload.tasks[a].load_s > workload.tasks[b].load_s;
        });
        Placement expected = current;
        for (const TaskId t : heaviest_first) {
          PlaceId best = current.of(t);
          for (PlaceId p = 0; p < busy_s.size(); ++p)
            if (busy_s[current.of(t)] + time_s(t, current.of(t)) > threshold_s &&
                busy_s[p] + time_s(t, p) < busy_s[best] + time_s(t, best))
              best = p;
          expected.move(t, best);
          busy_s[best] += time_s(t, best);
        }
        const double now_s = *std::ranges::max_element(before_s);
        if (now_s <= threshold_s || *std::ranges::max_element(busy_s) >= now_s) expected = current;
        const std::string strategy = fmt::format("greedy_refine:tolerance={}", tolerance);
        EXPECT_EQ(rebalanced(strategy.c_str(), machine, workload, current), expected) << tolerance;
      }
    }
}

}  // namespace
}  // namespace poise
