// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/local_search.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <set>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

TEST(LocalSearch, tried_exchanges_count_towards_the_limit_on_scans_even_if_there_are_no_messages) {
  // All places are full, so tasks can only be exchanged. At the end of the search, each task of the
  // busiest place has been tried with tasks of all other places, without success.
  const Machine machine = machine_from_text("core:16");
  Random random(1);
  Workload workload;
  for (TaskId t = 0; t < 320; ++t) workload.tasks.push_back({.load_s = random.uniform()});
  workload.capacity.per_place = 20;
  const Placement current = blocked(320, 16);
  const Problem problem{machine, workload, current, machine.costs()};
  const auto shared = std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
  LocalSearch search(problem, current, shared, 0);
  EXPECT_GT(search.run({.exponent = 48, .swaps = true}, 1e9), 20 * 15 * kTuning.candidates);
  LocalSearch short_search(problem, current, shared, 0);
  EXPECT_LT(short_search.run({.exponent = 48, .swaps = true}, 1000), 100'000);
}

/// Tasks that exchange messages, placed at random. Some are pinned.
struct Drawn {
  Machine machine;
  Workload workload;
  Placement start;
  Problem problem{machine, workload, start, machine.costs()};

  Drawn(const char* text, TaskId num_tasks, std::uint64_t seed)
      : machine(machine_from_text(text)), start(num_tasks) {
    Random random(seed);
    for (TaskId t = 0; t < num_tasks; ++t) {
      workload.tasks.push_back({.load_s = 1 + random.uniform(),
                                .bytes = random.below(1'000'000'000),
                                .movable = random.below(8) != 0});
      start.move(t, random.below(machine.num_places()));
      for (std::uint64_t m = random.below(4); m > 0; --m)
        workload.messages.push_back(
            {t, static_cast<TaskId>(random.below(num_tasks)), 1 + random.below(9), 10});
    }
  }
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;

  LocalSearch search(const Placement& from, const Tuning& tuning = kTuning) const {
    const auto shared =
        std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
    return LocalSearch(problem, from, shared, 0, tuning);
  }
  Metrics metrics(const Placement& placement) const {
    return evaluate(machine, workload, machine.costs(), start, placement);
  }
  std::vector<double> busy_s(const Placement& placement) const {
    return place_times(machine, workload, machine.costs(), placement).busy_s();
  }
  /// The sum over places of (busy / scale)^exponent.
  double potential(const Placement& placement, int exponent, double scale_s) const {
    double sum = 0;
    for (const double seconds : busy_s(placement)) sum += std::pow(seconds / scale_s, exponent);
    return sum;
  }
};

constexpr const char* kMachines[] = {
    "core:4 message:0.02", "node:2 numa:2 core:2 factors:10,2,1 message:0.01 byte:1e-4",
    "core:5 message:0.03 speeds:1,0.5,0.75,1,1", "torus:3x2 core:1 message:0.02"};

TEST(LocalSearch, its_busy_times_match_its_placement_and_pinned_tasks_do_not_move) {
  for (const char* text : kMachines)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      const Drawn drawn(text, 30, seed);
      LocalSearch search = drawn.search(drawn.start);
      Random random(seed);
      for (const LocalSearch::Stage stage :
           {LocalSearch::Stage{8, false}, {48, true}, {512, true}}) {
        const std::vector<double> before = drawn.busy_s(search.placement());
        search.run(stage, 1e9);
        const Placement placement = search.placement();
        const std::vector<double> busy = drawn.busy_s(placement);
        double sum = 0;
        for (const double seconds : busy) sum += seconds;
        const double most_s = *std::ranges::max_element(busy);
        EXPECT_NEAR(search.peak_s(), most_s, 1e-9);
        EXPECT_NEAR(search.average_s(), sum / drawn.machine.num_places(), 1e-9);
        EXPECT_LE(most_s, *std::ranges::max_element(before) * (1 + 1e-9));
        search.perturb(random);
      }
      for (const Migration& moved : migrations(drawn.start, search.placement()))
        EXPECT_TRUE(drawn.workload.tasks[moved.task].movable) << moved.task;
    }
}

TEST(LocalSearch, ends_where_no_move_to_a_partner_or_to_the_least_busy_place_lowers_the_potential) {
  int num_settled = 0;
  for (const char* text : kMachines)
    for (const int exponent : {2, 8, 48})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << text << ", exponent " << exponent << ", seed " << seed);
        const Drawn drawn(text, 30, seed);
        Placement placement = drawn.start, before;
        double last = std::numeric_limits<double>::infinity();
        for (int run = 0; run < 20 && placement != before; ++run) {
          before = placement;
          const std::vector<double> busy = drawn.busy_s(before);
          const double scale_s = *std::ranges::max_element(busy);
          LocalSearch search = drawn.search(before);
          search.run({.exponent = exponent, .swaps = false}, 1e9);
          placement = search.placement();
          EXPECT_LE(drawn.potential(placement, exponent, scale_s),
                    drawn.potential(before, exponent, scale_s) * (1 + 1e-9));
        }
        if (placement != before) continue;
        ++num_settled;
        const std::vector<double> busy = drawn.busy_s(placement);
        const double peak_s = *std::ranges::max_element(busy);
        const auto least = static_cast<PlaceId>(std::ranges::min_element(busy) - busy.begin());
        last = drawn.potential(placement, exponent, peak_s);
        for (TaskId t = 0; t < 30; ++t) {
          const PlaceId from = placement.of(t);
          if (!drawn.workload.tasks[t].movable || busy[from] < (1 - 1.0 / exponent) * peak_s)
            continue;
          std::vector<PlaceId> places{least, drawn.start.of(t)};
          for (const Message& m : drawn.workload.messages) {
            if (m.from == t) places.push_back(placement.of(m.to));
            if (m.to == t) places.push_back(placement.of(m.from));
          }
          for (const PlaceId to : places) {
            // A move must not make its new place busier than the busiest place is now.
            const double load_s = drawn.workload.tasks[t].load_s / drawn.machine.speed_of(to);
            if (busy[to] + load_s >= peak_s * (1 - 1e-9)) continue;
            Placement moved = placement;
            moved.move(t, to);
            const double gain = last - drawn.potential(moved, exponent, peak_s);
            EXPECT_LE(gain, kTuning.min_gain * std::pow(busy[from] / peak_s, exponent) + 1e-9)
                << t << " to " << to;
          }
        }
      }
  EXPECT_EQ(num_settled, 240);
}

