// SPDX-License-Identifier: BSD-3-Clause

#include "poise/search/even_subphases.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/brute_force.h"
#include "tests/support/seeds.h"

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/machine/text.h"
#include "poise/placement/metrics.h"
#include "poise/placement/subphases.h"
#include "poise/strategies/strategy.h"

namespace poise {
namespace {

constexpr std::uint32_t kSubphases = 3;

/// A workload in which each task has a random load in about half of the subphases.
Workload drawn(TaskId num_tasks, Random& random, SubphaseRule rule = SubphaseRule::wait) {
  Workload workload;
  workload.subphase_rule = rule;
  for (TaskId t = 0; t < num_tasks; ++t) {
    std::vector<double> row(kSubphases, 0);
    for (double& load_s : row)
      if (random.below(2) == 0) load_s = 0.1 + random.uniform();
    double sum_s = 0;
    for (const double load_s : row) sum_s += load_s;
    workload.tasks.push_back({.load_s = sum_s, .bytes = 100});
    workload.subphase_load_s.push_back(row);
  }
  return workload;
}

TEST(EvenSubphases, puts_tasks_that_work_in_the_same_subphase_on_different_places) {
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  workload.subphase_rule = SubphaseRule::wait;
  const Machine machine = flat_machine(2);
  const Placement even_in_sum(std::vector<PlaceId>{0, 0, 1, 1});
  const Problem problem{machine, workload, even_in_sum, machine.costs()};
  EXPECT_EQ(iteration_s(problem, even_in_sum), 4);
  EXPECT_EQ(iteration_s(problem, even_in_subphases(even_in_sum, problem)), 2);
  EXPECT_EQ(iteration_s(problem, parse_strategy("poise").rebalance(problem)), 2);
  EXPECT_EQ(parse_strategy("keep").rebalance(problem), even_in_sum);
}

/// Compares greedy's placement with the optimum, before and after even_in_subphases(), on random
/// problems of 8 tasks. The two results are the iteration times before and after, each divided by
/// the optimum and averaged over the problems.
std::pair<double, double> against_optimum(const Machine& machine, SubphaseRule rule,
                                          const std::vector<double>& speed) {
  double sum_before = 0, sum_after = 0;
  constexpr std::uint64_t draws = kSanitized ? 10 : 40;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    SCOPED_TRACE(fmt::format("draw {}", draw));
    Random random(draw);
    Workload workload = drawn(8, random, rule);
    workload.subphase_speed = speed;
    const Placement current = round_robin(8, machine.num_places());
    const Problem problem{machine, workload, current, machine.costs()};
    Placement scratch = current;
    const double least_s = least_iteration_s(problem, 0, scratch);
    const Placement greedy = parse_strategy("greedy").rebalance(problem);
    const double after_s = iteration_s(problem, even_in_subphases(greedy, problem));
    EXPECT_GE(after_s, least_s * (1 - 1e-12));
    EXPECT_GE(least_s, makespan_bound_s(machine, workload, current) * (1 - 1e-12));
    sum_before += iteration_s(problem, greedy) / least_s;
    sum_after += after_s / least_s;
  }
  return {sum_before / draws, sum_after / draws};
}

TEST(EvenSubphases, on_average_iterations_are_at_most_6_percent_longer_than_the_optimum) {
  POISE_SKIP_IF_SLOW();
  // The speeds of two places in three subphases; index: place * subphases + subphase.
  const std::vector<double> of_two = {1, 2, 0.5, 1, 0.5, 2};
  for (const SubphaseRule rule : {SubphaseRule::wait, SubphaseRule::overlap})
    for (const auto& [text, speed] : {std::pair<const char*, std::vector<double>>{"core:2", {}},
                                      {"core:2", of_two},
                                      {"core:3", {}},
                                      {"core:3 speeds:1,0.5,0.25", {}}}) {
      SCOPED_TRACE(
          fmt::format("{}, rule {}, {} speeds", text, static_cast<int>(rule), speed.size()));
      const auto [before, after] = against_optimum(machine_from_text(text), rule, speed);
      EXPECT_LT(after, rule == SubphaseRule::wait ? 1.04 : 1.06);
      EXPECT_GT(before, 1.1);  // otherwise there would be little to improve
    }
}

TEST(EvenSubphases, balances_cpu_and_gpu_work_separately_if_both_run_at_the_same_time) {
  Workload workload;  // two tasks for the cores, two for the GPU
  workload.tasks.resize(4, {.load_s = 1});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  workload.subphase_rule = SubphaseRule::overlap;
  const Machine machine = flat_machine(2);
  const Placement even_in_sum(std::vector<PlaceId>{0, 0, 1, 1});
  const Problem problem{machine, workload, even_in_sum, machine.costs()};
  EXPECT_EQ(iteration_s(problem, even_in_sum), 2);
  EXPECT_EQ(makespan_bound_s(machine, workload, even_in_sum), 1);
  EXPECT_EQ(iteration_s(problem, parse_strategy("poise").rebalance(problem)), 1);
}

TEST(EvenSubphases, never_lengthens_the_iteration_and_leaves_pinned_tasks_in_place) {
  for (const char* text : {"core:1", "core:5", "node:3 core:2 factors:10,1 message:1e-3 byte:1e-4",
                           "core:4 speeds:1,0.5,1,0.25 message:0.02"})
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const Machine machine = machine_from_text(text);
      Random random(seed);
      Workload workload = drawn(30, random);
      Placement current(30);
      for (TaskId t = 0; t < 30; ++t) {
        current.move(t, static_cast<PlaceId>(random.below(machine.num_places())));
        workload.tasks[t].movable = random.below(4) != 0;
        workload.messages.push_back({t, static_cast<TaskId>(random.below(30)), 3, 50});
      }
      for (PlaceId p = 0; p < machine.num_places(); ++p)
        workload.background_s.push_back(random.uniform());
      const Problem problem{machine, workload, current, machine.costs(), seed};
      for (const Strategy& row : strategies()) {
        if (row.is_oracle || row.name == "metis" || row.name == "scotch") continue;
        SCOPED_TRACE(fmt::format("{}, seed {}: {}", text, seed, row.name));
        if (row.name == "orb") continue;  // needs positions
        const Placement before = parse_strategy(row.name).rebalance(problem);
        const Placement after = even_in_subphases(before, problem);
        EXPECT_LE(iteration_s(problem, after), iteration_s(problem, before));
        EXPECT_EQ(after, even_in_subphases(before, problem));
        for (const Migration& moved : migrations(before, after))
          EXPECT_TRUE(workload.tasks[moved.task].movable) << moved.task;
      }
    }
}

