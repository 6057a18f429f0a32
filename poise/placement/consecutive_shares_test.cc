// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/consecutive_shares.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({.load_s = load_s});
  return workload;
}

Placement placed(const char* machine_text, const Workload& workload, const Placement& current) {
  const Machine machine = machine_from_text(machine_text);
  return consecutive_shares({machine, workload, current, machine.costs()});
}

TEST(ConsecutiveShares, every_place_gets_consecutive_tasks_with_about_the_same_total_load) {
  const Workload workload = with_loads({4, 1, 1, 1, 1, 2, 2});
  EXPECT_EQ(placed("core:3", workload, Placement(7)),
            Placement(std::vector<PlaceId>{0, 1, 1, 1, 1, 2, 2}));
}

TEST(ConsecutiveShares, a_place_with_too_much_background_load_gets_no_task) {
  Workload workload = with_loads({1, 1, 1, 1});
  workload.background_s = {0, 9, 0};
  EXPECT_EQ(placed("core:3", workload, Placement(4)), Placement(std::vector<PlaceId>{0, 0, 2, 2}));
}

TEST(ConsecutiveShares, leaves_pinned_tasks_in_place) {
  Workload workload = with_loads({1, 1, 1, 1});
  workload.tasks[0].movable = false;
  const Placement current(std::vector<PlaceId>{1, 0, 0, 0});
  EXPECT_EQ(placed("core:2", workload, current), Placement(std::vector<PlaceId>{1, 0, 0, 1}));
}

double makespan_s(const Problem& problem, const Placement& placement) {
  const std::vector<double> works_s = work_s(problem.machine, problem.workload, placement);
  return *std::max_element(works_s.begin(), works_s.end());
}

// Returns the shortest makespan of all placements that give each place consecutive tasks, in order.
double shortest_s(const Problem& problem, Placement placement, TaskId first, PlaceId place) {
  const TaskId num_tasks = problem.workload.num_tasks();
  if (place + 1 == problem.machine.num_places()) {
    for (TaskId t = first; t < num_tasks; ++t) placement.move(t, place);
    return makespan_s(problem, placement);
  }
  double least_s = std::numeric_limits<double>::infinity();
  for (TaskId end = first; end <= num_tasks; ++end) {
    least_s = std::min(least_s, shortest_s(problem, placement, end, place + 1));
    if (end < num_tasks) placement.move(end, place);
  }
  return least_s;
}

TEST(ConsecutiveShares, no_other_split_into_consecutive_blocks_has_a_notably_shorter_makespan) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> loads_s(1 + random.below(10)), background_s(4);
    for (double& load_s : loads_s) load_s = random.below(4) ? random.uniform() : 0;
    for (double& seconds : background_s) seconds = random.below(3) ? 0 : random.uniform(0, 2);
    Workload workload = with_loads(loads_s);
    workload.background_s = background_s;
    const Machine machine = machine_from_text(
        fmt::format("core:4 speeds:1,{},{},1", random.uniform(0.5, 2), random.uniform(0.5, 2)));
    const Placement current(workload.num_tasks());
    const Problem problem{machine, workload, current, machine.costs(), 1};
    const Placement blocks = consecutive_shares(problem);
    EXPECT_TRUE(std::ranges::is_sorted(blocks.places()));
    EXPECT_LE(makespan_s(problem, blocks), shortest_s(problem, current, 0, 0) + 2.001e-3)
        << "round " << round;
  }
}

}  // namespace
}  // namespace poise
