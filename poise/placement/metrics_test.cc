// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/metrics.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

#include "tests/support/random_problem.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/placement/subphases.h"

namespace poise {
namespace {

double largest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

/// A random problem with costs that differ from each other, and a random new placement.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : random(mix(seed)), owned(random_problem(random)) {
    costs = owned.machine.costs();
    costs.seconds_per_message = 0.01;
    costs.seconds_per_byte = 0.003;
    costs.seconds_per_migrated_byte = 0.002;
    after =
        initial_placement("random", owned.workload.num_tasks(), owned.machine.num_places(), seed);
  }

  Random random;
  OwnedProblem owned;
  CostModel costs;
  Placement after;
};

TEST(Metrics, the_work_of_a_place_is_its_background_load_plus_the_ratio_of_task_load_to_speed) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn drawn(seed);
    const Machine& machine = drawn.owned.machine;
    const Workload& workload = drawn.owned.workload;
    const std::vector<double> all_s = work_s(machine, workload, drawn.after);
    const std::vector<double> fixed_s = fixed_work_s(machine, workload, drawn.after);
    ASSERT_EQ(all_s.size(), machine.num_places());
    ASSERT_EQ(fixed_s.size(), machine.num_places());
    double work = 0, speed = 0;
    for (PlaceId p = 0; p < machine.num_places(); ++p) {
      double all = workload.background_s.empty() ? 0 : workload.background_s[p], fixed = all;
      for (TaskId t = 0; t < workload.num_tasks(); ++t) {
        if (drawn.after.of(t) != p) continue;
        all += workload.tasks[t].load_s / machine.speed_of(p);
        if (!workload.tasks[t].movable) fixed += workload.tasks[t].load_s / machine.speed_of(p);
      }
      EXPECT_NEAR(all_s[p], all, 1e-9);
      EXPECT_NEAR(fixed_s[p], fixed, 1e-9);
      work += all * machine.speed_of(p);
      speed += machine.speed_of(p);
    }
    EXPECT_NEAR(average_s(machine, workload), work / speed, 1e-9);
  }
}

TEST(Metrics, agree_with_a_simple_computation_on_random_machines) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn drawn(seed);
    const Machine& machine = drawn.owned.machine;
    const Workload& workload = drawn.owned.workload;
    const Placement &before = drawn.owned.current, &after = drawn.after;
    const std::size_t num_places = machine.num_places();
    const std::vector<double> work = work_s(machine, workload, after);
    std::vector<double> comm(num_places, 0), sent(num_places, 0), received(num_places, 0);
    std::uint64_t hop_bytes = 0, internode_bytes = 0, migrations = 0, migrated_bytes = 0;
    double nuco = 0;
    for (const Message& m : workload.messages) {
      const PlaceId from = after.of(m.from), to = after.of(m.to);
      if (from == to) continue;
      const double count = static_cast<double>(m.count), bytes = static_cast<double>(m.bytes);
      const double seconds = 0.01 * count * machine.message_factor(from, to) +
                             0.003 * bytes * machine.byte_factor(from, to);
      EXPECT_DOUBLE_EQ(message_s(machine, drawn.costs, m, from, to), seconds);
      EXPECT_EQ(message_s(machine, drawn.costs, m, to, to), 0);
      comm[to] += seconds;
      hop_bytes += m.bytes * machine.hops(from, to);
      if (machine.node_of_place(from) != machine.node_of_place(to)) internode_bytes += m.bytes;
      nuco += count * machine.message_factor(from, to);
    }
    for (TaskId t = 0; t < workload.num_tasks(); ++t) {
      if (before.of(t) == after.of(t)) continue;
      ++migrations;
      migrated_bytes += workload.tasks[t].bytes;
      sent[before.of(t)] += 0.002 * static_cast<double>(workload.tasks[t].bytes);
      received[after.of(t)] += 0.002 * static_cast<double>(workload.tasks[t].bytes);
    }
    const Metrics metrics = evaluate(machine, workload, drawn.costs, before, after);
    const PlaceTimes times = place_times(machine, workload, drawn.costs, after);
    const std::vector<double> moving =
        migration_s_by_place(machine, workload, drawn.costs, before, after);
    double iteration_s = 0, migration_s = 0;
    for (std::size_t p = 0; p < num_places; ++p) {
      EXPECT_NEAR(times.work_s[p], work[p], 1e-12);
      EXPECT_NEAR(times.comm_s[p], comm[p], 1e-9);
      EXPECT_NEAR(moving[p], std::max(sent[p], received[p]), 1e-9);
      iteration_s = std::max(iteration_s, work[p] + comm[p]);
      migration_s = std::max({migration_s, sent[p], received[p]});
    }
    EXPECT_NEAR(metrics.iteration_s, iteration_s, 1e-9);
    EXPECT_NEAR(metrics.makespan_s, largest(work), 1e-9);
    EXPECT_NEAR(metrics.max_comm_s, largest(comm), 1e-9);
    EXPECT_EQ(metrics.average_s, average_s(machine, workload));
    EXPECT_EQ(metrics.makespan_bound_s, makespan_bound_s(machine, workload, before));
    EXPECT_DOUBLE_EQ(metrics.imbalance,
                     metrics.average_s > 0 ? metrics.makespan_s / metrics.average_s : 1);
    EXPECT_EQ(metrics.hop_bytes, hop_bytes);
    EXPECT_EQ(metrics.internode_bytes, internode_bytes);
    EXPECT_NEAR(metrics.nuco_messages, nuco, 1e-9 * nuco);
    EXPECT_EQ(metrics.migrations, migrations);
    EXPECT_EQ(metrics.migrated_bytes, migrated_bytes);
    EXPECT_NEAR(metrics.migration_s, migration_s, 1e-9);
  }
}

