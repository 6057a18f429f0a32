// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;

struct Example {
  Machine machine = machine_from_text("core:2 message:2 byte:0.5");
  Workload workload;
  Placement current{4, 1};
  Problem problem{machine, workload, current, machine.costs()};
  Example() {
    for (const double load_s : {0.0, 3.0, 1.5, 0.0}) workload.tasks.push_back({.load_s = load_s});
    // A message takes 2 s, a byte 0.5 s. So the messages between tasks 0 and 1 take 4 s, those
    // between 1 and 2 also 4 s, and those between 2 and 3 take 2 s.
    workload.messages = {{0, 1, 1, 4}, {1, 2, 1, 2}, {2, 1, 0, 2}, {3, 3, 9, 9}, {3, 2, 1, 0}};
  }
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  graphs::Graph graph() const { return traffic_graph(problem, Arcs(workload)); }
};

std::vector<double> affinities(const graphs::Graph& graph) {
  std::vector<double> all;
  for (const double affinity : graph.affinity) all.push_back(affinity);
  return all;
}

TEST(TrafficGraph, edges_are_weighted_by_message_costs_scaled_to_a_sum_of_a_billion) {
  const graphs::Graph graph = Example().graph();
  EXPECT_THAT(std::vector<std::size_t>(graph.first.begin(), graph.first.end()),
              ElementsAre(0, 1, 3, 5, 6));
  EXPECT_THAT(std::vector<graphs::Vertex>(graph.to.begin(), graph.to.end()),
              ElementsAre(1, 0, 2, 1, 3, 2));
  EXPECT_THAT(affinities(graph), ElementsAre(2e8, 2e8, 2e8, 2e8, 1e8, 1e8));
  EXPECT_THAT(graph.weight, ElementsAre(0, 3, 1.5, 0));
}

TEST(TrafficGraph, edges_weigh_at_least_1_and_if_no_task_has_load_all_vertices_weigh_1) {
  Example example;
  example.workload.messages[0].bytes = 1'000'000'000'000'000;
  for (Task& task : example.workload.tasks) task.load_s = 0;
  const graphs::Graph graph = example.graph();
  EXPECT_THAT(affinities(graph), ElementsAre(5e8, 5e8, 1, 1, 1, 1));
  EXPECT_THAT(graph.weight, ElementsAre(1, 1, 1, 1));
}

TEST(FixedParts, are_the_places_of_pinned_tasks) {
  Example example;
  EXPECT_TRUE(fixed_parts(example.problem).empty());
  example.workload.tasks[2].movable = false;
  example.current.move(2, 0);
  EXPECT_THAT(fixed_parts(example.problem),
              ElementsAre(graphs::kFree, graphs::kFree, 0, graphs::kFree));
  example.workload.tasks[0].movable = false;
  EXPECT_THAT(fixed_parts(example.problem), ElementsAre(1, graphs::kFree, 0, graphs::kFree));
}

}  // namespace
}  // namespace poise
