// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/busy_times.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/message_times.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

constexpr const char* kMachines[] = {
    "core:5",
    "node:2 numa:2 core:2 factors:10,1.5,1",
    "node:2 numa:2 l3:2 core:2 factors:20,2,1.2,1 byte:1e-9",
    "torus:3x2 node:2 core:2 factors:10,8,1 speeds:1,0.5 byte:1e-9",
};

/// Draws random messages. Some pairs appear several times, some tasks send to themselves, and some
/// entries have no bytes or no messages.
Workload drawn_workload(TaskId num_tasks, Random& random) {
  Workload workload;
  for (TaskId t = 0; t < num_tasks; ++t) workload.tasks.push_back({.load_s = random.uniform()});
  for (TaskId m = 0; m < 5 * num_tasks; ++m)
    workload.messages.push_back({static_cast<TaskId>(random.below(num_tasks)),
                                 static_cast<TaskId>(random.below(num_tasks)),
                                 random.below(4) == 0 ? 0 : 1 + random.below(100),
                                 random.below(4) == 0 ? 0 : random.below(100000)});
  return workload;
}

struct Scene {
  Machine machine;
  Workload workload;
  Placement placement;
  CostModel costs;

  Scene(const char* text, Random& random, TaskId num_tasks = 30)
      : machine(machine_from_text(text)),
        workload(drawn_workload(num_tasks, random)),
        placement(round_robin(num_tasks, machine.num_places())),
        costs(machine.costs()) {
    costs.seconds_per_message = 1e-2;
  }
  double iteration_s(const Placement& after) const {
    return evaluate(machine, workload, costs, placement, after).iteration_s;
  }
  PlaceTimes times_of(const BusyTimes& times) const {
    return place_times(machine, workload, costs, Placement(times.places()));
  }
};

TEST(BusyTimes, busy_times_equal_those_computed_anew_after_every_move) {
  for (const char* text : kMachines) {
    SCOPED_TRACE(text);
    Random random(1);
    const Scene scene(text, random);
    BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
    for (int move = 0; move < 100; ++move) {
      times.move(static_cast<TaskId>(random.below(30)),
                 static_cast<PlaceId>(random.below(scene.machine.num_places())));
      const PlaceTimes fresh = scene.times_of(times);
      for (PlaceId p = 0; p < scene.machine.num_places(); ++p)
        ASSERT_NEAR(times.busy_s(p), fresh.work_s[p] + fresh.comm_s[p], 1e-9);
    }
  }
}

TEST(BusyTimes, a_trial_returns_the_busy_times_after_a_move_or_swap_but_moves_nothing) {
  for (const char* text : kMachines) {
    SCOPED_TRACE(text);
    Random random(2);
    const Scene scene(text, random);
    BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
    for (int trial = 0; trial < 200; ++trial) {
      const auto t = static_cast<TaskId>(random.below(30));
      const auto u = static_cast<TaskId>(random.below(30));
      if (t == u) continue;
      const PlaceId from = times.place_of(t), to = times.place_of(u);
      const bool is_swap = trial % 2 == 0;
      const BusyTimes::Effect effect = is_swap ? times.try_swap(t, u) : times.try_move(t, to);
      EXPECT_EQ(times.place_of(t), from);
      std::vector<double> foretold;
      for (PlaceId p = 0; p < scene.machine.num_places(); ++p)
        foretold.push_back(times.busy_s(p) + times.change_s(p));
      times.move(t, to);
      if (is_swap) times.move(u, from);
      double peak_s = 0;
      for (PlaceId p = 0; p < scene.machine.num_places(); ++p) {
        ASSERT_NEAR(times.busy_s(p), foretold[p], 1e-9);
        peak_s = std::max(peak_s, times.busy_s(p));
      }
      EXPECT_LE(effect.peak_s, peak_s + 1e-9);
    }
  }
}

