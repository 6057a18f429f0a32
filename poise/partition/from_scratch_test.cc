// SPDX-License-Identifier: BSD-3-Clause

#include "poise/partition/from_scratch.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/search/tuning.h"
#include "poise/strategies/strategy.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

Placement anew(const Machine& machine, const Workload& workload, const Placement& current,
               const char* knobs = "") {
  return parse_strategy(std::string("poise:from_scratch=1") + knobs)
      .rebalance({machine, workload, current, machine.costs(), 1});
}

Metrics judged(const Machine& machine, const Workload& workload, const Placement& current,
               const Placement& placement) {
  return evaluate(machine, workload, machine.costs(), current, placement);
}

TEST(FromScratch, traffic_of_a_grid_of_tasks_is_at_most_a_tenth_above_that_of_square_blocks) {
  const Machine machine = machine_from_text("node:4 core:4 factors:10,1");
  const Workload workload = generate(parse_recipe("stencil2d:skew=equal"), 32 * 32, 1).front();
  const Placement current = initial_placement("random", 32 * 32, 16, 1);
  const Metrics metrics = judged(machine, workload, current, anew(machine, workload, current));
  // The grid does not wrap around. With square blocks, each node has 16 x 16 tasks and each core 8
  // x 8. Messages go both ways.
  Placement squares(32 * 32);
  for (TaskId t = 0; t < 32 * 32; ++t) {
    const TaskId x = t % 32, y = t / 32;
    squares.move(t, 8 * (y / 16) + 4 * (x / 16) + 2 * (y / 8 % 2) + x / 8 % 2);
  }
  EXPECT_LE(metrics.nuco_messages, 1.1 * judged(machine, workload, current, squares).nuco_messages);
  EXPECT_LE(metrics.makespan_s, (1.0001 + kTuning.tolerance) * metrics.makespan_bound_s);
}

TEST(FromScratch, every_place_stays_below_the_load_cap) {
  for (const char* recipe :
       {"stencil3d:skew=lognormal", "geometric", "rmat", "leanmd", "commbench"})
    for (const char* text : {"node:4 numa:2 core:4 factors:10,1.5,1", "numa:2 core:4 speeds:1,0.5",
                             "torus:2x3 core:4"}) {
      SCOPED_TRACE(std::string(recipe) + " on " + text);
      const Machine machine = machine_from_text(text);
      const Workload workload = generate(parse_recipe(recipe), 1500, 3).front();
      const Placement current =
          initial_placement("blocked", workload.num_tasks(), machine.num_places(), 1);
      const Metrics metrics = judged(machine, workload, current, anew(machine, workload, current));
      EXPECT_LE(metrics.makespan_s, std::max((1.0001 + kTuning.tolerance) * metrics.average_s,
                                             1.0001 * metrics.makespan_bound_s));
    }
}

TEST(FromScratch, makespan_meets_the_load_cap_or_is_no_longer_than_with_list_scheduling) {
  const Machine machine = machine_from_text("node:4 core:8 factors:10,1");
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    Workload workload = generate(parse_recipe("stencil3d:skew=equal"), 480, seed).front();
    Random random(seed);
    for (PlaceId p = 0; p < 32; ++p) workload.background_s.push_back(0.4 * random.uniform());
    // Ten of the 32 places have one large task each.
    for (TaskId t = 0; t < 480; ++t)
      workload.tasks[t].load_s = (t % 48 == 0   ? 0.94
                                  : t % 16 == 1 ? 0.4
                                                : 0.01) *
                                 (0.97 + 0.06 * random.uniform());
    const Placement current = initial_placement("blocked", 480, 32, 1);
    const Placement listed =
        parse_strategy("greedy").rebalance({machine, workload, current, machine.costs(), 1});
    const Metrics best = judged(machine, workload, current, listed);
    const Metrics ours = judged(machine, workload, current, anew(machine, workload, current));
    EXPECT_LE(ours.makespan_s, std::max({(1.0001 + kTuning.tolerance) * best.average_s,
                                         best.makespan_bound_s, best.makespan_s}));
  }
}

