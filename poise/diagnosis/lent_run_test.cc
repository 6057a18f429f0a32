// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/lent_run.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/diagnosis/example_testing.h"
#include "poise/diagnosis/imbalance.h"
#include "poise/diagnosis/tuning.h"
#include "poise/simulate/lent_step.h"

namespace poise {
namespace {

/// A run of ten phases, each of `iterations` iterations. Rank r runs at place r of the machine,
/// modulo the number of places.
Example example_of(const std::string& machine, const std::vector<double>& loads_s,
                   std::uint64_t iterations = 1) {
  std::vector<PlaceId> places;
  for (std::size_t r = 0; r < loads_s.size(); ++r)
    places.push_back(r % machine_from_text(machine).num_places());
  return Example(machine, loads_s, {{0, 1, iterations, 8}}, places);
}

std::optional<Seconds> saved_in(const Example& example) {
  const ReplayedRun replay(example.run, example.trace);
  return saved_by_lending(example.run, *example.trace.machine, replay);
}

std::optional<Seconds> saved(const std::string& machine, const std::vector<double>& loads_s,
                             std::uint64_t iterations = 1) {
  return saved_in(example_of(machine, loads_s, iterations));
}

TEST(lent_run, lending_removes_an_imbalance_if_ranks_can_end_up_with_equally_many_tasks) {
  // The mean load is 1 s. If it is divided into 4 tasks, ranks 0 and 1 have 6 and 2 tasks, and rank
  // 0 lends 2. If it is divided into 32 tasks, they have 48 and 16 tasks, and rank 0 lends 16.
  const std::optional<Seconds> s = saved("core:2", {1.5, 0.5});
  ASSERT_TRUE(s);
  EXPECT_NEAR(s->value, 10 * 0.5, 0.05);
  EXPECT_LT(s->half_width, 0.05);
}

TEST(lent_run, lending_saves_less_if_the_work_is_divided_into_few_tasks) {
  // If the mean load of 1 s is divided into 4 tasks, rank 0 has 5 tasks of 0.26 s and rank 1 has 3
  // tasks of 0.7 / 3 s. If rank 0 lends one task, it still computes for 1.04 s, so 0.26 s are
  // saved. If the mean load is divided into 32 tasks, the imbalance of 0.3 s shrinks to at most the
  // time of one task.
  const std::optional<Seconds> s = saved("core:2", {1.3, 0.7});
  ASSERT_TRUE(s);
  const double low_s = s->value - s->half_width, high_s = s->value + s->half_width;
  EXPECT_NEAR(low_s, 10 * 0.26, 0.05);
  EXPECT_GE(high_s, 10 * (0.3 - 1.0 / 32));
  EXPECT_LE(high_s, 10 * 0.3 + 1e-9);
}

TEST(lent_run, lending_never_saves_more_than_the_time_lost_by_the_imbalance) {
  for (const double load_s : {1e-6, 1e-4, 1e-2, 1.0}) {
    const Example example =
        example_of("node:2 core:4", {load_s, 2 * load_s, 0, load_s / 2, 3 * load_s});
    const std::vector<double> lost = lost_s(example.run);
    const std::optional<Seconds> s = saved_in(example);
    ASSERT_TRUE(s);
    EXPECT_GE(s->value, 0);
    EXPECT_LE(s->value, std::accumulate(lost.begin(), lost.end(), 0.0) + 1e-12);
  }
}

TEST(lent_run, lending_saves_nothing_if_iterations_are_shorter_than_the_time_of_one_message) {
  const std::optional<Seconds> s = saved("core:2", {3e-7, 1e-7});
  ASSERT_TRUE(s);
  EXPECT_EQ(s->value, 0);
}

TEST(lent_run, each_iteration_of_a_phase_is_divided_into_tasks) {
  const std::optional<Seconds> one = saved("core:2", {1.3e-3, 0.7e-3}),
                               many = saved("core:2", {0.13, 0.07}, 100);
  ASSERT_TRUE(one && many);
  EXPECT_NEAR(many->value, 100 * one->value, 1e-9);
  // If the phase were one long iteration, lending would save more, because messages would take a
  // smaller part of it.
  EXPECT_GT(saved("core:2", {0.13, 0.07})->value, many->value);
}

TEST(lent_run, the_saving_depends_on_which_ranks_share_a_node_but_not_on_the_numbers_of_the_ranks) {
  const std::vector<Message> messages{{0, 1, 1, 8}};
  const Example in_order("node:2 core:2", {1.5, 0.5, 0.9, 0.2}, messages, {0, 1, 2, 3}),
      mixed("node:2 core:2", {0.9, 1.5, 0.2, 0.5}, messages, {2, 0, 3, 1});
  const std::optional<Seconds> a = saved_in(in_order), b = saved_in(mixed);
  ASSERT_TRUE(a && b);
  EXPECT_GT(a->value, 0);
  EXPECT_DOUBLE_EQ(a->value, b->value);
  EXPECT_DOUBLE_EQ(a->half_width, b->half_width);
}

/// Seconds saved in one phase if a rank with the mean load divides each iteration into `tasks`
/// tasks.
double saved_in_phase(const Example& example, std::size_t p, double iterations, double tasks) {
  const MeasuredRun& run = example.run;
  LendingScenario scenario = lending_network(*example.trace.machine);
  scenario.num_ranks = run.num_ranks();
  const std::uint32_t nodes = 1 + *std::ranges::max_element(run.node_of_rank);
  scenario.ranks_per_node = std::max(1u, scenario.num_ranks / nodes);
  double all_s = 0, longest_s = 0;
  for (const RankTimes& rank : run.phases[p].ranks) {
    all_s += rank.load_s;
    longest_s = std::max(longest_s, rank.load_s);
  }
  if (all_s == 0) return 0;
  iterations = std::max(iterations, longest_s / 0.02);  // an iteration lasts at most 20 ms
  for (std::uint32_t node = 0; node < nodes; ++node)
    for (std::size_t r = 0; r < run.num_ranks(); ++r) {
      if (run.node_of_rank[r] != node) continue;
      const double load_s = run.phases[p].ranks[r].load_s,
                   count = std::max(1.0, std::round(load_s * tasks * run.num_ranks() / all_s));
      scenario.work.push_back(
          {{static_cast<std::uint32_t>(count), load_s / iterations / count, 0}});
    }
  return longest_s - iterations * lent_step(scenario).end_s;
}

TEST(lent_run, the_saving_is_the_mean_of_two_simulations_with_four_and_with_32_tasks_per_rank) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t ranks = 2 + random.below(7);
    std::vector<PlaceId> places;
    for (std::size_t r = 0; r < ranks; ++r) places.push_back(r * 7 % 12);  // not sorted by node
    Example example("node:3 core:4", std::vector<double>(ranks, 1), {{0, 1, 1 + seed % 3, 8}},
                    places);
    for (MeasuredPhase& phase : example.run.phases) {
      const double scale = random.below(6) == 0 ? 0 : random.uniform(0.005, 0.1);
      for (RankTimes& rank : phase.ranks) rank.load_s = scale * random.uniform();
    }
    const ReplayedRun replay(example.run, example.trace);
    const std::vector<double> lost = lost_s(example.run);
    std::vector<Seconds> savings;
    for (const double tasks : {4, 32}) {
      std::vector<double> saved;
      for (const std::size_t p : replay.phases())
        saved.push_back(saved_in_phase(example, p, 1.0 + seed % 3, tasks));
      savings.push_back(sum_over_run(saved, replay.phases(), lost));
      savings.back().value =
          std::clamp(savings.back().value, 0.0, std::accumulate(lost.begin(), lost.end(), 0.0));
    }
    const std::optional<Seconds> found = saved_in(example);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->value, (savings[0].value + savings[1].value) / 2, 1e-12);
    EXPECT_NEAR(found->half_width,
                std::max({std::abs(savings[0].value - savings[1].value) / 2, savings[0].half_width,
                          savings[1].half_width}),
                1e-12);
  }
}