TEST(BusyTimes, a_trial_of_a_move_returns_the_change_of_the_total_message_time) {
  for (const char* text : kMachines) {
    SCOPED_TRACE(text);
    Random random(3);
    const Scene scene(text, random);
    BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
    const auto traffic_s = [&] {
      double sum = 0;
      for (const double comm_s : scene.times_of(times).comm_s) sum += comm_s;
      return sum;
    };
    for (int move = 0; move < 50; ++move) {
      const double before = traffic_s();
      const auto t = static_cast<TaskId>(random.below(30));
      const auto to = static_cast<PlaceId>(random.below(scene.machine.num_places()));
      const double change = times.try_move(t, to).traffic_s;
      times.move(t, to);
      EXPECT_NEAR(traffic_s() - before, change, 1e-9);
    }
  }
}

constexpr const char* kPhysicalMachines[] = {
    "numa:2 core:2 factors:2,1.3 bus:1e5 overhead:1e-2 copy:1e-6 latency:0",
    ("rack:2 node:2 numa:2 core:2 factors:9,5,2,1 bus:1e6 bandwidth:3e5 gap:1e-3 uplink:1e5 "
     "overhead:1e-2 copy:1e-6 latency:1e-2"),
    "node:3 core:2 bandwidth:0 shared_network:1e5 overhead:1e-2 copy:0 latency:0 speeds:1,0.5,2",
    ("node:2 l3:2 core:2 factors:9,3,1.5 bus:1e6 bandwidth:3e5 overhead:1e-2 copy:1e-6 "
     "latency:1e-2"),
};

TEST(BusyTimes, busy_times_by_the_physical_formula_equal_those_computed_anew_after_every_move) {
  for (const char* text : kPhysicalMachines)
    for (const double overlap : {0.0, 0.6, 1.0}) {
      SCOPED_TRACE(text);
      Random random(4);
      Scene scene(text, random);
      scene.costs.formula = CostFormula::physical;
      scene.workload.overlap = overlap;
      BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
      for (int move = 0; move < 50; ++move) {
        times.move(static_cast<TaskId>(random.below(30)),
                   static_cast<PlaceId>(random.below(scene.machine.num_places())));
        const Placement placement(times.places());
        const std::vector<double> work = work_s(scene.machine, scene.workload, placement);
        const MessageTimes fresh =
            message_times(scene.machine, scene.workload, scene.costs, placement);
        BusyTimes now = times;
        now.refresh();
        double peak_s = 0;
        for (PlaceId p = 0; p < scene.machine.num_places(); ++p) {
          ASSERT_NEAR(now.busy_s(p),
                      work[p] + fresh.overhead_s[p] + (1 - overlap) * fresh.exposed_s[p], 1e-9);
          ASSERT_NEAR(now.pressure_s(p), std::max(now.busy_s(p), fresh.exposed_s[p]), 1e-9);
          peak_s = std::max(peak_s, now.pressure_s(p));
        }
        ASSERT_NEAR(peak_s, scene.iteration_s(placement), 1e-9);
        if (overlap == 1) {
          for (std::size_t r = 0; r < fresh.resource_s.size(); ++r)
            ASSERT_NEAR(now.busy_s(static_cast<SpotId>(scene.machine.num_places() + r)),
                        fresh.resource_s[r], 1e-9);
        }
      }
    }
}

TEST(BusyTimes, a_trial_of_a_move_or_swap_predicts_the_busy_times_of_shared_resources) {
  for (const char* text : kPhysicalMachines) {
    SCOPED_TRACE(text);
    Random random(5);
    Scene scene(text, random);
    scene.costs.formula = CostFormula::physical;
    scene.workload.overlap = 1;
    BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
    for (int trial = 0; trial < 100; ++trial) {
      const auto t = static_cast<TaskId>(random.below(30));
      const auto u = static_cast<TaskId>(random.below(30));
      if (t == u) continue;
      const PlaceId from = times.place_of(t), to = times.place_of(u);
      const bool is_swap = trial % 2 == 0;
      is_swap ? times.try_swap(t, u) : times.try_move(t, to);
      std::vector<double> foretold;
      for (SpotId spot = 0; spot < times.num_spots(); ++spot)
        foretold.push_back(times.busy_s(spot) + times.change_s(spot));
      times.move(t, to);
      if (is_swap) times.move(u, from);
      const MessageTimes fresh =
          message_times(scene.machine, scene.workload, scene.costs, Placement(times.places()));
      for (std::size_t r = 0; r < fresh.resource_s.size(); ++r)
        ASSERT_NEAR(foretold[scene.machine.num_places() + r], fresh.resource_s[r], 1e-9);
    }
  }
}

