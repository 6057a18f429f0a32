// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/bounds.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

TEST(Bounds, no_placement_of_a_small_problem_beats_the_lower_bounds) {
  Random random(3);
  int tighter = 0;
  for (const char* text : {"numa:2 core:2 factors:2,1 message:0.2", "node:2 core:2 message:0.1",
                           "torus:4 core:1 message:0.3", "core:4 speeds:1,0.5 message:0.2"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    for (int problem = 0; problem < 6; ++problem) {
      Workload workload;
      Placement current(6);
      for (TaskId t = 0; t < 6; ++t) {
        workload.tasks.push_back({.load_s = 0.2 + random.uniform(), .bytes = random.below(100)});
        current.move(t, static_cast<PlaceId>(random.below(4)));
      }
      for (int m = 0; m < 12; ++m)
        workload.messages.push_back({static_cast<TaskId>(random.below(6)),
                                     static_cast<TaskId>(random.below(2)), 1 + random.below(3)});
      const double bound_s = iteration_bound_s(machine, workload, machine.costs(), current);
      tighter += bound_s > makespan_bound_s(machine, workload, current) * (1 + 1e-9);
      for (std::uint32_t code = 0; code < 1u << 12; ++code) {
        Placement placement(6);
        for (TaskId t = 0; t < 6; ++t) placement.move(t, code >> (2 * t) & 3);
        const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placement);
        ASSERT_GE(metrics.iteration_s, bound_s * (1 - 1e-12));
        const LeastMigrations least =
            least_migrations(machine, workload, current, metrics.makespan_s);
        ASSERT_LE(least.tasks, metrics.migrations);
        ASSERT_LE(least.bytes, metrics.migrated_bytes);
      }
    }
  }
  EXPECT_GE(tighter, 6);
}

TEST(Bounds, no_placement_beats_the_lower_bounds_if_work_of_several_kinds_overlaps) {
  const Machine machine = machine_from_text("core:2 message:0.2");
  for (const bool has_speeds : {false, true})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      Random random(seed);
      Workload workload;
      workload.subphase_rule = SubphaseRule::overlap;
      if (has_speeds)
        workload.subphase_speed = {1, 4, 2, 1};  // index: place * subphases + subphase
      Placement current(5);
      for (TaskId t = 0; t < 5; ++t) {
        const double cpu_s = random.uniform(), gpu_s = random.uniform();
        workload.tasks.push_back({.load_s = cpu_s + gpu_s, .bytes = 100});
        workload.subphase_load_s.push_back({cpu_s, gpu_s});
        workload.messages.push_back({t, static_cast<TaskId>(random.below(5))});
        current.move(t, static_cast<PlaceId>(random.below(2)));
      }
      const double bound_s = iteration_bound_s(machine, workload, machine.costs(), current);
      for (std::uint32_t code = 0; code < 1u << 5; ++code) {
        Placement placement(5);
        for (TaskId t = 0; t < 5; ++t) placement.move(t, code >> t & 1);
        const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placement);
        ASSERT_GE(metrics.iteration_s, bound_s * (1 - 1e-12)) << "seed " << seed;
        const LeastMigrations least =
            least_migrations(machine, workload, current, metrics.makespan_s);
        ASSERT_LE(least.tasks, metrics.migrations) << "seed " << seed;
        ASSERT_LE(least.bytes, metrics.migrated_bytes) << "seed " << seed;
      }
    }
}

