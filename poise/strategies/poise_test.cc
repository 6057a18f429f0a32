// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/memory_room.h"
#include "poise/placement/metrics.h"
#include "poise/placement/migration_times.h"
#include "poise/search/local_search.h"
#include "poise/search/returns.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

Metrics rebalanced(const char* strategy, const Machine& machine, const Workload& workload,
                   const Placement& current) {
  const Placement placed =
      parse_strategy(strategy).rebalance({machine, workload, current, machine.costs()});
  return evaluate(machine, workload, machine.costs(), current, placed);
}

/// The time of the strategy's migrations and of `steps` iterations after them.
double total_s(const char* strategy, const Machine& machine, const Workload& workload,
               const Placement& current, double steps) {
  const Problem problem{machine, workload, current, machine.costs()};
  return outcome_of(problem, parse_strategy(strategy).rebalance(problem)).total_s(steps);
}

TEST(Poise, never_lengthens_the_predicted_iteration) {
  POISE_SKIP_IF_SLOW();
  const Machine machine = machine_from_text("node:2 numa:2 core:3 factors:10,1.5,1");
  for (const char* recipe : {"stencil3d:skew=lognormal", "rmat:messages=20", "leanmd", "random"})
    for (const char* start : {"blocked", "round_robin", "random", "uneven"}) {
      SCOPED_TRACE(std::string(recipe) + " " + start);
      const Workload workload = generate(parse_recipe(recipe), 405, 5).front();
      const Placement current =
          initial_placement(start, workload.num_tasks(), machine.num_places(), 5);
      EXPECT_LE(rebalanced("poise", machine, workload, current).iteration_s,
                rebalanced("keep", machine, workload, current).iteration_s);
    }
}

TEST(Poise, balances_subphases_only_if_that_saves_more_time_than_the_migrations_take) {
  // Two tasks must change places, which takes 2 s and saves 2 s per step.
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1, .bytes = 2'000'000'000});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  const Machine machine = flat_machine(2);
  const Placement current(std::vector<PlaceId>{0, 0, 1, 1});
  for (const SubphaseRule rule : {SubphaseRule::wait, SubphaseRule::overlap}) {
    workload.subphase_rule = rule;
    const double now_s = total_s("keep", machine, workload, current, 1);
    EXPECT_EQ(total_s("poise:steps=1", machine, workload, current, 1), now_s);
    EXPECT_LT(total_s("poise:steps=100", machine, workload, current, 100), 60 * now_s);
  }
}

TEST(Poise, on_small_problems_iterations_are_at_most_5_percent_longer_than_the_optimum_on_average) {
  const Machine machine = machine_from_text("numa:2 core:2 factors:2,1 message:0.01");
  Random random(7);
  double worst = 1, sum = 0;
  constexpr std::uint64_t problems = fewer_if_sanitized(40);
  for (std::uint64_t problem = 0; problem < problems; ++problem) {
    Workload workload;
    for (int t = 0; t < 7; ++t) workload.tasks.push_back({.load_s = 1.0 + random.uniform()});
    for (int m = 0; m < 10; ++m)
      workload.messages.push_back({static_cast<TaskId>(random.below(7)),
                                   static_cast<TaskId>(random.below(7)), 1 + random.below(20)});
    const Placement current = round_robin(7, 4);
    double best_s = 1e9;
    for (std::uint32_t code = 0; code < 1u << 14; ++code) {
      Placement placement(7);
      for (TaskId t = 0; t < 7; ++t) placement.move(t, code >> (2 * t) & 3);
      best_s = std::min(
          best_s, evaluate(machine, workload, machine.costs(), current, placement).iteration_s);
    }
    const double ratio = rebalanced("poise", machine, workload, current).iteration_s / best_s;
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  EXPECT_LE(worst, 1.25);
  EXPECT_LE(sum / problems, 1.05);
}

TEST(Poise, gives_shorter_iterations_than_greedy_with_far_fewer_migrations_after_loads_drift) {
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  const auto phases = generate(parse_recipe("stencil3d:skew=lognormal,drift=0.2"), 1000, 3, 2);
  const Placement first = parse_strategy("poise").rebalance(
      {machine, phases[0], blocked(1000, machine.num_places()), machine.costs()});
  const Metrics ours = rebalanced("poise", machine, phases[1], first);
  const Metrics greedy = rebalanced("greedy", machine, phases[1], first);
  EXPECT_LT(ours.iteration_s, greedy.iteration_s);
  EXPECT_LT(ours.migrations, 150u);
  EXPECT_GT(greedy.migrations, 900u);
}

TEST(Poise, iterations_are_at_most_2_percent_longer_than_with_nuco_if_places_have_many_tasks) {
  for (const char* text : {"node:16 core:4", "dragonfly:4x2 node:2 core:4"})
    for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical}) {
      const Machine machine = with_formula(machine_from_text(text), formula);
      const auto phases = generate(parse_recipe("stencil3d"), 4096, 0, 1);
      const Placement start = blocked(4096, machine.num_places());
      const double nuco_s = rebalanced("nuco", machine, phases[0], start).iteration_s;
      EXPECT_LE(rebalanced("poise", machine, phases[0], start).iteration_s, 1.02 * nuco_s) << text;
    }
}

