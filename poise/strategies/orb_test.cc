// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <array>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/fair_shares.h"
#include "poise/placement/metrics.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

Placement orb(const Machine& machine, const Workload& workload, const Placement& current) {
  return parse_strategy("orb").rebalance({machine, workload, current, machine.costs()});
}

/// A grid of tasks, each with a load of 1 s. Tasks are numbered along x first.
Workload grid(int width, int height) {
  Workload workload;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      workload.tasks.push_back({1});
      workload.positions.push_back({static_cast<double>(x), static_cast<double>(y), 0});
    }
  return workload;
}

TEST(Orb, cuts_a_grid_across_its_longest_side) {
  const Placement placed = orb(flat_machine(4), grid(4, 2), Placement(8));
  EXPECT_THAT(placed.places(), testing::ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
}

TEST(Orb, fast_places_get_more_load_and_places_with_background_load_get_less) {
  Workload line = grid(8, 1);
  EXPECT_THAT(orb(machine_from_text("core:2 speeds:3,1"), line, Placement(8)).places(),
              testing::ElementsAre(0, 0, 0, 0, 0, 0, 1, 1));
  line.background_s = {0, 100, 4, 0};
  EXPECT_THAT(orb(flat_machine(4), line, Placement(8)).places(),
              testing::ElementsAre(0, 0, 0, 0, 3, 3, 3, 3));
}

TEST(Orb, the_load_of_a_pinned_task_counts_at_the_place_where_it_is_pinned) {
  Workload line = grid(6, 1);
  line.tasks[0] = {.load_s = 3, .movable = false};
  EXPECT_THAT(orb(flat_machine(2), line, Placement(6, 1)).places(),
              testing::ElementsAre(1, 0, 0, 0, 0, 1));
}

TEST(Orb, cuts_between_nodes_before_it_cuts_between_the_places_of_a_node) {
  // The machine has three nodes of two places. The first cut is between nodes and not between the
  // places of the second node, so the tasks of each node are neighbours on the line.
  const Machine machine = machine_from_text("node:3 core:2");
  const Placement placed = orb(machine, grid(12, 1), Placement(12));
  EXPECT_THAT(placed.places(), testing::ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
}

TEST(Orb, spreads_tasks_over_the_places_if_all_have_load_0_and_equal_positions) {
  Workload workload = grid(4, 1);
  for (Task& task : workload.tasks) task.load_s = 0;
  for (auto& position : workload.positions) position = {7, 7, 7};
  EXPECT_THAT(orb(flat_machine(4), workload, Placement(4)).places(),
              testing::ElementsAre(0, 1, 2, 3));
}

TEST(Orb, balances_a_large_grid_of_unequal_tasks_and_cuts_few_edges) {
  Random random(2);
  Workload workload = grid(100, 100);
  for (Task& task : workload.tasks) task.load_s = random.uniform(0.5, 1.5);
  for (TaskId t = 0; t < 10000; ++t) {
    if (t % 100 != 99) workload.messages.push_back({t, t + 1, 1, 1});
    if (t < 9900) workload.messages.push_back({t, t + 100, 1, 1});
  }
  const Machine machine = machine_from_text("node:4 core:4");
  const Placement current = round_robin(10000, 16);
  const Placement placed = orb(machine, workload, current);
  const Metrics metrics = evaluate(machine, workload, machine.costs(), current, placed);
  EXPECT_LT(metrics.imbalance, 1.01);
  // If all loads were equal, six straight lines, each across 100 edges, would divide the grid into
  // 4 by 4 squares and cut 600 edges. The loads are unequal, so the lines have steps and cut more
  // edges.
  const auto cut =
      std::count_if(workload.messages.begin(), workload.messages.end(),
                    [&](const Message& m) { return placed.of(m.from) != placed.of(m.to); });
  EXPECT_LT(cut, 700);
}

TEST(Orb, throws_if_tasks_have_no_positions) {
  Workload workload = grid(2, 1);
  workload.positions.clear();
  try {
    orb(flat_machine(2), workload, Placement(2));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no positions"));
  }
  workload = grid(2, 1);
  workload.positions[1][2] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(orb(flat_machine(2), workload, Placement(2)), Error);
}

/// A reference implementation, which sorts the tasks of each box completely.
class NaiveOrb {
 public:
  explicit NaiveOrb(const Problem& problem)
      : problem_(problem),
        shares_(fair_shares(problem.machine, problem.workload, problem.current)),
        placement_(problem.current) {}

  Placement run() {
    std::vector<TaskId> tasks;
    for (TaskId t = 0; t < problem_.workload.num_tasks(); ++t)
      if (problem_.workload.tasks[t].movable) tasks.push_back(t);
    divide(tasks, 0, problem_.machine.num_places());
    return placement_;
  }

 private:
  /// The load of the task as a whole number, scaled such that all movable loads add up to 2^52.
  double weight_of(TaskId t) const {
    double total_s = 0;
    for (const Task& task : problem_.workload.tasks)
      if (task.movable) total_s += task.load_s;
    return std::floor(problem_.workload.tasks[t].load_s / total_s * 0x1p52);
  }
  double share_before(PlaceId p) const {
    return std::accumulate(shares_.begin(), shares_.begin() + p, 0.0);
  }

  void divide(std::vector<TaskId> tasks, PlaceId first, PlaceId last) {
    if (tasks.empty()) return;
    if (last - first == 1) {
      for (const TaskId t : tasks) placement_.move(t, first);
      return;
    }
    const PlaceId middle = middle_of(first, last);
    const double left = share_before(middle) - share_before(first);
    const double both = share_before(last) - share_before(first);
    double all = 0;
    for (const TaskId t : tasks) all += weight_of(t);
    const std::size_t axis = longest_axis(tasks);
    std::ranges::sort(tasks, {},
                      [&](TaskId t) { return std::pair(problem_.workload.positions[t][axis], t); });
    // Puts the first of the sorted tasks below the plane, as many as bring their total weight
    // closest to the wanted weight. So a task belongs below the plane if half of its weight, plus
    // the weight of all tasks before it, does not exceed the wanted weight.
    const double wanted = both > 0 ? all * (left / both) : 0;
    std::size_t best = 0;
    for (double prefix = 0; best < tasks.size(); ++best) {
      if (prefix + weight_of(tasks[best]) / 2 > wanted) break;
      prefix += weight_of(tasks[best]);
    }
    divide({tasks.begin(), tasks.begin() + best}, first, middle);
    divide({tasks.begin() + best, tasks.end()}, middle, last);
  }

  std::size_t longest_axis(const std::vector<TaskId>& tasks) const {
    std::array<double, 3> extent{};
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const TaskId a : tasks)
        for (const TaskId b : tasks)
          extent[axis] = std::max(extent[axis], problem_.workload.positions[a][axis] -
                                                    problem_.workload.positions[b][axis]);
    return std::max_element(extent.begin(), extent.end()) - extent.begin();
  }

  /// The first place of the middle group on the coarsest level with several groups in the range.
  PlaceId middle_of(PlaceId first, PlaceId last) const {
    for (const Level& level : problem_.machine.levels()) {
      std::vector<PlaceId> inside;
      for (const PlaceId start : level.first_place)
        if (start >= first && start < last) inside.push_back(start);
      if (inside.size() > 1) return inside[inside.size() / 2];
    }
    return first;
  }

  const Problem& problem_;
  const std::vector<double> shares_;
  Placement placement_;
};

TEST(Orb, gives_the_same_placement_as_a_reference_implementation_on_random_problems) {
  for (const char* text :
       {"core:5", "node:3 numa:2 core:3", "node:2 core:4 speeds:1,0.5", "torus:3x2 core:2"})
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      const Machine machine = machine_from_text(text);
      const TaskId size = 1 + random.below(60);
      Workload workload;
      Placement current(size);
      for (TaskId t = 0; t < size; ++t) {
        // Loads of 1 to 3, or random ones. Few different coordinates, so that ties are common.
        workload.tasks.push_back(
            {.load_s = seed % 2 == 0 ? 1.0 + random.below(3) : random.uniform(),
             .movable = random.below(9) != 0});
        workload.positions.push_back(
            {1.0 * random.below(9), 2.0 * random.below(5), random.uniform()});
        current.move(t, random.below(machine.num_places()));
      }
      if (seed % 3 == 0)
        for (PlaceId p = 0; p < machine.num_places(); ++p)
          workload.background_s.push_back(random.below(4));
      const Problem problem{machine, workload, current, machine.costs()};
      EXPECT_EQ(orb(machine, workload, current), NaiveOrb(problem).run());
    }
}

}  // namespace
}  // namespace poise
