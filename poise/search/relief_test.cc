// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/relief.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/search/tuning.h"

namespace poise {
namespace {

/// All four tasks are on the first of four places.
struct Crowded {
  Machine machine = machine_from_text("core:4");
  Workload workload;
  Placement current{std::vector<PlaceId>(4, 0)};
  Crowded() {
    for (const double load_s : {4, 3, 2, 1}) workload.tasks.push_back({.load_s = load_s});
  }
  Problem problem() const { return {machine, workload, current, machine.costs()}; }
};

TEST(Relief, moves_the_smallest_task_that_suffices_to_bring_a_place_below_the_threshold) {
  const Crowded crowded;
  const Problem problem = crowded.problem();
  const Relief relief(problem, {10, 0, 0, 0});
  EXPECT_EQ(relief.busiest_s(), 10);
  EXPECT_EQ(relief.to(7), Placement(std::vector<PlaceId>{0, 1, 0, 0}));
  EXPECT_EQ(relief.to(9), Placement(std::vector<PlaceId>{0, 0, 0, 1}));
}

TEST(Relief, moves_nothing_if_every_place_is_below_the_threshold) {
  const Crowded crowded;
  const Problem problem = crowded.problem();
  EXPECT_EQ(Relief(problem, {10, 0, 0, 0}).to(10), crowded.current);
}

TEST(Relief, finds_no_placement_if_a_single_task_takes_longer_than_the_threshold) {
  const Crowded crowded;
  const Problem problem = crowded.problem();
  EXPECT_EQ(Relief(problem, {10, 0, 0, 0}).to(3.5), std::nullopt);
}

TEST(Relief, assumes_that_the_time_for_messages_stays_the_same_when_tasks_move) {
  // The busy times passed to Relief: 15 s at the first place (10 s of work and 5 s of messages),
  // and 7 s of messages at each other place.
  const Crowded crowded;
  const Problem problem = crowded.problem();
  EXPECT_EQ(Relief(problem, {15, 7, 7, 7}).to(11), Placement(std::vector<PlaceId>{1, 0, 0, 0}));
}

TEST(Relief, moves_fewer_tasks_if_migrations_are_more_expensive) {
  // All tasks are on the first of four places: one task of 4 s and twelve tasks of half a second.
  const Machine machine = machine_from_text("core:4 migrated_byte:1e-9");
  const Placement current(13, 0);
  const auto num_moved = [&](std::uint64_t bytes) {
    Workload workload;
    workload.tasks.assign(13, {.load_s = 0.5, .bytes = bytes});
    workload.tasks[0].load_s = 4;
    const auto placed = with_few_moves({machine, workload, current, machine.costs()}, 1);
    return placed ? migrations(current, *placed).size() : 0;
  };
  EXPECT_EQ(num_moved(1), 5u);
  EXPECT_EQ(num_moved(1'000'000'000), 1u);   // one migration takes 1 s
  EXPECT_EQ(num_moved(10'000'000'000), 0u);  // one migration takes 10 s
}

TEST(Relief, finds_a_threshold_nearly_as_good_as_the_best_of_a_dense_grid_of_thresholds) {
  // Migrations take so long that the best threshold is neither among the lowest nor among the
  // highest thresholds tried.
  constexpr double kSteps = 10, kNearly = 1.002;
  const Machine machine = machine_from_text("core:16 migrated_byte:1e-9");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Workload workload;
    Placement current(400);
    std::vector<double> busy_s(16, 0);
    for (TaskId t = 0; t < 400; ++t) {
      const double load_s = 0.5 + random.uniform();
      workload.tasks.push_back({.load_s = load_s, .bytes = 1 + random.below(2'000'000'000)});
      current.move(t, std::min(random.below(16), random.below(16)));
      busy_s[current.of(t)] += load_s;
    }
    const Problem problem{machine, workload, current, machine.costs()};
    const auto total_s = [&](const Placement& placement) {
      const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placement);
      return kSteps * metrics.iteration_s + metrics.migration_s;
    };
    const Relief relief(problem, busy_s);
    double shortest_s = total_s(current);
    for (int i = 0; i < 1000; ++i)
      if (const auto placed = relief.to(relief.busiest_s() * i / 1000))
        shortest_s = std::min(shortest_s, total_s(*placed));
    const auto few = with_few_moves(problem, kSteps);
    ASSERT_TRUE(few);
    EXPECT_LE(total_s(*few), kNearly * shortest_s) << "seed " << seed;
  }
}

/// A reference implementation of Relief::to() for busy times that are whole numbers.
std::optional<Placement> naive_relief(const Problem& problem, std::vector<double> busy_s,
                                      double threshold_s) {
  const std::vector<Task>& tasks = problem.workload.tasks;
  const Machine& machine = problem.machine;
  Placement placement = problem.current;
  std::vector<PlaceId> donors;
  for (PlaceId p = 0; p < busy_s.size(); ++p)
    if (busy_s[p] > threshold_s) donors.push_back(p);
  std::ranges::stable_sort(donors, [&](PlaceId a, PlaceId b) { return busy_s[a] > busy_s[b]; });
  for (const PlaceId from : donors) {
    std::vector<TaskId> heaviest;
    for (TaskId t = 0; t < tasks.size(); ++t)
      if (problem.current.of(t) == from && tasks[t].movable && tasks[t].load_s > 0)
        heaviest.push_back(t);
    std::ranges::stable_sort(heaviest,
                             [&](TaskId a, TaskId b) { return tasks[a].load_s > tasks[b].load_s; });
    const auto time_s = [&](TaskId t, PlaceId p) { return tasks[t].load_s / machine.speed_of(p); };
    for (std::size_t i = 0; i < heaviest.size() && busy_s[from] > threshold_s; ++i) {
      if (i + 1 < heaviest.size() && busy_s[from] - time_s(heaviest[i + 1], from) <= threshold_s)
        continue;  // moving the next lighter task is enough to relieve the place
      PlaceId first = 0;
      for (PlaceId p = 1; p < busy_s.size(); ++p)
        if (busy_s[p] + time_s(heaviest[i], p) < busy_s[first] + time_s(heaviest[i], first))
          first = p;
      if (busy_s[first] + time_s(heaviest[i], first) > threshold_s) continue;
      busy_s[first] += time_s(heaviest[i], first);
      busy_s[from] = std::max(0.0, busy_s[from] - time_s(heaviest[i], from));
      placement.move(heaviest[i], first);
    }
    if (busy_s[from] > threshold_s) return std::nullopt;
  }
  return placement;
}

TEST(Relief, gives_the_same_placement_as_a_reference_implementation_on_random_problems) {
  int num_found = 0, num_failed = 0;
  for (const char* text : {"core:5", "core:4 speeds:1,0.5,0.25,0.5", "core:2"})
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const OwnedProblem owned = random_crowd(machine_from_text(text), random);
      const Problem problem = owned.view();
      std::vector<double> busy_s = work_s(owned.machine, owned.workload, owned.current);
      for (double& seconds : busy_s) seconds += 1.0 * random.below(6);  // of messages
      const Relief relief(problem, busy_s);
      EXPECT_EQ(relief.busiest_s(), *std::ranges::max_element(busy_s));
      for (double threshold_s = 2; threshold_s <= relief.busiest_s(); threshold_s += 1.5) {
        const auto expected = naive_relief(problem, busy_s, threshold_s);
        EXPECT_EQ(relief.to(threshold_s), expected) << threshold_s;
        ++(expected ? num_found : num_failed);
      }
    }
  EXPECT_GT(num_found, 500);
  EXPECT_GT(num_failed, 500);
}

TEST(Relief, takes_the_messages_and_speeds_of_places_into_account_when_it_moves_few_tasks) {
  // Migrations cost nothing, so the lowest threshold is the best. It is the larger of two numbers:
  // the average busy time (with messages) and the bound on the makespan.
  const Machine machine = machine_from_text("core:2 message:1 speeds:1,0.5");
  Workload workload;
  workload.tasks.assign(12, {.load_s = 1});
  workload.messages = {{.from = 11, .to = 0, .count = 6}};
  Placement current(12, 0);
  current.move(11, 1);
  // Place 0 has 11 s of work and 6 s of messages, and place 1 has 1 s of work: 18 s in all. The
  // speeds of the places, 1 and 0.5, add up to 1.5. So the average busy time is 18 s / 1.5 = 12 s.
  const auto few = with_few_moves({machine, workload, current, machine.costs()}, 1000);
  ASSERT_TRUE(few);
  EXPECT_EQ(migrations(current, *few).size(), 5u);
}

/// A reference implementation of with_few_moves(): tries the listed thresholds, then halves the
/// distances between the best threshold and its two neighbours.
std::optional<Placement> naive_few_moves(const Problem& problem, double steps) {
  const Machine& machine = problem.machine;
  const std::vector<double> busy_s =
      place_times(machine, problem.workload, problem.costs, problem.current).busy_s();
  double capacity_s = 0;
  for (PlaceId p = 0; p < busy_s.size(); ++p) capacity_s += machine.speed_of(p) * busy_s[p];
  const Relief relief(problem, busy_s);
  const double hoped_s = std::max(capacity_s / machine.total_speed(),
                                  makespan_bound_s(machine, problem.workload, problem.current));
  const double span_s = std::max(0.0, relief.busiest_s() - hoped_s);
  double best_s = steps * relief.busiest_s(), best_part = 1;
  std::optional<Placement> best;
  const auto consider = [&](double part) {
    const auto placed = relief.to(hoped_s + part * span_s);
    if (!placed) return;
    const double total_s =
        steps * (hoped_s + part * span_s) +
        migration_cost(machine, problem.workload, problem.costs, problem.current, *placed).seconds;
    if (total_s >= best_s) return;
    best_s = total_s;
    best_part = part;
    best = placed;
  };
  for (const double part : kShownReturnParts) consider(part);
  if (!best) return best;
  double below = 0, above = 1;
  for (const double part : kShownReturnParts) {
    if (part < best_part) below = std::max(below, part);
    if (part > best_part) above = std::min(above, part);
  }
  for (int round = 0; round < kNarrowings; ++round) {
    const double before = best_part, low = (below + before) / 2, high = (before + above) / 2;
    if (low != before) consider(low);
    if (high != before) consider(high);
    if (best_part == before) below = low, above = high;
    if (best_part < before) above = before;
    if (best_part > before) below = before;
  }
  return best;
}

TEST(Relief, moves_the_same_few_tasks_as_a_reference_implementation_on_random_problems) {
  int num_moved = 0;
  for (const char* text : {"core:5 message:0.25 migrated_byte:0.25",
                           "node:2 core:2 factors:2,1 message:0.5 migrated_byte:1",
                           "core:3 speeds:1,0.5,0.25 message:0.25 migrated_byte:0.5"})
    for (std::uint64_t seed = 0; seed < 100; ++seed)
      for (const double steps : {0.5, 2.0, 16.0}) {
        SCOPED_TRACE(testing::Message() << text << " seed " << seed << " steps " << steps);
        Random random(seed);
        OwnedProblem owned = random_crowd(machine_from_text(text), random);
        for (TaskId t = 0; t < 20; ++t) {
          owned.workload.tasks[t].bytes = random.below(4);
          owned.workload.messages.push_back(
              {t, static_cast<TaskId>(random.below(20)), random.below(4), 0});
        }
        const Problem problem = owned.view();
        const auto expected = naive_few_moves(problem, steps);
        EXPECT_EQ(with_few_moves(problem, steps), expected);
        num_moved += expected && *expected != owned.current ? 1 : 0;
      }
  EXPECT_GE(num_moved, 500);
}

}  // namespace
}  // namespace poise