TEST(Poise, moves_nothing_if_migrations_cost_more_than_they_save) {
  const Machine machine = machine_from_text("core:2 migrated_byte:1");
  Workload workload;
  workload.tasks.assign(4, {.load_s = 1, .bytes = 15});
  const Placement current(4, 0);
  EXPECT_EQ(rebalanced("poise:steps=10", machine, workload, current).migrations, 0u);
  EXPECT_EQ(rebalanced("poise:steps=100", machine, workload, current).migrations, 2u);
}

TEST(Poise, moves_load_from_an_overloaded_region_to_distant_idle_places) {
  // The tasks are so short that searches from other placements do not pay. So only local search
  // from the current placement is tested here.
  const Machine machine = machine_from_text("node:16 numa:2 core:4 factors:10,1.5,1");
  const char* recipe = "stencil3d:skew=lognormal,hot=3,hot_extent=0.5,load_s=1e-4,messages=0";
  const Workload workload = generate(parse_recipe(recipe), 4096, 1).front();
  const Metrics ours = rebalanced("poise:steps=1", machine, workload, blocked(4096, 128));
  EXPECT_LE(ours.makespan_s, 1.3 * ours.makespan_bound_s);
  EXPECT_LE(ours.migrations, 4096u / 2);
}

TEST(Poise, moves_only_the_tasks_whose_migration_saves_more_than_it_costs) {
  // After Table V of Pilla et al., ICPP 2012: with 256 tasks of 21 MB each, moving a few tasks is
  // better than moving none or many.
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  for (const CostFormula formula : {CostFormula::physical, CostFormula::nuco}) {
    const Machine priced = with_formula(machine, formula);
    const Workload workload = generate(parse_recipe("stencil4d:load_s=0.02"), 256, 1).front();
    const Placement current = initial_placement("uneven", 256, 32, 1);
    const auto time_s = [&](const char* strategy) {
      return total_s(strategy, priced, workload, current, 10);
    };
    const double ours_s = time_s("poise:steps=10");
    for (const char* other : {"keep", "refine", "refine_comm", "greedy_refine", "numa", "greedy"})
      EXPECT_LE(ours_s, 1.005 * time_s(other)) << other << " " << name_of(formula);
  }
}

TEST(Poise, migrates_only_a_few_tasks_if_many_migrations_would_cost_more_than_they_save) {
  // Here a decision has a budget of 2.8 ms (2 ms plus 3 us per task), enough for only one search
  // from the current placement.
  const Machine machine =
      with_formula(machine_from_text("numa:8 core:6 factors:2,1"), CostFormula::nuco);
  int num_moved = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    SCOPED_TRACE(seed);
    Workload workload = generate(parse_recipe("commbench"), 256, seed).front();
    for (Task& task : workload.tasks) task.bytes *= 100;
    const Placement current = initial_placement("round_robin", 256, 48, seed);
    const auto time_s = [&](const char* strategy) {
      return total_s(strategy, machine, workload, current, 10);
    };
    num_moved += time_s("poise:steps=10") < 0.99 * time_s("keep");
  }
  EXPECT_GE(num_moved, 6);
}

TEST(Poise, moves_few_tasks_if_migrations_are_expensive_and_computing_time_is_limited) {
  // Here a decision has a budget of 20 ms (2 ms plus 3 us per task). For comparison, the strategy
  // `refine` moves 2 to 4 % of the tasks.
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  for (const CostFormula formula : {CostFormula::physical, CostFormula::nuco})
    for (const std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(seed);
      const Machine priced = with_formula(machine, formula);
      Workload workload = generate(parse_recipe("stencil3d"), 6000, seed).front();
      for (Task& task : workload.tasks) task.bytes *= 100;
      const Placement current = blocked(workload.num_tasks(), 32);
      const auto time_s = [&](const char* strategy) {
        return total_s(strategy, priced, workload, current, 1);
      };
      EXPECT_LE(time_s("poise:steps=1"), 1.001 * time_s("refine")) << name_of(formula);
    }
}

TEST(Poise, keeps_consecutive_tasks_together_if_there_is_no_time_to_partition_the_tasks) {
  // Here a decision has a budget of 3.4 ms (2 ms plus 3 us per task). A partition of this graph
  // would take longer.
  const Machine machine =
      with_formula(machine_from_text("node:20 numa:2 core:2 factors:10,1.53,1"), CostFormula::nuco);
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("kneighbor"), 480, seed).front();
    const Placement current = initial_placement("round_robin", 480, 80, seed);
    const Problem problem{machine, workload, current, machine.costs()};
    const double blocks_s = outcome_of(problem, blocked(480, 80)).total_s(10);
    EXPECT_LE(rebalanced("poise:steps=10", machine, workload, current).iteration_s * 10, blocks_s);
  }
}

/// A machine of 20 nodes with 4 places each, whose cost model is NucoLB's formula.
Machine twenty_nodes() {
  return with_formula(machine_from_text("node:20 numa:2 core:2 factors:10,1.53,1"),
                      CostFormula::nuco);
}

