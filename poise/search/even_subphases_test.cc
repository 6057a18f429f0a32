// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/even_subphases.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "tests/support/brute_force.h"
#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

constexpr std::uint32_t kSubphases = 3;

/// A workload in which each task has a random load in about half of the subphases.
Workload drawn(TaskId num_tasks, Random& random, SubphaseRule rule = SubphaseRule::wait) {
  Workload workload;
  workload.subphase_rule = rule;
  for (TaskId t = 0; t < num_tasks; ++t) {
    std::vector<double> row(kSubphases, 0);
    for (double& load_s : row)
      if (random.below(2) == 0) load_s = 0.1 + random.uniform();
    double sum_s = 0;
    for (const double load_s : row) sum_s += load_s;
    workload.tasks.push_back({.load_s = sum_s, .bytes = 100});
    workload.subphase_load_s.push_back(row);
  }
  return workload;
}

TEST(EvenSubphases, puts_tasks_that_work_in_the_same_subphase_on_different_places) {
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  workload.subphase_rule = SubphaseRule::wait;
  const Machine machine = flat_machine(2);
  const Placement even_in_sum(std::vector<PlaceId>{0, 0, 1, 1});
  const Problem problem{machine, workload, even_in_sum, machine.costs()};
  EXPECT_EQ(iteration_s(problem, even_in_sum), 4);
  EXPECT_EQ(iteration_s(problem, even_in_subphases(even_in_sum, problem)), 2);
  EXPECT_EQ(iteration_s(problem, parse_strategy("poise").rebalance(problem)), 2);
  EXPECT_EQ(parse_strategy("keep").rebalance(problem), even_in_sum);
}

/// Compares greedy's placement with the optimum, before and after even_in_subphases(), on random
/// problems of 8 tasks. The two results are the iteration times before and after, each divided by
/// the optimum and averaged over the problems.
std::pair<double, double> against_optimum(const Machine& machine, SubphaseRule rule,
                                          const std::vector<double>& speed) {
  double sum_before = 0, sum_after = 0;
  constexpr std::uint64_t draws = kSanitized ? 10 : 40;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    SCOPED_TRACE(fmt::format("draw {}", draw));
    Random random(draw);
    Workload workload = drawn(8, random, rule);
    workload.subphase_speed = speed;
    const Placement current = round_robin(8, machine.num_places());
    const Problem problem{machine, workload, current, machine.costs()};
    Placement scratch = current;
    const double least_s = least_iteration_s(problem, 0, scratch);
    const Placement greedy = parse_strategy("greedy").rebalance(problem);
    const double after_s = iteration_s(problem, even_in_subphases(greedy, problem));
    EXPECT_GE(after_s, least_s * (1 - 1e-12));
    EXPECT_GE(least_s, makespan_bound_s(machine, workload, current) * (1 - 1e-12));
    sum_before += iteration_s(problem, greedy) / least_s;
    sum_after += after_s / least_s;
  }
  return {sum_before / draws, sum_after / draws};
}

TEST(EvenSubphases, on_average_iterations_are_at_most_6_percent_longer_than_the_optimum) {
  // The speeds of two places in three subphases; index: place * subphases + subphase.
  const std::vector<double> of_two = {1, 2, 0.5, 1, 0.5, 2};
  for (const SubphaseRule rule : {SubphaseRule::wait, SubphaseRule::overlap})
    for (const auto& [text, speed] : {std::pair<const char*, std::vector<double>>{"core:2", {}},
                                      {"core:2", of_two},
                                      {"core:3", {}},
                                      {"core:3 speeds:1,0.5,0.25", {}}}) {
      SCOPED_TRACE(
          fmt::format("{}, rule {}, {} speeds", text, static_cast<int>(rule), speed.size()));
      const auto [before, after] = against_optimum(machine_from_text(text), rule, speed);
      EXPECT_LT(after, rule == SubphaseRule::wait ? 1.04 : 1.06);
      EXPECT_GT(before, 1.1);  // otherwise there would be little to improve
    }
}