TEST(Bounds, lower_bounds_are_valid_and_often_tight_if_some_work_is_fixed_to_places) {
  Random random(5);
  int tight = 0;
  for (int problem = 0; problem < 50; ++problem) {
    SCOPED_TRACE(problem);
    const Machine machine = machine_from_text(problem % 2 == 0 ? "core:3" : "core:3 speeds:1,2,1");
    Workload workload;
    Placement current(7);
    for (TaskId t = 0; t < 7; ++t) {
      const bool is_heavy = t < 3;
      workload.tasks.push_back(
          {.load_s = (is_heavy ? 2 : 0.3) * (0.5 + random.uniform()), .movable = t < 5});
      current.move(t, static_cast<PlaceId>(random.below(3)));
    }
    workload.background_s = {random.uniform(), 0, random.uniform()};
    const double bound_s = makespan_bound_s(machine, workload, current);
    double least_s = std::numeric_limits<double>::infinity();
    for (std::uint32_t code = 0; code < 243; ++code) {
      Placement placement = current;
      for (std::uint32_t t = 0, rest = code; t < 5; ++t, rest /= 3) placement.move(t, rest % 3);
      const std::vector<double> works_s = work_s(machine, workload, placement);
      least_s = std::min(least_s, *std::max_element(works_s.begin(), works_s.end()));
    }
    ASSERT_GE(least_s, bound_s * (1 - 1e-12));
    tight += least_s <= bound_s * 1.1;
  }
  EXPECT_GE(tight, 20);
}

TEST(Bounds, each_sender_adds_the_smaller_of_its_load_and_message_time_to_the_iteration_bound) {
  const Machine machine = machine_from_text("core:4 message:0.5");
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 2}, {.load_s = 0.25}};
  workload.messages = {{1, 0, 1, 0}, {2, 0, 1, 0}};
  EXPECT_DOUBLE_EQ(iteration_bound_s(machine, workload, machine.costs(), Placement(3, 0)), 2);
  workload.messages = {{1, 0, 1, 0}, {1, 0, 2, 0}, {2, 0, 1, 0}};
  EXPECT_DOUBLE_EQ(iteration_bound_s(machine, workload, machine.costs(), Placement(3, 0)), 2.75);
}

TEST(Bounds,
     bounds_on_migrated_tasks_and_bytes_are_exact_if_two_of_three_equally_long_tasks_must_move) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  workload.tasks = {
      {.load_s = 3, .bytes = 30}, {.load_s = 3, .bytes = 10}, {.load_s = 3, .bytes = 20}};
  const LeastMigrations least = least_migrations(machine, workload, Placement(3, 0), 3);
  EXPECT_EQ(least.tasks, 2u);
  EXPECT_EQ(least.bytes, 29u);  // the bound is 30 bytes minus a margin for rounding
}

TEST(Bounds,
     only_one_task_must_move_if_its_load_equals_the_excess_of_its_place_over_the_given_makespan) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.tasks = {{.load_s = 1, .bytes = 10}, {.load_s = 2, .bytes = 100}};
  const double makespan_s = 1 / (1 + 1e-9);  // times the margin for rounding, this is 1 s
  const LeastMigrations least = least_migrations(machine, workload, Placement(2, 0), makespan_s);
  EXPECT_EQ(least.tasks, 1u);
  EXPECT_EQ(least.bytes, 60u);  // the task of 10 bytes, and half of the task of 100 bytes
}

TEST(Bounds, tasks_that_are_pinned_or_without_load_or_not_on_an_overloaded_place_need_not_move) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  workload.tasks = {{.load_s = 9, .bytes = 1, .movable = false},
                    {.load_s = 0, .bytes = 2},
                    {.load_s = 1, .bytes = 30},
                    {.load_s = 5, .bytes = 400}};
  const Placement current(std::vector<PlaceId>{0, 0, 0, 1});
  const LeastMigrations least = least_migrations(machine, workload, current, 5);
  EXPECT_EQ(least.tasks, 1u);
  EXPECT_EQ(least.bytes, 30u);
  EXPECT_EQ(least_migrations(machine, workload, current, 10).tasks, 0u);
}

/// The bound by the formula in bounds.h, with the smallest factors of all pairs of places.
double naive_iteration_bound_s(const Machine& machine, const Workload& workload,
                               const Placement& current) {
  const CostModel& costs = machine.costs();
  double message = std::numeric_limits<double>::infinity(), byte = message, fastest = 0;
  for (PlaceId p = 0; p < machine.num_places(); ++p) {
    fastest = std::max(fastest, machine.speed_of(p));
    for (PlaceId q = 0; q < machine.num_places(); ++q)
      if (p != q) {
        message = std::min(message, machine.message_factor(p, q));
        byte = std::min(byte, machine.byte_factor(p, q));
      }
  }
  double bound_s = makespan_bound_s(machine, workload, current);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    double busy_s = workload.tasks[t].load_s / fastest;
    for (TaskId from = 0; from < workload.num_tasks(); ++from) {
      double messages_s = 0;
      for (const Message& m : workload.messages)
        if (m.from == from && m.to == t && from != t)
          messages_s += static_cast<double>(m.count) * costs.seconds_per_message * message +
                        static_cast<double>(m.bytes) * costs.seconds_per_byte * byte;
      busy_s += std::min(messages_s, workload.tasks[from].load_s / fastest);
    }
    bound_s = std::max(bound_s, busy_s);
  }
  return bound_s;
}

