// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_descent.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "poise/machine/text.h"

namespace poise {
namespace {

/// Two tasks that must move together: tasks 0 and 1, on one place, exchange 10 messages with each
/// other. Each also exchanges 6 messages with a fixed task at another place.
struct PairDrawnAway {
  PairDrawnAway() {
    workload.tasks.assign(90, {.load_s = 1});
    workload.messages = {{.from = 0, .to = 1, .count = 10},
                         {.from = 0, .to = 30, .count = 6},
                         {.from = 1, .to = 31, .count = 6}};
    graph = graphs::affinity_graph(workload, graphs::Affinity::messages);
    fixed[30] = fixed[31] = 1;
  }

  Machine machine = machine_from_text("core:3");
  Workload workload;
  Placement placement = blocked(90, 3);
  graphs::Graph graph;
  std::vector<graphs::Part> fixed = std::vector<graphs::Part>(90, graphs::kFree);
  std::vector<double> caps = {45, 45, 45};
  const std::vector<PlaceId> places = {0, 1, 2};

  double traffic_after(decltype(descend_on_traffic)& descend) {
    const Placement current = placement;
    const Distances distances({machine, workload, current, machine.costs(), 1});
    descend({distances, places, graph, caps, fixed, 0}, placement);
    return traffic(distances, graph, placement);
  }
};

TEST(TrafficDescent, single_moves_do_not_reduce_traffic_if_two_tasks_must_move_together) {
  EXPECT_EQ(PairDrawnAway().traffic_after(descend_on_traffic), 12);
}

TEST(TrafficDescent, a_v_cycle_reduces_traffic_if_two_tasks_must_move_together) {
  PairDrawnAway pair;
  EXPECT_EQ(pair.traffic_after(cycle_on_traffic), 0);
  EXPECT_EQ(pair.placement.of(0), 1);
  EXPECT_EQ(pair.placement.of(1), 1);
}

TEST(TrafficDescent, a_v_cycle_exchanges_tasks_if_the_load_cap_forbids_single_moves) {
  PairDrawnAway pair;
  pair.caps = {45, 31, 45};
  EXPECT_EQ(pair.traffic_after(cycle_on_traffic), 0);
  EXPECT_LE(std::ranges::count(pair.placement.places(), 1u), 31);
}

TEST(TrafficDescent, takes_less_than_quadratic_time_if_all_tasks_communicate_with_one) {
  // All tasks want to move to the place of task 0, which is full. Task 0 stays because of its many
  // messages with task 1. If each task examined all messages of task 0, this test would run for
  // minutes.
  constexpr TaskId kTasks = 600'000;
  const Machine machine = machine_from_text("core:64");
  Workload workload;
  workload.tasks.assign(kTasks, {.load_s = 1});
  for (TaskId t = 1; t < kTasks; ++t) workload.messages.push_back({.from = 0, .to = t});
  workload.messages[0].count = 100;
  const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::messages);
  const Placement current = blocked(kTasks, 64);
  const Distances distances({machine, workload, current, machine.costs(), 1});
  std::vector<PlaceId> places(64);
  std::iota(places.begin(), places.end(), PlaceId{0});
  const std::vector<double> caps(64, kTasks / 64 + 10.0);
  Placement placement = current;
  descend_on_traffic({distances, places, graph, caps, {}, 1}, placement);
  EXPECT_LT(traffic(distances, graph, placement), traffic(distances, graph, current));
}

}  // namespace
}  // namespace poise