TEST(BusyTimes,
     after_a_trial_the_iteration_bound_is_at_least_every_busy_time_that_the_move_affects) {
  for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical})
    for (const char* text : kPhysicalMachines) {
      SCOPED_TRACE(text);
      Random random(9);
      Scene scene(text, random);
      scene.costs.formula = formula;
      scene.workload.overlap = 0.3;
      BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
      for (int trial = 0; trial < 60; ++trial) {
        const auto t = static_cast<TaskId>(random.below(30));
        const auto to = static_cast<PlaceId>(random.below(scene.machine.num_places()));
        times.try_move(t, to);
        const double least_s = times.least_iteration_s();
        Placement after(times.places());
        after.move(t, to);
        ASSERT_LE(least_s, scene.iteration_s(after) + 1e-9);
        const std::vector<double> work = work_s(scene.machine, scene.workload, after);
        const PlaceTimes nuco = place_times(scene.machine, scene.workload, scene.costs, after);
        const MessageTimes fresh = message_times(scene.machine, scene.workload, scene.costs, after);
        for (const SpotId spot : times.touched()) {
          const PlaceId num_places = scene.machine.num_places();
          const double affected_s = spot >= num_places ? fresh.resource_s[spot - num_places]
                                    : formula == CostFormula::nuco
                                        ? work[spot] + nuco.comm_s[spot]
                                        : work[spot] + fresh.overhead_s[spot];
          ASSERT_GE(least_s, affected_s - 1e-9) << "spot " << spot;
        }
        if (trial % 3 == 0) times.move(t, to);
        if (trial % 10 == 0) times.refresh();
      }
    }
}

TEST(BusyTimes, waiting_times_increase_at_once_if_a_move_puts_messages_on_slower_resources) {
  for (const char* text : kPhysicalMachines) {
    SCOPED_TRACE(text);
    Random random(10);
    Scene scene(text, random);
    scene.costs.formula = CostFormula::physical;
    scene.workload.overlap = 0.3;
    const PlaceId num_places = scene.machine.num_places();
    BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
    int num_rises = 0;
    for (int move = 0; move < 60; ++move) {
      if (move % 8 == 0) times.refresh();
      std::vector<double> expected_s;
      for (PlaceId p = 0; p < num_places; ++p) expected_s.push_back(times.exposed_s(p));
      const std::vector<double> before_s = expected_s;
      const auto t = static_cast<TaskId>(random.below(30));
      const auto to = static_cast<PlaceId>(random.below(num_places));
      times.move(t, to);
      for (const Arc& arc : times.arcs_of(t)) {
        const PlaceId other = times.place_of(arc.task);
        if (other == to) continue;
        const auto wait = [&](ResourceId r, double, double) {
          for (const PlaceId p : {to, other})
            expected_s[p] = std::max(expected_s[p], times.resource_s(r));
        };
        const DomainId here = scene.machine.domain_of(to), there = scene.machine.domain_of(other);
        if (arc.in + arc.in_bytes > 0) times.resources()->for_each_crossed(there, here, wait);
        if (arc.out + arc.out_bytes > 0) times.resources()->for_each_crossed(here, there, wait);
      }
      const Placement placement(times.places());
      const std::vector<double> work = work_s(scene.machine, scene.workload, placement);
      const MessageTimes fresh =
          message_times(scene.machine, scene.workload, scene.costs, placement);
      for (PlaceId p = 0; p < num_places; ++p) {
        ASSERT_NEAR(times.exposed_s(p), expected_s[p], 1e-9) << "place " << p;
        ASSERT_NEAR(times.busy_s(p), work[p] + fresh.overhead_s[p] + 0.7 * expected_s[p], 1e-9);
      }
      num_rises += expected_s != before_s;
    }
    EXPECT_GT(num_rises, 0);
  }
}

