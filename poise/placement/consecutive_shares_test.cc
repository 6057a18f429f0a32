// SPDX-License-Identifier: BSD-3-Clause

#include "poise/placement/consecutive_shares.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/fair_shares.h"
#include "poise/placement/metrics.h"

namespace poise {
namespace {

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({.load_s = load_s});
  return workload;
}

Placement placed(const char* machine_text, const Workload& workload, const Placement& current) {
  const Machine machine = machine_from_text(machine_text);
  return consecutive_shares({machine, workload, current, machine.costs()});
}

TEST(ConsecutiveShares, every_place_gets_consecutive_tasks_with_about_the_same_total_load) {
  const Workload workload = with_loads({4, 1, 1, 1, 1, 2, 2});
  EXPECT_EQ(placed("core:3", workload, Placement(7)),
            Placement(std::vector<PlaceId>{0, 1, 1, 1, 1, 2, 2}));
}

TEST(ConsecutiveShares, a_place_with_too_much_background_load_gets_no_task) {
  Workload workload = with_loads({1, 1, 1, 1});
  workload.background_s = {0, 9, 0};
  EXPECT_EQ(placed("core:3", workload, Placement(4)), Placement(std::vector<PlaceId>{0, 0, 2, 2}));
}

TEST(ConsecutiveShares, leaves_pinned_tasks_in_place) {
  Workload workload = with_loads({1, 1, 1, 1});
  workload.tasks[0].movable = false;
  const Placement current(std::vector<PlaceId>{1, 0, 0, 0});
  EXPECT_EQ(placed("core:2", workload, current), Placement(std::vector<PlaceId>{1, 0, 0, 1}));
}

double makespan_s(const Problem& problem, const Placement& placement) {
  const std::vector<double> works_s = work_s(problem.machine, problem.workload, placement);
  return *std::max_element(works_s.begin(), works_s.end());
}

// Returns the shortest makespan of all placements that give each place consecutive tasks, in order.
double shortest_s(const Problem& problem, Placement placement, TaskId first, PlaceId place) {
  const TaskId num_tasks = problem.workload.num_tasks();
  if (place + 1 == problem.machine.num_places()) {
    for (TaskId t = first; t < num_tasks; ++t) placement.move(t, place);
    return makespan_s(problem, placement);
  }
  double least_s = std::numeric_limits<double>::infinity();
  for (TaskId end = first; end <= num_tasks; ++end) {
    least_s = std::min(least_s, shortest_s(problem, placement, end, place + 1));
    if (end < num_tasks) placement.move(end, place);
  }
  return least_s;
}

TEST(ConsecutiveShares, no_other_split_into_consecutive_blocks_has_a_noticeably_shorter_makespan) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> loads_s(1 + random.below(10)), background_s(4);
    for (double& load_s : loads_s) load_s = random.below(4) ? random.uniform() : 0;
    for (double& seconds : background_s) seconds = random.below(3) ? 0 : random.uniform(0, 2);
    Workload workload = with_loads(loads_s);
    workload.background_s = background_s;
    const Machine machine = machine_from_text(
        fmt::format("core:4 speeds:1,{},{},1", random.uniform(0.5, 2), random.uniform(0.5, 2)));
    const Placement current(workload.num_tasks());
    const Problem problem{machine, workload, current, machine.costs(), 1};
    const Placement blocks = consecutive_shares(problem);
    EXPECT_TRUE(std::ranges::is_sorted(blocks.places()));
    EXPECT_LE(makespan_s(problem, blocks), shortest_s(problem, current, 0, 0) + 2.001e-3)
        << "round " << round;
  }
}