TEST(EvenSubphases, separates_tasks_only_if_separation_saves_more_time_than_their_messages_cost) {
  Workload workload;
  workload.tasks.resize(4, {.load_s = 1});
  workload.subphase_load_s = {{1, 0}, {1, 0}, {0, 1}, {0, 1}};
  workload.subphase_rule = SubphaseRule::wait;
  workload.messages = {{0, 1, 1, 0}, {2, 3, 1, 0}};
  const Placement apart(std::vector<PlaceId>{0, 0, 1, 1});
  for (const auto& [text, is_cheap] :
       {std::pair{"core:2 message:0.1", true}, {"core:2 message:2", false}}) {
    const Machine machine = machine_from_text(text);
    const Problem problem{machine, workload, apart, machine.costs()};
    EXPECT_EQ(even_in_subphases(apart, problem) != apart, is_cheap) << text;
  }
}

TEST(EvenSubphases, keeps_the_placement_if_loads_per_subphase_are_unknown) {
  Random random(1);
  const Machine machine = flat_machine(2);
  const Placement uneven = blocked(20, 2);
  Workload workload = drawn(20, random);
  const auto evened = [&] {
    return even_in_subphases(uneven, {machine, workload, uneven, machine.costs()});
  };
  EXPECT_NE(evened(), uneven);
  workload.memory.resize(20);
  EXPECT_EQ(evened(), uneven);
  workload.memory.clear();
  workload.subphase_load_s.clear();
  EXPECT_EQ(evened(), uneven);
}

