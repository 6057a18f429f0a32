// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/series.h"

#include <gtest/gtest.h>
#include <numeric>

#include "runtimes/profile/tuning.h"

namespace poise::profile {
namespace {

TEST(series, a_phase_contains_only_what_was_measured_between_its_start_and_its_end) {
  Sums sums;
  Series series;
  sums.totals.useful_ns = 100;
  sums.traffic.add(1, 1, 10);
  series.start(1000, sums, {.run_ns = 5});
  sums.totals.useful_ns += 40;
  sums.totals.calls[0] += 2;
  sums.traffic.add(2, 3, 30);
  series.cut(1100, sums, {.run_ns = 45, .peak_bytes = 7, .cpu = 3}, 9);
  sums.totals.useful_ns += 1;
  sums.traffic.add(1, 1, 5);
  series.cut(1200, sums, {});
  ASSERT_EQ(series.phases().size(), 2u);
  const Phase& first = series.phases()[0];
  EXPECT_EQ(first.begin_ns, 1000);
  EXPECT_EQ(first.end_ns, 1100);
  EXPECT_EQ(first.totals.useful_ns, 40);
  EXPECT_EQ(first.totals.calls[0], 2u);
  EXPECT_EQ(first.peak_bytes, 7u);
  EXPECT_EQ(first.cpu, 3);
  EXPECT_EQ(first.traffic, (std::vector<Traffic>{{2, false, 3, 30}}));
  EXPECT_EQ(series.phases()[1].label, 9u);
  EXPECT_EQ(series.phases()[1].traffic, (std::vector<Traffic>{{1, false, 1, 5}}));
}

/// The sums over all phases must equal the measured totals, no matter how many phases are merged.
TEST(series, merges_a_million_phases_into_few_phases_without_changing_the_totals) {
  Sums sums;
  Series series;
  series.start(0, sums, {});
  for (std::int64_t cut = 1; cut <= 1'000'000; ++cut) {
    sums.totals.useful_ns += 2;
    sums.traffic.add(static_cast<std::uint32_t>(cut % 3), 1, 4);
    if (series.is_due()) series.cut(cut, sums, {});
  }
  series.cut(1'000'001, sums, {});
  EXPECT_LE(series.phases().size(), tuning::kMaxPhases);
  EXPECT_GE(series.phases().size(), tuning::kMaxPhases / 2);
  std::int64_t useful_ns = 0, end_ns = 0;
  std::uint64_t bytes = 0;
  for (const Phase& phase : series.phases()) {
    EXPECT_EQ(phase.begin_ns, end_ns);
    end_ns = phase.end_ns;
    useful_ns += phase.totals.useful_ns;
    for (const Traffic& sent : phase.traffic) bytes += sent.bytes;
  }
  EXPECT_EQ(useful_ns, 2'000'000);
  EXPECT_EQ(bytes, 4'000'000u);
  EXPECT_EQ(end_ns, 1'000'001);
}

TEST(series, merges_only_phases_with_the_same_label) {
  Sums sums;
  Series series;
  series.start(0, sums, {});
  for (std::uint64_t cut = 1; cut <= 5 * tuning::kMaxPhases; ++cut) {
    sums.totals.useful_ns += cut % 2 == 0 ? 1 : 100;
    series.cut(static_cast<std::int64_t>(cut), sums, {}, 1 + cut % 2);
  }
  EXPECT_LE(series.phases().size(), tuning::kMaxPhases);
  std::int64_t of_label[3] = {};
  for (const Phase& phase : series.phases()) of_label[phase.label] += phase.totals.useful_ns;
  const auto half = static_cast<std::int64_t>(5 * tuning::kMaxPhases / 2);
  EXPECT_EQ(of_label[0], 100);  // before the first
  EXPECT_EQ(of_label[2], half);
  EXPECT_EQ(of_label[1], 100 * (half - 1));
}

/// A program that gives each step a label of its own must not get a phase for each step.
TEST(series, phases_lose_their_labels_if_too_many_labelled_phases_remain_after_merging) {
  Sums sums;
  Series series;
  series.start(0, sums, {});
  for (std::uint64_t cut = 1; cut <= 100 * tuning::kMaxPhases; ++cut) {
    sums.totals.useful_ns += 3;
    if (series.has_labels() || series.is_due())
      series.cut(static_cast<std::int64_t>(cut), sums, {}, cut);
  }
  series.cut(100 * tuning::kMaxPhases + 1, sums, {});
  EXPECT_FALSE(series.has_labels());
  EXPECT_LE(series.phases().size(), tuning::kMaxPhases);
  EXPECT_GE(series.phases().size(), tuning::kMaxPhases / 2);
  std::int64_t useful_ns = 0;
  for (const Phase& phase : series.phases()) {
    EXPECT_EQ(phase.label, 0u);
    useful_ns += phase.totals.useful_ns;
  }
  EXPECT_EQ(useful_ns, static_cast<std::int64_t>(300 * tuning::kMaxPhases));
}

TEST(series, merges_short_phases_until_they_reach_the_minimum_length) {
  std::vector<Phase> phases;
  std::vector<std::int64_t> longest_ns = {3, 3, 3, 50, 4, 4, 4, 4};
  for (std::size_t i = 0; i < longest_ns.size(); ++i) {
    phases.push_back(
        {.begin_ns = static_cast<std::int64_t>(i), .end_ns = static_cast<std::int64_t>(i + 1)});
    phases.back().totals.useful_ns = longest_ns[i];
  }
  merge_short(phases, longest_ns, 9);
  ASSERT_EQ(phases.size(), 4u);
  EXPECT_EQ(phases[0].totals.useful_ns, 9);
  EXPECT_EQ(phases[1].totals.useful_ns, 50);
  EXPECT_EQ(phases[2].totals.useful_ns, 12);
  EXPECT_EQ(phases[3].totals.useful_ns, 4);
  EXPECT_EQ(phases[2].end_ns, 7);
}

}  // namespace
}  // namespace poise::profile