TEST(LocalSearch, finds_nearly_optimal_placements_of_small_problems_with_and_without_full_places) {
  POISE_SKIP_IF_SLOW();
  for (const bool is_full : {false, true}) {
    double sum = 0, worst = 1;
    int num_cases = 0;
    for (const char* text : {"core:3 message:0.05", "node:2 core:2 factors:5,1 message:0.02",
                             "core:3 message:0.02 speeds:1,0.5,0.75"})
      for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(testing::Message() << text << " seed " << seed);
        Drawn drawn(text, 6, seed);
        for (Task& task : drawn.workload.tasks) task.movable = true;
        for (TaskId t = 0; t < 6; ++t) drawn.start.move(t, t % drawn.machine.num_places());
        if (is_full) drawn.workload.capacity.per_place = 2;
        double least_s = std::numeric_limits<double>::infinity();
        const std::uint32_t places = drawn.machine.num_places();
        std::uint32_t codes = 1;
        for (TaskId t = 0; t < 6; ++t) codes *= places;
        for (std::uint32_t code = 0; code < codes; ++code) {
          Placement placement(6);
          std::vector<std::uint32_t> count(places, 0);
          std::uint32_t rest = code, most = 0;
          for (TaskId t = 0; t < 6; ++t, rest /= places) {
            placement.move(t, rest % places);
            most = std::max(most, ++count[rest % places]);
          }
          if (!is_full || most <= 2)
            least_s = std::min(least_s, drawn.metrics(placement).iteration_s);
        }
        LocalSearch search = drawn.search(drawn.start);
        for (const LocalSearch::Stage stage :
             {LocalSearch::Stage{8, true}, {48, true}, {512, true}})
          search.run(stage, 1e9);
        const double ratio = drawn.metrics(search.placement()).iteration_s / least_s;
        EXPECT_GE(ratio, 1 - 1e-9);
        sum += ratio;
        worst = std::max(worst, ratio);
        ++num_cases;
      }
    EXPECT_LE(sum / num_cases, is_full ? 1.0104 : 1.0191);
    EXPECT_LE(worst, is_full ? 1.132 : 1.152);
  }
}

