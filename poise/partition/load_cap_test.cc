// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/load_cap.h"

#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "tests/support/brute_force.h"
#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

Placement held(const Machine& machine, const Workload& workload, Placement placement,
               double cap_s) {
  const Placement current = placement;
  const graphs::Graph graph = graphs::affinity_graph(workload, graphs::Affinity::bytes);
  graphs::hold_load_cap({machine, workload, current, machine.costs()}, graph, cap_s, placement);
  return placement;
}

double makespan_s(const Machine& machine, const Workload& workload, const Placement& placement) {
  return evaluate(machine, workload, machine.costs(), placement, placement).makespan_s;
}

TEST(LoadCap, the_share_of_a_place_is_the_load_that_it_can_take_in_addition_to_background_load) {
  const Machine machine = machine_from_text("core:3 speeds:1,2,1");
  Workload workload;
  workload.tasks.resize(1);
  workload.background_s = {1, 0.5, 5};
  const Placement current(1, 0);
  const Problem problem{machine, workload, current, machine.costs()};
  EXPECT_EQ(shares_under_cap(problem, 3), (std::vector<double>{2, 5, 0}));
  EXPECT_EQ(shares_under_cap(problem, 3, 0.25), (std::vector<double>{1.6, 4, 0}));
  EXPECT_EQ(shares_under_cap(problem, 0.5), (std::vector<double>{1, 1, 1})) << "all are full";
}

TEST(LoadCap, if_no_single_task_fits_elsewhere_the_best_exchange_of_two_tasks_is_made) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const Machine machine = machine_from_text(seed % 2 == 0 ? "core:2" : "core:2 speeds:1,0.5");
    Workload workload;
    for (TaskId t = 0; t < 12; ++t)
      workload.tasks.push_back({.load_s = static_cast<double>(1 + random.below(9))});
    const Placement before = blocked(12, 2);
    const double before_s = makespan_s(machine, workload, before);
    double least_s = before_s;  // shortest makespan after any single move or exchange
    for (TaskId t = 0; t < 12; ++t)
      for (TaskId u = t; u < 12; ++u) {
        Placement after = before;
        after.move(t, t == u ? 1 - before.of(t) : before.of(u));
        if (t != u) after.move(u, before.of(t));
        least_s = std::min(least_s, makespan_s(machine, workload, after));
      }
    const Placement after = held(machine, workload, before, 0.999 * least_s);
    EXPECT_LE(makespan_s(machine, workload, after), least_s) << "seed " << seed;
  }
}

TEST(LoadCap, an_overloaded_place_gives_away_the_least_attached_task_that_fits_elsewhere) {
  // Task 0 has the least affinity to the other tasks of its place, but is too large for the slower
  // place. Of the other tasks, task 2 has the least affinity.
  const Machine machine = machine_from_text("core:2 speeds:1.9,1");
  Workload workload;
  for (const double load_s : {3.0, 0.6, 0.5, 0.5}) workload.tasks.push_back({.load_s = load_s});
  workload.messages = {{0, 2, 1, 1}, {1, 2, 1, 100}, {1, 3, 1, 200}};
  const Placement after = held(machine, workload, Placement(4, 0), 2.2);
  EXPECT_EQ(after, Placement(std::vector<PlaceId>{0, 0, 1, 0}));
}

/// An overloaded place has the tasks 0, 1 and 2. Returns the one that moves away. Moving task 0
/// alone or task 1 alone would suffice; task 2 fits nowhere else. Task 3 is on the other place.
TaskId first_to_leave(std::vector<Message> messages) {
  Workload workload;
  for (const double load_s : {1.0, 2.0, 4.0, 3.0}) workload.tasks.push_back({.load_s = load_s});
  workload.messages = std::move(messages);
  const Placement before(std::vector<PlaceId>{0, 0, 0, 1});
  const Placement after = held(machine_from_text("core:2"), workload, before, 6);
  return migrations(before, after).at(0).task;
}

TEST(LoadCap,
     attachment_is_the_difference_of_affinities_inside_and_outside_the_place_per_second_of_load) {
  EXPECT_EQ(first_to_leave({{0, 2, 1, 70}, {1, 2, 1, 100}}), 1u);
  EXPECT_EQ(first_to_leave({{0, 2, 1, 20}, {1, 2, 1, 100}}), 0u);
  EXPECT_EQ(first_to_leave({{0, 2, 1, 40}, {1, 2, 1, 100}, {1, 3, 1, 50}}), 1u);
}

