// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/overlap.h"

#include <gtest/gtest.h>
#include <queue>
#include <tuple>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

Workload random_workload(Random& random, std::uint32_t num_places) {
  Workload workload;
  for (std::uint64_t t = 0; t < 1 + random.below(20); ++t)
    workload.tasks.push_back({static_cast<double>(random.below(8))});
  for (std::uint64_t m = 0; m < random.below(50); ++m)
    workload.messages.push_back({static_cast<TaskId>(random.below(workload.num_tasks())),
                                 static_cast<TaskId>(random.below(workload.num_tasks())),
                                 1 + random.below(3), random.below(100)});
  if (random.below(2) == 0)
    for (PlaceId p = 0; p < num_places; ++p)
      workload.background_s.push_back(static_cast<double>(random.below(3)));
  return workload;
}

Placement random_placement(Random& random, TaskId num_tasks, std::uint32_t num_places) {
  Placement placement(num_tasks);
  for (TaskId t = 0; t < num_tasks; ++t)
    placement.move(t, static_cast<PlaceId>(random.below(num_places)));
  return placement;
}

TEST(Overlap, two_tasks_that_exchange_messages_take_the_time_computed_by_hand) {
  const Machine machine = machine_from_text("core:2 factors:1 message:0.5");
  Workload workload;
  workload.tasks = {{1}, {2}};
  workload.messages = {{0, 1}, {1, 0}};
  const Placement apart(std::vector<PlaceId>{0, 1});
  OverlapClocks clocks(2);
  // Task 0 runs from 0 to 1 s, 2.5 to 3.5 s and 4.5 to 5.5 s; task 1 from 0 to 2 s, 2 to 4 s and 4
  // to 6 s.
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), apart), 2);
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), apart), 4);
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), apart), 6);
  clocks.synchronise(10);
  EXPECT_EQ(clocks.now_s(), 16);
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), apart), 18);
}

TEST(Overlap, message_times_exclude_costs_that_loads_include_and_the_part_hidden_behind_work) {
  // A message takes 1 s at each end and spends 9 s on its way: 8 s on the network cards and 1 s of
  // latency.
  const Machine machine = with_formula(
      machine_from_text(
          "node:2 core:1 factors:1,1 bandwidth:1000 bus:0 gap:0 copy:0 latency:1 overhead:1"),
      CostFormula::physical);
  const Placement apart(std::vector<PlaceId>{0, 1});
  for (const auto& [load_s, loads_include, overlap, second_s] :
       {std::tuple{10.0, LoadsInclude::none, 0.0, 31.0},
        {10.0, LoadsInclude::send, 0.0, 30.0},
        {10.0, LoadsInclude::send_and_receive, 0.0, 29.0},
        {10.0, LoadsInclude::none, 0.5, 26.5},
        {10.0, LoadsInclude::none, 1.0, 22.0},
        {2.0, LoadsInclude::none, 1.0, 12.0},
        {2.0, LoadsInclude::send_and_receive, 1.0, 11.0}}) {
    SCOPED_TRACE(second_s);
    Workload workload;
    workload.tasks = {{load_s}, {load_s}};
    workload.messages = {{0, 1, 1, 8000}, {1, 0, 1, 8000}};
    workload.loads_include = loads_include;
    workload.overlap = overlap;
    OverlapClocks clocks(2);
    EXPECT_DOUBLE_EQ(clocks.run_step(machine, workload, machine.costs(), apart), load_s);
    EXPECT_DOUBLE_EQ(clocks.run_step(machine, workload, machine.costs(), apart), second_s);
  }
}

TEST(Overlap, no_step_ends_later_than_the_formula_predicts_if_all_steps_are_equal) {
  const Machine machine = with_formula(
      machine_from_text("node:2 numa:2 core:2 factors:9,3,1 bandwidth:100 bus:200 latency:0.25 "
                        "gap:0.125 overhead:0.5 copy:0.01"),
      CostFormula::physical);
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Workload workload = random_workload(random, machine.num_places());
    workload.loads_include = static_cast<LoadsInclude>(random.below(3));
    workload.overlap = static_cast<double>(random.below(5)) / 4;
    const Placement placement =
        random_placement(random, workload.num_tasks(), machine.num_places());
    const double iteration_s =
        evaluate(machine, workload, machine.costs(), placement, placement).iteration_s;
    OverlapClocks clocks(machine.num_places());
    for (int step = 1; step <= 10; ++step)
      EXPECT_LE(clocks.run_step(machine, workload, machine.costs(), placement),
                step * iteration_s + 1e-9);
  }
}

