// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/task_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

TEST(TaskGraph, each_edge_is_in_the_rows_of_both_its_vertices) {
  Workload workload;
  workload.tasks.resize(4);
  workload.messages = {{0, 2, 1, 0}, {2, 0, 2, 0}, {3, 3, 9, 9}, {1, 2, 9, 0}, {3, 2, 1, 0}};
  const Machine machine = machine_from_text("core:2 message:1");
  const Placement current(4);
  const std::vector<TaskId> tasks{0, 2, 3};
  const TaskGraph graph = task_graph({machine, workload, current, machine.costs()}, tasks, 800);
  EXPECT_THAT(graph.first, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(graph.neighbour, ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(graph.edge_weight, ElementsAre(300, 300, 100, 100));
}

TEST(TaskGraph, edge_weights_are_message_counts_plus_bytes_if_messages_cost_nothing) {
  Workload workload;
  workload.tasks.resize(3);
  workload.messages = {{0, 1, 1, 99}, {1, 2, 1, 0}};
  const Machine machine = machine_from_text("core:2 message:0");
  const Placement current(3);
  const std::vector<TaskId> tasks{0, 1, 2};
  const TaskGraph graph = task_graph({machine, workload, current, machine.costs()}, tasks, 202);
  EXPECT_THAT(graph.edge_weight, ElementsAre(100, 100, 1, 1));
}

TEST(WholeWeights, integer_weights_are_proportional_to_the_values_and_have_the_requested_sum) {
  EXPECT_THAT(whole_weights(std::vector<double>{1, 2, 1}, 100), ElementsAre(25, 50, 25));
  EXPECT_THAT(whole_weights(std::vector<double>{0, 0}, 100), ElementsAre(50, 50));
  constexpr double kHuge = std::numeric_limits<double>::max();
  EXPECT_THAT(whole_weights(std::vector<double>{kHuge, kHuge, 1e-300}, 100),
              ElementsAre(50, 50, 0));
}

}  // namespace
}  // namespace poise