TEST(LoadCap, of_the_places_with_room_a_task_goes_to_the_one_to_which_it_has_the_largest_affinity) {
  const Machine machine = machine_from_text("core:4");
  Workload workload;
  for (const double load_s : {1.0, 2.0, 1.0, 1.0}) workload.tasks.push_back({.load_s = load_s});
  workload.messages = {{0, 2, 1, 10}, {0, 3, 1, 30}};
  const Placement before(std::vector<PlaceId>{0, 0, 1, 2});
  EXPECT_EQ(held(machine, workload, before, 2).of(0), 2u);
  workload.tasks[3].load_s = 1.5;
  EXPECT_EQ(held(machine, workload, before, 2).of(0), 1u);
}

TEST(LoadCap, a_task_without_partners_goes_to_the_place_that_would_finish_it_first) {
  const Machine machine = machine_from_text("core:4 speeds:1,1,4,1");
  Workload workload;
  for (const double load_s : {1.0, 2.0, 0.2, 2.0}) workload.tasks.push_back({.load_s = load_s});
  const Placement before(std::vector<PlaceId>{0, 0, 1, 2});
  EXPECT_EQ(held(machine, workload, before, 2).of(0), 2u);
  workload.tasks[3].load_s = 3.5;
  EXPECT_EQ(held(machine, workload, before, 2).of(0), 3u);
}

TEST(LoadCap, a_task_stays_on_its_node_or_in_its_row_of_a_torus_if_a_place_there_has_room) {
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 2}, {.load_s = 0.5}};
  for (const char* text : {"node:4 core:4", "torus:4x4 core:1"}) {
    const Machine machine = machine_from_text(text);
    const Placement before(std::vector<PlaceId>{5, 5, 6});
    workload.background_s.assign(16, 2);
    for (const PlaceId p : {0u, 5u, 6u}) workload.background_s[p] = 0;
    EXPECT_EQ(held(machine, workload, before, 2).of(0), 6u) << text;
    workload.background_s[6] = 1;
    EXPECT_EQ(held(machine, workload, before, 2).of(0), 0u) << text;
  }
}

TEST(LoadCap, light_tasks_make_way_for_a_heavy_one_if_no_exchange_meets_the_cap) {
  // Place 0 has two tasks of 5 s. One of them fits only on place 1, after two tasks have moved from
  // place 1 to place 2.
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  for (const double load_s : {5, 5, 1, 1, 1, 1, 3}) workload.tasks.push_back({.load_s = load_s});
  const Placement before(std::vector<PlaceId>{0, 0, 1, 1, 1, 1, 2});
  EXPECT_EQ(makespan_s(machine, workload, held(machine, workload, before, 7)), 7);
}

TEST(LoadCap, takes_less_than_quadratic_time_if_most_tasks_have_no_load) {
  // The loads of the two places are 7 and 5 s. Exchanging a task of 3 s for a task of 2 s meets the
  // cap; no single move does. If each pair of tasks were tried, this test would run for minutes.
  constexpr TaskId kTasks = 800'000;
  Workload workload;
  workload.tasks.resize(kTasks);
  Placement placement = blocked(kTasks, 2);
  for (const auto& [t, load_s] : {std::pair<TaskId, double>{kTasks / 2 - 3, 3},
                                  {kTasks / 2 - 2, 2},
                                  {kTasks / 2 - 1, 2},
                                  {kTasks - 2, 3},
                                  {kTasks - 1, 2}})
    workload.tasks[t].load_s = load_s;
  const Machine machine = machine_from_text("core:2");
  placement = held(machine, workload, placement, 6.1);
  EXPECT_EQ(makespan_s(machine, workload, placement), 6);
}

/// A few tasks whose loads are whole seconds. Some are pinned, and some exchange messages.
struct Drawn {
  Machine machine;
  Workload workload;
  Placement start;

  double makespan(const Placement& placement) const {
    return makespan_s(machine, workload, placement);
  }
  /// The shortest makespan of all placements that leave pinned tasks in place.
  double least_s(TaskId t, Placement& placement) const {
    if (t == workload.num_tasks()) return makespan(placement);
    if (!workload.tasks[t].movable) return least_s(t + 1, placement);
    double least = 1e18;
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      placement.move(t, p);
      least = std::min(least, least_s(t + 1, placement));
    }
    placement.move(t, start.of(t));
    return least;
  }
};

Drawn drawn(const char* text, TaskId num_tasks, std::uint64_t seed) {
  Random random(seed);
  Drawn made{machine_from_text(text), {}, Placement(num_tasks)};
  for (TaskId t = 0; t < num_tasks; ++t) {
    made.workload.tasks.push_back(
        {.load_s = 1.0 + random.below(9), .movable = random.below(6) > 0});
    made.start.move(t, random.below(made.machine.num_places()));
    made.workload.messages.push_back(
        {t, static_cast<TaskId>(random.below(num_tasks)), 1, 1 + random.below(9)});
  }
  if (seed % 3 == 0)
    for (PlaceId p = 0; p < made.machine.num_places(); ++p)
      made.workload.background_s.push_back(random.below(4));
  return made;
}