TEST(Overlap, the_task_whose_messages_arrive_first_runs_first) {
  const Machine machine = machine_from_text("core:2 factors:1 message:1");
  // Task 0 waits for a late message of task 2; meanwhile its place runs task 1.
  Workload workload;
  workload.tasks = {{1}, {1}, {2}};
  workload.messages = {{2, 0}};
  const Placement placement(std::vector<PlaceId>{0, 0, 1});
  OverlapClocks clocks(2);
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), placement), 2);
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), placement), 4);
  EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), placement), 6);
}

TEST(Overlap,
     overlapping_steps_take_at_least_the_work_of_any_place_and_at_most_the_time_with_barriers) {
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine =
        machine_from_text("numa:2 core:3 speeds:1,1,0.5 message:0.25 byte:0.01");
    const Workload workload = random_workload(random, machine.num_places());
    const TaskId num_tasks = workload.num_tasks();
    OverlapClocks clocks(machine.num_places());
    double formula_s = 0;
    std::vector<double> work_done_s(machine.num_places(), 0);
    Placement placement = random_placement(random, num_tasks, machine.num_places());
    for (int step = 0; step < 10; ++step) {
      if (step % 4 == 3) {
        clocks.synchronise(1);
        formula_s += 1;
        placement = random_placement(random, num_tasks, machine.num_places());
      }
      const double end_s = clocks.run_step(machine, workload, machine.costs(), placement);
      const PlaceTimes times = place_times(machine, workload, machine.costs(), placement);
      double iteration_s = 0;
      for (PlaceId p = 0; p < machine.num_places(); ++p) {
        iteration_s = std::max(iteration_s, times.work_s[p] + times.comm_s[p]);
        work_done_s[p] += times.work_s[p];
        EXPECT_GE(end_s, work_done_s[p] - 1e-9);
      }
      formula_s += iteration_s;
      EXPECT_LE(end_s, formula_s + 1e-9);
    }
  }
}

/// The reference: a discrete-event simulation in which a free place takes the task that became
/// ready first.
double by_events(const Machine& machine, const Workload& workload, const Placement& placement,
                 std::vector<double>& place_s, std::vector<double>& ready_s) {
  // An event has a time, a kind (0: a task is ready, 1: a place is free), and the ID of the task or
  // place.
  using Event = std::tuple<double, int, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  std::vector<std::queue<TaskId>> waiting(machine.num_places());
  std::vector<bool> is_free(machine.num_places(), false);
  std::vector<double> end_s(workload.num_tasks());
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    if (!workload.background_s.empty()) place_s[p] += workload.background_s[p];
    events.push({place_s[p], 1, p});
  }
  for (TaskId t = 0; t < workload.num_tasks(); ++t) events.push({ready_s[t], 0, t});
  while (!events.empty()) {
    const auto [now_s, is_place, id] = events.top();
    events.pop();
    const PlaceId p = is_place ? id : placement.of(id);
    if (is_place)
      is_free[p] = true;
    else
      waiting[p].push(id);
    if (!is_free[p] || waiting[p].empty()) continue;
    const TaskId t = waiting[p].front();
    waiting[p].pop();
    is_free[p] = false;
    end_s[t] = place_s[p] = now_s + workload.tasks[t].load_s / machine.speed_of(p);
    events.push({end_s[t], 1, p});
  }
  std::fill(ready_s.begin(), ready_s.end(), 0);
  for (const Message& m : workload.messages)
    ready_s[m.to] = std::max(
        ready_s[m.to], end_s[m.from] + message_s(machine, machine.costs(), m, placement.of(m.from),
                                                 placement.of(m.to)));
  return *std::max_element(place_s.begin(), place_s.end());
}

TEST(Overlap, gives_the_same_times_as_a_discrete_event_simulation_of_the_step) {
  for (std::uint64_t seed = 0; seed < num_seeds(300); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Machine machine = machine_from_text("numa:2 core:2 speeds:1,0.5 message:0.25 byte:0.01");
    const Workload workload = random_workload(random, machine.num_places());
    const Placement placement = random_placement(random, workload.num_tasks(), 4);
    OverlapClocks clocks(4);
    std::vector<double> place_s(4, 0), ready_s(workload.num_tasks(), 0);
    for (int step = 0; step < 6; ++step)
      EXPECT_EQ(clocks.run_step(machine, workload, machine.costs(), placement),
                by_events(machine, workload, placement, place_s, ready_s));
  }
}

}  // namespace
}  // namespace poise
