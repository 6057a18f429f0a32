// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/lent_run.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "poise/diagnosis/tuning.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

/// A run of ten equal phases, each of `iterations` iterations. Rank r runs at place r of the
/// machine, modulo the number of places.
struct Example {
  MeasuredRun run;
  Trace trace;

  Example(const std::string& machine, const std::vector<double>& loads_s,
          std::uint64_t iterations = 1) {
    trace.machine = machine_from_text(machine);
    trace.num_places = trace.machine->num_places();
    std::vector<PlaceId> places;
    for (std::size_t r = 0; r < loads_s.size(); ++r) places.push_back(r % trace.num_places);
    for (const PlaceId place : places)
      run.node_of_rank.push_back(trace.machine->node_of_place(place));
    for (int p = 0; p < 10; ++p) {
      Phase& phase = trace.phases.emplace_back();
      phase.placement = Placement(places);
      phase.workload.messages = {{0, 1, iterations, 8}};
      MeasuredPhase& measured = run.phases.emplace_back();
      for (const double load_s : loads_s) {
        phase.workload.tasks.push_back({.load_s = load_s});
        measured.ranks.push_back({.wall_s = load_s, .useful_s = load_s, .load_s = load_s});
      }
    }
  }

  std::vector<double> lost_s() const {
    std::vector<double> lost_s;
    for (const MeasuredPhase& phase : run.phases) {
      double sum_s = 0, longest_s = 0;
      for (const RankTimes& rank : phase.ranks) {
        sum_s += rank.load_s;
        longest_s = std::max(longest_s, rank.load_s);
      }
      lost_s.push_back(longest_s - sum_s / phase.ranks.size());
    }
    return lost_s;
  }

  std::optional<Seconds> saved() const {
    const ReplayedRun replay(run, trace);
    return saved_by_lending(run, *trace.machine, replay, lost_s());
  }
};

TEST(lent_run, lending_removes_an_imbalance_that_equal_tasks_can_even_out) {
  // The mean load is 1 s. With 4 tasks per mean load, ranks 0 and 1 have 6 and 2 tasks, and rank 0
  // lends 2. With 32, they have 48 and 16 tasks, and rank 0 lends 16.
  const std::optional<Seconds> saved = Example("core:2", {1.5, 0.5}).saved();
  ASSERT_TRUE(saved);
  EXPECT_NEAR(saved->value, 10 * 0.5, 0.05);
  EXPECT_LT(saved->half_width, 0.05);
}

TEST(lent_run, lending_saves_less_if_the_work_is_divided_into_few_tasks) {
  // With 4 tasks per mean load, rank 0 has 5 tasks of 0.26 s and rank 1 has 3 of 0.7 / 3 s. If rank
  // 0 lends one task, it still computes for 1.04 s, so 0.26 s are saved. With 32 tasks nearly the
  // whole imbalance of 0.3 s is removed, except for at most the time of one task.
  const std::optional<Seconds> saved = Example("core:2", {1.3, 0.7}).saved();
  ASSERT_TRUE(saved);
  const double low_s = saved->value - saved->half_width, high_s = saved->value + saved->half_width;
  EXPECT_NEAR(low_s, 10 * 0.26, 0.05);
  EXPECT_GE(high_s, 10 * (0.3 - 1.0 / 32));
  EXPECT_LE(high_s, 10 * 0.3 + 1e-9);
}

TEST(lent_run, lending_never_saves_more_than_the_time_lost_by_the_imbalance) {
  for (const double load_s : {1e-6, 1e-4, 1e-2, 1.0}) {
    const Example example("node:2 core:4", {load_s, 2 * load_s, 0, load_s / 2, 3 * load_s});
    const std::vector<double> lost_s = example.lost_s();
    const std::optional<Seconds> saved = example.saved();
    ASSERT_TRUE(saved);
    EXPECT_GE(saved->value, 0);
    EXPECT_LE(saved->value, std::accumulate(lost_s.begin(), lost_s.end(), 0.0) + 1e-12);
  }
}

TEST(lent_run, lending_cannot_shorten_iterations_that_are_shorter_than_its_messages) {
  const Example example("core:2", {3e-7, 1e-7});
  const std::optional<Seconds> saved = example.saved();
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->value, 0);
}

TEST(lent_run, each_iteration_of_a_phase_is_divided_into_tasks) {
  const std::optional<Seconds> one = Example("core:2", {1.3e-3, 0.7e-3}).saved(),
                               many = Example("core:2", {0.13, 0.07}, 100).saved();
  ASSERT_TRUE(one && many);
  EXPECT_NEAR(many->value, 100 * one->value, 1e-9);
  // The same phase as one long iteration saves more, because messages take a smaller part of it.
  EXPECT_GT(Example("core:2", {0.13, 0.07}).saved()->value, many->value);
}

TEST(lent_run, fewer_phases_are_simulated_if_there_are_many_ranks) {
  const auto ranks = 1 + static_cast<std::size_t>(
                             diagnosis_tuning::kSimulatedTasks /
                             (diagnosis_tuning::kManyTasks * diagnosis_tuning::kMaxSimulated));
  std::vector<double> loads_s(ranks, 1);
  for (std::size_t r = 0; r < ranks; r += 2) loads_s[r] = 2;
  // All phases are equal, so any of them tells what the run would save.
  const std::optional<Seconds> saved = Example("core:" + std::to_string(ranks), loads_s).saved();
  ASSERT_TRUE(saved);
  EXPECT_GT(saved->value, 10 * 0.5 / 4);
  EXPECT_LE(saved->value, 10 * 0.5);
}

TEST(lent_run, ranks_that_share_cores_and_very_many_ranks_are_not_simulated) {
  EXPECT_FALSE(Example("core:2", {1, 1, 2}).saved());
  const double ranks = diagnosis_tuning::kSimulatedTasks /
                       (diagnosis_tuning::kManyTasks * diagnosis_tuning::kMinSimulated);
  const std::size_t too_many = static_cast<std::size_t>(ranks) + 1;
  const std::string machine = "core:" + std::to_string(too_many);
  EXPECT_FALSE(Example(machine, std::vector<double>(too_many, 1)).saved());
}

}  // namespace
}  // namespace poise
