// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/traffic_descent.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
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

TEST(TrafficDescent, takes_less_than_quadratic_time_if_all_tasks_communicate_with_one_task) {
  POISE_SKIP_IF_SLOW();
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

/// Tasks with random messages, some of them fixed, on a machine of eight places.
struct Drawn {
  Machine machine = machine_from_text("node:2 numa:2 core:2 factors:10,3,1");
  Workload workload;
  Placement start;
  graphs::Graph graph;
  std::vector<graphs::Part> fixed;
  std::vector<PlaceId> places = std::vector<PlaceId>(8);
  Distances distances;

  Drawn(TaskId num_tasks, std::uint64_t seed)
      : start(num_tasks), distances({machine, workload, start, machine.costs()}) {
    std::iota(places.begin(), places.end(), 0);
    Random random(seed);
    for (TaskId t = 0; t < num_tasks; ++t) {
      workload.tasks.push_back({.load_s = 1.0 + random.below(3)});
      start.move(t, random.below(8));
      for (int m = 0; m < 2; ++m)
        workload.messages.push_back(
            {t, static_cast<TaskId>(random.below(num_tasks)), 1, 1 + random.below(50)});
      if (seed % 2 == 0) fixed.push_back(random.below(6) == 0 ? start.of(t) : graphs::kFree);
    }
    graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
  }
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;

  bool is_free(TaskId t) const { return fixed.empty() || fixed[t] == graphs::kFree; }
  std::vector<double> weights(const Placement& placement) const {
    std::vector<double> weights(8, 0);
    for (TaskId t = 0; t < placement.num_tasks(); ++t)
      weights[placement.of(t)] += workload.tasks[t].load_s;
    return weights;
  }
  /// The sum of affinity times distance over all edges, from the definition.
  double cost(const Placement& placement) const {
    double sum = 0;
    for (TaskId t = 0; t < placement.num_tasks(); ++t)
      for (TaskId u = 0; u < t; ++u)
        sum += graphs::affinity_between(graph, t, u) *
               machine.message_factor(placement.of(t), placement.of(u));
    return sum;
  }
  Placement descended(const std::vector<double>& caps, unsigned climbs,
                      const Tuning& tuning) const {
    Placement placement = start;
    descend_on_traffic({distances, places, graph, caps, fixed, climbs, tuning}, placement);
    return placement;
  }
};

TEST(TrafficDescent, the_traffic_is_the_sum_of_affinity_times_distance_over_all_edges) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Drawn problem(20, seed);
    EXPECT_DOUBLE_EQ(traffic(problem.distances, problem.graph, problem.start),
                     problem.cost(problem.start));
  }
}

TEST(TrafficDescent, ends_where_no_task_lowers_the_traffic_by_moving_to_the_place_of_a_partner) {
  Tuning thorough;
  thorough.refining_passes = 1000;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn problem(24, seed);
    const std::vector<double> caps(8, 1e9);
    Placement placement = problem.descended(caps, 0, thorough);
    const double now = problem.cost(placement);
    EXPECT_LE(now, problem.cost(problem.start));
    for (TaskId t = 0; t < 24; ++t) {
      const PlaceId own = placement.of(t);
      if (!problem.is_free(t)) {
        EXPECT_EQ(own, problem.start.of(t));
      }
      if (!problem.is_free(t)) continue;
      for (TaskId u = 0; u < 24; ++u)
        if (graphs::affinity_between(problem.graph, t, u) > 0) {
          placement.move(t, placement.of(u));
          EXPECT_GE(problem.cost(placement), now * (1 - 1e-12)) << t << " to the place of " << u;
          placement.move(t, own);
        }
    }
  }
}

TEST(TrafficDescent, keeps_to_the_caps_and_more_than_halves_the_traffic_of_random_placements) {
  double sum = 0, start_sum = 0, climbed_sum = 0, cycle_sum = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn problem(40, seed);
    std::vector<double> caps = problem.weights(problem.start);
    for (double& cap : caps) cap += static_cast<double>(seed % 4);
    const Placement quick = problem.descended(caps, 0, kTuning);
    const Placement climbed = problem.descended(caps, 2, kTuning);
    Tuning coarse;
    coarse.descent_coarsest = 1;
    Placement cycled = problem.start;
    cycle_on_traffic(
        {problem.distances, problem.places, problem.graph, caps, problem.fixed, 1, coarse}, cycled);
    for (const Placement& placement : {quick, climbed, cycled}) {
      const std::vector<double> weights = problem.weights(placement);
      for (PlaceId p = 0; p < 8; ++p) EXPECT_LE(weights[p], caps[p]) << p;
      for (TaskId t = 0; t < 40; ++t)
        if (!problem.is_free(t)) {
          EXPECT_EQ(placement.of(t), problem.start.of(t)) << t;
        }
    }
    EXPECT_LE(problem.cost(quick), problem.cost(problem.start));
    EXPECT_LE(problem.cost(climbed), problem.cost(quick));
    EXPECT_LE(problem.cost(cycled), problem.cost(problem.start));
    start_sum += problem.cost(problem.start);
    sum += problem.cost(quick);
    climbed_sum += problem.cost(climbed);
    cycle_sum += problem.cost(cycled);
  }
  EXPECT_LE(sum / start_sum, 0.478);
  EXPECT_LE(climbed_sum / start_sum, 0.445);
  EXPECT_LE(cycle_sum / start_sum, 0.432);
}

TEST(TrafficDescent, exchanges_the_two_tasks_whose_exchange_lowers_the_traffic_most) {
  // Both places are full, so task 0 can join its partners at place 1 only in exchange for another
  // task. Task 3 is the best one: its move to place 0 saves 15 - 5 = 10 messages between places. A
  // move of task 2 would save only 4, and a move of task 4 none. Task 5 would not help, because it
  // is a partner of task 0, and an exchange would leave these two tasks at different places.
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.tasks.assign(8, {.load_s = 1});
  workload.messages = {{.from = 0, .to = 6, .count = 20}, {.from = 0, .to = 5, .count = 30},
                       {.from = 3, .to = 7, .count = 15}, {.from = 3, .to = 6, .count = 5},
                       {.from = 2, .to = 7, .count = 4},  {.from = 5, .to = 6, .count = 40}};
  const Placement current(std::vector<PlaceId>{0, 0, 1, 1, 1, 1, 1, 0});
  std::vector<graphs::Part> fixed(8, graphs::kFree);
  for (const TaskId t : {1u, 6u, 7u}) fixed[t] = current.of(t);
  const std::vector<double> caps = {3, 5};
  const std::vector<PlaceId> places = {0, 1};
  const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::messages);
  const Distances distances({machine, workload, current, machine.costs(), 1});
  Placement placement = current;
  descend_on_traffic({distances, places, graph, caps, fixed, 0}, placement);
  EXPECT_EQ(placement, Placement(std::vector<PlaceId>{1, 0, 1, 0, 1, 1, 1, 0}));
}

}  // namespace
}  // namespace poise
