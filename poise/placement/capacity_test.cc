// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/capacity.h"

#include <algorithm>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/brute_force.h"
#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/initial.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

constexpr const char* kMachine = "node:2 numa:2 core:3";

/// Tasks that fit with a few cores to spare, placed at random, some of them not movable.
struct Drawn {
  explicit Drawn(std::uint64_t seed) : machine(machine_from_text(kMachine)), current(20) {
    Random random(seed);
    Capacity& capacity = workload.capacity;
    for (TaskId t = 0; t < 20; ++t) {
      workload.tasks.push_back({.load_s = random.uniform(), .bytes = 1000});
      workload.messages.push_back(
          {t, static_cast<TaskId>(random.below(20)), 1, random.below(100000)});
      capacity.cores.push_back(1 + static_cast<std::uint32_t>(random.below(2)));
      current.move(t, static_cast<PlaceId>(random.below(12)));
    }
    for (PlaceId p = 0; p < 12; ++p)
      capacity.of_places.push_back(3 + static_cast<std::uint32_t>(random.below(3)));
    if (seed % 2 == 0) capacity.of_domains = {12, 11, 10, 13};
    const PlaceId home = current.of(7);
    workload.tasks[7].movable = capacity.cores[7] <= capacity.of_places[home] && seed % 3 != 0;
  }
  Problem view() const { return {machine, workload, current, machine.costs(), 1}; }

  Machine machine;
  Workload workload;
  Placement current;
};

/// True if every place and every domain has enough cores for its tasks.
bool is_within(const Problem& problem, const Placement& placement) {
  const Capacity& capacity = problem.workload.capacity;
  std::vector<std::uint32_t> at_place(problem.machine.num_places(), 0);
  std::vector<std::uint32_t> at_domain(problem.machine.num_domains(), 0);
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    at_place[placement.of(t)] += capacity.cores_of(t);
    at_domain[problem.machine.domain_of(placement.of(t))] += capacity.cores_of(t);
  }
  for (PlaceId p = 0; p < at_place.size(); ++p)
    if (at_place[p] > capacity.of_place(p)) return false;
  for (DomainId d = 0; d < capacity.of_domains.size(); ++d)
    if (at_domain[d] > capacity.of_domains[d]) return false;
  return true;
}

TEST(Capacity, every_strategy_keeps_to_the_capacity_of_each_place_or_throws) {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Drawn drawn(seed);
    for (const Strategy& row : strategies()) {
      SCOPED_TRACE(fmt::format("seed {}: {}", seed, row.name));
      const Choice choice = parse_strategy(row.name);
      if (row.is_oracle) {
        EXPECT_THROW(choice.rebalance(drawn.view()), Error);
        continue;
      }
      if (row.name == "orb") continue;  // needs positions
      const Placement placement = choice.rebalance(drawn.view());
      EXPECT_TRUE(is_within(drawn.view(), placement));
      const bool is_pinned = !drawn.workload.tasks[7].movable;
      EXPECT_TRUE(!is_pinned || placement.of(7) == drawn.current.of(7));
      ++kept;
    }
  }
  EXPECT_GT(kept, 200);
}

TEST(Capacity, a_placement_within_the_capacity_stays_unchanged_and_any_other_is_repaired) {
  int fitting = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Drawn drawn(seed);
    const Placement fitted = within_capacity(drawn.view(), drawn.current);
    EXPECT_TRUE(is_within(drawn.view(), fitted));
    EXPECT_EQ(within_capacity(drawn.view(), fitted), fitted);
    if (!is_within(drawn.view(), drawn.current)) continue;
    ++fitting;
    EXPECT_EQ(fitted, drawn.current);
  }
  EXPECT_GT(fitting, 3);
}

TEST(Capacity, a_task_whose_wanted_place_is_full_moves_to_the_nearest_place_with_room) {
  const Machine machine = machine_from_text(kMachine);
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1});
  workload.capacity.per_place = 1;
  const Placement wanted(std::vector<PlaceId>{4, 4, 4, 4}), current(4);
  const Placement fitted = within_capacity({machine, workload, current, machine.costs()}, wanted);
  EXPECT_EQ(fitted, Placement(std::vector<PlaceId>{4, 3, 5, 0}));
}