TEST(LocalSearch, if_the_migration_time_is_limited_migrations_take_no_longer_than_the_limit) {
  int num_moved = 0;
  for (const char* text : {"core:4 message:0.02 migrated_byte:1e-9",
                           "node:2 core:3 factors:10,1 message:0.01 migrated_byte:2e-9"})
    for (std::uint64_t seed = 0; seed < 30; ++seed)
      for (const double limit_s : {0.0, 0.5, 1.0, 2.0, 5.0}) {
        SCOPED_TRACE(testing::Message() << text << " seed " << seed << " limit " << limit_s);
        const Drawn drawn(text, 30, seed);
        LocalSearch search = drawn.search(drawn.start);
        search.limit_migration(limit_s);
        search.run({.exponent = 8, .swaps = true}, 1e9);
        const Metrics metrics = drawn.metrics(search.placement());
        EXPECT_LE(metrics.migration_s, limit_s * (1 + 1e-9));
        EXPECT_LE(metrics.iteration_s, drawn.metrics(drawn.start).iteration_s * (1 + 1e-9));
        num_moved += limit_s > 0 && metrics.migrations > 0 ? 1 : 0;
        // Continues from this placement with a longer limit, which allows more moves.
        search.limit_migration(2 * limit_s);
        search.run({.exponent = 8, .swaps = true}, 1e9);
        EXPECT_LE(drawn.metrics(search.placement()).migration_s, 2 * limit_s * (1 + 1e-9));
      }
  EXPECT_GE(num_moved, 239);
}

TEST(LocalSearch,
     the_best_placement_seen_is_remembered_and_often_better_than_the_first_and_the_last) {
  int num_shorter = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed)
    for (const double steps : {0.25, 1.0, 4.0}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " steps " << steps);
      const Drawn drawn("node:2 core:3 factors:10,1 message:0.01 migrated_byte:1e-9", 30, seed);
      LocalSearch search = drawn.search(drawn.start);
      search.limit_migration(1e9);
      search.remember_shortest(steps);
      search.run({.exponent = 8, .swaps = true}, 1e9);
      search.run({.exponent = 48, .swaps = true}, 1e9);
      const auto total_s = [&](const Placement& placement) {
        const Metrics metrics = drawn.metrics(placement);
        return steps * metrics.iteration_s + metrics.migration_s;
      };
      const double shortest_s = total_s(search.shortest());
      EXPECT_LE(shortest_s, total_s(drawn.start) * (1 + 1e-9));
      EXPECT_LE(shortest_s, search.shortest_s() * (1 + 1e-9));
      num_shorter +=
          shortest_s < 0.99 * std::min(total_s(drawn.start), total_s(search.placement())) ? 1 : 0;
    }
  EXPECT_GE(num_shorter, 70);
}

