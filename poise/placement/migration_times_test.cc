// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/migration_times.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "tests/support/random_problem.h"
#include "tests/support/seeds.h"

#include "poise/placement/metrics.h"

namespace poise {
namespace {

OwnedProblem random_migrations(Random& random, bool is_physical) {
  OwnedProblem owned = random_problem(random);
  if (is_physical) owned.machine = with_formula(owned.machine, CostFormula::physical);
  for (Task& task : owned.workload.tasks) task.bytes = random.below(1000000);
  return owned;
}

TEST(MigrationTimes,
     updating_the_migration_time_move_by_move_never_gives_less_than_computing_it_anew) {
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const bool is_physical = seed % 2 == 0;
    const OwnedProblem owned = random_migrations(random, is_physical);
    const Problem problem = owned.view();
    MigrationTimes times(problem, problem.current);
    Placement placement = problem.current;
    EXPECT_EQ(times.seconds(), 0);
    EXPECT_EQ(times.most_so_far_s(), 0);
    double longest_s = 0;
    for (int move = 0; move < 60; ++move) {
      const auto t = static_cast<TaskId>(random.below(owned.workload.num_tasks()));
      const auto to = static_cast<PlaceId>(random.below(owned.machine.num_places()));
      placement.move(t, to);
      const double cost_s =
          migration_cost(owned.machine, owned.workload, problem.costs, problem.current, placement)
              .seconds;
      const double limit_s = times.seconds() * (1 + 1e-9);
      const bool fits = times.fits(t, to, limit_s);
      times.move(t, to);
      if (!is_physical || times.seconds() <= limit_s) {
        EXPECT_EQ(fits, times.seconds() <= limit_s || to == problem.current.of(t));
      }
      EXPECT_GE(times.seconds(), cost_s * (1 - 1e-9));
      longest_s = std::max(longest_s, times.seconds());
      EXPECT_GE(times.most_so_far_s(), longest_s * (1 - 1e-9));
      EXPECT_LE(times.seconds(), cost_s * (is_physical ? 2 : 1) * (1 + 1e-9) + 1e-15);
    }
    EXPECT_NEAR(MigrationTimes(problem, placement).seconds(), times.seconds(),
                1e-9 * times.seconds() + 1e-15);
  }
}

TEST(MigrationTimes,
     migrating_a_task_that_combines_several_tasks_costs_as_much_as_migrating_each_of_them) {
  const Machine machine = with_formula(machine_from_text("node:2 core:2"), CostFormula::physical);
  Workload apart, together;
  apart.tasks.assign(5, {.load_s = 1, .bytes = 1000});
  together.tasks = {{.load_s = 5, .bytes = 5000, .parts = 5}};
  const auto seconds = [&](const Workload& workload) {
    const TaskId n = workload.num_tasks();
    const Placement current(n, 0), after(n, 3);
    const Problem problem{machine, workload, current, machine.costs()};
    const MigrationCost cost = migration_cost(machine, workload, machine.costs(), current, after);
    return std::pair(MigrationTimes(problem, after).seconds(), cost.seconds);
  };
  EXPECT_NEAR(seconds(together).first, seconds(apart).first, 1e-15);
  EXPECT_NEAR(seconds(together).second, seconds(apart).second, 1e-15);
}

TEST(MigrationTimes, if_two_tasks_swap_places_both_migrations_count_toward_the_time_limit) {
  const Machine machine = machine_from_text("core:3 migrated_byte:1e-9");
  Workload workload;
  workload.tasks.assign(3, {.load_s = 1, .bytes = 1000000000});
  const Placement current(std::vector<PlaceId>{0, 1, 2});
  const Problem problem{machine, workload, current, machine.costs()};
  MigrationTimes times(problem, current);
  EXPECT_TRUE(times.fits_exchange(0, 1, 1.01));
  EXPECT_FALSE(times.fits_exchange(0, 1, 0.99));
  times.move(2, 0);
  EXPECT_FALSE(times.fits(1, 0, 1.01));
  EXPECT_TRUE(times.fits(2, 2, 0));
}

TEST(MigrationTimes, only_places_whose_migration_time_changes_can_forbid_an_exchange) {
  // All three tasks have left place 0. Sending them keeps place 0 busy for longer than the limit.
  const Machine machine = machine_from_text("core:4 migrated_byte:1e-9");
  Workload workload;
  workload.tasks.assign(3, {.load_s = 1, .bytes = 1000000000});
  const Placement current(3, 0);
  const Problem problem{machine, workload, current, machine.costs()};
  for (std::uint64_t bytes = 1; bytes < 100; ++bytes) {
    workload.tasks[0].bytes = bytes * 1000000;
    workload.tasks[1].bytes = 100000000;
    MigrationTimes times(problem, Placement(std::vector<PlaceId>{1, 2, 3}));
    EXPECT_TRUE(times.fits_exchange(0, 1, 0.11)) << bytes;
    EXPECT_TRUE(times.fits_exchange(1, 0, 0.11)) << bytes;
  }
}

TEST(MigrationTimes, an_exchange_fits_if_the_time_after_moving_both_tasks_is_within_the_limit) {
  int num_fitting = 0, num_exceeding = 0;
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const bool is_physical = seed % 2 == 0;
    const OwnedProblem owned = random_migrations(random, is_physical);
    const Problem problem = owned.view();
    MigrationTimes times(problem, problem.current);
    Placement placement = problem.current;
    for (int trial = 0; trial < 40; ++trial) {
      const auto t = static_cast<TaskId>(random.below(owned.workload.num_tasks()));
      const auto u = static_cast<TaskId>(random.below(owned.workload.num_tasks()));
      if (t == u) continue;
      const double limit_s = times.seconds() * (1 + 1e-9);
      MigrationTimes after = times;
      after.move(t, placement.of(u));
      after.move(u, placement.of(t));
      const bool is_within = after.seconds() <= limit_s;
      // With the formula `physical`, seconds() may exceed the limit although the exchange fits:
      // seconds() may include the time of a place or of a resource that the exchange does not
      // affect.
      if (!is_physical || is_within) {
        ASSERT_EQ(times.fits_exchange(t, u, limit_s), is_within);
        ++(is_within ? num_fitting : num_exceeding);
      }
      const auto to = static_cast<PlaceId>(random.below(owned.machine.num_places()));
      times.move(t, to);
      placement.move(t, to);
    }
  }
  EXPECT_GT(num_fitting, 0);
  EXPECT_GT(num_exceeding, 0);
}

