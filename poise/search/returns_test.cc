// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/returns.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/machine/text.h"
#include "poise/placement/arcs.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/search/finish_schedule.h"
#include "poise/search/tuning.h"
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
  // All tasks have the same number of bytes, so each migration costs the same. A move of the task
  // with a large load gains much more than this. A move of a task with a small load gains less.
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

TEST(Returns, keeps_all_moves_if_moving_tasks_back_makes_places_wait_longer_for_the_network) {
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

TEST(Returns, steps_back_towards_the_current_placement_never_increase_the_migrated_bytes) {
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

/// A problem and a placement of all its tasks. All times are multiples of 1/4 s, so that sums are
/// exact in any order.
struct Whole {
  Machine machine = machine_from_text("node:2 core:3 factors:3,1 message:0.25 migrated_byte:0.25");
  Workload workload;
  Placement current{14}, far{14};
  Problem problem{machine, workload, current, machine.costs()};

  explicit Whole(std::uint64_t seed) {
    Random random(seed);
    for (TaskId t = 0; t < 14; ++t) {
      workload.tasks.push_back({.load_s = 1.0 * random.below(12), .bytes = random.below(5)});
      current.move(t, std::min(random.below(6), random.below(6)));
      far.move(t, random.below(3) == 0 ? current.of(t) : random.below(6));
      workload.messages.push_back(
          {t, static_cast<TaskId>(random.below(14)), 1 + random.below(6), 0});
    }
    if (seed % 2 == 1) return;
    // Each place gets enough cores for both placements.
    for (const Placement& placement : {current, far})
      for (PlaceId p = 0; p < 6; ++p)
        workload.capacity.per_place = std::max(workload.capacity.per_place, tasks_at(placement, p));
  }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;

  static std::uint32_t tasks_at(const Placement& placement, PlaceId p) {
    return static_cast<std::uint32_t>(std::ranges::count(placement.places(), p));
  }
  bool has_room(const Placement& placement, PlaceId p) const {
    return !workload.capacity.is_limited() || tasks_at(placement, p) < workload.capacity.per_place;
  }
  /// The tasks that are not at their current places, those with most bytes first.
  std::vector<TaskId> away(const Placement& placement) const {
    std::vector<TaskId> tasks;
    for (TaskId t = 0; t < 14; ++t)
      if (placement.of(t) != current.of(t)) tasks.push_back(t);
    std::ranges::stable_sort(tasks, [&](TaskId a, TaskId b) {
      return workload.tasks[a].bytes > workload.tasks[b].bytes;
    });
    return tasks;
  }
};

/// A reference implementation of curve_to_current(). For each fraction, one task after another
/// moves back to its current place if the iteration time then stays within the limit for that
/// fraction.
std::vector<Outcome> naive_curve(const Whole& whole, std::span<const double> parts) {
  const Problem& problem = whole.problem;
  const double far_s = outcome_of(problem, whole.far).iteration_s;
  const double way_s = std::max(0.0, outcome_of(problem, whole.current).iteration_s - far_s);
  std::vector<Outcome> curve;
  Placement placement = whole.far;
  for (const double part : parts) {
    for (const TaskId t : whole.away(placement)) {
      Placement returned = placement;
      returned.move(t, whole.current.of(t));
      if (whole.has_room(placement, whole.current.of(t)) &&
          outcome_of(problem, returned).iteration_s <= far_s + part * way_s)
        placement = returned;
    }
    curve.push_back(outcome_of(problem, placement));
  }
  curve.push_back(outcome_of(problem, whole.current));
  return curve;
}

/// The points whose iterations are shorter than those of all later points.
std::vector<Outcome> without_useless_points(const std::vector<Outcome>& curve) {
  std::vector<Outcome> useful;
  for (auto point = curve.begin(); point != curve.end(); ++point)
    if (std::all_of(point + 1, curve.end(),
                    [&](const Outcome& later) { return later.iteration_s > point->iteration_s; }))
      useful.push_back(*point);
  return useful;
}

TEST(Returns, the_curve_back_to_the_current_placement_is_that_of_a_reference_implementation) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Whole whole(seed);
    const std::vector<Outcome> curve = curve_to_current(Way(whole.problem), whole.far),
                               expected =
                                   without_useless_points(naive_curve(whole, kShownReturnParts));
    ASSERT_EQ(curve.size(), expected.size());
    for (std::size_t i = 0; i < curve.size(); ++i) {
      EXPECT_EQ(curve[i].placement, expected[i].placement) << i;
      EXPECT_EQ(curve[i].total_s(3), expected[i].total_s(3)) << i;
      EXPECT_EQ(curve[i].migrated_bytes, expected[i].migrated_bytes) << i;
      EXPECT_EQ(curve[i].makespan_s, expected[i].makespan_s) << i;
    }
  }
}