TEST(FromScratch, the_placement_does_not_depend_on_the_number_of_threads) {
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  const Workload workload = generate(parse_recipe("geometric"), 20'000, 3).front();
  const Placement current(workload.num_tasks(), 0);
  const Placement one = anew(machine, workload, current);
  EXPECT_EQ(one, anew(machine, workload, current, ",threads=2"));
  EXPECT_EQ(one, anew(machine, workload, current, ",threads=7"));
}

TEST(FromScratch, moves_no_task_if_the_new_placement_would_only_renumber_equivalent_places) {
  const Machine machine = machine_from_text("node:4 numa:2 core:4 factors:10,1.5,1");
  const Workload workload = generate(parse_recipe("stencil3d:skew=lognormal"), 2000, 3).front();
  const Placement first = anew(machine, workload, Placement(2000, 0));
  // The same placement, but nodes, domains in each node and neighbouring cores are permuted.
  Placement renamed(2000);
  for (TaskId t = 0; t < 2000; ++t) renamed.move(t, (first.of(t) + 8 * 3) % 32 ^ 4);
  for (TaskId t = 0; t < 2000; ++t) renamed.move(t, renamed.of(t) ^ 1);
  EXPECT_EQ(judged(machine, workload, renamed, anew(machine, workload, renamed)).migrations, 0u);
}

TEST(FromScratch,
     moves_no_task_if_there_are_no_messages_and_the_current_placement_meets_the_load_cap) {
  const Machine machine = machine_from_text("node:2 core:2");
  Workload workload;
  for (const double load_s : {1, 1, 2, 2, 3, 3, 4, 4}) workload.tasks.push_back({.load_s = load_s});
  const Placement current(std::vector<PlaceId>{0, 1, 2, 3, 2, 3, 0, 1});
  EXPECT_EQ(anew(machine, workload, current), current);
}

TEST(FromScratch, keeps_pinned_tasks_on_their_places_and_counts_background_load) {
  const Machine machine = machine_from_text("numa:2 core:4 factors:2,1");
  Workload workload = generate(parse_recipe("stencil2d:skew=equal"), 800, 3).front();
  for (TaskId t = 0; t < 800; t += 10) workload.tasks[t].movable = false;
  workload.background_s.assign(8, 0);
  workload.background_s[5] = average_s(machine, workload);
  const Placement current = initial_placement("random", 800, 8, 2);
  const Placement placed = anew(machine, workload, current);
  for (TaskId t = 0; t < 800; t += 10) EXPECT_EQ(placed.of(t), current.of(t));
  const Metrics metrics = judged(machine, workload, current, placed);
  EXPECT_LE(metrics.makespan_s, std::max((1.0001 + kTuning.tolerance) * metrics.average_s,
                                         1.0001 * metrics.makespan_bound_s));
}

TEST(FromScratch, places_communicating_tasks_on_neighbouring_nodes_of_a_torus) {
  const Machine machine = machine_from_text("torus:4x4 core:4");
  const Workload workload = generate(parse_recipe("stencil2d:skew=equal"), 4096, 3).front();
  const Placement current = initial_placement("random", 4096, 64, 2);
  const Metrics ours = judged(machine, workload, current, anew(machine, workload, current));
  const Metrics theirs = judged(machine, workload, current,
                                parse_strategy("treematch:only_better=0")
                                    .rebalance({machine, workload, current, machine.costs(), 1}));
  EXPECT_LE(ours.iteration_s, theirs.iteration_s);

  // With `tolerance` 0.05, loads may be nearly as uneven as in the placement by treematch. Then the
  // placement from scratch has no more traffic than the placement by treematch.
  Tuning uneven;
  uneven.tolerance = 0.05;
  const Metrics as_uneven =
      judged(machine, workload, current,
             placed_from_scratch({machine, workload, current, machine.costs(), 1}, {}, uneven));
  EXPECT_LE(as_uneven.nuco_messages, theirs.nuco_messages);
  EXPECT_LE(as_uneven.makespan_s, 1.0001 * theirs.makespan_s);
}

TEST(FromScratch, does_not_add_traffic_if_the_current_placement_meets_the_load_cap) {
  for (const char* text : {"node:4 numa:2 core:4 factors:10,1.5,1", "torus:4x4 core:4"})
    for (const char* recipe : {"stencil3d:skew=equal", "stencil2d:skew=equal", "rmat", "geometric"})
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        SCOPED_TRACE(fmt::format("{} {} {}", text, recipe, seed));
        const Machine machine = machine_from_text(text);
        const Workload workload = generate(parse_recipe(recipe), 512, seed).front();
        Placement current = blocked(512, machine.num_places());
        // The current placement comes from a search with the default effort, so it has little
        // traffic. The search below has less effort. It must return the current placement, or a
        // placement with no more traffic.
        current = placed_from_scratch({machine, workload, current, machine.costs()}, {});
        const Problem problem{machine, workload, current, machine.costs()};
        const double now =
            evaluate(machine, workload, machine.costs(), current, current).nuco_messages;
        const Placement placed = placed_from_scratch(problem, {.attempts = 2, .climbs = 0});
        EXPECT_LE(evaluate(machine, workload, machine.costs(), current, placed).nuco_messages,
                  now * (1 + 1e-9));
      }
}

TEST(FromScratch, finds_nearly_the_least_traffic_of_all_placements_within_the_load_cap) {
  double sum = 0, least_sum = 0;
  for (const char* text :
       {"node:2 core:2 factors:10,1", "torus:4 core:1", "core:3 speeds:1,0.5,0.5"})
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      SCOPED_TRACE(fmt::format("{} {}", text, seed));
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const std::uint32_t num_places = machine.num_places();
      Workload workload;
      for (TaskId t = 0; t < 8; ++t) {
        workload.tasks.push_back({.load_s = 1.0 + random.below(3)});
        for (TaskId u = 0; u < t; ++u)
          if (random.below(2) == 0) workload.messages.push_back({t, u, 1 + random.below(50), 0});
      }
      Placement current(8), placement(8);
      for (TaskId t = 0; t < 8; ++t) current.move(t, random.below(num_places));
      const Problem problem{machine, workload, current, machine.costs()};
      const Placement found = placed_from_scratch(problem, {});
      const Metrics ours = judged(machine, workload, current, found);
      // Compares the traffic of the placement found with the least traffic of all placements whose
      // makespan is at most as long.
      std::uint32_t num_placements = 1;
      for (TaskId t = 0; t < 8; ++t) num_placements *= num_places;
      double least = ours.nuco_messages;
      for (std::uint32_t code = 0; code < num_placements; ++code) {
        std::vector<double> busy_s(num_places, 0);
        double traffic = 0, longest_s = 0;
        for (std::uint32_t t = 0, rest = code; t < 8; ++t, rest /= num_places) {
          placement.move(t, rest % num_places);
          longest_s =
              std::max(longest_s, busy_s[rest % num_places] +=
                                  workload.tasks[t].load_s / machine.speed_of(rest % num_places));
        }
        if (longest_s > ours.makespan_s) continue;
        for (const Message& m : workload.messages)
          traffic += m.count * machine.message_factor(placement.of(m.from), placement.of(m.to));
        least = std::min(least, traffic);
      }
      sum += ours.nuco_messages;
      least_sum += least;
    }
  EXPECT_LE(sum, 1.051 * least_sum);
}

}  // namespace
}  // namespace poise