/// A reference implementation, which computes the work of all places anew for each step that it
/// considers. It has no limit on computing time. The problem must be such that no sum of times is
/// rounded.
class NaiveEvening {
 public:
  NaiveEvening(const Problem& problem, Placement start)
      : problem_(problem),
        subphases_(problem.workload),
        placement_(std::move(start)),
        tasks_at_(problem.machine.num_places()) {
    for (TaskId t = 0; t < placement_.num_tasks(); ++t)
      if (problem.workload.tasks[t].movable) tasks_at_[placement_.of(t)].push_back(t);
    const std::vector<double> now_s = work_s(placement_);
    min_gain_s_ = kTuning.min_gain * subphases_.time_of_all_s(busiest_s(now_s));
    for (std::uint32_t s = 0; s < count(); ++s) {
      double work = 0, speeds = 0;
      for (PlaceId p = 0; p < num_places(); ++p) {
        const double speed = subphases_.speed_of(problem.machine, p, s);
        work += now_s[p * count() + s] * speed;
        speeds += speed;
      }
      average_s_.push_back(work / speeds);
    }
  }

  Placement run() {
    for (bool has_moved = true; std::exchange(has_moved, false);) {
      const std::vector<double> now_s = work_s(placement_);
      std::vector<PlaceId> busy;
      for (std::uint32_t s = 0; s < count(); ++s) {
        PlaceId busiest = 0;
        for (PlaceId p = 1; p < num_places(); ++p)
          if (now_s[p * count() + s] > now_s[busiest * count() + s]) busiest = p;
        if (std::ranges::find(busy, busiest) == busy.end()) busy.push_back(busiest);
      }
      for (const PlaceId p : busy)
        for (PlaceId q = 0; q < num_places(); ++q)
          while (p != q && even_pair(p, q)) has_moved = true;
    }
    return placement_;
  }

 private:
  struct Step {
    TaskId task;
    PlaceId from, to;
    TaskId partner;  // moves the other way; the task itself if there is no partner
    bool has_partner() const { return partner != task; }
  };

  std::uint32_t count() const { return subphases_.count(); }
  std::uint32_t num_places() const { return problem_.machine.num_places(); }
  std::vector<double> work_s(const Placement& placement) const {
    return subphase_work_s(problem_.machine, problem_.workload, subphases_, placement);
  }
  /// busiest_s() returns for each subphase the longest time of all places. busier_s() returns for
  /// each subphase the longer time of places p and q, but at least the average of all places.
  std::vector<double> busiest_s(const std::vector<double>& work_s) const {
    std::vector<double> most_s(count(), 0);
    for (std::size_t i = 0; i < work_s.size(); ++i)
      most_s[i % count()] = std::max(most_s[i % count()], work_s[i]);
    return most_s;
  }
  std::vector<double> busier_s(const std::vector<double>& work_s, PlaceId p, PlaceId q) const {
    std::vector<double> most_s = average_s_;
    for (std::uint32_t s = 0; s < count(); ++s)
      for (const PlaceId place : {p, q})
        most_s[s] = std::max(most_s[s], work_s[place * count() + s]);
    return most_s;
  }
  double messages_s(const Placement& placement) const {
    double sum_s = 0;
    for (const Message& m : problem_.workload.messages)
      sum_s +=
          message_s(problem_.machine, problem_.costs, m, placement.of(m.from), placement.of(m.to));
    return sum_s;
  }
  double added_messages_s(TaskId t, PlaceId to) const {
    Placement moved = placement_;
    moved.move(t, to);
    return messages_s(moved) - messages_s(placement_);
  }

  bool even_pair(PlaceId p, PlaceId q) {
    std::optional<Step> best;
    double best_gain_s = min_gain_s_;
    const auto consider = [&](const Step& step) {
      const double gain_s = gain_of(step, best_gain_s);
      if (gain_s <= best_gain_s) return;
      best = step;
      best_gain_s = gain_s;
    };
    for (const TaskId t : tasks_at_[p]) consider({t, p, q, t});
    for (const TaskId t : tasks_at_[q]) consider({t, q, p, t});
    for (const TaskId t : tasks_at_[p]) {
      if (best) break;
      for (const TaskId u : tasks_at_[q]) consider({t, p, q, u});
    }
    if (!best) return false;
    relocate(best->task, best->from, best->to);
    if (best->has_partner()) relocate(best->partner, best->to, best->from);
    return true;
  }