TEST(BusyTimes,
     the_weight_of_a_resource_follows_from_the_relative_busy_times_of_the_places_that_wait_for_it) {
  for (const char* text : kPhysicalMachines)
    for (const double overlap : {0.0, 0.6, 1.0})
      for (const int exponent : {1, 2, 3, 8}) {
        SCOPED_TRACE(text);
        Random random(11);
        Scene scene(text, random);
        scene.costs.formula = CostFormula::physical;
        scene.workload.overlap = overlap;
        const PlaceId num_places = scene.machine.num_places();
        BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
        if (exponent != 1) times.refresh(exponent);  // the constructor uses exponent 1
        std::vector<double> waiting(times.num_spots(), 0);
        for (PlaceId p = 0; p < num_places; ++p)
          if (const SpotId slowest = times.slowest_resource(p); slowest != 0) {
            ASSERT_GE(slowest, num_places);
            ASSERT_LE(times.resource_s(slowest - num_places), times.exposed_s(p) + 1e-9);
            const double share = std::min(1.0, times.busy_s(p) / times.busy_s(slowest));
            waiting[slowest] += std::pow(share, exponent - 1);
          }
        for (SpotId spot = 0; spot < times.num_spots(); ++spot)
          EXPECT_NEAR(times.weight(spot),
                      waiting[spot] == 0 ? 1 : overlap + (1 - overlap) * waiting[spot], 1e-9);
      }
}

TEST(BusyTimes, a_move_has_exactly_the_same_effect_whether_or_not_it_was_tried_before) {
  for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical})
    for (const char* text : kPhysicalMachines) {
      SCOPED_TRACE(text);
      Random random(8);
      Scene scene(text, random);
      scene.costs.formula = formula;
      BusyTimes untried(scene.machine, scene.workload, scene.costs, scene.placement);
      BusyTimes tried(scene.machine, scene.workload, scene.costs, scene.placement);
      for (int move = 0; move < 100; ++move) {
        const auto t = static_cast<TaskId>(random.below(30));
        const auto to = static_cast<PlaceId>(random.below(scene.machine.num_places()));
        tried.try_move(t, to);
        if (move % 5 == 0)
          for (BusyTimes* times : {&untried, &tried}) times->refresh();
        untried.move(t, to);
        tried.move(t, to);
        for (SpotId spot = 0; spot < tried.num_spots(); ++spot) {
          ASSERT_EQ(tried.busy_s(spot), untried.busy_s(spot));
          ASSERT_EQ(tried.change_s(spot), untried.change_s(spot));
        }
      }
    }
}

TEST(BusyTimes, the_lower_bound_on_the_busy_time_after_a_move_never_exceeds_the_exact_time) {
  for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical})
    for (const char* text : kPhysicalMachines) {
      SCOPED_TRACE(text);
      Random random(6);
      Scene scene(text, random);
      scene.costs.formula = formula;
      BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
      int num_tight = 0;
      for (int trial = 0; trial < 200; ++trial) {
        const auto t = static_cast<TaskId>(random.below(30));
        const auto to = static_cast<PlaceId>(random.below(scene.machine.num_places()));
        if (to == times.place_of(t)) continue;
        times.try_move(t, to);
        const double tried_s = times.busy_s(to) + times.change_s(to);
        const double least_s = times.least_busy_s(t, to);
        ASSERT_LE(least_s, tried_s + 1e-12);
        num_tight += least_s > times.busy_s(to);
        times.move(t, to);
      }
      EXPECT_GT(num_tight, 0);
    }
}

TEST(BusyTimes, a_trial_lists_all_that_a_move_changes_and_returns_the_largest_new_busy_time) {
  for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical})
    for (const char* text : kPhysicalMachines) {
      SCOPED_TRACE(text);
      Random random(12);
      Scene scene(text, random);
      scene.costs.formula = formula;
      scene.workload.overlap = 1;  // so waiting for resources does not change busy times
      BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
      for (int trial = 0; trial < 100; ++trial) {
        const auto t = static_cast<TaskId>(random.below(30));
        const auto u = static_cast<TaskId>(random.below(30));
        if (t == u) continue;
        const PlaceId from = times.place_of(t), to = times.place_of(u);
        const bool is_swap = trial % 2 == 0;
        BusyTimes after = times;
        after.move(t, to);
        if (is_swap) after.move(u, from);
        const BusyTimes::Effect effect = is_swap ? times.try_swap(t, u) : times.try_move(t, to);
        std::vector<bool> is_touched(times.num_spots(), false);
        double peak_s = 0;
        for (const SpotId spot : times.touched()) {
          EXPECT_FALSE(is_touched[spot]) << "spot " << spot << " is there twice";
          is_touched[spot] = true;
          peak_s = std::max(peak_s, after.busy_s(spot));
        }
        double largest_s = 0;
        for (SpotId spot = 0; spot < times.num_spots(); ++spot) {
          ASSERT_NEAR(times.change_s(spot), after.busy_s(spot) - times.busy_s(spot), 1e-9);
          largest_s = std::max(largest_s, after.busy_s(spot));
        }
        EXPECT_NEAR(effect.peak_s, peak_s, 1e-9);
        EXPECT_EQ(after.peak_s(), largest_s);
        if (!is_swap) {
          EXPECT_NEAR(effect.traffic_s, times.traffic_s(t, to) - times.traffic_s(t, from), 1e-9);
        }
        if (trial % 5 == 0) times.move(t, to);
      }
    }
}

