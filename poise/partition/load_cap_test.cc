// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/load_cap.h"

#include <gtest/gtest.h>

#include "tests/support/brute_force.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

Placement held(const Machine& machine, const Workload& workload, Placement placement,
               double cap_s) {
  const Placement current = placement;
  const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
  graphs::hold_load_cap({machine, workload, current, machine.costs()}, graph, cap_s, placement);
  return placement;
}

double makespan_s(const Machine& machine, const Workload& workload, const Placement& placement) {
  return evaluate(machine, workload, machine.costs(), placement, placement).makespan_s;
}

TEST(LoadCap, if_no_task_fits_elsewhere_the_best_of_all_exchanges_is_made) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Machine machine = machine_from_text(seed % 2 == 0 ? "core:2" : "core:2 speeds:1,0.5");
    Workload workload;
    for (TaskId t = 0; t < 12; ++t)
      workload.tasks.push_back({.load_s = static_cast<double>(1 + random.below(9))});
    const Placement before = blocked(12, 2);
    const double before_s = makespan_s(machine, workload, before);
    double least_s = before_s;  // shortest makespan after any single move or exchange
    for (TaskId t = 0; t < 12; ++t)
      for (TaskId u = t; u < 12; ++u) {
        Placement after = before;
        after.move(t, t == u ? 1 - before.of(t) : before.of(u));
        if (t != u) after.move(u, before.of(t));
        least_s = std::min(least_s, makespan_s(machine, workload, after));
      }
    const Placement after = held(machine, workload, before, 0.999 * least_s);
    EXPECT_LE(makespan_s(machine, workload, after), least_s) << "seed " << seed;
  }
}

TEST(LoadCap, the_least_attached_of_the_tasks_that_fit_elsewhere_leaves_an_overloaded_place) {
  // Task 0 has the least affinity to the other tasks of its place, but is too large for the slower
  // place. Of the others, task 2 has the least.
  const Machine machine = machine_from_text("core:2 speeds:1.9,1");
  Workload workload;
  for (const double load_s : {3.0, 0.6, 0.5, 0.5}) workload.tasks.push_back({.load_s = load_s});
  workload.messages = {{0, 2, 1, 1}, {1, 2, 1, 100}, {1, 3, 1, 200}};
  const Placement after = held(machine, workload, Placement(4, 0), 2.2);
  EXPECT_EQ(after, Placement(std::vector<PlaceId>{0, 0, 1, 0}));
}

TEST(LoadCap, takes_less_than_quadratic_time_if_most_tasks_have_no_load) {
  // The loads of the two places are 7 and 5. An exchange of 3 for 2 meets the cap; no single move
  // does. If each pair of tasks were tried, this test would run for minutes.
  constexpr TaskId kTasks = 800'000;
  Workload workload;
  workload.tasks.resize(kTasks);
  Placement placement = blocked(kTasks, 2);
  for (const auto& [t, load_s] : {std::pair<TaskId, double>{kTasks / 2 - 3, 3},
                                  {kTasks / 2 - 2, 2},
                                  {kTasks / 2 - 1, 2},
                                  {kTasks - 2, 3},
                                  {kTasks - 1, 2}})
    workload.tasks[t].load_s = load_s;
  const Machine machine = machine_from_text("core:2");
  placement = held(machine, workload, placement, 6.1);
  EXPECT_EQ(makespan_s(machine, workload, placement), 6);
}

}  // namespace
}  // namespace poise