TEST(Returns,
     the_curve_begins_with_the_new_placement_if_moving_tasks_back_lengthens_the_iteration) {
  // Two tasks exchange messages with a latency that is longer than the work of both.
  const Machine machine =
      with_formula(machine_from_text("node:4 core:1 latency:1e-3"), CostFormula::physical);
  Workload workload;
  workload.tasks = {{.load_s = 2.5e-4, .bytes = 100}, {.load_s = 1e-4, .bytes = 1}};
  workload.messages = {{0, 1, 7, 0}};
  const Placement apart(std::vector<PlaceId>{3, 2}), together(std::vector<PlaceId>{3, 3});
  const Problem problem{machine, workload, apart, machine.costs()};
  const std::vector<Outcome> curve = curve_to_current(Way(problem), together);
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_EQ(curve[0].placement, together);
  EXPECT_EQ(curve[1].placement, apart);
}

TEST(Returns, iterations_become_longer_from_each_point_of_the_curve_to_the_next) {
  const Machine machine = with_formula(
      machine_from_text("node:4 core:1 latency:0.5 bandwidth:1e3 gap:0.1"), CostFormula::physical);
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    OwnedProblem owned = random_problem(random);
    owned.machine = machine;
    owned.current = round_robin(owned.workload.num_tasks(), 4);
    owned.workload.background_s.clear();
    const Problem problem = owned.view();
    const Placement far = random_placement(owned, random);
    const std::vector<Outcome> curve = curve_to_current(Way(problem), far);
    EXPECT_LE(curve.front().iteration_s, outcome_of(problem, far).iteration_s * (1 + 1e-9));
    EXPECT_EQ(curve.back().placement, problem.current);
    for (std::size_t i = 1; i < curve.size(); ++i)
      EXPECT_GT(curve[i].iteration_s, curve[i - 1].iteration_s);
  }
}

/// A reference implementation of best_on_the_way().
Placement naive_best(const Whole& whole, double steps, double tolerance) {
  const Outcome far = outcome_of(whole.problem, whole.far);
  const bool is_cheap = far.migration_s <= tolerance * far.total_s(steps);
  const std::vector<Outcome> curve =
      naive_curve(whole, std::span(kReturnParts).first(is_cheap ? 1 : std::size(kReturnParts)));
  std::vector<Outcome> tried{far};
  for (std::size_t i = 0, rises = 0; i + 1 < curve.size() && rises < 2; ++i) {
    rises += curve[i].total_s(steps) > tried.back().total_s(steps) ? 1 : 0;
    tried.push_back(curve[i]);
  }
  tried.push_back(curve.back());
  Outcome best = tried[0];
  for (const Outcome& other : tried)
    if (other.total_s(steps) < best.total_s(steps)) best = other;
  const double limit_s = best.total_s(steps) * (1 + tolerance);
  for (const Outcome& other : tried)
    if (other.total_s(steps) <= limit_s && other.migrated_bytes < best.migrated_bytes) best = other;
  return best.placement;
}

TEST(Returns, the_best_placement_on_the_way_back_is_that_of_a_reference_implementation) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (const double steps : {0.0, 0.125, 0.25, 0.5, 1.0, 4.0})
      for (const double tolerance : {0.0, 0.03125, 0.25}) {
        SCOPED_TRACE(testing::Message() << seed << ": " << steps << " steps, " << tolerance);
        const Whole whole(seed);
        const Way way(whole.problem, steps);
        const Outcome best = best_on_the_way(way, outcome_of(whole.problem, whole.far), tolerance);
        EXPECT_EQ(best.placement, naive_best(whole, steps, tolerance));
        EXPECT_EQ(best.total_s(steps), outcome_of(whole.problem, best.placement).total_s(steps));
      }
}

TEST(Returns,
     moves_single_tasks_back_like_a_reference_that_tries_every_task_until_no_return_helps) {
  int num_changed = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const double steps : {0.125, 0.5, 1.0, 4.0}) {
      SCOPED_TRACE(testing::Message() << seed << ": " << steps << " steps");
      const Whole whole(seed);
      const Problem& problem = whole.problem;
      Outcome expected = outcome_of(problem, whole.far);
      for (bool has_returned = true; std::exchange(has_returned, false);)
        for (const TaskId t : whole.away(expected.placement)) {
          Placement returned = expected.placement;
          returned.move(t, whole.current.of(t));
          const Outcome trial = outcome_of(problem, returned);
          if (!whole.has_room(expected.placement, whole.current.of(t)) ||
              trial.total_s(steps) >= expected.total_s(steps))
            continue;
          expected = trial;
          has_returned = true;
        }
      const Way way(problem, steps);
      const Outcome far = outcome_of(problem, whole.far);
      EXPECT_EQ(without_needless_moves(way, far, 100'000).placement, expected.placement);
      EXPECT_EQ(without_needless_moves(way, far, 0).placement, whole.far);
      EXPECT_GE(migrations(without_needless_moves(way, far, 1).placement, whole.current).size() + 1,
                whole.away(whole.far).size());
      num_changed += expected.placement == whole.far ? 0 : 1;
    }
  EXPECT_GE(num_changed, 200);
}

}  // namespace
}  // namespace poise
