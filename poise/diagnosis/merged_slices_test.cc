// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/merged_slices.h"

#include <gmock/gmock.h>

#include "poise/base/random.h"
#include "poise/diagnosis/diagnose.h"
#include "poise/diagnosis/imbalance.h"
#include "poise/machine/text.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr double kSlice_s = 0.25;

/// A run of two ranks in slices. In iteration i, rank r computes for works[i][r] slices. The rank
/// that finishes first waits for the other one, which ends the iteration.
MeasuredRun sliced(const std::vector<std::pair<double, double>>& works) {
  MeasuredRun run{.node_of_rank = {0, 0}, .are_slices = true};
  for (const auto& [first, second] : works)
    for (double s = 0; s < std::max(first, second); ++s) {
      MeasuredPhase& phase = run.phases.emplace_back();
      for (const double work : {first, second}) {
        const double load_s = kSlice_s * std::clamp(work - s, 0.0, 1.0);
        phase.ranks.push_back({.wall_s = kSlice_s,
                               .useful_s = load_s,
                               .load_s = load_s,
                               .waited = {kSlice_s - load_s, 0}});
      }
    }
  return run;
}

TEST(merged_slices, an_imbalance_that_persists_is_found_if_iterations_are_longer_than_slices) {
  for (const double slices : {2, 4, 6, 10, 16}) {
    const MeasuredRun run = sliced(std::vector(8, std::pair(slices, slices / 2)));
    EXPECT_NE(imbalance_of(run).kind, ImbalanceKind::persistent) << slices;
    const std::size_t count = slices_to_merge(run);
    EXPECT_GT(count, 1u);
    const Imbalance imbalance = imbalance_of(merged(run, count));
    EXPECT_EQ(imbalance.kind, ImbalanceKind::persistent) << slices;
    EXPECT_NEAR(imbalance.total_s, 8 * slices * kSlice_s / 4, 1e-9) << slices;
  }
}

TEST(merged_slices, an_imbalance_that_persists_is_found_if_iterations_end_within_slices) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const double slices = random.uniform(2, 8);
    // An iteration takes `slices` slices, and a slice takes 1 s. So iteration k begins at the time
    // k * slices.
    MeasuredRun run{.node_of_rank = {0, 0}, .are_slices = true};
    for (double begin = 0; begin + 1 <= 12 * slices; ++begin) {
      MeasuredPhase& phase = run.phases.emplace_back();
      double idle = 0;  // rank 1 waits in the second half of each iteration: its share of the slice
      for (double k = 0; k < 12; ++k)
        idle += std::max(
            0.0, std::min(begin + 1, (k + 1) * slices) - std::max(begin, (k + 0.5) * slices));
      for (const double share : {1.0, 1 - idle})
        phase.ranks.push_back({.wall_s = 1, .useful_s = share, .load_s = share});
    }
    EXPECT_EQ(imbalance_of(merged(run, slices_to_merge(run))).kind, ImbalanceKind::persistent)
        << slices;
  }
}

TEST(merged_slices, slices_are_not_merged_if_this_would_only_hide_a_random_imbalance) {
  Random random(2);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::pair<double, double>> works;
    for (int k = 0; k < 60; ++k) works.emplace_back(random.uniform(), random.uniform());
    EXPECT_EQ(slices_to_merge(sliced(works)), 1u) << i;
  }
}

TEST(merged_slices, phases_that_the_program_marks_are_not_merged) {
  MeasuredRun run = sliced(std::vector(8, std::pair(4.0, 2.0)));
  run.are_slices = false;
  EXPECT_EQ(slices_to_merge(run), 1u);
}

TEST(merged_slices, merging_adds_up_what_was_measured_in_the_phases) {
  MeasuredRun run = sliced({{3, 1}});
  run.phases[0].ranks[1].waited.half_width = 3;
  run.phases[1].ranks[1].waited.half_width = 4;
  run.phases[1].ranks[1].waited_for = {{0, kSlice_s}};
  const MeasuredRun result = merged(run, 2);
  ASSERT_EQ(result.phases.size(), 2u);
  const RankTimes& times = result.phases[0].ranks[1];
  EXPECT_DOUBLE_EQ(times.wall_s, 2 * kSlice_s);
  EXPECT_DOUBLE_EQ(times.load_s, kSlice_s);
  EXPECT_DOUBLE_EQ(times.waited.value, kSlice_s);
  EXPECT_DOUBLE_EQ(times.waited.half_width, 5);
  EXPECT_THAT(times.waited_for, ElementsAre(Pair(0, kSlice_s)));
  EXPECT_DOUBLE_EQ(result.phases[1].ranks[0].wall_s, kSlice_s);
}

/// The trace of a run on one node, in which rank 0 sends a message to rank 1 in each phase.
Trace trace_of(const MeasuredRun& run) {
  Trace trace;
  trace.machine = machine_from_text("core:2");
  trace.num_places = 2;
  for (const MeasuredPhase& measured : run.phases) {
    Phase& phase = trace.phases.emplace_back();
    phase.wall_s = measured.ranks[0].wall_s;
    for (const RankTimes& rank : measured.ranks)
      phase.workload.tasks.push_back({.load_s = rank.load_s});
    phase.workload.messages = {{0, 1, 1, 100}};
    phase.placement = Placement(std::vector<PlaceId>{0, 1});
  }
  return trace;
}

TEST(merged_slices, the_diagnosis_recommends_distributing_the_work_once_if_iterations_are_long) {
  const MeasuredRun run = sliced(std::vector(8, std::pair(4.0, 2.0)));
  const Trace trace = trace_of(run);
  EXPECT_EQ(merged(trace, 4).phases[0].workload.messages[0].count, 4u);
  const Diagnosis diagnosis = diagnose(run, trace);
  EXPECT_EQ(diagnosis.imbalance.kind, ImbalanceKind::persistent);
  ASSERT_EQ(diagnosis.advice[0].remedy, Remedy::objects);
  EXPECT_NEAR(diagnosis.advice[0].saved.value, 8 * kSlice_s, 0.05);
}

}  // namespace
}  // namespace poise