TEST(BusyTimes, the_traffic_of_a_task_is_the_cost_of_its_messages_at_both_ends) {
  for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical})
    for (const char* text : kPhysicalMachines) {
      SCOPED_TRACE(text);
      Random random(13);
      Scene scene(text, random);
      scene.costs.formula = formula;
      const BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
      for (TaskId t = 0; t < 30; ++t)
        for (PlaceId at = 0; at < scene.machine.num_places(); ++at) {
          double expected = 0;
          for (const Message& message : scene.workload.messages) {
            if ((message.from == t) == (message.to == t)) continue;
            const PlaceId from = message.from == t ? at : scene.placement.of(message.from);
            const PlaceId to = message.to == t ? at : scene.placement.of(message.to);
            if (formula == CostFormula::nuco) {
              expected += message_s(scene.machine, scene.costs, message, from, to);
              continue;
            }
            const EndTimes ends = end_times(scene.machine, scene.costs, LoadsInclude::none,
                                            static_cast<double>(message.count),
                                            static_cast<double>(message.bytes), from, to);
            expected += ends.sender_s + ends.receiver_s;
          }
          EXPECT_NEAR(times.traffic_s(t, at), expected, 1e-9);
        }
    }
}

TEST(BusyTimes,
     the_lower_bound_after_a_move_is_exact_if_all_partners_of_the_task_are_at_its_place) {
  const Machine machine = machine_from_text("node:2 core:2 factors:7,3 speeds:1,0.5 byte:1e-3");
  Workload workload;
  workload.tasks = {{.load_s = 2}, {.load_s = 3}, {.load_s = 5}, {.load_s = 1}};
  workload.messages = {{0, 1, 11, 100}, {1, 0, 13, 200}, {0, 2, 17, 300}, {3, 2, 5, 50}};
  CostModel costs = machine.costs();
  costs.seconds_per_message = 0.01;
  for (const PlaceId home : {0u, 1u, 2u})
    for (const PlaceId to : {0u, 1u, 3u}) {
      if (home == to) continue;
      BusyTimes times(machine, workload, costs,
                      Placement(std::vector<PlaceId>{home, to, to, home}));
      const double least_s = times.least_busy_s(0, to);
      times.try_move(0, to);
      EXPECT_NEAR(least_s, times.busy_s(to) + times.change_s(to), 1e-12);
    }
}

TEST(BusyTimes, waiting_times_are_exact_if_there_are_few_tasks_and_few_messages) {
  for (const char* text : kPhysicalMachines) {
    SCOPED_TRACE(text);
    Random random(14);
    for (int round = 0; round < 60; ++round) {
      Scene scene(text, random, 4);
      scene.costs.formula = CostFormula::physical;
      scene.workload.messages.resize(random.below(4));
      BusyTimes times(scene.machine, scene.workload, scene.costs, scene.placement);
      times.move(static_cast<TaskId>(random.below(4)),
                 static_cast<PlaceId>(random.below(scene.machine.num_places())));
      times.refresh();
      const MessageTimes fresh =
          message_times(scene.machine, scene.workload, scene.costs, Placement(times.places()));
      for (PlaceId p = 0; p < scene.machine.num_places(); ++p)
        ASSERT_NEAR(times.exposed_s(p), fresh.exposed_s[p], 1e-12) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace poise