TEST(Poise, partitions_tasks_without_refinement_if_there_is_no_time_to_refine_the_partition) {
  // Here a decision has a budget of 20 ms (2 ms plus 3 us per task), enough for a partition, but
  // not for its refinement.
  const Machine machine = twenty_nodes();
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("random"), 6000, seed).front();
    const Placement current = initial_placement("blocked", 6000, 80, seed);
    EXPECT_LE(rebalanced("poise:steps=1", machine, workload, current).iteration_s,
              rebalanced("treematch", machine, workload, current).iteration_s);
  }
}

TEST(Poise,
     partitions_tasks_of_a_grid_even_if_each_place_starts_with_a_block_of_consecutive_tasks) {
  // Here a decision has a budget of 20 ms (2 ms plus 3 us per task), too little for both a search
  // from the current placement and a partition.
  const Machine machine = twenty_nodes();
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("stencil2d"), 6000, seed).front();
    EXPECT_LE(rebalanced("poise:steps=1", machine, workload, blocked(6000, 80)).iteration_s,
              rebalanced("treematch", machine, workload, blocked(6000, 80)).iteration_s);
  }
}

TEST(Poise,
     still_partitions_tasks_after_local_search_has_almost_reached_the_bound_if_time_is_left) {
  // After local search from the current placement, iterations are at most 3 % longer than the lower
  // bound, so the strategy does not try other starting placements right away. A partition, tried
  // later, makes the iterations 3 % shorter.
  const Machine machine =
      with_formula(machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1"), CostFormula::nuco);
  double ours_s = 0, treematch_s = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Workload workload = generate(parse_recipe("geometric"), 1500, seed).front();
    for (Task& task : workload.tasks) task.bytes = 0;
    const Placement current = blocked(1500, 32);
    ours_s += rebalanced("poise:steps=100,max_passes_without_gain=1", machine, workload, current)
                  .iteration_s;
    treematch_s += rebalanced("treematch", machine, workload, current).iteration_s;
  }
  EXPECT_LE(ours_s, 0.97 * treematch_s);
}

TEST(Poise,
     reserves_time_for_local_search_in_case_a_partition_is_worse_than_the_current_placement) {
  // Here a decision has a budget of 6.5 ms (2 ms plus 3 us per task). A few tasks have very many
  // messages, so an iteration takes a long time under any partition.
  const Machine machine = twenty_nodes();
  for (const std::uint64_t seed : {4, 5, 10, 11}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("rmat"), 1500, seed).front();
    const Placement current = initial_placement("round_robin", 1500, 80, seed);
    EXPECT_LE(rebalanced("poise:steps=1", machine, workload, current).iteration_s,
              rebalanced("refine_comm", machine, workload, current).iteration_s);
  }
}

TEST(Poise, spends_little_time_on_starting_placements_that_cause_too_much_traffic) {
  // The list schedule causes heavy traffic here, so only one stage of local search from it pays
  // off.
  const Machine machine = twenty_nodes();
  double ours_s = 0, refine_comm_s = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Workload workload = generate(parse_recipe("commbench"), 480, seed).front();
    const Placement current = blocked(480, 80);
    ours_s += total_s("poise:steps=100", machine, workload, current, 100);
    refine_comm_s += total_s("refine_comm", machine, workload, current, 100);
  }
  EXPECT_LE(ours_s, 0.797 * refine_comm_s);
}

TEST(Poise,
     does_not_partition_tasks_if_migrations_would_take_longer_than_the_partition_would_save) {
  // Here a decision has a budget of 3.4 ms (2 ms plus 3 us per task). Migrations to a partition
  // would take about as long as an iteration.
  const Machine machine = twenty_nodes();
  for (const std::uint64_t seed : {3, 4}) {
    SCOPED_TRACE(seed);
    Workload workload = generate(parse_recipe("clusters"), 480, seed).front();
    for (Task& task : workload.tasks) task.bytes *= 100;
    const Placement current = initial_placement("random", 480, 80, seed);
    EXPECT_LE(total_s("poise:steps=1", machine, workload, current, 1),
              total_s("refine_comm", machine, workload, current, 1));
  }
}

/// Sums over four workloads, generated from one recipe with four seeds: `total_s` is the time of
/// the migration and of 1,000 iterations after it, `bytes` is the number of migrated bytes.
struct Sums {
  double total_s = 0, bytes = 0;
};

Sums sums(const char* recipe, const std::string& setting) {
  const Machine machine = with_formula(machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1"),
                                       CostFormula::physical);
  Sums sums;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Workload workload = generate(parse_recipe(recipe), 600, seed).front();
    const Metrics metrics = rebalanced(("poise:steps=1000" + setting).c_str(), machine, workload,
                                       initial_placement("blocked", 600, 32, 1));
    sums.total_s += 1000 * metrics.iteration_s + metrics.migration_s;
    sums.bytes += static_cast<double>(metrics.migrated_bytes);
  }
  return sums;
}

/// Makes the search end at the first perturbation that does not shorten the total time.
/// So perturbations do not hide the effects of the earlier parts of the search.
const std::string kFewTrials = ",max_passes_without_gain=1";

