// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <gtest/gtest.h>
#include <tuple>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/example_testing.h"

namespace poise {
namespace {

TEST(GreedyComm, keeps_tasks_together_if_their_messages_would_cost_more_than_their_load) {
  Workload workload;
  for (const double load_s : {4.0, 3.0, 2.0, 1.0}) workload.tasks.push_back({load_s});
  workload.messages = {{3, 0, 10, 0}, {2, 1, 1, 0}};
  // A message between places costs 1 s. Task 2 goes to the place of task 1: its message is free
  // there, and the task finishes at 5 s. Task 3 goes to the place of task 0, because that makes ten
  // messages free.
  const Machine machine = machine_from_text("core:2 message:1");
  EXPECT_EQ(rebalanced("greedy_comm", machine, workload, Placement(4)),
            Placement(std::vector<PlaceId>{0, 1, 1, 0}));
  workload.messages = {{3, 1, 10, 0}};
  EXPECT_EQ(rebalanced("greedy_comm", machine, workload, Placement(4)),
            Placement(std::vector<PlaceId>{0, 1, 1, 1}));
}

TEST(GreedyComm, gives_the_same_placement_as_greedy_if_messages_cost_nothing) {
  Random random(3);
  Workload workload;
  for (TaskId t = 0; t < 300; ++t) {
    workload.tasks.push_back({.load_s = random.uniform(), .movable = random.below(9) != 0});
    workload.messages.push_back({t, static_cast<TaskId>(random.below(t + 1)), 3, 1000});
  }
  const Machine machine = flat_machine(17);
  const Placement current = round_robin(300, 17);
  EXPECT_EQ(rebalanced("greedy_comm:comm=0", machine, workload, current),
            rebalanced("greedy", machine, workload, current));
}

/// A simple reference implementation, which tries every place for every task and computes all costs
/// from scratch each time.
Placement naive_greedy_comm(const Machine& machine, const Workload& workload,
                            const Placement& current) {
  Placement placement = current;
  std::vector<bool> is_placed;
  std::vector<TaskId> order;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    is_placed.push_back(!workload.tasks[t].movable);
    if (workload.tasks[t].movable) order.push_back(t);
  }
  std::stable_sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    return workload.tasks[a].load_s > workload.tasks[b].load_s;
  });
  const auto seconds = [&](const Message& message) {
    return static_cast<double>(message.count) * machine.costs().seconds_per_message +
           static_cast<double>(message.bytes) * machine.costs().seconds_per_byte;
  };
  const auto busy_s = [&](PlaceId p) {
    double busy = workload.background_s[p];
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      if (is_placed[t] && placement.of(t) == p)
        busy += workload.tasks[t].load_s / machine.speed_of(p);
    for (const Message& message : workload.messages)
      if (is_placed[message.from] && is_placed[message.to] && placement.of(message.to) == p &&
          placement.of(message.from) != p)
        busy += seconds(message);
    return busy;
  };
  for (const TaskId t : order) {
    std::tuple<double, PlaceId> best{1e300, 0};
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      double cost = busy_s(p) + workload.tasks[t].load_s / machine.speed_of(p);
      for (const Message& message : workload.messages) {
        if (message.from == message.to || (message.from != t && message.to != t)) continue;
        const TaskId other = message.from == t ? message.to : message.from;
        if (is_placed[other] && placement.of(other) != p) cost += seconds(message);
      }
      best = std::min(best, {cost, p});
    }
    placement.move(t, std::get<PlaceId>(best));
    is_placed[t] = true;
  }
  return placement;
}

TEST(GreedyComm, gives_the_same_placement_as_a_reference_that_tries_all_places) {
  for (std::uint64_t seed = 0; seed < num_seeds(20); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    // All costs are integers, so that sums are exact in any order.
    const Machine machine = machine_from_text(seed % 2 == 0 ? "core:5 message:2 byte:1"
                                                            : "core:6 message:1 speeds:1,0.5");
    Workload workload;
    for (TaskId t = 0; t < 40; ++t)
      workload.tasks.push_back(
          {.load_s = static_cast<double>(random.below(40)), .movable = random.below(9) != 0});
    for (int m = 0; m < 90; ++m)
      workload.messages.push_back({static_cast<TaskId>(random.below(40)),
                                   static_cast<TaskId>(random.below(40)), random.below(4),
                                   random.below(3)});
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      workload.background_s.push_back(static_cast<double>(random.below(20)));
    const Placement current = round_robin(40, machine.num_places());
    const Placement placed = rebalanced("greedy_comm", machine, workload, current);
    const Placement naive = naive_greedy_comm(machine, workload, current);
    EXPECT_EQ(placed, naive);
  }
}

TEST(GreedyComm, balances_a_workload_in_which_one_task_exchanges_messages_with_all_others) {
  Workload workload;
  workload.tasks.assign(20000, {1});
  for (TaskId t = 1; t < 20000; ++t) workload.messages.push_back({t, 0, 1, 0});
  const Machine machine = machine_from_text("core:100 message:0.001");
  const Placement current(20000);
  const Placement placed = rebalanced("greedy_comm", machine, workload, current);
  EXPECT_LT(evaluate(machine, workload, machine.costs(), current, placed).imbalance, 1.2);
}

}  // namespace
}  // namespace poise
