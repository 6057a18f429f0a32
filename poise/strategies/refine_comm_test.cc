// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/search/lowest_threshold.h"
#include "poise/strategies/example_testing.h"

namespace poise {
namespace {

TEST(RefineComm, moves_a_task_to_the_place_of_its_communication_partner) {
  Example ring = example("core:3 message:0.25", {3, 3, 3, 2, 1}, {0, 0, 0, 1, 2});
  ring.workload.messages = {{1, 3, 2, 0}, {3, 1, 2, 0}};
  // Place 0 is busy for 9.5 s: 9 s of work, and two messages of 0.25 s each. The average work of a
  // place is 4 s. The lowest threshold that can be reached is 6 s.
  const Placement placed = ring.placed("refine_comm");
  EXPECT_EQ(placed.of(1), 1u);
  EXPECT_LT(ring.metrics(placed).iteration_s, 6.1);
}

TEST(RefineComm, moves_tasks_to_the_distant_places_from_which_they_receive_messages) {
  // Tasks 1 and 2 must leave place 0. Each receives a message from one task; the two senders are on
  // places 2 and 3 of the other node.
  Example far = example("node:2 core:2 factors:100,1 message:0.01", {1, 1, 1, 1, 1, 1, 1, 1},
                        {0, 0, 0, 0, 1, 1, 2, 3});
  far.workload.tasks[0].movable = far.workload.tasks[3].movable = false;
  far.workload.messages = {{6, 1, 1, 0}, {7, 2, 1, 0}};
  const Placement placed = far.placed("refine_comm");
  EXPECT_EQ(placed.of(1), 2u);
  EXPECT_EQ(placed.of(2), 3u);
  EXPECT_EQ(far.metrics(placed).iteration_s, 2);
}

TEST(RefineComm, shortens_the_iteration_or_moves_nothing) {
  for (std::uint64_t seed = 0; seed < num_seeds(100); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const char* machines[] = {"core:4", "node:2 numa:2 core:3 factors:10,2,1 byte:1e-3",
                              "torus:3x2 numa:2 core:2 factors:10,2,1 message:0.02",
                              "node:3 core:3 factors:50,1 message:0.1 speeds:1,0.5,2"};
    Example drawn{machine_from_text(machines[seed % 4]), {}, Placement(90)};
    for (TaskId t = 0; t < 90; ++t) {
      drawn.workload.tasks.push_back({.load_s = random.uniform(), .movable = random.below(9) != 0});
      const auto place = random.below(drawn.machine.num_places());
      drawn.current.move(t, static_cast<PlaceId>(random.below(place + 1)));
      for (std::uint64_t m = random.below(5); m > 0; --m)
        drawn.workload.messages.push_back(
            {t, static_cast<TaskId>(random.below(90)), random.below(4), random.below(100)});
    }
    const Placement placed = drawn.placed("refine_comm");
    if (placed == drawn.current) continue;
    EXPECT_LT(drawn.metrics(placed).iteration_s, drawn.metrics(drawn.current).iteration_s);
  }
}

TEST(RefineComm, gives_a_shorter_stencil_iteration_than_refine) {
  Random random(1);
  Example grid{machine_from_text("node:4 numa:2 core:4 factors:20,2,1 message:3e-4"), {}, {}};
  constexpr TaskId kSide = 48;
  for (TaskId t = 0; t < kSide * kSide; ++t) {
    const TaskId x = t % kSide, y = t / kSide;
    const double hot = x < kSide / 2 && y < kSide / 2 ? 3 : 1;
    grid.workload.tasks.push_back({0.01 * hot * random.uniform(0.5, 1.5)});
    if (x > 0) grid.workload.messages.push_back({t, t - 1, 1, 0});
    if (x + 1 < kSide) grid.workload.messages.push_back({t, t + 1, 1, 0});
    if (y > 0) grid.workload.messages.push_back({t, t - kSide, 1, 0});
    if (y + 1 < kSide) grid.workload.messages.push_back({t, t + kSide, 1, 0});
  }
  grid.current = blocked(grid.workload.num_tasks(), 32);
  EXPECT_LT(grid.metrics(grid.placed("refine_comm")).iteration_s,
            grid.metrics(grid.placed("refine")).iteration_s);
}

/// A reference implementation of an attempt to reach a threshold. It computes the busy times of all
/// places anew for each trial. Costs must be whole numbers, so that sums are exact.
class NaiveAttempt {
 public:
  NaiveAttempt(const Problem& problem, double threshold_s)
      : problem_(problem),
        threshold_s_(threshold_s),
        placement_(problem.current),
        busy_s_(busy_s(placement_)) {}

  std::vector<double> busy_s(const Placement& placement) const {
    return place_times(problem_.machine, problem_.workload, problem_.costs, placement).busy_s();
  }

  std::optional<Placement> result() {
    std::vector<PlaceId> queue(busy_s_.size());
    std::iota(queue.begin(), queue.end(), 0);
    std::ranges::stable_sort(queue, [&](PlaceId a, PlaceId b) { return busy_s_[a] > busy_s_[b]; });
    std::vector<int> visits(busy_s_.size(), 0);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const PlaceId from = queue[i];
      if (busy_s_[from] <= threshold_s_) continue;
      if (++visits[from] > 8) return std::nullopt;
      for (const bool spares : {true, false}) sweep(from, spares, queue);
      if (busy_s_[from] > threshold_s_) return std::nullopt;
    }
    return placement_;
  }