TEST(Capacity,
     finds_another_placement_if_the_wanted_one_leaves_no_room_for_a_task_of_several_cores) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1});
  workload.capacity.per_place = 4;
  workload.capacity.cores = {3, 1, 2, 2};
  // Each place has 4 cores. In `wanted`, task 0 takes 3 cores of place 0, and tasks 1 and 3 take 3
  // cores of place 1. So no place has room for task 2, which takes 2 cores.
  const Placement wanted(std::vector<PlaceId>{0, 1, 0, 1});
  const Placement packed(std::vector<PlaceId>{0, 0, 1, 1}), crowded(4);
  EXPECT_EQ(within_capacity({machine, workload, packed, machine.costs()}, wanted), packed);
  const Problem problem{machine, workload, crowded, machine.costs()};
  EXPECT_TRUE(is_within(problem, within_capacity(problem, wanted)));
}

TEST(Capacity, no_strategy_fails_if_the_current_placement_fills_all_places) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    Workload workload;
    std::vector<PlaceId> places;
    workload.capacity.per_place = 6;
    for (PlaceId p = 0; p < 12; ++p)
      for (std::uint64_t left = 6, cores = 0; left > 0; left -= cores) {
        cores = 1 + random.below(left);
        workload.capacity.cores.push_back(static_cast<std::uint32_t>(cores));
        workload.tasks.push_back({.load_s = random.uniform(), .bytes = 1000});
        places.push_back(p);
      }
    const Machine machine = machine_from_text(kMachine);
    const Placement current(places);
    const Problem problem{machine, workload, current, machine.costs(), seed};
    for (const Strategy& row : strategies()) {
      if (row.is_oracle || row.name == "orb") continue;
      SCOPED_TRACE(fmt::format("seed {}: {}", seed, row.name));
      EXPECT_TRUE(is_within(problem, parse_strategy(row.name).rebalance(problem)));
    }
  }
}

TEST(Capacity, throws_if_no_place_has_room_for_a_task) {
  const Machine machine = machine_from_text("core:2");
  Workload workload;
  workload.tasks.resize(3, {.load_s = 1});
  workload.capacity.per_place = 1;
  EXPECT_THROW(check(workload, 2), Error);
  workload.capacity.per_place = 2;
  workload.capacity.cores = {1, 1, 2};
  EXPECT_NO_THROW(check(workload, 2));
  workload.tasks[0].movable = workload.tasks[1].movable = false;
  const Placement apart(std::vector<PlaceId>{0, 1, 0});
  EXPECT_THROW(within_capacity({machine, workload, apart, machine.costs()}, apart), Error);
}

TEST(CoreRoom, incremental_counts_of_the_cores_in_use_equal_a_full_count) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Drawn drawn(seed);
    const Problem problem = drawn.view();
    Placement placement = within_capacity(problem, drawn.current);
    CoreRoom room(drawn.machine, drawn.workload, placement);
    Random random(seed);
    for (int i = 0; i < 200; ++i) {
      const auto t = static_cast<TaskId>(random.below(20)),
                 u = static_cast<TaskId>(random.below(20));
      const auto to = static_cast<PlaceId>(random.below(12));
      Placement moved = placement, exchanged = placement;
      moved.move(t, to);
      exchanged.move(t, placement.of(u));
      exchanged.move(u, placement.of(t));
      EXPECT_EQ(room.fits(t, to), is_within(problem, moved));
      EXPECT_EQ(room.fits_exchange(t, u), is_within(problem, exchanged));
      if (!room.fits(t, to)) continue;
      placement = moved;
      room.move(t, to);
    }
  }
}

/// The shortest iteration of all placements with one task per place.
double least_of_permutations_s(const Problem& problem) {
  std::vector<PlaceId> places(problem.workload.num_tasks());
  std::iota(places.begin(), places.end(), PlaceId{0});
  double least_s = iteration_s(problem, Placement(places));
  while (std::next_permutation(places.begin(), places.end()))
    least_s = std::min(least_s, iteration_s(problem, Placement(places)));
  return least_s;
}

/// A random problem, drawn from `seed`: 8 tasks that start on 8 places, and the iteration time of
/// the best placement with one task per place.
struct DrawnMap {
  Machine machine;
  Workload workload;
  Placement current = blocked(8, 8);
  double least_s = 0;

  DrawnMap(CostFormula formula, std::uint64_t seed)
      : machine(with_formula(
            machine_from_text("node:2 core:4 factors:10,1 latency:1e-5 bandwidth:1e8"), formula)) {
    Random random(seed);
    workload.capacity.per_place = 1;
    for (TaskId t = 0; t < 8; ++t) {
      workload.tasks.push_back({.load_s = 1e-3});
      for (int i = 0; i < 2; ++i)
        workload.messages.push_back(
            {t, static_cast<TaskId>(random.below(8)), 4, random.below(200000)});
    }
    least_s = least_of_permutations_s({machine, workload, current, machine.costs(), seed});
  }