TEST(MigrationTimes,
     returns_the_time_of_a_task_on_a_resource_that_is_busy_for_at_least_the_given_time) {
  const Machine machine =
      with_formula(machine_from_text("node:3 core:1 bandwidth:1e6 bus:0 gap:0 latency:0 "
                                     "migrated_byte:1e-5 migrated_task:0"),
                   CostFormula::physical);
  Workload workload;
  workload.tasks = {{.load_s = 1, .bytes = 1000000},
                    {.load_s = 1, .bytes = 3000000},
                    {.load_s = 1, .bytes = 7000000}};
  const Placement current(3, 0);
  const Problem problem{machine, workload, current, machine.costs()};
  MigrationTimes times(problem, current);
  times.move(0, 1);
  times.move(1, 2);
  // Sending keeps the card of node 0 busy for 4 s; receiving keeps the cards of nodes 1 and 2 busy
  // for 1 s and 3 s.
  EXPECT_DOUBLE_EQ(times.busiest_resource_s(), 4);
  const double busiest_s = times.busiest_resource_s();
  for (const double least_s : {0.0, 2.0, 3.5, busiest_s}) {
    EXPECT_DOUBLE_EQ(times.resource_s_of(0, least_s), 1) << least_s;
    EXPECT_DOUBLE_EQ(times.resource_s_of(1, least_s), 3) << least_s;
  }
  for (const TaskId t : {0, 1, 2}) EXPECT_EQ(times.resource_s_of(t, 4.001), 0) << t;
  EXPECT_EQ(times.resource_s_of(2, 0), 0) << "a task at home";
}

/// The seconds of all migrations, per place (under the formula `nuco` as sender, then as receiver)
/// and per resource, added up task by task.
struct Added {
  std::vector<double> places_s, resources_s;

  Added(const Problem& problem, const std::vector<PlaceId>& places, CostFormula formula)
      : places_s(2 * problem.machine.num_places(), 0) {
    const bool is_physical = formula == CostFormula::physical;
    const Resources resources(problem.machine, problem.costs);
    if (is_physical) resources_s.assign(resources.count(), 0);
    for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
      const PlaceId home = problem.current.of(t), at = places[t];
      if (home == at) continue;
      const Task& task = problem.workload.tasks[t];
      const double bytes = static_cast<double>(task.bytes), parts = task.parts;
      const double pack_s = bytes * problem.costs.seconds_per_migrated_byte +
                            (is_physical ? parts * problem.costs.seconds_per_migrated_task : 0);
      EXPECT_DOUBLE_EQ(packing_s(problem.costs, task), pack_s);
      places_s[home] += pack_s;
      places_s[is_physical ? at : problem.machine.num_places() + at] += pack_s;
      if (!is_physical) continue;
      resources.for_each_crossed(problem.machine.domain_of(home), problem.machine.domain_of(at),
                                 [&](ResourceId r, double s_per_message, double s_per_byte) {
                                   resources_s[r] += parts * s_per_message + bytes * s_per_byte;
                                 });
    }
  }
  static double largest(const std::vector<double>& seconds) {
    double most = 0;
    for (const double s : seconds) most = std::max(most, s);
    return most;
  }
  double place_s() const { return largest(places_s); }
  double resource_s() const { return largest(resources_s); }
  /// The longest time of a place plus the longest time of a resource. Counts only places and
  /// resources with more time than in `before`.
  double grown_s(const Added& before) const {
    std::vector<double> grown_places, grown_resources;
    for (std::size_t i = 0; i < places_s.size(); ++i)
      if (places_s[i] > before.places_s[i]) grown_places.push_back(places_s[i]);
    for (std::size_t i = 0; i < resources_s.size(); ++i)
      if (resources_s[i] > before.resources_s[i]) grown_resources.push_back(resources_s[i]);
    return largest(grown_places) + largest(grown_resources);
  }
};