TEST(LocalSearch, a_perturbation_moves_at_most_a_few_tasks_and_only_to_places_with_room) {
  int most = 0, num_busy = 0;
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn("core:6 message:0.02", 30, seed);
    for (TaskId t = 0; t < 30; ++t) drawn.start.move(t, t % 6);
    if (seed % 2 == 0) drawn.workload.capacity.per_place = 5;
    LocalSearch search = drawn.search(drawn.start);
    Random random(seed);
    search.perturb(random);
    const std::vector<Migration> moves = migrations(drawn.start, search.placement());
    for (const Migration& move : moves) EXPECT_TRUE(drawn.workload.tasks[move.task].movable);
    const std::size_t limit = kTuning.perturbed_moves * (seed % 2 == 0 ? 2 : 1);
    EXPECT_LE(moves.size(), limit);
    most = std::max(most, static_cast<int>(moves.size()));
    sizes.insert(moves.size());
    for (PlaceId p = 0; p < 6 && seed % 2 == 0; ++p)
      EXPECT_EQ(std::ranges::count(search.placement().places(), p), 5) << p;
    // The first task that moves leaves a place that is the busiest or nearly as busy.
    const std::vector<double> busy = drawn.busy_s(drawn.start);
    const double floor_s = (1 - kTuning.tolerance) * *std::ranges::max_element(busy) * (1 - 1e-9);
    num_busy += moves.empty() || std::ranges::any_of(moves, [&](const Migration& move) {
                  return busy[move.from] >= floor_s;
                });
  }
  EXPECT_GE(num_busy, 99) << "in a few cases that task moves back";
  EXPECT_GE(most, 4);
  EXPECT_GE(sizes.size(), 5u);
}

TEST(LocalSearch, perturbations_are_undone_unless_they_shorten_the_total_time) {
  int num_kept = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Drawn drawn("node:2 core:3 factors:10,1 message:0.01 migrated_byte:1e-10", 30, seed);
    LocalSearch search = drawn.search(drawn.start);
    search.limit_migration(1e9);
    search.run({.exponent = 48, .swaps = true}, 1e9);
    constexpr double kSteps = 4;
    search.start_trials(kSteps);
    const auto total_s = [&] {
      const Metrics metrics = drawn.metrics(search.placement());
      return kSteps * metrics.iteration_s + metrics.migration_s;
    };
    EXPECT_NEAR(search.shortest_s(), total_s(), 1e-9);
    Random random(seed);
    for (int trial = 0; trial < 30; ++trial) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " trial " << trial);
      const Placement before = search.placement();
      const double before_s = search.shortest_s();
      EXPECT_GT(search.try_perturbation(random, {.exponent = 48, .swaps = true}, 1e9), 0);
      EXPECT_NEAR(search.shortest_s(), total_s(), 1e-9);
      if (search.shortest_s() < before_s) {
        ++num_kept;
      } else {
        EXPECT_EQ(search.placement(), before);
      }
    }
  }
  EXPECT_GE(num_kept, 55);
}

TEST(LocalSearch, a_place_that_is_busy_with_receiving_messages_attracts_the_tasks_that_send_them) {
  // Place 0 has one task, which receives messages from tasks at all other places. Wherever this
  // task is, its place is the busiest until senders move there.
  const Machine machine = machine_from_text("core:4 message:0.1");
  for (const bool movable : {true, false}) {
    SCOPED_TRACE(movable);
    Workload workload;
    workload.tasks.push_back({.load_s = 1, .movable = movable});
    Placement current(13);
    for (TaskId t = 1; t < 13; ++t) {
      workload.tasks.push_back({.load_s = 0.2});
      workload.messages.push_back({t, 0, t < 4 ? 10u : 1u, 0});
      current.move(t, 1 + t % 3);
    }
    const Problem problem{machine, workload, current, machine.costs()};
    const auto shared =
        std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
    LocalSearch search(problem, current, shared, 0);
    EXPECT_NEAR(search.peak_s(), 1 + 3.9, 1e-9);
    search.run({.exponent = 8, .swaps = false}, 1e9);
    for (const TaskId t : {1u, 2u, 3u})
      EXPECT_EQ(search.placement().of(t), search.placement().of(0)) << t;
    EXPECT_LE(search.peak_s(), 2.5 + 1e-9);
  }
}

