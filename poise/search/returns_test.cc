// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/returns.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/machine/text.h"
#include "poise/placement/arcs.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/search/finish_schedule.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

/// All ten tasks, each with a load of 1 s and 1 GB of data, are on the first of two places. Each
/// migration takes 1 s.
struct Crowded {
  Machine machine = machine_from_text("core:2 migrated_byte:1e-9");
  Workload workload;
  Placement current{std::vector<PlaceId>(10, 0)};
  Placement far{std::vector<PlaceId>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}};
  Crowded() { workload.tasks.assign(10, {.load_s = 1, .bytes = 1000000000}); }
  Problem problem() const { return {machine, workload, current, machine.costs()}; }
};

TEST(Returns, keeps_all_moves_of_the_new_placement_if_many_iterations_follow) {
  const Crowded crowded;
  const Outcome best =
      best_on_the_way(Way(crowded.problem(), 100), outcome_of(crowded.problem(), crowded.far), 0);
  EXPECT_EQ(best.placement, crowded.far);
  EXPECT_DOUBLE_EQ(best.total_s(100), 505);
}

TEST(Returns, undoes_all_moves_if_migrations_cost_more_than_they_save) {
  const Crowded crowded;
  const Outcome best =
      best_on_the_way(Way(crowded.problem(), 0.5), outcome_of(crowded.problem(), crowded.far), 0);
  EXPECT_EQ(best.placement, crowded.current);
}

TEST(Returns, undoes_single_moves_that_cost_more_than_they_save) {
  // All tasks have equally many bytes. Moving the task with the large load brings nearly all of the
  // gain; moving a task with a small load gains less than its migration costs.
  Workload workload;
  workload.tasks.assign(21, {.load_s = 0.1, .bytes = 1000000000});
  workload.tasks[0].load_s = 10;
  const Machine machine = machine_from_text("core:2 migrated_byte:1e-9");
  std::vector<PlaceId> now(21, 0), wanted(21, 0);
  now[0] = 0, wanted[0] = 1;
  workload.tasks.push_back({.load_s = 10, .bytes = 1000000000});
  now.push_back(0), wanted.push_back(0);
  for (std::size_t t = 1; t <= 10; ++t) wanted[t] = 1;
  const Placement current(now), far(wanted);
  const Problem problem{machine, workload, current, machine.costs()};
  const Outcome best = best_on_the_way(Way(problem, 1), outcome_of(problem, far), 0);
  EXPECT_EQ(best.placement.of(0), 1u);
  EXPECT_LT(best.total_s(1), outcome_of(problem, far).total_s(1));
  EXPECT_LT(best.total_s(1), outcome_of(problem, current).total_s(1));
}

TEST(Returns, if_total_times_are_nearly_equal_the_placement_with_the_fewest_migrated_bytes_wins) {
  const Crowded crowded;
  // With 100 iterations, the total time is 505 s for `far` and 1,000 s if no task moves. A
  // tolerance of 100 % allows totals of up to 1,010 s, so no task moves.
  const Outcome best =
      best_on_the_way(Way(crowded.problem(), 100), outcome_of(crowded.problem(), crowded.far), 1);
  EXPECT_EQ(best.placement, crowded.current);
}

TEST(Returns, keeps_all_moves_if_moving_tasks_back_makes_others_wait_longer_for_the_network) {
  const Machine machine =
      with_formula(machine_from_text("torus:4x4x4 core:4"), CostFormula::physical);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    SCOPED_TRACE(seed);
    const Workload workload = generate(parse_recipe("commbench"), 480, seed).front();
    const Placement current = initial_placement("random", 480, machine.num_places(), seed);
    const Problem problem{machine, workload, current, machine.costs()};
    const Outcome far = outcome_of(problem, schedule_by_finish(problem, Arcs(workload)));
    EXPECT_LE(best_on_the_way(Way(problem, 100), far, 0).total_s(100), far.total_s(100));
  }
}

/// Puts every task at a random place, except for those that cannot move.
Placement random_placement(const OwnedProblem& owned, Random& random) {
  std::vector<PlaceId> places;
  for (TaskId t = 0; t < owned.workload.num_tasks(); ++t)
    places.push_back(owned.workload.tasks[t].movable
                         ? static_cast<PlaceId>(random.below(owned.machine.num_places()))
                         : owned.current.of(t));
  return Placement(places);
}

TEST(Returns, the_costs_of_each_step_towards_the_current_placement_equal_those_computed_anew) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    OwnedProblem owned = random_problem(random);
    if (seed % 3 > 0) owned.machine = with_formula(owned.machine, CostFormula::physical);
    // With overlap and long messages, places wait for shared resources for longer than they work.
    if (seed % 3 == 2) {
      owned.workload.overlap = 0.9;
      for (Message& message : owned.workload.messages) message.bytes = random.below(1000000000);
    }
    const Problem problem = owned.view();
    for (const Outcome& point : curve_to_current(Way(problem), random_placement(owned, random))) {
      const Outcome anew = outcome_of(problem, point.placement);
      EXPECT_NEAR(point.iteration_s, anew.iteration_s, 1e-9 * anew.iteration_s);
      EXPECT_EQ(point.makespan_s, anew.makespan_s);
      EXPECT_EQ(point.migration_s, anew.migration_s);
      EXPECT_EQ(point.migrated_bytes, anew.migrated_bytes);
    }
  }
}

TEST(Returns, each_step_back_towards_the_current_placement_keeps_or_lowers_the_migrated_bytes) {
  for (std::uint64_t seed = 0; seed < num_seeds(60); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    OwnedProblem owned = random_problem(random);
    if (seed % 2) owned.machine = with_formula(owned.machine, CostFormula::physical);
    for (Task& task : owned.workload.tasks) task.bytes = random.below(1000000);
    const Problem problem = owned.view();
    const Placement far = random_placement(owned, random);
    const std::vector<Outcome> curve = curve_to_current(Way(problem), far);
    EXPECT_EQ(curve.back().placement, problem.current);
    for (std::size_t i = 1; i < curve.size(); ++i)
      EXPECT_LE(curve[i].migrated_bytes, curve[i - 1].migrated_bytes);
    for (const double steps : {0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 1000.0}) {
      const Outcome best = best_on_the_way(Way(problem, steps), outcome_of(problem, far), 0);
      EXPECT_LE(best.total_s(steps),
                outcome_of(problem, problem.current).total_s(steps) * (1 + 1e-9));
      const Metrics metrics = evaluate(owned.machine, owned.workload, owned.machine.costs(),
                                       owned.current, best.placement);
      EXPECT_EQ(metrics.iteration_s, best.iteration_s);
      EXPECT_EQ(metrics.migration_s, best.migration_s);
      EXPECT_EQ(metrics.migrated_bytes, best.migrated_bytes);
    }
  }
}

}  // namespace
}  // namespace poise