TEST(Poise, the_last_stage_of_local_search_shortens_the_total_time_of_a_stencil) {
  EXPECT_LT(sums("stencil3d", kFewTrials).total_s,
            sums("stencil3d", kFewTrials + ",fine_exponent=49").total_s);
}

TEST(Poise, perturbations_shorten_the_total_time_of_an_rmat_graph) {
  POISE_SKIP_IF_SLOW();
  const double few_s = sums("rmat", kFewTrials).total_s;
  EXPECT_LT(sums("rmat", "").total_s, 0.999 * few_s);
}

TEST(Poise, is_no_worse_than_blocks_of_consecutive_tasks_if_there_is_time_for_only_one_search) {
  // A ring of tasks, in which pairs of neighbouring tasks are assigned to the places in turn. Half
  // of the messages stay within a place, so the placement is not scattered, and the first search
  // starts from it.
  const Machine machine = machine_from_text("node:8 core:4 factors:10,1 message:0.01");
  constexpr TaskId kTasks = 640;
  Workload workload;
  Placement current(kTasks);
  for (TaskId t = 0; t < kTasks; ++t) {
    workload.tasks.push_back({.load_s = 0.01});
    workload.messages.push_back({t, (t + 1) % kTasks, 1});
    current.move(t, t / 2 % machine.num_places());
  }
  const Placement blocks = blocked(kTasks, machine.num_places());
  const double blocks_s = evaluate(machine, workload, machine.costs(), current, blocks).iteration_s;
  const char* hurried = "poise:steps=1000,effort=0,effort_s=3e-4,effort_per_task_s=0";
  EXPECT_LE(rebalanced(hurried, machine, workload, current).iteration_s, blocks_s);
}

TEST(Poise, keeps_square_blocks_of_a_grid_if_there_is_no_time_for_a_second_search) {
  // Each place has a square of 8 x 8 tasks, so most messages stay within a place, and the first
  // search starts from this placement. The tasks of one place are twice as heavy as all others.
  // Therefore, as long as no task moves, an iteration takes longer in this placement than with
  // blocks of consecutive tasks (two rows of the grid), although such blocks exchange twice as many
  // messages.
  const Machine machine = machine_from_text("core:16 message:0.4");
  Workload workload;
  Placement squares(32 * 32);
  for (TaskId t = 0; t < 32 * 32; ++t) {
    const TaskId x = t % 32, y = t / 32;
    squares.move(t, 4 * (y / 8) + x / 8);
    workload.tasks.push_back({.load_s = squares.of(t) == 5 ? 2.0 : 1.0});
    for (const TaskId before : {x > 0 ? t - 1 : t, y > 0 ? t - 32 : t}) {
      if (before == t) continue;
      workload.messages.push_back({t, before, 1});
      workload.messages.push_back({before, t, 1});
    }
  }
  const char* hurried = "poise:steps=1000,effort=0,effort_s=1.5e-3,effort_per_task_s=0";
  const Metrics ours = rebalanced(hurried, machine, workload, squares);
  EXPECT_LE(ours.iteration_s, 1.05 * (ours.makespan_bound_s + 4 * 8 * 0.4));
  EXPECT_LT(ours.migrations, 100u);
  EXPECT_LT(rebalanced("keep", machine, workload, blocked(32 * 32, 16)).iteration_s,
            rebalanced("keep", machine, workload, squares).iteration_s);
}

TEST(Poise, is_hardly_worse_than_greedy_comm_if_partitioning_takes_most_of_the_computing_time) {
  // Here a decision has a budget of 20 ms (2 ms plus 3 us per task). Some tasks (hubs) exchange
  // messages with tasks everywhere, so a partition gains less than a list schedule.
  const Machine machine =
      with_formula(machine_from_text("torus:4x4x4 core:4"), CostFormula::physical);
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("rmat"), 6000, seed).front();
    const Placement current = blocked(6000, machine.num_places());
    EXPECT_LE(total_s("poise:steps=1", machine, workload, current, 1),
              1.002 * total_s("greedy_comm", machine, workload, current, 1));
  }
}

TEST(Poise, relieves_many_places_in_little_time_although_their_tasks_have_partners_on_most_nodes) {
  // A decision has a budget of 3.4 ms. Each place has about two tasks.
  const Machine machine = with_formula(machine_from_text("torus:4x4x4 core:4"), CostFormula::nuco);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(seed);
    const auto phases = generate(parse_recipe("commbench:drift=0.2"), 480, seed, 2);
    const Placement start = blocked(480, machine.num_places());
    const Placement current =
        parse_strategy("nuco").rebalance({machine, phases[0], start, machine.costs()});
    EXPECT_LE(total_s("poise:steps=100", machine, phases[1], current, 100),
              total_s("refine_comm", machine, phases[1], current, 100));
  }
}