TEST(Bounds, the_iteration_bound_uses_the_smallest_factors_of_all_pairs_of_places) {
  Random random(4);
  int num_above_makespan = 0;
  for (const char* text :
       {"core:4", "l3:2 core:2 factors:3,2", "l3:2 core:2 factors:2,3", "numa:3 core:1 factors:2,1",
        "numa:2 core:2 factors:2,4", "node:2 core:2 factors:2,5", "node:3 core:1 factors:7,1",
        "rack:2 node:2 core:1 factors:9,2,1", "rack:2 node:2 core:2 factors:2,9,4",
        "torus:4 node:2 core:1 factors:7,3,1", "torus:4 node:2 core:1 factors:2,3,1",
        "torus:4 node:2 core:2 factors:5,3,1.5", "node:2 numa:2 core:2 factors:8,3,5",
        "core:4 speeds:1,2"}) {
    SCOPED_TRACE(text);
    for (int problem = 0; problem < 60; ++problem) {
      MachineParts parts = machine_from_text(text).parts();
      parts.costs.seconds_per_message = 0.03;
      parts.costs.seconds_per_byte = problem % 2 == 0 ? 0 : 0.02;
      parts.network.bandwidth_factor = random.uniform(0.5, 2);
      parts.root_bandwidth_factor = random.uniform(0.5, 2);
      for (Level& level : parts.levels) level.bandwidth_factor = random.uniform(0.5, 2);
      const std::size_t domains = parts.node_kinds[0].num_domains;
      for (std::size_t i = 0; i < domains * domains; ++i) {
        if (i % (domains + 1) == 0) continue;
        parts.node_kinds[0].bandwidth_factor[i] = random.uniform(0.5, 2);
        if (problem % 3 == 0) parts.node_kinds[0].latency_factor[i] = random.uniform(2, 9);
      }
      if (problem % 4 == 3 && parts.kind_of_node.size() > 1 && parts.network.tiers.empty()) {
        const auto nodes = static_cast<std::uint32_t>(parts.kind_of_node.size());
        parts.network.shape = Network::Shape::matrix;
        parts.network.matrix_nodes = nodes;
        parts.network.matrix.assign(std::size_t{nodes} * nodes, 0);
        for (double& factor : parts.network.matrix) factor = random.uniform(1, 9);
      }
      const Machine machine(parts);
      Workload workload;
      Placement current(7);
      for (TaskId t = 0; t < 7; ++t) {
        workload.tasks.push_back({.load_s = random.uniform(0, t == 0 ? 3 : 1)});
        current.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
      }
      for (int m = 0; m < 12; ++m)
        workload.messages.push_back({static_cast<TaskId>(random.below(7)),
                                     static_cast<TaskId>(random.below(3)), random.below(4),
                                     random.below(6)});
      const double expected = naive_iteration_bound_s(machine, workload, current);
      EXPECT_NEAR(iteration_bound_s(machine, workload, machine.costs(), current), expected, 1e-12);
      const double makespan_s = makespan_bound_s(machine, workload, current);
      num_above_makespan += expected > makespan_s;
      CostModel costs = machine.costs();
      costs.formula = CostFormula::physical;
      EXPECT_EQ(iteration_bound_s(machine, workload, costs, current), makespan_s);
    }
  }
  EXPECT_GT(num_above_makespan, 50);
}