 private:
  double time_s(TaskId t, PlaceId p) const {
    return problem_.workload.tasks[t].load_s / problem_.machine.speed_of(p);
  }

  void sweep(PlaceId from, bool spares, std::vector<PlaceId>& queue) {
    std::vector<TaskId> heaviest;
    for (TaskId t = 0; t < placement_.num_tasks(); ++t)
      if (problem_.workload.tasks[t].movable && problem_.current.of(t) == from)
        heaviest.push_back(t);
    std::ranges::stable_sort(heaviest, [&](TaskId a, TaskId b) {
      return problem_.workload.tasks[a].load_s > problem_.workload.tasks[b].load_s;
    });
    for (std::size_t i = 0; i < heaviest.size() && busy_s_[from] > threshold_s_; ++i) {
      if (placement_.of(heaviest[i]) != from) continue;
      if (spares && i + 1 < heaviest.size() &&
          busy_s_[from] - time_s(heaviest[i + 1], from) <= threshold_s_)
        continue;
      const PlaceId to = best_place(heaviest[i], from);
      if (to == from) continue;
      placement_.move(heaviest[i], to);
      const std::vector<double> before_s = std::exchange(busy_s_, busy_s(placement_));
      for (PlaceId p = 0; p < busy_s_.size(); ++p)
        if (before_s[p] <= threshold_s_ && busy_s_[p] > threshold_s_) queue.push_back(p);
    }
  }

  PlaceId best_place(TaskId t, PlaceId from) const {
    std::map<PlaceId, double> traffic;
    for (const Message& m : problem_.workload.messages) {
      if (m.from == m.to || (m.from != t && m.to != t)) continue;
      const PlaceId p = placement_.of(m.from == t ? m.to : m.from);
      if (p != from) traffic[p] += m.count + m.bytes;
    }
    std::vector<std::pair<double, PlaceId>> most;
    for (const auto& [p, amount] : traffic) most.push_back({-amount, p});
    std::ranges::sort(most);
    most.resize(std::min<std::size_t>(most.size(), 8));
    std::set<PlaceId> candidates;
    for (const auto& [amount, p] : most) candidates.insert(p);
    PlaceId first = 0;
    for (PlaceId p = 1; p < busy_s_.size(); ++p)
      if (busy_s_[p] + time_s(t, p) < busy_s_[first] + time_s(t, first)) first = p;
    if (first != from) candidates.insert(first);
    std::tuple<double, double, PlaceId> best{1e18, 0, from};
    for (const PlaceId to : candidates) {
      Placement moved = placement_;
      moved.move(t, to);
      const std::vector<double> after_s = busy_s(moved);
      if (after_s[from] >= busy_s_[from] || after_s[to] > threshold_s_) continue;
      const double messages_s = std::accumulate(after_s.begin(), after_s.end(), 0.0) -
                                std::accumulate(busy_s_.begin(), busy_s_.end(), 0.0) -
                                time_s(t, to) + time_s(t, from);
      best = std::min(best, std::tuple(messages_s, busy_s_[to], to));
    }
    return std::get<PlaceId>(best);
  }

  const Problem& problem_;
  const double threshold_s_;
  Placement placement_;
  std::vector<double> busy_s_;
};

TEST(RefineComm, gives_the_same_placement_as_a_reference_that_recomputes_all_busy_times) {
  int num_moved = 0;
  for (const char* text : {"core:5 message:1", "node:3 core:4 factors:4,1 message:1 byte:1",
                           "node:2 core:2 factors:2,1 message:2 speeds:1,0.5"})
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      SCOPED_TRACE(testing::Message() << text << " seed " << seed);
      Random random(seed);
      Example drawn{machine_from_text(text), {}, Placement(30)};
      const std::uint32_t num_places = drawn.machine.num_places();
      for (TaskId t = 0; t < 30; ++t) {
        drawn.workload.tasks.push_back(
            {.load_s = 1.0 * random.below(20), .movable = random.below(9) != 0});
        drawn.current.move(t, random.below(1 + random.below(num_places)));
        for (std::uint64_t m = random.below(4); m > 0; --m)
          drawn.workload.messages.push_back(
              {t, static_cast<TaskId>(random.below(30)), random.below(3), random.below(2)});
      }
      const Problem problem{drawn.machine, drawn.workload, drawn.current, drawn.machine.costs()};
      const std::vector<double> busy_s = NaiveAttempt(problem, 0).busy_s(drawn.current);
      double work = 0;
      for (PlaceId p = 0; p < num_places; ++p) work += busy_s[p] * drawn.machine.speed_of(p);
      const double average_s = work / drawn.machine.total_speed();
      const double now_s = *std::ranges::max_element(busy_s);
      for (const double tolerance : {1.0, 1.25}) {
        const double hoped_s = std::max(
            tolerance * average_s, makespan_bound_s(drawn.machine, drawn.workload, drawn.current));
        const Placement expected = lowest_threshold(
            hoped_s, now_s, average_s / 128, drawn.current,
            [&](double threshold_s) { return NaiveAttempt(problem, threshold_s).result(); });
        const std::string strategy = fmt::format("refine_comm:tolerance={}", tolerance);
        EXPECT_EQ(drawn.placed(strategy), expected) << tolerance;
        num_moved += expected == drawn.current ? 0 : 1;
      }
    }
  EXPECT_GE(num_moved, 100);
}

}  // namespace
}  // namespace poise
