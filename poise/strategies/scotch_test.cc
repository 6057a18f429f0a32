// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/strategies/library_testing.h"

namespace poise {
namespace {

class Scotch : public LibraryTest {
 protected:
  Scotch() : LibraryTest("scotch") {}
};

TEST_F(Scotch, divides_a_grid_into_parts_of_equal_load_and_cuts_few_edges) {
  const Example square = grid("core:16", 64);
  const Placement placed = square.placed("scotch");
  EXPECT_LT(square.metrics(placed).imbalance, 1.06);
  EXPECT_LT(square.metrics(placed).nuco_messages, 6 * 64 * 2);  // 6 straight cuts of 64 edges
}

TEST_F(Scotch, puts_communicating_tasks_close_together) {
  const Example square = grid("node:4 core:4 factors:20,1", 64);
  // Two straight lines, each across 64 edges, would divide the grid among the four nodes.
  EXPECT_LT(square.metrics(square.placed("scotch")).internode_bytes, 10u * 64 * 2 * 2);
}

TEST_F(Scotch, puts_communicating_tasks_close_together_if_places_have_unequal_speeds) {
  const Example square = grid("node:4 core:4 factors:20,1 speeds:1,0.5", 64);
  const Metrics metrics = square.metrics(square.placed("scotch"));
  EXPECT_LT(metrics.internode_bytes, 10u * 64 * 2 * 2);
  EXPECT_LT(metrics.imbalance, 1.1);
}

TEST_F(Scotch, puts_communicating_tasks_close_together_if_nodes_have_unequal_numbers_of_places) {
  Example square = grid("node:4 core:6 factors:20,1", 64);
  // The machine without its last two places, so that the last node has 4 places instead of 6.
  MachineParts parts = square.machine.parts();
  parts.places.resize(parts.places.size() - 2);
  const auto num_places = static_cast<PlaceId>(parts.places.size());
  for (Level& level : parts.levels) {
    while (level.first_place.back() >= num_places) level.first_place.pop_back();
    level.first_place.push_back(num_places);
  }
  square.machine = Machine(parts);
  square.current = round_robin(64 * 64, square.machine.num_places());
  const Metrics metrics = square.metrics(square.placed("scotch"));
  EXPECT_LT(metrics.internode_bytes, 10u * 64 * 2 * 2);
  EXPECT_LT(metrics.imbalance, 1.1);
}

TEST_F(Scotch, pinned_tasks_do_not_move_and_the_load_of_a_place_is_proportional_to_its_speed) {
  Example mixed = grid("core:4 speeds:1,0.5,1,1", 40);
  mixed.workload.background_s = {0, 0, 300, 0};
  for (TaskId t = 0; t < 40; ++t) mixed.workload.tasks[t * 41].movable = false;
  const std::vector<double> busy_s = work_s(mixed.machine, mixed.workload, mixed.placed("scotch"));
  for (PlaceId p = 1; p < 4; ++p) EXPECT_NEAR(busy_s[p] / busy_s[0], 1, 0.12) << p;
}

TEST_F(Scotch,
       on_equal_places_balances_movable_tasks_if_one_place_has_pinned_tasks_or_background_load) {
  for (const char* machine : {"core:4", "node:2 numa:2 core:2"})
    for (const char* strategy : {"scotch", "scotch:remap=1"})
      for (const bool is_pinned : {true, false}) {
        SCOPED_TRACE(fmt::format("{} {} pinned: {}", machine, strategy, is_pinned));
        Example fixed =
            example(machine, std::vector<double>(4000, 1), std::vector<PlaceId>(4000, 0));
        const PlaceId places = fixed.machine.num_places();
        for (TaskId t = 0; t < 400 && is_pinned; ++t) fixed.workload.tasks[t].movable = false;
        if (!is_pinned) (fixed.workload.background_s = std::vector<double>(places))[0] = 400;
        EXPECT_LT(fixed.metrics(fixed.placed(strategy)).imbalance, 1.06);
      }
}

TEST_F(Scotch, ends_and_balances_if_every_place_of_a_large_group_has_a_pinned_task) {
  for (const char* machine : {"core:40", "core:1000", "node:40 core:40", "node:128 core:64"}) {
    SCOPED_TRACE(machine);
    const PlaceId places = machine_from_text(machine).num_places();
    std::vector<PlaceId> current(20 * places, 0);
    std::iota(current.begin(), current.begin() + places, 0);
    Example fixed = example(machine, std::vector<double>(20 * places, 1), current);
    for (TaskId t = 0; t < places; ++t) fixed.workload.tasks[t].movable = false;
    EXPECT_LT(fixed.metrics(fixed.placed("scotch")).imbalance, 1.11);
  }
}

TEST_F(Scotch, gives_no_tasks_to_a_place_that_is_overloaded_by_fixed_load) {
  Example fixed = example("core:4", std::vector<double>(400, 1), std::vector<PlaceId>(400, 0));
  fixed.workload.background_s = {1000, 0, 0, 0};
  const Placement placed = fixed.placed("scotch");
  const auto on_the_first =
      std::ranges::count_if(placed.places(), [](PlaceId place) { return place == 0; });
  EXPECT_LT(on_the_first, 20);
}

TEST_F(Scotch, puts_communicating_tasks_close_together_if_some_tasks_are_pinned) {
  Example square = grid("node:4 core:4 factors:20,1", 64);
  for (TaskId t = 0; t < 40; ++t) square.workload.tasks[t * 101].movable = false;
  const Metrics metrics = square.metrics(square.placed("scotch"));
  EXPECT_LT(metrics.internode_bytes, 10u * 64 * 2 * 4);
  EXPECT_LT(metrics.imbalance, 1.1);
}

TEST_F(Scotch, moves_fewer_tasks_with_the_options_remap_and_migration_than_without_them) {
  Example drifted = grid("node:4 core:4", 48);
  drifted.current = drifted.placed("scotch");
  for (TaskId t = 0; t < 600; ++t) drifted.workload.tasks[t].load_s *= 2;
  const Metrics before = drifted.metrics(drifted.current);
  const Metrics afresh = drifted.metrics(drifted.placed("scotch"));
  const Metrics remapped = drifted.metrics(drifted.placed("scotch:remap=1,migration=100"));
  EXPECT_LT(remapped.makespan_s, before.makespan_s);
  EXPECT_LT(2 * remapped.migrations, afresh.migrations);
}

TEST_F(Scotch, finds_the_same_placement_in_a_locale_with_decimal_commas) {
  const Example square = grid("core:4", 8);
  const Placement expected = square.placed("scotch");
  ::setenv("LOCPATH", POISE_LOCALES, 1);
  if (std::setlocale(LC_NUMERIC, "comma") == nullptr) GTEST_SKIP() << "the locale is missing";
  EXPECT_EQ(square.placed("scotch"), expected);
  EXPECT_STREQ(std::localeconv()->decimal_point, ",");
  std::setlocale(LC_NUMERIC, "C");
}

TEST_F(Scotch, accepts_very_large_and_very_small_loads_and_messages) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (std::uint64_t seed = 0; seed < num_seeds(40); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Example lumpy =
        grid(fmt::format("node:2 core:{} factors:1000,0.001", 1 + random.below(20)).c_str(),
             static_cast<TaskId>(1 + random.below(20)));
    for (Task& task : lumpy.workload.tasks) {
      task.load_s = random.below(9) == 0 ? 0 : portable_exp(20 * random.normal());
      task.bytes = random.bits() >> random.below(64);
    }
    for (Message& message : lumpy.workload.messages)
      message.count = random.bits() >> (1 + random.below(63));
    for (const char* strategy : {"scotch", "scotch:remap=1"})
      EXPECT_NO_THROW(lumpy.placed(strategy));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Scotch, maps_clusters_of_tasks_to_nodes_or_domains_and_the_subclusters_of_each_to_cores) {
  // Tasks of the same core exchange most messages, tasks of the same domain or node fewer, and all
  // other tasks fewest.
  for (const char* text : {"numa:4 core:2 factors:9,1", "core:6", "node:3 core:2 factors:20,1"}) {
    SCOPED_TRACE(text);
    Example nested{machine_from_text(text), {}, {}};
    const Machine& machine = nested.machine;
    std::vector<PlaceId> hidden;
    for (PlaceId p = 0; p < machine.num_places(); ++p)
      for (int i = 0; i < 8; ++i) hidden.push_back(p);
    Random random(hidden.size());
    for (std::size_t i = hidden.size(); i > 1; --i)
      std::swap(hidden[i - 1], hidden[random.below(i)]);
    nested.workload.tasks.assign(hidden.size(), {.load_s = 1});
    for (TaskId a = 0; a < hidden.size(); ++a)
      for (TaskId b = 0; b < a; ++b) {
        const double factor = machine.message_factor(hidden[a], hidden[b]);
        nested.workload.messages.push_back({a, b,
                                            factor == 0   ? 400u
                                            : factor == 1 ? 40u
                                            : factor < 10 ? 5u
                                                          : 1u,
                                            0});
      }
    nested.current = round_robin(nested.workload.num_tasks(), machine.num_places());
    const double least = nested.metrics(Placement(hidden)).nuco_messages;
    const Metrics metrics = nested.metrics(nested.placed("scotch"));
    EXPECT_LE(metrics.nuco_messages, 1.01 * least);
    EXPECT_LE(metrics.imbalance, 1.01);
  }
}

TEST_F(Scotch, moves_no_task_with_the_option_remap_if_migrations_are_very_expensive) {
  Example square = grid("node:4 core:4 factors:20,1", 24);
  square.current = square.placed("scotch");
  for (const char* strategy : {"scotch:remap=1,migration=1000", "scotch:remap=1,migration=1"})
    EXPECT_EQ(square.placed(strategy), square.current) << strategy;
}

}  // namespace
}  // namespace poise
