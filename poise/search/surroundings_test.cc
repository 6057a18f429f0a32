// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/surroundings.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/metrics.h"
#include "poise/workload/generate.h"

namespace poise {
namespace {

std::vector<double> busy_s(const Problem& problem, const Placement& placement) {
  return place_times(problem.machine, problem.workload, problem.costs, placement).busy_s();
}

TEST(Surroundings, predicts_the_busy_time_of_every_place_after_a_task_moves) {
  // The machines cover four cases: equal message costs inside a domain, different costs inside a
  // domain, a machine with a single domain, and message costs per byte.
  for (const char* text : {"node:2 numa:2 core:2 factors:10,1.5,1 speeds:1,0.5",
                           "node:2 l3:2 core:2 factors:10,3,2 byte:1e-9", "core:5",
                           "numa:3 core:2 factors:2,1 byte:1e-9"}) {
    SCOPED_TRACE(text);
    const Machine machine = machine_from_text(text);
    const Workload workload = generate(parse_recipe("rmat:messages=20"), 60, 3).front();
    const Placement current = initial_placement("random", 60, machine.num_places(), 2);
    const Problem problem{machine, workload, current, machine.costs()};
    const BusyTimes times(machine, workload, machine.costs(), current);
    Surroundings around(problem, times);
    for (TaskId t = 0; t < workload.num_tasks(); ++t)
      for (PlaceId to = 0; to < machine.num_places(); ++to) {
        if (to == current.of(t)) continue;
        Placement moved = current;
        moved.move(t, to);
        const std::vector<double> before = busy_s(problem, current), after = busy_s(problem, moved);
        for (PlaceId p = 0; p < machine.num_places(); ++p) {
          around.gather(t);
          const double change_s = around.worth_at(to, [&](PlaceId place, double busy_s) {
            return place == p ? busy_s - before[p] : 0;
          });
          ASSERT_NEAR(change_s, after[p] - before[p], 1e-12)
              << "task " << t << " to " << to << " at " << p;
        }
      }
  }
}

TEST(Surroundings, the_value_of_a_move_does_not_depend_on_which_other_places_were_tried_before) {
  const Machine machine = machine_from_text("numa:2 core:4 factors:2,1");
  const Workload workload = generate(parse_recipe("rmat:messages=20"), 40, 3).front();
  const Placement current = initial_placement("random", 40, machine.num_places(), 2);
  const Problem problem{machine, workload, current, machine.costs()};
  const BusyTimes times(machine, workload, machine.costs(), current);
  const auto square = [&](PlaceId p, double busy_s) {
    return busy_s * busy_s - times.busy_s(p) * times.busy_s(p);
  };
  Surroundings in_a_row(problem, times), afresh(problem, times);
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    in_a_row.gather(t);
    for (PlaceId to = 0; to < machine.num_places(); ++to) {
      if (to == current.of(t)) continue;
      afresh.gather(t);
      EXPECT_NEAR(in_a_row.worth_at(to, square), afresh.worth_at(to, square), 1e-15);
    }
  }
}

TEST(Surroundings, predicts_busy_times_of_places_and_communication_resources_after_a_task_moves) {
  for (const char* text :
       {"numa:2 core:3 factors:2,1 bus:1e5 overhead:1e-2 copy:1e-6",
        "numa:2 l3:2 core:2 factors:3,2,1.3 bus:1e5 overhead:1e-2 copy:1e-6",
        ("rack:2 node:2 numa:2 core:2 factors:9,5,2,1 bus:1e6 bandwidth:3e5 gap:1e-3 uplink:1e5 "
         "overhead:1e-2 copy:1e-6"),
        "node:3 core:2 bandwidth:0 shared_network:1e5 overhead:1e-2 copy:0"}) {
    SCOPED_TRACE(text);
    const Machine machine = with_formula(machine_from_text(text), CostFormula::physical);
    Workload workload = generate(parse_recipe("rmat:messages=20"), 60, 3).front();
    workload.overlap = 1;
    const Placement current = initial_placement("random", 60, machine.num_places(), 2);
    const Problem problem{machine, workload, current, machine.costs()};
    BusyTimes times(machine, workload, machine.costs(), current);
    Surroundings around(problem, times);
    for (TaskId t = 0; t < workload.num_tasks(); ++t) {
      around.gather(t);
      for (PlaceId to = 0; to < machine.num_places(); ++to) {
        if (to == current.of(t)) continue;
        times.try_move(t, to);
        // Every spot (a place or a resource) has a different weight, so that errors in the changes
        // of two spots cannot cancel each other.
        const auto weighted = [](SpotId spot, double change_s) { return (spot + 1) * change_s; };
        double expected = 0;
        for (SpotId spot = 0; spot < times.num_spots(); ++spot)
          expected += weighted(spot, times.change_s(spot));
        const double change = around.worth_at(to, [&](SpotId spot, double busy_s) {
          return weighted(spot, busy_s - times.busy_s(spot));
        });
        ASSERT_NEAR(change, expected, 1e-9 * (1 + std::abs(expected)))
            << "task " << t << " to " << to;
      }
    }
  }
}

TEST(Surroundings, lower_bounds_on_the_value_of_a_move_never_exceed_the_exact_value) {
  for (const char* text : {"node:2 numa:2 core:2 factors:10,1.5,1 speeds:1,0.5",
                           "node:2 l3:2 core:2 factors:10,3,2 bus:1e5 overhead:1e-2 copy:1e-6",
                           "node:3 core:2 bandwidth:3e5 gap:1e-3 overhead:1e-2 copy:0"})
    for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical}) {
      SCOPED_TRACE(text);
      const Machine machine = with_formula(machine_from_text(text), formula);
      const Workload workload = generate(parse_recipe("rmat:messages=20"), 60, 3).front();
      const Placement current = initial_placement("random", 60, machine.num_places(), 2);
      const Problem problem{machine, workload, current, machine.costs()};
      const BusyTimes times(machine, workload, machine.costs(), current);
      Surroundings around(problem, times);
      const auto cubed = [&](SpotId spot, double busy_s) {
        return std::pow(busy_s, 3) - std::pow(times.busy_s(spot), 3);
      };
      int num_tight = 0;
      for (TaskId t = 0; t < workload.num_tasks(); ++t) {
        around.gather(t);
        const double of_all = around.least_worth(cubed);
        for (PlaceId to = 0; to < machine.num_places(); ++to) {
          if (to == current.of(t)) continue;
          const double bound = around.least_worth_at(to, cubed), worth = around.worth_at(to, cubed);
          const double margin = 1e-9 * (1 + std::abs(worth));
          ASSERT_LE(bound, worth + margin) << "task " << t << " to " << to;
          ASSERT_LE(of_all, worth + margin) << "task " << t << " to " << to;
          num_tight += worth - bound <= 0.5 * std::abs(worth) ? 1 : 0;
        }
      }
      EXPECT_GT(num_tight, 0);
    }
}