TEST(Poise,
     the_option_effort_is_multiplied_by_the_fraction_of_computing_time_that_the_problem_allows) {
  const Machine machine = with_formula(machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1"),
                                       CostFormula::physical);
  const Workload workload = generate(parse_recipe("rmat"), 600, 1).front();
  const Placement current = initial_placement("blocked", 600, 32, 1);
  Problem problem{machine, workload, current, machine.costs()};
  const auto planned = [&](const std::string& effort) {
    return parse_strategy("poise:steps=1000,effort_s=0,effort_per_task_s=0,effort=" + effort)
        .rebalance(problem);
  };
  const Placement with_all = planned("0.01"), with_less = planned("0.00001");
  problem.share_of_effort = 0.001;
  EXPECT_EQ(planned("0.01"), with_less);
  EXPECT_NE(with_less, with_all) << "the effort has no effect here";
}

TEST(Poise, accepts_a_slightly_longer_total_time_to_migrate_fewer_bytes) {
  const Sums usual = sums("geometric", kFewTrials),
             shortest = sums("geometric", kFewTrials + ",same_total=0");
  EXPECT_LT(usual.bytes, 0.95 * shortest.bytes);
  EXPECT_LT(usual.total_s, 1.002 * shortest.total_s);
}

TEST(Poise, more_passes_never_give_a_worse_result) {
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  double sum = 0, sum_with_passes = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("random:messages=5"), 300, seed).front();
    const Placement current = blocked(300, 32);
    // With a budget of 0 s for computing, there are no perturbations outside of the passes, so only
    // the passes can make a difference.
    const std::string hurried = "poise:effort=0,effort_s=0,effort_per_task_s=0";
    const double without = rebalanced(hurried.c_str(), machine, workload, current).iteration_s;
    const double with =
        rebalanced((hurried + ",passes=10").c_str(), machine, workload, current).iteration_s;
    EXPECT_LE(with, without);
    sum += without;
    sum_with_passes += with;
  }
  EXPECT_LT(sum_with_passes, 0.9 * sum);
}

TEST(Poise, the_placement_is_the_same_for_any_number_of_threads) {
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  const Workload workload = generate(parse_recipe("rmat:messages=5"), 300, 2).front();
  const Placement current = blocked(300, 32);
  const Problem problem{machine, workload, current, machine.costs(), 1};
  const Placement one = parse_strategy("poise:passes=3").rebalance(problem);
  EXPECT_EQ(parse_strategy("poise:passes=3,threads=3").rebalance(problem), one);
  EXPECT_EQ(parse_strategy("poise:passes=3,threads=16").rebalance(problem), one);
}

TEST(Poise, iterations_with_the_option_budget_s_are_at_most_as_long_as_without_it) {
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  const Workload workload = generate(parse_recipe("rmat:messages=5"), 300, 2).front();
  const Placement current = blocked(300, 32);
  EXPECT_LE(rebalanced("poise:budget_s=0.02", machine, workload, current).iteration_s,
            rebalanced("poise", machine, workload, current).iteration_s);
}

TEST(Poise, refuses_the_options_passes_and_budget_s_if_it_starts_from_scratch) {
  const Machine machine = machine_from_text("core:4");
  const Workload workload = generate(parse_recipe("ring"), 12, 1).front();
  const Placement current = blocked(12, 4);
  const Problem problem{machine, workload, current, machine.costs(), 1};
  EXPECT_THROW(parse_strategy("poise:from_scratch=1,passes=2").rebalance(problem), Error);
  EXPECT_THROW(parse_strategy("poise:from_scratch=1,budget_s=1").rebalance(problem), Error);
}

TEST(Poise, undoing_any_single_migration_would_not_shorten_the_total_time) {
  for (std::uint64_t i = 0; i <= num_seeds(60); ++i) {
    // With seed 4129, the migration is shorter if a task of 0 bytes does not move, because its new
    // place then waits for no data from a busy network card.
    const std::uint64_t seed = i == 0 ? 4129 : i - 1;
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    OwnedProblem owned = random_problem(random);
    if (seed % 2) owned.machine = with_formula(owned.machine, CostFormula::physical);
    if (owned.workload.num_tasks() > 120) continue;
    for (Task& task : owned.workload.tasks) task.bytes = random.below(3) * 30'000'000;
    const Problem problem = owned.view();
    const double steps = 1 + static_cast<double>(random.below(20));
    const Placement placed =
        parse_strategy(fmt::format("poise:steps={}", steps)).rebalance(problem);
    const double total_s = outcome_of(problem, placed).total_s(steps);
    EXPECT_LE(total_s, outcome_of(problem, problem.current).total_s(steps) * (1 + 1e-12));
    for (const Migration& migration : migrations(problem.current, placed)) {
      Placement without = placed;
      without.move(migration.task, migration.from);
      EXPECT_GE(outcome_of(problem, without).total_s(steps), total_s) << migration.task;
    }
  }
}