  /// Returns the iteration time that `strategy` reaches, divided by that of the best placement.
  double over_best(const char* strategy) const {
    const Problem problem{machine, workload, current, machine.costs()};
    const Placement placement = parse_strategy(strategy).rebalance(problem);
    EXPECT_TRUE(is_within(problem, placement));
    return iteration_s(problem, placement) / least_s;
  }
};

TEST(Capacity, strategy_poise_is_within_1_percent_of_the_best_time_if_each_place_takes_one_task) {
  POISE_SKIP_IF_SLOW();
  const std::uint64_t draws = kSanitized ? 2 : 12;
  for (const CostFormula formula : {CostFormula::nuco, CostFormula::physical}) {
    double poise = 0, keep = 0;
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
      const DrawnMap drawn(formula, seed);
      poise += drawn.over_best("poise:steps=1000");
      keep += drawn.over_best("keep");
    }
    EXPECT_LT(poise / static_cast<double>(draws), 1.01) << name_of(formula);
    EXPECT_GT(keep / static_cast<double>(draws), 1.1) << "there is nothing to improve";
  }
}

/// Numbers of free cores, recomputed from a list of placed tasks at each query.
struct NaiveFilling {
  const Problem& problem;
  std::vector<std::pair<TaskId, PlaceId>> placed = {};

  std::int64_t room_at(PlaceId p) const {
    const Capacity& capacity = problem.workload.capacity;
    const Machine& machine = problem.machine;
    std::int64_t place = capacity.of_place(p), domain = place;
    if (!capacity.of_domains.empty()) domain = capacity.of_domains[machine.domain_of(p)];
    for (const auto& [t, at] : placed) {
      if (at == p) place -= capacity.cores_of(t);
      if (!capacity.of_domains.empty() && machine.domain_of(at) == machine.domain_of(p))
        domain -= capacity.cores_of(t);
    }
    return capacity.of_domains.empty() ? place : std::min(place, domain);
  }
  bool has_room(TaskId t, PlaceId p) const {
    return room_at(p) >= problem.workload.capacity.cores_of(t);
  }
  PlaceId roomiest(PlaceId first, PlaceId last) const {
    PlaceId best = first;
    for (PlaceId p = first; p < last; ++p)
      if (room_at(p) > room_at(best)) best = p;
    return best;
  }
};

/// Adds tasks to those in `filling`: the tasks that need most cores first, each on the place with
/// the most free cores. Throws Error if a task finds no room.
Placement naive_largest_first(NaiveFilling filling, std::vector<TaskId> tasks,
                              Placement placement) {
  const Capacity& capacity = filling.problem.workload.capacity;
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](TaskId a, TaskId b) { return capacity.cores_of(a) > capacity.cores_of(b); });
  for (const TaskId t : tasks) {
    const PlaceId p = filling.roomiest(0, filling.problem.machine.num_places());
    if (!filling.has_room(t, p)) fail("no room");
    filling.placed.emplace_back(t, p);
    placement.move(t, p);
  }
  return placement;
}