TEST(Surroundings, the_heaviest_places_for_a_task_are_those_with_the_longest_total_message_time) {
  // A message takes 3 s and a byte 1 s, before factors. Task 0, at place 0, exchanges messages with
  // tasks at places 0 to 5. The comments say how long the messages with each place take.
  const Machine machine = machine_from_text("node:2 core:3 factors:9,1 message:3 byte:1");
  Workload workload;
  workload.tasks.assign(9, {.load_s = 1});
  workload.messages = {{0, 1, 1, 0}, {1, 0, 1, 1},  // messages with place 0 take 7 s
                       {0, 2, 0, 5}, {0, 3, 1, 0},  // messages with place 1 take 8 s
                       {4, 0, 3, 0},                // messages with place 2 take 9 s
                       {0, 5, 0, 1}, {5, 0, 0, 5},  // messages with place 3 take 6 s
                       {6, 0, 1, 0}, {7, 0, 0, 2},  // messages with place 4 take 5 s
                       {0, 8, 1, 1}};               // messages with place 5 take 4 s
  const Placement current(std::vector<PlaceId>{0, 0, 1, 1, 2, 3, 4, 4, 5});
  const BusyTimes times(machine, workload, machine.costs(), current);
  const Problem problem{machine, workload, current, machine.costs()};
  Surroundings around(problem, times);
  const std::vector<PlaceId> heaviest_first = {2, 1, 0, 3, 4, 5};
  for (std::size_t most = 0; most <= 7; ++most) {
    around.gather(0);
    std::vector<PlaceId> places = {77};
    around.append_heaviest(most, places);
    ASSERT_EQ(places.size(), 1 + std::min<std::size_t>(most, 6));
    EXPECT_EQ(places[0], 77u);
    std::vector<PlaceId> found(places.begin() + 1, places.end());
    std::vector<PlaceId> expected(heaviest_first.begin(),
                                  heaviest_first.begin() + std::min<std::size_t>(most, 6));
    std::ranges::sort(found);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected) << most;
  }
}

TEST(Surroundings, counts_the_partners_and_places_that_it_examines) {
  const Machine machine = machine_from_text("node:2 core:3 factors:9,1");
  Workload workload;
  workload.tasks.assign(6, {.load_s = 1});
  for (TaskId t = 1; t < 6; ++t) workload.messages.push_back({t, 0, 1, 0});
  const Placement current(std::vector<PlaceId>{0, 1, 1, 2, 3, 3});
  const BusyTimes times(machine, workload, machine.costs(), current);
  const Problem problem{machine, workload, current, machine.costs()};
  Surroundings around(problem, times);
  std::uint64_t before = 0;
  const auto more = [&] { return around.scans() - std::exchange(before, around.scans()); };
  const auto worth = [](SpotId, double busy_s) { return busy_s; };
  around.gather(0);
  EXPECT_EQ(more(), 5u + 3u) << "partners, and places with partners";
  around.least_worth(worth);
  EXPECT_EQ(more(), 3u) << "places with partners";
  around.least_worth_at(4, worth);
  EXPECT_EQ(more(), 0u);
  around.worth_at(4, worth);
  EXPECT_EQ(more(), 1u + 3u + 2u) << "the place, and the places and domains with partners";
  around.worth_at(5, worth);
  EXPECT_EQ(more(), 1u) << "another place of the same domain";
  around.worth_at(1, worth);
  EXPECT_EQ(more(), 1u + 3u + 2u) << "a place of another domain";
}

}  // namespace
}  // namespace poise