TEST(Poise, puts_no_more_tasks_on_a_place_than_fit_in_its_memory) {
  // Most of the load is in four large tasks, so large that no two of them fit on one place.
  const Machine machine = machine_from_text("core:4");
  Workload workload;
  for (int t = 0; t < 12; ++t) {
    workload.tasks.push_back({.load_s = t < 4 ? 1.0 : 0.1});
    workload.memory.push_back({.footprint_bytes = t < 4 ? 60u : 10u, .working_bytes = 20});
  }
  const Placement current = blocked(12, 4);  // place 0 uses 3 * 60 bytes, plus 20 of working memory
  const Problem problem{machine, workload, current, machine.costs(), 1};
  for (const char* strategy : {"poise:memory_bytes=110", "poise:memory_bytes=110,passes=2",
                               "poise:memory_bytes=110,from_scratch=1"}) {
    SCOPED_TRACE(strategy);
    const Placement placed = parse_strategy(strategy).rebalance(problem);
    const MemoryRoom room(machine, workload, placed, 110);
    for (PlaceId p = 0; p < 4; ++p) EXPECT_FALSE(room.is_over(p)) << p;
  }
}

TEST(Poise, moves_a_task_to_the_node_of_its_partner_if_bandwidth_between_nodes_is_low) {
  MachineParts parts = machine_from_text("node:2 core:2 factors:1,1 message:0 byte:1e-3").parts();
  parts.network.bandwidth_factor = 10;
  const Machine machine{parts};
  // Task 2 shares its place with a pinned task, so it must move. It exchanges messages with task 1,
  // which is on the other node.
  Workload workload;
  workload.tasks = {
      {.load_s = 1, .movable = false}, {.load_s = 1, .movable = false}, {.load_s = 1}};
  workload.messages = {{1, 2, 1, 100}, {2, 1, 1, 100}};
  const Placement current(std::vector<PlaceId>{0, 2, 0});
  const Placement placed =
      parse_strategy("poise").rebalance({machine, workload, current, machine.costs(), 1});
  EXPECT_EQ(placed.of(2), 3u);
}

TEST(Poise, iterations_are_at_most_as_long_as_with_nuco_and_refine_comm_if_messages_are_costly) {
  const Machine machine = machine_from_text("torus:4x4x4 numa:2 core:16");
  Workload workload = generate(parse_recipe("leanmd"), 400, 3).front();
  for (Task& task : workload.tasks) task.load_s *= 1e-3;
  const Problem problem{machine, workload, blocked(workload.num_tasks(), machine.num_places()),
                        machine.costs(), 1};
  const auto iteration_s = [&](const char* strategy) {
    return evaluate(machine, workload, machine.costs(), problem.current,
                    parse_strategy(strategy).rebalance(problem))
        .iteration_s;
  };
  const double ours_s = iteration_s("poise");
  EXPECT_LE(ours_s, iteration_s("nuco"));
  EXPECT_LE(ours_s, iteration_s("refine_comm"));
  EXPECT_LT(ours_s, 0.9 * iteration_s("keep"));
}

TEST(Poise, terminates_even_if_equally_good_placements_differ_in_the_last_digits_of_their_times) {
  // An iteration takes minutes, so the budget, 1 % of the time of a billion iterations, is never
  // used up. If walks among equally good placements were not limited, this test would exceed its
  // time limit.
  const Machine machine = with_formula(machine_from_text("core:2"), CostFormula::physical);
  constexpr std::uint64_t kMany = std::uint64_t{1} << 40;
  Workload workload;
  workload.tasks = {{0, 0}, {1e-9, 5}, {1, 0}, {0, 5}, {1, 0}};
  workload.messages = {
      {0, 0, 5, 1},         {4, 3, 1, 1},     {1, 4, 0, kMany},     {2, 4, 1, 0},
      {1, 1, 1, 1},         {4, 3, 0, 1},     {3, 4, 1, 1'000'000}, {3, 0, 1, 1'000'000},
      {2, 0, 1, kMany},     {4, 3, 0, kMany}, {0, 0, 1, 1},         {1, 0, 0, 0},
      {2, 4, 0, 1'000'000}, {1, 1, 1, 1},     {1, 3, 0, 0},         {4, 0, 5, 1'000'000},
      {1, 0, 1, kMany},     {0, 4, 1, kMany}, {0, 2, 5, kMany},     {3, 1, 0, 0}};
  workload.capacity.per_place = 3;
  const Placement current({1, 0, 1, 0, 0});
  const Placement after =
      parse_strategy("poise:steps=1e9").rebalance({machine, workload, current, machine.costs(), 0});
  const auto iteration_s = [&](const Placement& placement) {
    return evaluate(machine, workload, machine.costs(), current, placement).iteration_s;
  };
  EXPECT_LE(iteration_s(after), iteration_s(current));
}

TEST(Poise, if_no_task_has_load_it_puts_all_communicating_tasks_on_one_place) {
  const Machine machine = machine_from_text("node:8 core:8 factors:10,1");
  const Workload workload = generate(parse_recipe("stencil2d:load_s=0"), 300, 3).front();
  const Placement current = blocked(300, machine.num_places());
  const Placement placed =
      parse_strategy("poise").rebalance({machine, workload, current, machine.costs(), 1});
  EXPECT_EQ(evaluate(machine, workload, machine.costs(), current, placed).iteration_s, 0);
}