constexpr const char* kSmall[] = {"core:3", "node:2 core:2", "core:3 speeds:1,0.5,0.25",
                                  "core:4 speeds:1,0.75,0.75,0.5"};

TEST(LoadCap, never_moves_pinned_tasks_and_never_lengthens_the_makespan_to_meet_a_cap) {
  for (const char* text : kSmall)
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      const Drawn problem = drawn(text, 14, seed);
      const double before_s = problem.makespan(problem.start);
      for (const double part : {0.3, 0.5, 0.7, 0.9, 1.0}) {
        const double cap_s = part * before_s;
        const Placement after = held(problem.machine, problem.workload, problem.start, cap_s);
        EXPECT_LE(problem.makespan(after), before_s) << part;
        for (const Migration& moved : migrations(problem.start, after))
          EXPECT_TRUE(problem.workload.tasks[moved.task].movable) << moved.task;
        if (part == 1) {
          EXPECT_EQ(after, problem.start);
        }
      }
    }
}

TEST(LoadCap, a_cap_that_some_placement_meets_is_nearly_always_met) {
  int num_met = 0, num_cases = 0;
  for (const char* text : kSmall)
    for (std::uint64_t seed = 0; seed < fewer_if_sanitized(20); ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      const Drawn problem = drawn(text, 7, seed);
      Placement scratch = problem.start;
      const double least_s = problem.least_s(0, scratch);
      for (const double factor : {1.0, 1.1, 1.25, 1.5}) {
        const double cap_s = factor * least_s;
        const Placement after = held(problem.machine, problem.workload, problem.start, cap_s);
        ++num_cases;
        num_met += problem.makespan(after) <= cap_s * (1 + 1e-9) ? 1 : 0;
      }
    }
  EXPECT_GE(num_met, num_cases - 10);
}

TEST(LoadCap, if_no_placement_meets_the_cap_the_makespan_comes_close_to_the_shortest_possible) {
  POISE_SKIP_IF_SLOW();
  double sum = 0;
  int num_cases = 0;
  for (const char* text : kSmall)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      const Drawn problem = drawn(text, 7, seed);
      Placement scratch = problem.start;
      const double least_s = problem.least_s(0, scratch);
      const Placement after =
          held(problem.machine, problem.workload, problem.start, 0.99 * least_s);
      sum += problem.makespan(after) / least_s;
      ++num_cases;
    }
  EXPECT_LE(sum / num_cases, 1.018);
}

TEST(LoadCap,
     if_a_row_of_a_torus_or_dragonfly_is_full_a_task_goes_to_the_next_larger_group_with_room) {
  // Place 3 is in the plane of place 5 (on a dragonfly: in its group of routers). Place 12 is
  // outside that plane or group, but less busy than place 3.
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 2}};
  const Placement before(std::vector<PlaceId>{5, 5});
  for (const char* text : {"torus:2x2x4 core:1", "mesh:2x8 core:1", "mesh:2x4 node:2 core:1",
                           "dragonfly:2x8 core:1", "dragonfly:2x2 node:4 core:1"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    workload.background_s.assign(16, 2);
    workload.background_s[5] = 0;
    workload.background_s[3] = 0.5;
    workload.background_s[12] = 0;
    EXPECT_EQ(held(machine, workload, before, 2).of(0), 3u);
    workload.background_s[3] = 1.5;
    EXPECT_EQ(held(machine, workload, before, 2).of(0), 12u);
  }
}

TEST(LoadCap, is_the_larger_of_the_makespan_bound_and_the_product_of_average_load_and_tolerance) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  for (const double load_s : {5, 3, 2}) workload.tasks.push_back({.load_s = load_s});
  const Placement current(3, 0);
  EXPECT_EQ(load_cap_s({machine, workload, current, machine.costs()}, 1.5), 7.5);
  workload.tasks[0].load_s = 30;
  EXPECT_EQ(load_cap_s({machine, workload, current, machine.costs()}, 1.5), 30);
}

TEST(LoadCap, consecutive_nodes_of_a_torus_do_not_form_a_row_if_their_routers_are_listed) {
  MachineParts parts = machine_from_text("torus:4x4 core:1").parts();
  for (std::uint32_t node = 0; node < 16; ++node) parts.network.router_of_node.push_back(15 - node);
  const Machine machine(std::move(parts));
  Workload workload;
  workload.tasks = {{.load_s = 1}, {.load_s = 2}};
  workload.background_s.assign(16, 2);
  workload.background_s[5] = 0;
  workload.background_s[6] = 0.5;
  workload.background_s[12] = 0;
  EXPECT_EQ(held(machine, workload, Placement(std::vector<PlaceId>{5, 5}), 2).of(0), 12u);
}

}  // namespace
}  // namespace poise