TEST(lent_run, some_of_the_replayed_phases_are_not_simulated_if_there_are_many_ranks) {
  POISE_SKIP_IF_SLOW();
  // Only phase 4 is uneven. With few ranks all eight replayed phases are simulated, phase 4 among
  // them. With more ranks, phase 4 is the only one left out.
  const auto saved_s = [](std::size_t ranks) {
    Example example = example_of("core:" + std::to_string(ranks), std::vector<double>(ranks, 1));
    example.run.phases[4].ranks[0] = {.wall_s = 2, .useful_s = 2, .load_s = 2};
    return saved_in(example)->value;
  };
  const double most = diagnosis_tuning::kSimulatedTasks /
                      (diagnosis_tuning::kManyTasks * diagnosis_tuning::kMaxSimulated);
  EXPECT_GT(saved_s(4), 0);
  EXPECT_EQ(saved_s(static_cast<std::size_t>(most) + 1), 0);
}

TEST(lent_run, no_lending_is_simulated_if_ranks_share_cores_or_there_are_very_many_ranks) {
  EXPECT_FALSE(saved("core:2", {1, 1, 2}));
  const double most = diagnosis_tuning::kSimulatedTasks /
                      (diagnosis_tuning::kManyTasks * diagnosis_tuning::kMinSimulated);
  const std::size_t too_many = static_cast<std::size_t>(most) + 1;
  EXPECT_FALSE(saved("core:" + std::to_string(too_many), std::vector<double>(too_many, 1)));
}

}  // namespace
}  // namespace poise