TEST(Poise, moves_tasks_from_an_overloaded_node_to_nearby_nodes_of_a_torus) {
  // One node of a ring of nodes has all the work. Tasks that leave the node still exchange messages
  // with tasks that stay there.
  const Machine machine = machine_from_text("torus:16 core:1 message:0.02");
  Workload workload;
  workload.tasks.push_back({.load_s = 1, .movable = false});
  for (TaskId t = 1; t < 5; ++t) {
    workload.tasks.push_back({.load_s = 1});
    workload.messages.push_back({t, 0, 1, 0});
  }
  const Placement current(5, 0);
  const Placement placed =
      parse_strategy("poise").rebalance({machine, workload, current, machine.costs(), 1});
  std::uint32_t hops = 0;
  for (TaskId t = 1; t < 5; ++t) hops += machine.network().hops(placed.of(t), 0);
  const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placed);
  EXPECT_LT(metrics.iteration_s, 2.5);
  EXPECT_LE(hops, 8u);
}

TEST(Poise, no_tuning_parameter_has_the_name_of_a_strategy_option) {
  for (const Strategy& strategy : strategies())
    for (const Knob& number : strategy.tuning)
      for (const Knob& knob : strategy.knobs) EXPECT_NE(number.name, knob.name) << strategy.name;
}

TEST(Poise, tuning_parameters_are_read_and_checked_like_strategy_options) {
  const Choice choice = parse_strategy("poise:steps=3,candidates=5");
  EXPECT_EQ(choice.text(), "poise:steps=3,candidates=5");
  EXPECT_THROW(parse_strategy("poise:candidates=0"), Error);
  EXPECT_THROW(parse_strategy("greedy_comm:candidates=5"), Error);
}

/// A problem with messages, whose tasks are placed at random.
struct Drawn {
  Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  Workload workload = generate(parse_recipe("rmat"), 512, 3).front();
  Placement current = initial_placement("random", 512, 32, 3);
  Problem problem{machine, workload, current, machine.costs()};

  Placement placed(const std::string& knobs) const {
    return parse_strategy("poise:" + knobs).rebalance(problem);
  }
};

TEST(Poise,
     gives_the_same_placement_whether_computing_time_is_granted_per_decision_or_task_or_phase) {
  Drawn drawn;
  const double phases_s =
      20 * outcome_of(drawn.problem, drawn.current).iteration_s;  // 20 steps without migrations
  const auto placed = [&](double effort, double effort_s, double effort_per_task_s,
                          const std::string& others) {
    return drawn.placed(fmt::format("steps=20,effort={},effort_s={},effort_per_task_s={}{}", effort,
                                    effort_s, effort_per_task_s, others));
  };
  std::set<std::vector<PlaceId>> different;
  for (const double seconds : {0.0, 0x1p-14, 0x1p-12, 0x1p-10, 0x1p-8}) {
    SCOPED_TRACE(seconds);
    const Placement expected = placed(0, seconds, 0, ",scan_s=0.00000001");
    EXPECT_EQ(placed(0, 0, seconds / 512, ",scan_s=0.00000001"), expected);
    EXPECT_EQ(placed(0, seconds / 2, seconds / 1024, ",scan_s=0.00000001"), expected);
    EXPECT_EQ(placed(0, seconds / 2, 0, ",scan_s=0.000000005"), expected);
    EXPECT_EQ(placed(0, 2 * seconds, 0, ",scan_s=0.00000001,cached_entries=1"), expected);
    EXPECT_EQ(placed(seconds / phases_s * (1 + 1e-12), seconds / 2, 0, ",scan_s=0.00000001"),
              expected);
    different.emplace(expected.places().begin(), expected.places().end());
  }
  EXPECT_GE(different.size(), 3u);
}

TEST(Poise, the_option_steps_overrides_the_number_of_steps_in_the_problem) {
  Drawn drawn;
  for (Task& task : drawn.workload.tasks) task.bytes *= 100;
  const Placement usual = drawn.placed("steps=0");
  drawn.problem.steps = 1;
  const Placement one = drawn.placed("steps=0");
  EXPECT_NE(one, usual);
  EXPECT_EQ(drawn.placed("steps=10"), usual);
  drawn.problem.steps = 10;
  EXPECT_EQ(drawn.placed("steps=1"), one);
}

/// Small problems of many kinds: random ones, and programs with different graphs and placements.
std::vector<OwnedProblem> various_problems() {
  std::vector<OwnedProblem> all;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(mix(seed));
    all.push_back(random_problem(random));
    if (seed % 2 == 1) all.back().machine = with_formula(all.back().machine, CostFormula::physical);
    for (Task& task : all.back().workload.tasks) task.bytes = random.below(3) * 3'000'000;
  }
  for (const char* recipe : {"stencil3d:skew=lognormal", "rmat", "clusters", "commbench"})
    for (const char* start : {"blocked", "round_robin", "random"})
      for (const std::uint64_t factor : {1, 30}) {
        all.push_back({machine_from_text("node:4 numa:2 core:2 factors:10,1.5,1"),
                       generate(parse_recipe(recipe), 250, all.size()).front(), Placement()});
        for (Task& task : all.back().workload.tasks) task.bytes *= factor;
        all.back().current =
            initial_placement(start, all.back().workload.num_tasks(), 16, all.size());
      }
  return all;
}