TEST(EvenSubphases, balances_cpu_and_gpu_work_separately_if_both_run_at_the_same_time) {
  Workload workload;  // two tasks for the cores, two for the GPU
  workload.tasks.resize(4, {.load_s = 1});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  workload.subphase_rule = SubphaseRule::overlap;
  const Machine machine = flat_machine(2);
  const Placement even_in_sum(std::vector<PlaceId>{0, 0, 1, 1});
  const Problem problem{machine, workload, even_in_sum, machine.costs()};
  EXPECT_EQ(iteration_s(problem, even_in_sum), 2);
  EXPECT_EQ(makespan_bound_s(machine, workload, even_in_sum), 1);
  EXPECT_EQ(iteration_s(problem, parse_strategy("poise").rebalance(problem)), 1);
}

TEST(EvenSubphases, never_lengthens_the_iteration_and_leaves_pinned_tasks_in_place) {
  for (const char* text : {"core:1", "core:5", "node:3 core:2 factors:10,1 message:1e-3 byte:1e-4",
                           "core:4 speeds:1,0.5,1,0.25 message:0.02"})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Machine machine = machine_from_text(text);
      Random random(seed);
      Workload workload = drawn(30, random);
      Placement current(30);
      for (TaskId t = 0; t < 30; ++t) {
        current.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
        workload.tasks[t].movable = random.below(4) != 0;
        workload.messages.push_back({t, static_cast<TaskId>(random.below(30)), 3, 50});
      }
      for (PlaceId p = 0; p < machine.num_places(); ++p)
        workload.background_s.push_back(random.uniform());
      const Problem problem{machine, workload, current, machine.costs(), seed};
      for (const Strategy& row : strategies()) {
        if (row.is_oracle || row.name == "metis" || row.name == "scotch") continue;
        SCOPED_TRACE(fmt::format("{}, seed {}: {}", text, seed, row.name));
        if (row.name == "orb") continue;  // needs positions
        const Placement before = parse_strategy(row.name).rebalance(problem);
        const Placement after = even_in_subphases(before, problem);
        EXPECT_LE(iteration_s(problem, after), iteration_s(problem, before));
        EXPECT_EQ(after, even_in_subphases(before, problem));
        for (const Migration& moved : migrations(before, after))
          EXPECT_TRUE(workload.tasks[moved.task].movable) << moved.task;
      }
    }
}

TEST(EvenSubphases, separates_tasks_only_if_that_saves_more_time_than_their_messages_cost) {
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  workload.subphase_rule = SubphaseRule::wait;
  workload.messages = {{0, 1, 1, 0}, {2, 3, 1, 0}};
  const Placement apart(std::vector<PlaceId>{0, 0, 1, 1});
  for (const auto& [text, is_cheap] :
       {std::pair{"core:2 message:0.1", true}, {"core:2 message:2", false}}) {
    const Machine machine = machine_from_text(text);
    const Problem problem{machine, workload, apart, machine.costs()};
    EXPECT_EQ(even_in_subphases(apart, problem) != apart, is_cheap) << text;
  }
}

TEST(EvenSubphases, keeps_the_placement_if_loads_per_subphase_are_unknown) {
  Random random(1);
  const Machine machine = flat_machine(2);
  const Placement uneven = blocked(20, 2);
  Workload workload = drawn(20, random);
  const auto evened = [&] {
    return even_in_subphases(uneven, {machine, workload, uneven, machine.costs()});
  };
  EXPECT_NE(evened(), uneven);
  workload.memory.resize(20);
  EXPECT_EQ(evened(), uneven);
  workload.memory.clear();
  workload.subphase_load_s.clear();
  EXPECT_EQ(evened(), uneven);
}

}  // namespace
}  // namespace poise