/// The procedure described at within_capacity(); throws Error if a task finds no room.
Placement naive_within_capacity(const Problem& problem, const Placement& wanted) {
  const Workload& workload = problem.workload;
  const Machine& machine = problem.machine;
  const Capacity& capacity = workload.capacity;
  NaiveFilling fixed{problem};
  Placement start = wanted;
  std::vector<TaskId> movable;
  for (TaskId t = 0; t < workload.num_tasks(); ++t) {
    const PlaceId p = problem.current.of(t);
    if (workload.tasks[t].movable) {
      movable.push_back(t);
      continue;
    }
    if (!fixed.has_room(t, p)) fail("no room for a fixed task");
    fixed.placed.emplace_back(t, p);
    start.move(t, p);
  }
  NaiveFilling filling = fixed;
  Placement placement = start;
  const auto is_before = [&](TaskId a, TaskId b) {
    const bool stays_a = problem.current.of(a) == wanted.of(a);
    const bool stays_b = problem.current.of(b) == wanted.of(b);
    if (stays_a != stays_b) return stays_a;
    if (capacity.cores_of(a) != capacity.cores_of(b))
      return capacity.cores_of(a) > capacity.cores_of(b);
    if (workload.tasks[a].load_s != workload.tasks[b].load_s)
      return workload.tasks[a].load_s > workload.tasks[b].load_s;
    return a < b;
  };
  std::vector<TaskId> order = movable, rest;
  std::sort(order.begin(), order.end(), is_before);
  for (const TaskId t : order)
    if (filling.has_room(t, wanted.of(t)))
      filling.placed.emplace_back(t, wanted.of(t));
    else
      rest.push_back(t);
  const auto needs_more = [&](TaskId a, TaskId b) {
    return capacity.cores_of(a) > capacity.cores_of(b);
  };
  std::stable_sort(rest.begin(), rest.end(), needs_more);
  bool is_done = true;
  for (const TaskId t : rest) {
    std::optional<PlaceId> found;
    for (std::size_t l = machine.levels().size() + 1; l-- > 0 && !found;) {
      PlaceId first = 0, last = machine.num_places();
      if (l > 0) {
        const Level& level = machine.levels()[l - 1];
        const std::uint32_t group = machine.group_of(l - 1, wanted.of(t));
        first = level.first_place[group], last = level.first_place[group + 1];
      }
      const PlaceId p = filling.roomiest(first, last);
      if (filling.has_room(t, p)) found = p;
    }
    is_done = is_done && found;
    if (!is_done) break;
    filling.placed.emplace_back(t, *found);
    placement.move(t, *found);
  }
  if (is_done) return placement;
  NaiveFilling now{problem};
  for (TaskId t = 0; t < workload.num_tasks(); ++t)
    now.placed.emplace_back(t, problem.current.of(t));
  bool is_within = true;
  for (PlaceId p = 0; p < machine.num_places(); ++p) is_within = is_within && now.room_at(p) >= 0;
  if (is_within) return problem.current;
  return naive_largest_first(fixed, movable, start);
}

TEST(Capacity, placements_are_repaired_by_the_documented_procedure) {
  int num_thrown = 0, num_kept = 0, num_changed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Drawn drawn(seed);
    Random random(seed);
    Capacity& capacity = drawn.workload.capacity;
    for (TaskId t = 0; t < 20; ++t) {
      if (random.below(6) == 0) capacity.cores[t] = 3;
      if (random.below(3) == 0) drawn.workload.tasks[t].load_s = 0.5;
      drawn.workload.tasks[t].movable = random.below(8) != 0;
    }
    if (seed % 5 == 0) capacity.cores.clear();
    if (seed % 7 == 0) {
      capacity.of_places.clear();
      capacity.per_place = 4;
    }
    for (std::uint32_t& cores : capacity.of_places) cores -= seed % 3 == 0 ? 1 : 0;
    const Placement wanted =
        initial_placement(seed % 2 == 0 ? "random" : "uneven", 20, 12, seed + 7);
    if (seed % 4 == 1) {  // a current placement that is within the capacity, if there is one
      try {
        drawn.current = naive_within_capacity(drawn.view(), drawn.current);
      } catch (const Error&) {
      }
    }
    std::optional<Placement> expected;
    try {
      expected = naive_within_capacity(drawn.view(), wanted);
    } catch (const Error&) {
      EXPECT_THROW(within_capacity(drawn.view(), wanted), Error);
      ++num_thrown;
      continue;
    }
    const Placement placed = within_capacity(drawn.view(), wanted);
    EXPECT_EQ(placed, *expected);
    num_kept += placed == drawn.current;
    num_changed += placed != wanted;
    const CoreRoom room(drawn.machine, drawn.workload, drawn.current);
    EXPECT_TRUE(room.is_limited());
    const Problem problem = drawn.view();
    NaiveFilling filled{problem};
    for (TaskId t = 0; t < 20; ++t) filled.placed.emplace_back(t, drawn.current.of(t));
    for (PlaceId p = 0; p < 12; ++p) EXPECT_EQ(room.is_over(p), filled.room_at(p) < 0);
  }
  EXPECT_GT(num_thrown, 0);
  EXPECT_GT(num_kept, 0);
  EXPECT_GT(num_changed, 50);
}

TEST(Capacity, without_a_limit_everything_fits_and_the_wanted_placement_is_returned) {
  const Machine machine = machine_from_text(kMachine);
  Workload workload;
  workload.tasks.resize(3, {.load_s = 1});
  workload.capacity.cores = {1000, 1000, 1000};
  const Placement current(3), wanted(3, 5);
  EXPECT_EQ(within_capacity({machine, workload, current, machine.costs()}, wanted), wanted);
  CoreRoom room(machine, workload, current);
  EXPECT_FALSE(room.is_limited());
  EXPECT_FALSE(room.is_over(0));
  EXPECT_TRUE(room.fits(0, 5));
  EXPECT_TRUE(room.fits_exchange(0, 1));
  room.move(0, 5);
}

}  // namespace
}  // namespace poise