TEST(Poise, with_more_computing_time_its_total_time_improves_relative_to_the_best_other_strategy) {
  POISE_SKIP_IF_SLOW();
  struct Budget {
    double scans_per_entry;
    // Upper limits for the mean of the total time divided by that of the best other strategy.
    double most_random, most_programs;
  };
  const std::vector<OwnedProblem> all = various_problems();
  const auto total_s = [](const OwnedProblem& owned, const std::string& strategy) {
    const Problem problem = owned.view();
    return outcome_of(problem, parse_strategy(strategy).rebalance(problem)).total_s(problem.steps);
  };
  std::vector<double> least_s;
  for (const OwnedProblem& owned : all) {
    least_s.push_back(total_s(owned, "keep"));
    for (const char* other : {"greedy", "greedy_refine", "refine", "refine_comm", "nuco"})
      least_s.back() = std::min(least_s.back(), total_s(owned, other));
  }
  for (const auto& [scans_per_entry, most_random, most_programs] :
       {Budget{3, 1.374, 0.9819}, Budget{10, 1.0032, 0.9819}, Budget{14, 1.0022, 0.8878},
        Budget{20, 1.0009, 0.8427}, Budget{36, 0.9974, 0.8299}, Budget{60, 0.9959, 0.8224},
        Budget{120, 0.9958, 0.8115}}) {
    double random_sum = 0, programs_sum = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double entries = 1.0 * all[i].workload.num_tasks() + Arcs(all[i].workload).count() +
                             all[i].machine.num_places();
      const double ratio =
          least_s[i] == 0
              ? 1
              : total_s(all[i], fmt::format("poise:effort=0,effort_per_task_s=0,effort_s={}",
                                            scans_per_entry * entries * kTuning.scan_s)) /
                    least_s[i];
      (i < 30 ? random_sum : programs_sum) += ratio;
    }
    EXPECT_LE(random_sum / 30, most_random) << scans_per_entry;
    EXPECT_LE(programs_sum / 24, most_programs) << scans_per_entry;
  }
}

/// What the strategy does without computing time to spare: a short search from the current
/// placement, after which moves that do not pay are undone.
Placement hurried(const Problem& problem) {
  const double steps = problem.steps;
  const Way way(problem, steps);
  const double entries =
      1.0 * problem.workload.num_tasks() + way.shared->arcs.count() + problem.machine.num_places();
  const double bound_s = makespan_bound_s(problem.machine, problem.workload, problem.current);
  const double most_saved_s = steps * (way.current.iteration_s - bound_s);
  std::vector<double> packing(problem.machine.num_places(), 0);
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t)
    packing[problem.current.of(t)] += packing_s(problem.costs, problem.workload.tasks[t]);
  const bool is_dear = std::ranges::max(packing) > most_saved_s;

  LocalSearch search(problem, problem.current, way.shared, 0);
  if (is_dear) {
    search.limit_migration(most_saved_s);
    search.remember_shortest(steps);
  }
  // The budget is 4 scans per entry: 2 for the search and 2 for undoing moves.
  double left = 4 * entries;
  const auto run = [&](const LocalSearch::Stage& stage) {
    if (left > 2 * entries) left = std::max(0.0, left - search.run(stage, left - 2 * entries));
  };
  run({.exponent = 8, .swaps = false});
  if (search.peak_s() > (1 + kTuning.tolerance) * search.average_s())
    run({.exponent = 8, .swaps = false});
  run({.exponent = 48, .swaps = true});

  Outcome best = way.current;
  const double now_s = best.total_s(steps);
  if (Outcome far = outcome_of(problem, search.placement());
      steps * far.iteration_s <= (1 + kTuning.same_total) * now_s) {
    left = std::max(0.0, left - 2 * entries);
    far = best_on_the_way(way, far, kTuning.same_total);
    const bool is_same = std::abs(far.total_s(steps) - now_s) <= kTuning.same_total * now_s;
    if (is_same ? far.migrated_bytes < best.migrated_bytes : far.total_s(steps) < now_s) best = far;
  }
  if (is_dear)
    if (const Outcome shortest = outcome_of(problem, search.shortest());
        shortest.total_s(steps) < best.total_s(steps))
      best = shortest;
  const auto num_trials = static_cast<std::size_t>(left / (0.5 * entries + 1));
  return without_needless_moves(way, best, num_trials).placement;
}

TEST(Poise, without_computing_time_it_searches_briefly_from_the_current_placement) {
  int num_moved = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    OwnedProblem owned = random_problem(random);
    if (seed % 3 == 1) owned.machine = with_formula(owned.machine, CostFormula::physical);
    for (Task& task : owned.workload.tasks) task.bytes = random.below(3) * 3'000'000;
    Problem problem = owned.view();
    problem.steps = 1 + static_cast<double>(random.below(20));
    const Placement placed =
        parse_strategy("poise:effort=0,effort_s=0,effort_per_task_s=0").rebalance(problem);
    EXPECT_EQ(placed, hurried(problem));
    num_moved += placed == problem.current ? 0 : 1;
  }
  EXPECT_GE(num_moved, 100);
}

}  // namespace
}  // namespace poise