TEST(Metrics, the_imbalance_is_1_if_there_is_no_work) {
  const Machine machine = machine_from_text("core:3");
  Workload workload;
  EXPECT_EQ(evaluate(machine, workload, machine.costs(), {}, {}).imbalance, 1);
  workload.tasks = {{.load_s = 0.25}};
  const Placement placement(1);
  EXPECT_DOUBLE_EQ(evaluate(machine, workload, machine.costs(), placement, placement).imbalance, 3);
}

TEST(MakespanBounds,
     average_bound_and_largest_task_bound_and_pigeonhole_bound_match_their_definitions) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn drawn(seed);
    const Machine& machine = drawn.owned.machine;
    const Workload& workload = drawn.owned.workload;
    std::vector<double> loads_s, speeds;
    for (const Task& task : workload.tasks) loads_s.push_back(task.load_s);
    for (const Place& place : machine.places()) speeds.push_back(place.speed);
    std::sort(loads_s.begin(), loads_s.end(), std::greater<>());
    double pigeonhole_s = 0;
    for (std::size_t k = 0; k * machine.num_places() < loads_s.size(); ++k) {
      double sum = 0;
      for (std::size_t i = 0; i <= k; ++i) sum += loads_s[k * machine.num_places() - i];
      pigeonhole_s = std::max(pigeonhole_s, sum / largest(speeds));
    }
    const MakespanBounds bounds = makespan_bounds(machine, workload, drawn.after);
    EXPECT_EQ(bounds.average_s, average_s(machine, workload));
    EXPECT_DOUBLE_EQ(bounds.largest_task_s, loads_s[0] / largest(speeds));
    EXPECT_NEAR(bounds.pigeonhole_s, pigeonhole_s, 1e-9);
    EXPECT_EQ(bounds.largest_s(), std::max({bounds.average_s, bounds.largest_task_s,
                                            bounds.pigeonhole_s, bounds.pinned_s}));
    EXPECT_EQ(makespan_bound_s(machine, workload, drawn.after), bounds.largest_s());
  }
}

