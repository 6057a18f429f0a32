// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

Placement greedy(const Machine& machine, const Workload& workload, const Placement& current) {
  return parse_strategy("greedy").rebalance({machine, workload, current, machine.costs()});
}

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({load_s});
  return workload;
}

Placement at(std::vector<PlaceId> places) { return Placement(std::move(places)); }

TEST(Greedy, puts_the_heaviest_tasks_on_different_places) {
  const Machine machine = flat_machine(2);
  const Workload workload = with_loads({3, 3, 2, 2, 2});
  const Placement current(workload.num_tasks());
  const Placement placed = greedy(machine, workload, current);
  EXPECT_NE(placed.of(0), placed.of(1));
  EXPECT_EQ(evaluate(machine, workload, machine.costs(), current, placed).makespan_s, 7);
}

TEST(Greedy, breaks_ties_by_the_lower_task_id_and_the_lower_place_id) {
  const Placement placed = greedy(flat_machine(3), with_loads({1, 1, 1, 1}), Placement(4));
  EXPECT_EQ(placed, at({0, 1, 2, 0}));
}

TEST(Greedy, accounts_for_background_load_and_pinned_tasks) {
  Workload workload = with_loads({1, 1, 4});
  workload.tasks[2].movable = false;
  workload.background_s = {5, 0, 3};
  EXPECT_EQ(greedy(flat_machine(3), workload, at({0, 0, 1})), at({2, 1, 1}));
}

TEST(Greedy, gives_a_task_to_the_place_that_would_finish_it_first) {
  const Machine machine = machine_from_text("core:2 speeds:1,0.25");
  EXPECT_EQ(greedy(machine, with_loads({2, 1}), Placement(2)), at({0, 0}));
}

/// A reference implementation: list scheduling as described in Graham's paper, without heap or
/// radix sort.
Placement naive_greedy(const Machine& machine, const Workload& workload, const Placement& current) {
  Placement placement = current;
  std::vector<double> busy_s = fixed_work_s(machine, workload, current);
  std::vector<TaskId> order;
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    if (workload.tasks[t].movable) order.push_back(t);
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return workload.tasks[a].load_s > workload.tasks[b].load_s;
  });
  for (const TaskId t : order) {
    const auto least = std::min_element(busy_s.begin(), busy_s.end());
    placement.move(t, static_cast<PlaceId>(least - busy_s.begin()));
    *least += workload.tasks[t].load_s / machine.speed_of(placement.of(t));
  }
  return placement;
}

TEST(Greedy, gives_the_same_placement_as_simple_list_scheduling_if_places_have_equal_speeds) {
  for (std::uint64_t seed = 0; seed < num_seeds(30); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = flat_machine(static_cast<std::uint32_t>(1 + random.below(40)));
    Workload workload;
    for (std::uint64_t t = random.below(400) + 1; t > 0; --t)
      workload.tasks.push_back(
          {.load_s = static_cast<double>(random.below(20)) / 8, .movable = random.below(8) != 0});
    const Placement current = round_robin(workload.num_tasks(), machine.num_places());
    EXPECT_EQ(greedy(machine, workload, current), naive_greedy(machine, workload, current));
  }
}

}  // namespace
}  // namespace poise
