// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/list_schedule.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/seeds.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

/// Number of queries for the least busy place that list_schedule() makes per task. The workload is
/// a stencil with 10 tasks per place and 6 neighbours per task. `start` is the initial placement.
double queries_per_task(const char* machine_text, const char* start, MessageWeights weights) {
  const Machine machine = machine_from_text(machine_text);
  const Workload workload =
      std::move(generate(parse_recipe("stencil3d:skew=lognormal,spread=0.5,hot=3,hot_extent=0.5"),
                         10 * machine.num_places(), 1)
                    .front());
  const Placement current = initial_placement(start, workload.num_tasks(), machine.num_places(), 1);
  const Problem problem{machine, workload, current, machine.costs()};
  const Schedule schedule = list_schedule(problem, counts_received(workload), 1e-5, weights);
  return static_cast<double>(schedule.num_queries) / workload.num_tasks();
}

TEST(ListSchedule, the_number_of_queries_per_task_does_not_grow_with_the_number_of_nodes) {
  POISE_SKIP_IF_SLOW();
  // With tasks placed at random on many nodes, nearly every neighbour is on a different node. On
  // few nodes, some neighbours share a node, which saves a few queries.
  for (const MessageWeights weights : {MessageWeights{-1, -1}, MessageWeights{-1, 1}}) {
    const double small =
        queries_per_task("node:128 numa:4 core:2 factors:10,1.5,1", "random", weights);
    const double large =
        queries_per_task("node:1024 numa:4 core:2 factors:10,1.5,1", "random", weights);
    EXPECT_LE(large, 1.1 * small) << "for 8 times as many domains";
    // At most two queries for each of the task's six partners on each of the four levels: one for
    // the places before the partner in its group, and one for the places after it.
    EXPECT_LE(large, 6 * 4 * 2);
    EXPECT_LE(queries_per_task("node:1024 numa:4 core:2 factors:10,1.5,1", "blocked", weights),
              large);
  }
}

TEST(ListSchedule, on_a_torus_at_most_a_tenth_of_the_nodes_are_examined_per_task) {
  POISE_SKIP_IF_SLOW();
  const char* machine = "torus:8x8x16 core:2 factors:10,1";
  EXPECT_LE(queries_per_task(machine, "blocked", {-1, -1}), 0.03 * 1024);
  EXPECT_LE(queries_per_task(machine, "random", {-1, -1}), 0.1 * 1024);
}

TEST(ListSchedule, takes_little_time_even_if_a_task_has_partners_on_thousands_of_unequal_nodes) {
  constexpr std::uint32_t kNodes = kSanitized ? 1000 : 3000;
  Random random(1);
  MachineParts parts = machine_from_text(fmt::format("node:{} core:1", kNodes)).parts();
  parts.network.shape = Network::Shape::matrix;
  parts.network.matrix_nodes = kNodes;
  for (std::size_t i = 0; i < std::size_t{kNodes} * kNodes; ++i)
    parts.network.matrix.push_back(random.uniform(1, 2));
  const Machine machine(std::move(parts));
  Workload workload;
  Placement current(kNodes);
  for (TaskId t = 0; t < kNodes; ++t) {
    workload.tasks.push_back({.load_s = t == 0 ? 1.0 : 0.0});
    if (t > 0) workload.messages.push_back({t, 0, 1, 0});
    current.move(t, t);
  }
  const Problem problem{machine, workload, current, machine.costs()};
  const double start_s = thread_cpu_now_s();
  list_schedule(problem, counts_received(workload), 1e-5, {-1, -1});
  EXPECT_LT(thread_cpu_now_s() - start_s, 2);
}

TEST(ListSchedule,
     for_a_task_without_messages_only_the_least_busy_place_of_each_speed_is_examined) {
  const Machine machine = machine_from_text("node:4 numa:2 core:2 speeds:1,0.5");
  Workload workload;
  for (TaskId t = 0; t < 10; ++t) workload.tasks.push_back({.load_s = 1});
  const Placement current(10);
  const Problem problem{machine, workload, current, machine.costs()};
  const Schedule schedule = list_schedule(problem, counts_received(workload), 1e-5, {-1, -1});
  EXPECT_EQ(schedule.num_queries, 2u * 10u) << "one for each speed";
}

}  // namespace
}  // namespace poise