/// The shortest time in which places can do their fixed work and the given tasks, if each task has
/// a place of its own.
double apart_s(const std::vector<double>& tasks_s, const std::vector<double>& fixed_s) {
  std::vector<std::size_t> places(fixed_s.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  double best_s = std::numeric_limits<double>::infinity();
  do {
    double longest_s = 0;
    for (std::size_t i = 0; i < tasks_s.size(); ++i)
      longest_s = std::max(longest_s, tasks_s[i] + fixed_s[places[i]]);
    best_s = std::min(best_s, longest_s);
  } while (std::next_permutation(places.begin(), places.end()));
  return best_s;
}

TEST(MakespanBounds,
     the_bound_with_fixed_work_covers_both_shared_and_separate_places_of_the_largest_tasks) {
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const Machine machine = machine_from_text(round % 3 == 0 ? "core:3 speeds:1,2,1" : "core:3");
    const double fastest = round % 3 == 0 ? 2 : 1;
    Workload workload;
    Placement current(static_cast<TaskId>(random.below(7)));
    for (TaskId t = 0; t < current.num_tasks(); ++t) {
      workload.tasks.push_back({.load_s = random.uniform(), .movable = random.below(4) != 0});
      current.move(t, static_cast<PlaceId>(random.below(3)));
    }
    if (round % 2 == 0)
      for (int p = 0; p < 3; ++p) workload.background_s.push_back(random.uniform());
    const std::vector<double> fixed_s = fixed_work_s(machine, workload, current);
    std::vector<double> tasks_s;
    for (const Task& task : workload.tasks)
      if (task.movable) tasks_s.push_back(task.load_s / fastest);
    std::sort(tasks_s.begin(), tasks_s.end(), std::greater<>());
    tasks_s.resize(std::min<std::size_t>(tasks_s.size(), 3));
    double expected_s = largest(fixed_s);
    for (std::size_t count = 1; count <= tasks_s.size() && largest(fixed_s) > 0; ++count) {
      const std::vector<double> first(tasks_s.begin(),
                                      tasks_s.begin() + static_cast<std::ptrdiff_t>(count));
      double bound_s = apart_s(first, fixed_s);
      if (count > 1)
        bound_s = std::min(bound_s, first[count - 2] + first[count - 1] +
                                        *std::min_element(fixed_s.begin(), fixed_s.end()));
      expected_s = std::max(expected_s, bound_s);
    }
    EXPECT_NEAR(makespan_bounds(machine, workload, current).pinned_s, expected_s, 1e-12);
  }
}

/// A random workload of several subphases on a machine of three places.
Workload with_subphases(int round, Random& random) {
  Workload workload;
  const std::size_t count = 2 + random.below(2);
  workload.subphase_rule = round % 2 == 0 ? SubphaseRule::overlap : SubphaseRule::wait;
  for (TaskId t = 0; t < 6; ++t) {
    workload.tasks.push_back({.load_s = random.uniform()});
    workload.subphase_load_s.emplace_back();
    if (random.below(5) == 0 && t > 0) continue;
    for (std::size_t s = 0; s < count; ++s)
      workload.subphase_load_s.back().push_back(random.uniform());
  }
  for (int m = 0; m < 8; ++m)
    workload.messages.push_back({static_cast<TaskId>(random.below(6)),
                                 static_cast<TaskId>(random.below(6)), 1 + random.below(3)});
  if (round % 3 != 0)
    for (int p = 0; p < 3; ++p) workload.background_s.push_back(random.uniform());
  if (round % 4 < 2)
    for (std::size_t i = 0; i < 3 * count; ++i)
      workload.subphase_speed.push_back(0.5 + random.uniform());
  return workload;
}