TEST(MigrationTimes,
     times_equal_sums_over_all_migrations_and_limits_apply_only_to_times_that_increase) {
  int num_fitting = 0, num_refused = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    const CostFormula formula = seed % 2 == 0 ? CostFormula::physical : CostFormula::nuco;
    OwnedProblem owned = random_migrations(random, seed % 2 == 0);
    CostModel costs = owned.machine.costs();
    costs.seconds_per_migrated_byte = 0x1p-20;  // powers of 2, so that sums are exact
    costs.seconds_per_migrated_task = 0.125;
    costs.bus_bytes_per_s = costs.card_bytes_per_s = 0x1p20;
    costs.card_s_per_message = 0x1p-10;
    for (Task& task : owned.workload.tasks)
      task.parts = 1 + static_cast<std::uint32_t>(random.below(3));
    const Problem problem{owned.machine, owned.workload, owned.current, costs};
    std::vector<PlaceId> places(owned.current.places().begin(), owned.current.places().end());
    MigrationTimes times(problem, owned.current);
    double most_place_s = 0, most_resource_s = 0;
    for (int move = 0; move < 25; ++move) {
      const auto t = static_cast<TaskId>(random.below(owned.workload.num_tasks()));
      const auto u = static_cast<TaskId>(random.below(owned.workload.num_tasks()));
      const auto to = static_cast<PlaceId>(random.below(owned.machine.num_places()));
      const Added before(problem, places, formula);
      std::vector<PlaceId> moved = places, swapped = places;
      moved[t] = to;
      std::swap(swapped[t], swapped[u]);
      const Added after(problem, moved, formula);
      const double grown_s = after.grown_s(before);
      const double swapped_s = Added(problem, swapped, formula).grown_s(before);
      for (const double share : {0.5, 1 - 1e-6, 1 + 1e-6, 2.0}) {
        const bool fits = to == owned.current.of(t) || grown_s <= share * grown_s;
        EXPECT_EQ(times.fits(t, to, share * grown_s), fits);
        ++(fits ? num_fitting : num_refused);
        if (t != u) {
          EXPECT_EQ(times.fits_exchange(t, u, share * swapped_s), swapped_s <= share * swapped_s);
        }
      }
      if (move % 3 == 0 && t != u) {
        const PlaceId from = places[t];
        times.move(t, places[u]);
        std::vector<PlaceId> half = places;
        half[t] = places[u];
        const Added between(problem, half, formula);
        most_place_s = std::max(most_place_s, between.place_s());
        most_resource_s = std::max(most_resource_s, between.resource_s());
        times.move(u, from);
        places = swapped;
      } else {
        times.move(t, to);
        places = moved;
      }
      const Added now(problem, places, formula);
      most_place_s = std::max(most_place_s, now.place_s());
      most_resource_s = std::max(most_resource_s, now.resource_s());
      EXPECT_NEAR(times.busiest_place_s(), now.place_s(), 1e-9);
      EXPECT_NEAR(times.busiest_resource_s(), now.resource_s(), 1e-9);
      EXPECT_NEAR(times.seconds(), now.place_s() + now.resource_s(), 1e-9);
      EXPECT_NEAR(times.most_so_far_s(), most_place_s + most_resource_s, 1e-9);
    }
    const MigrationTimes fresh(problem, Placement(places));
    EXPECT_NEAR(fresh.busiest_place_s(), times.busiest_place_s(), 1e-9);
    EXPECT_NEAR(fresh.busiest_resource_s(), times.busiest_resource_s(), 1e-9);
    EXPECT_NEAR(fresh.most_so_far_s(), times.seconds(), 1e-9);
  }
  EXPECT_GT(num_fitting, 100);
  EXPECT_GT(num_refused, 100);
}

}  // namespace
}  // namespace poise