TEST(Bounds, the_iteration_bound_on_one_place_is_the_makespan) {
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 2}};
  workload.messages = {{0, 1, 100, 0}};
  const Machine machine = machine_from_text("core:1 message:9");
  EXPECT_DOUBLE_EQ(iteration_bound_s(machine, workload, machine.costs(), Placement(2)), 3);
}

TEST(Bounds,
     the_function_least_migrations_gives_the_fewest_tasks_and_bytes_that_remove_the_excess_load) {
  Random random(12);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const Machine machine = machine_from_text("core:3 speeds:1,0.5,2");
    Workload workload;
    Placement current(12);
    for (TaskId t = 0; t < 12; ++t) {
      workload.tasks.push_back({.load_s = random.below(6) == 0 ? 0 : random.uniform(),
                                .bytes = random.below(1000),
                                .movable = random.below(5) != 0});
      current.move(t, static_cast<PlaceId>(random.below(3)));
    }
    if (round % 2 == 0)
      for (int p = 0; p < 3; ++p) workload.background_s.push_back(random.uniform());
    const double makespan_s = random.uniform(0, 5);
    const std::vector<double> works_s = work_s(machine, workload, current);
    std::uint64_t expected_tasks = 0, expected_bytes = 0;
    for (PlaceId p = 0; p < 3; ++p) {
      const double excess_s = (works_s[p] - makespan_s * (1 + 1e-9)) * machine.speed_of(p);
      std::vector<Task> tasks;
      for (TaskId t = 0; t < 12; ++t)
        if (current.of(t) == p && workload.tasks[t].movable && workload.tasks[t].load_s > 0)
          tasks.push_back(workload.tasks[t]);
      std::sort(tasks.begin(), tasks.end(),
                [](const Task& a, const Task& b) { return a.load_s > b.load_s; });
      double moved_s = 0;
      for (const Task& task : tasks) {
        if (moved_s >= excess_s) break;
        moved_s += task.load_s;
        ++expected_tasks;
      }
      const auto price = [](const Task& task) {
        return static_cast<double>(task.bytes) / task.load_s;
      };
      std::sort(tasks.begin(), tasks.end(),
                [&](const Task& a, const Task& b) { return price(a) < price(b); });
      double rest_s = std::max(excess_s, 0.0), bytes = 0;
      for (const Task& task : tasks) {
        const double part_s = std::min(rest_s, task.load_s);
        bytes += part_s * price(task);
        rest_s -= part_s;
      }
      expected_bytes += static_cast<std::uint64_t>(bytes);
    }
    const LeastMigrations least = least_migrations(machine, workload, current, makespan_s);
    EXPECT_EQ(least.tasks, expected_tasks);
    EXPECT_NEAR(static_cast<double>(least.bytes), static_cast<double>(expected_bytes), 1);
  }
}

TEST(Bounds, only_the_makespan_is_bounded_if_subphases_overlap_or_have_speeds_of_their_own) {
  const Machine machine = machine_from_text("core:2 message:0.5");
  Workload workload;
  workload.tasks = {{.load_s = 4}, {.load_s = 4}};
  workload.subphase_load_s = {{1, 3}, {3, 1}};
  workload.messages = {{0, 1, 4, 0}};
  const Placement current(2);
  workload.subphase_rule = SubphaseRule::wait;
  EXPECT_EQ(iteration_bound_s(machine, workload, machine.costs(), current), 6);
  EXPECT_EQ(least_migrations(machine, workload, current, 5).tasks, 1u);
  Workload with_speeds = workload, overlapping = workload;
  with_speeds.subphase_speed = {1, 1, 1, 1};
  overlapping.subphase_rule = SubphaseRule::overlap;
  for (const Workload& other : {with_speeds, overlapping}) {
    EXPECT_EQ(iteration_bound_s(machine, other, machine.costs(), current),
              makespan_bound_s(machine, other, current));
    EXPECT_EQ(least_migrations(machine, other, current, 0).tasks, 0u);
    EXPECT_EQ(least_migrations(machine, other, current, 0).bytes, 0u);
  }
  overlapping.subphase_load_s.clear();
  EXPECT_EQ(iteration_bound_s(machine, overlapping, machine.costs(), current), 6);
}

}  // namespace
}  // namespace poise