/// A reference implementation: finds the limit by bisection, then each cut by a search from one
/// end.
Placement naive_shares(const Problem& problem) {
  const Machine& machine = problem.machine;
  const std::size_t num_places = machine.num_places();
  std::vector<double> before{0};
  double longest_s = 0, slowest = std::numeric_limits<double>::infinity();
  for (const Task& task : problem.workload.tasks) {
    if (!task.movable) continue;
    before.push_back(before.back() + task.load_s);
    longest_s = std::max(longest_s, task.load_s);
  }
  const std::size_t num_tasks = before.size() - 1;
  const auto shares = fair_shares(machine, problem.workload, problem.current);
  const auto fixed_s = fixed_work_s(machine, problem.workload, problem.current);
  const auto room_s = [&](PlaceId p, double limit_s) {
    return std::max(0.0, limit_s - fixed_s[p]) * machine.speed_of(p);
  };
  const auto last_end = [&](std::size_t first, PlaceId p, double limit_s) {
    std::size_t end = first;
    while (end < num_tasks && before[end + 1] <= before[first] + room_s(p, limit_s)) ++end;
    return end;
  };
  double low_s = 0;
  for (PlaceId p = 0; p < num_places; ++p) {
    slowest = std::min(slowest, machine.speed_of(p));
    if (shares[p] > 0)
      low_s = std::max(low_s, fixed_s[p] + shares[p] * before.back() / machine.speed_of(p));
  }
  double high_s = low_s + longest_s / slowest;
  for (int i = 0; i < 10; ++i) {
    const double limit_s = (low_s + high_s) / 2;
    std::size_t end = 0;
    for (PlaceId p = 0; p < num_places; ++p) end = last_end(end, p, limit_s);
    (end == num_tasks ? high_s : low_s) = limit_s;
  }
  std::vector<std::size_t> earliest(num_places + 1, num_tasks), cuts(num_places + 1, num_tasks);
  for (std::size_t p = num_places; p-- > 0;) {
    std::size_t first = earliest[p + 1];
    const double least_s = before[first] - room_s(static_cast<PlaceId>(p), high_s);
    while (first > 0 && before[first - 1] >= least_s) --first;
    earliest[p] = first;
  }
  cuts[0] = 0;
  double shared_s = 0;
  for (std::size_t p = 0; p + 1 < num_places; ++p) {
    shared_s += shares[p] * before.back();
    std::size_t nearest = 0;  // of two equally near cuts, the last
    for (std::size_t cut = 0; cut <= num_tasks; ++cut)
      if (std::abs(before[cut] - shared_s) <= std::abs(before[nearest] - shared_s)) nearest = cut;
    const std::size_t least = std::max(cuts[p], earliest[p + 1]);
    const std::size_t most = std::max(least, last_end(cuts[p], static_cast<PlaceId>(p), high_s));
    cuts[p + 1] = std::clamp(nearest, least, most);
  }
  Placement placement = problem.current;
  std::size_t index = 0;
  for (TaskId t = 0; t < problem.workload.num_tasks(); ++t) {
    if (!problem.workload.tasks[t].movable) continue;
    PlaceId place = 0;
    while (place + 1 < num_places && index >= cuts[place + 1]) ++place;
    placement.move(t, place);
    ++index;
  }
  return placement;
}

TEST(ConsecutiveShares, cuts_are_as_near_to_the_fair_shares_as_the_shortest_makespan_allows) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const auto num_tasks = static_cast<TaskId>(random.below(60));
    Workload workload;
    Placement current(num_tasks);
    for (TaskId t = 0; t < num_tasks; ++t) {
      const double load_s = random.below(30) == 0 ? 5 : random.uniform();
      workload.tasks.push_back({.load_s = load_s, .movable = random.below(8) != 0});
      current.move(t, static_cast<PlaceId>(random.below(5)));
    }
    if (round % 2 == 0)
      for (int p = 0; p < 5; ++p)
        workload.background_s.push_back(random.below(3) == 0 ? random.uniform(0, 9) : 0);
    const Machine machine =
        machine_from_text(fmt::format("core:5 speeds:1,{},{},1,{}", random.uniform(0.5, 2),
                                      random.uniform(0.5, 2), random.uniform(0.25, 1)));
    const Problem problem{machine, workload, current, machine.costs()};
    EXPECT_EQ(consecutive_shares(problem), naive_shares(problem));
  }
}

}  // namespace
}  // namespace poise