TEST(Metrics,
     a_phase_takes_the_sum_of_its_subphase_times_or_if_subphases_overlap_the_longest_of_them) {
  Random random(9);
  const Machine machine = machine_from_text("core:3 speeds:1,0.5,2 message:0.125");
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const Workload workload = with_subphases(round, random);
    const Placement placement =
        initial_placement("random", 6, 3, static_cast<std::uint64_t>(round));
    const Subphases subphases(workload);
    const std::uint32_t count = subphases.count();
    ASSERT_GT(count, 1u);
    const std::vector<double> comm =
        place_times(machine, workload, machine.costs(), placement).comm_s;
    const std::vector<double> works = subphase_work_s(machine, workload, subphases, placement);
    double sum_s = 0, longest_s = 0, sum_work_s = 0, longest_work_s = 0;
    for (std::uint32_t s = 0; s < count; ++s) {
      const double rest = workload.subphase_rule == SubphaseRule::wait ? subphases.part(s)
                          : s == 0                                     ? 1
                                                                       : 0;
      double busiest_s = 0, busiest_work_s = 0;
      for (PlaceId p = 0; p < 3; ++p) {
        const double speed = workload.subphase_speed.empty()
                                 ? machine.speed_of(p)
                                 : workload.subphase_speed[p * count + s];
        double work = workload.background_s.empty() ? 0 : workload.background_s[p] * rest;
        for (TaskId t = 0; t < 6; ++t)
          if (placement.of(t) == p) work += subphases.load_s(t, s) / speed;
        EXPECT_NEAR(works[p * count + s], work, 1e-12);
        busiest_s = std::max(busiest_s, work + comm[p] * rest);
        busiest_work_s = std::max(busiest_work_s, work);
      }
      sum_s += busiest_s, longest_s = std::max(longest_s, busiest_s);
      sum_work_s += busiest_work_s, longest_work_s = std::max(longest_work_s, busiest_work_s);
    }
    const bool overlap = workload.subphase_rule == SubphaseRule::overlap;
    const Metrics metrics = evaluate(machine, workload, machine.costs(), placement, placement);
    EXPECT_NEAR(metrics.iteration_s, overlap ? longest_s : sum_s, 1e-12);
    EXPECT_NEAR(metrics.makespan_s, overlap ? longest_work_s : sum_work_s, 1e-12);
  }
}

TEST(MakespanBounds, a_bound_is_the_sum_over_subphases_or_the_largest_term_if_subphases_overlap) {
  Random random(10);
  const Machine machine = machine_from_text("core:3 speeds:1,0.5,2");
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const Workload workload = with_subphases(round, random);
    const bool overlap = workload.subphase_rule == SubphaseRule::overlap;
    if (!overlap && workload.subphase_speed.empty()) continue;
    const Subphases subphases(workload);
    const std::uint32_t count = subphases.count();
    std::vector<double> all_s(count, 0), fastest(count, 0);
    for (std::uint32_t s = 0; s < count; ++s) {
      double load_s = 0, speeds = 0;
      for (TaskId t = 0; t < 6; ++t) load_s += subphases.load_s(t, s);
      for (PlaceId p = 0; p < 3; ++p) {
        const double speed = subphases.speed_of(machine, p, s);
        if (!workload.background_s.empty())
          load_s += workload.background_s[p] * subphases.part_of_rest(s) * speed;
        speeds += speed;
        fastest[s] = std::max(fastest[s], speed);
      }
      all_s[s] = load_s / speeds;
    }
    double task_s = 0;
    for (TaskId t = 0; t < 6; ++t) {
      double sum = 0, longest = 0;
      for (std::uint32_t s = 0; s < count; ++s) {
        const double own = subphases.load_s(t, s) / fastest[s];
        sum += own, longest = std::max(longest, own);
      }
      task_s = std::max(task_s, overlap ? longest : sum);
    }
    const MakespanBounds bounds = makespan_bounds(machine, workload, Placement(6));
    EXPECT_NEAR(bounds.average_s,
                overlap ? largest(all_s) : std::accumulate(all_s.begin(), all_s.end(), 0.0), 1e-12);
    EXPECT_NEAR(bounds.largest_task_s, task_s, 1e-12);
    EXPECT_EQ(bounds.pigeonhole_s, 0);
    EXPECT_EQ(bounds.pinned_s, 0);
  }
}

}  // namespace
}  // namespace poise
