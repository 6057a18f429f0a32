// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/relief.h"

#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

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
  EXPECT_EQ(num_moved(10'000'000'000), 0u);  // 10 s
}

TEST(Relief, finds_a_threshold_nearly_as_good_as_the_best_of_a_dense_grid_of_thresholds) {
  // Migrations take so long that the best threshold is neither among the lowest nor among the
  // highest of the grid.
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

}  // namespace
}  // namespace poise