  double gain_of(const Step& step, double least_s) const {
    Placement after = placement_;
    after.move(step.task, step.to);
    if (step.has_partner()) after.move(step.partner, step.from);
    const std::vector<double> before_s = work_s(placement_), after_s = work_s(after);
    if (subphases_.time_of_all_s(busiest_s(after_s)) >
        subphases_.time_of_all_s(busiest_s(before_s)))
      return 0;
    double gain_s = subphases_.time_of_all_s(busier_s(before_s, step.from, step.to)) -
                    subphases_.time_of_all_s(busier_s(after_s, step.from, step.to));
    if (gain_s <= least_s) return 0;
    gain_s -= added_messages_s(step.task, step.to);
    return step.has_partner() ? gain_s - added_messages_s(step.partner, step.from) : gain_s;
  }

  void relocate(TaskId t, PlaceId from, PlaceId to) {
    std::erase(tasks_at_[from], t);
    tasks_at_[to].push_back(t);
    placement_.move(t, to);
  }

  const Problem& problem_;
  const Subphases subphases_;
  Placement placement_;
  std::vector<std::vector<TaskId>> tasks_at_;
  std::vector<double> average_s_;
  double min_gain_s_ = 0;
};

TEST(EvenSubphases, gives_the_same_placement_as_a_reference_without_a_limit_on_computing_time) {
  int num_evened = 0;
  for (const char* text : {"core:3 message:0.25", "node:2 core:2 factors:2,1 message:0.25",
                           "core:3 speeds:1,0.5,0.25 message:0"})
    for (const SubphaseRule rule : {SubphaseRule::wait, SubphaseRule::overlap})
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(fmt::format("{}, rule {}, seed {}", text, static_cast<int>(rule), seed));
        Random random(seed);
        const Machine machine = machine_from_text(text);
        Workload workload;
        workload.subphase_rule = rule;
        Placement start(12);
        for (TaskId t = 0; t < 12; ++t) {
          // The loads of each task add up to 8 s, so that sums and fractions are exact.
          const double first = random.below(9), second = random.below(9 - random.below(9));
          workload.subphase_load_s.push_back(
              {std::min(first, second), std::abs(first - second), 8 - std::max(first, second)});
          workload.tasks.push_back({.load_s = 8, .movable = random.below(8) != 0});
          workload.messages.push_back(
              {t, static_cast<TaskId>(random.below(12)), random.below(3), 0});
          start.move(t, random.below(machine.num_places()));
        }
        if (machine.num_places() == 3 && seed % 2 == 0)
          workload.subphase_speed = {1, 2, 0.5, 1, 0.5, 2, 2, 1, 1};
        const Problem problem{machine, workload, start, machine.costs()};
        const Placement evened = NaiveEvening(problem, start).run();
        const bool is_worth_it =
            iteration_s(problem, evened) < (1 - kTuning.tolerance) * iteration_s(problem, start);
        Tuning tuning;
        tuning.min_scans = 1'000'000'000;
        EXPECT_EQ(even_in_subphases(start, problem, tuning), is_worth_it ? evened : start);
        num_evened += is_worth_it ? 1 : 0;
      }
  EXPECT_GE(num_evened, 150);
}

TEST(EvenSubphases, leaves_the_placement_unchanged_if_the_table_of_loads_would_be_too_large) {
  Random random(1);
  const Machine machine = flat_machine(2);
  const Placement uneven = blocked(20, 2);
  const Workload workload = drawn(20, random);
  Tuning tuning;
  for (const std::size_t most : {20 * kSubphases, 20 * kSubphases - 1}) {
    tuning.max_table = most;
    const Problem problem{machine, workload, uneven, machine.costs()};
    EXPECT_EQ(even_in_subphases(uneven, problem, tuning) == uneven, most < 20 * kSubphases);
  }
}

}  // namespace
}  // namespace poise