TEST(LocalSearch, exchanges_two_tasks_if_no_single_move_makes_the_busiest_place_less_busy) {
  // Each move would make the other place busier than the busiest is now. Exchanging the tasks of 5
  // s and 3 s makes both places equally busy.
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  for (const double load_s : {7.0, 5.0, 5.0, 3.0, 1e-9})
    workload.tasks.push_back({.load_s = load_s});
  workload.tasks[0].load_s = 7;
  const Placement current(std::vector<PlaceId>{0, 0, 1, 1, 1});
  const Problem problem{machine, workload, current, machine.costs()};
  const auto shared = std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
  for (const bool swaps : {false, true}) {
    LocalSearch search(problem, current, shared, 0);
    search.run({.exponent = 48, .swaps = swaps}, 1e9);
    EXPECT_NEAR(search.peak_s(), swaps ? 10 : 12, 1e-6);
  }
}

TEST(LocalSearch,
     a_stage_ends_soon_after_it_reaches_the_scan_limit_of_the_caller_or_of_the_tuning) {
  // A visit to a place scans at most this many tasks and messages.
  constexpr double kVisit = 4000;
  const Drawn drawn("node:2 numa:2 core:2 factors:10,2,1 message:0.01 byte:1e-4", 2000, 1);
  const double all = drawn.search(drawn.start).run({.exponent = 8, .swaps = false}, 1e9);
  ASSERT_GT(all, 10 * kVisit);
  for (const double most : {0.0, 500.0, 5000.0, 10000.0, 20000.0}) {
    const double scans = drawn.search(drawn.start).run({.exponent = 8, .swaps = false}, most);
    EXPECT_GE(scans, most);
    EXPECT_LE(scans, most + kVisit) << most;
  }
  const auto shared = std::make_shared<const BusyTimes::Shared>(drawn.machine, drawn.workload,
                                                                drawn.machine.costs());
  const double entries = 2000 + static_cast<double>(shared->arcs.count());
  for (const double per_entry : {0.5, 1.0, 2.0}) {
    Tuning tuning;
    tuning.scans_per_entry = per_entry;
    tuning.min_scans = 0;
    const double scans =
        drawn.search(drawn.start, tuning).run({.exponent = 8, .swaps = false}, 1e9);
    EXPECT_GE(scans, per_entry * entries);
    // The limit does not apply to the scans that moves need. There are fewer of them than of other
    // scans, so all scans together are at most twice the limit.
    EXPECT_LE(scans, 2 * per_entry * entries + kVisit) << per_entry;
    tuning.max_scans = 2000;
    EXPECT_LE(drawn.search(drawn.start, tuning).run({.exponent = 8, .swaps = false}, 1e9),
              2 * 2000 + kVisit);
  }
}

TEST(LocalSearch, makes_no_scan_if_no_place_is_busy) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  workload.tasks.resize(5);
  const Placement current = round_robin(5, 3);
  const Problem problem{machine, workload, current, machine.costs()};
  const auto shared = std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
  LocalSearch search(problem, current, shared, 0);
  EXPECT_EQ(search.run({.exponent = 8, .swaps = true}, 1e9), 0);
  EXPECT_EQ(search.placement(), current);
}

TEST(LocalSearch, counts_the_tasks_and_partners_that_it_examines) {
  // Both tasks of place 0 are tried on place 1, and one of them moves there. After that, no move
  // has a gain.
  const Machine machine = machine_from_text("core:2 message:0");
  Workload workload;
  workload.tasks.assign(2, {.load_s = 1});
  const Placement current(2, 0);
  const auto scans = [&] {
    const Problem problem{machine, workload, current, machine.costs()};
    const auto shared =
        std::make_shared<const BusyTimes::Shared>(machine, workload, machine.costs());
    return LocalSearch(problem, current, shared, 0).run({.exponent = 8, .swaps = false}, 1e9);
  };
  EXPECT_EQ(scans(), 2 + 2) << "the places, and each task on the other place";
  // With messages, each task has one partner. To select a task takes two scans, to bound its gain
  // takes one scan, and to try its move takes three scans. After the move, three tasks are selected
  // and bounded again.
  workload.messages = {{0, 1, 1, 0}, {1, 0, 1, 0}};
  EXPECT_EQ(scans(), 2 + 2 * (2 + 1 + 3) + 2 + 3 * (2 + 1));
}

}  // namespace
}  // namespace poise
