// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/imbalance.h"

#include <cmath>
#include <gmock/gmock.h>

namespace poise {
namespace {

using testing::ElementsAre;

MeasuredRun run_of(const std::vector<std::vector<double>>& loads_s) {
  MeasuredRun run;
  run.node_of_rank.assign(loads_s[0].size(), 0);
  for (const auto& row : loads_s) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (const double s : row) phase.ranks.push_back({.wall_s = 4, .useful_s = s, .load_s = s});
  }
  return run;
}

TEST(imbalance, one_redistribution_removes_an_imbalance_that_stays_on_the_same_ranks) {
  const Imbalance i = imbalance_of(run_of(std::vector<std::vector<double>>(20, {4, 2, 2, 0})));
  EXPECT_EQ(i.kind, ImbalanceKind::persistent);
  EXPECT_DOUBLE_EQ(i.total_s, 40);
  EXPECT_NEAR(i.persistent_s, 40, 1e-9);
  // Periodic redistribution saves 2 s in each phase after the first redistribution.
  EXPECT_NEAR(i.periodic_s, 2 * (20 - i.every), 1e-9);
  EXPECT_NEAR(i.moved_share, 0.25, 1e-12);  // only the first redistribution moves work
}

TEST(imbalance, a_redistribution_before_any_rank_has_worked_moves_nothing) {
  std::vector<std::vector<double>> loads(10, {0, 0, 0, 0});
  loads.resize(20, {4, 2, 2, 0});
  const Imbalance i = imbalance_of(run_of(loads));
  EXPECT_EQ(i.every, 1u);
  EXPECT_NEAR(i.periodic_s, 2 * (10 - 1), 1e-9);
  EXPECT_NEAR(i.moved_share, 0.25, 1e-12);
}

TEST(imbalance, redistribution_does_not_remove_an_imbalance_that_alternates_between_two_ranks) {
  std::vector<std::vector<double>> loads;
  for (int p = 0; p < 40; ++p)
    loads.push_back(p % 2 == 0 ? std::vector<double>{4, 0} : std::vector<double>{0, 4});
  const Imbalance i = imbalance_of(run_of(loads));
  EXPECT_EQ(i.kind, ImbalanceKind::random);
  EXPECT_DOUBLE_EQ(i.total_s, 80);
  EXPECT_NEAR(i.persistent_s, 0, 1e-9);
  EXPECT_LT(i.periodic_s, 0.2 * i.total_s);
}

TEST(imbalance, frequent_redistribution_removes_an_imbalance_that_moves_slowly_from_rank_to_rank) {
  std::vector<std::vector<double>> loads;
  for (int p = 0; p < 80; ++p) {
    std::vector<double> row(4, 1);
    row[static_cast<std::size_t>(p / 20)] = 4;
    loads.push_back(row);
  }
  const Imbalance i = imbalance_of(run_of(loads));
  EXPECT_EQ(i.kind, ImbalanceKind::drifting);
  EXPECT_LT(i.persistent_s, 0.1 * i.total_s);
  EXPECT_GT(i.periodic_s, 0.8 * i.total_s);
  EXPECT_LE(i.every, 5u);
}

TEST(imbalance, the_kind_of_imbalance_is_unknown_if_the_run_has_too_few_phases) {
  const Imbalance i = imbalance_of(run_of({{4, 2}, {4, 2}}));
  EXPECT_EQ(i.kind, ImbalanceKind::unknown);
  EXPECT_DOUBLE_EQ(i.total_s, 2);
}

TEST(imbalance, the_kind_of_imbalance_is_none_if_all_ranks_have_the_same_load) {
  const Imbalance i = imbalance_of(run_of(std::vector<std::vector<double>>(10, {1, 1, 1})));
  EXPECT_EQ(i.kind, ImbalanceKind::none);
  EXPECT_DOUBLE_EQ(i.total_s, 0);
  EXPECT_EQ(i.distributions, 0u);
}

TEST(Imbalance,
     the_estimated_error_of_the_imbalance_stays_small_if_phases_differ_only_in_duration) {
  MeasuredRun run;
  run.node_of_rank = {0, 0};
  for (const double length_s : {.01, .02, 5., .01, 3., .02, .5, 1.}) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (const double share : {1., .2})
      phase.ranks.push_back(
          {.wall_s = length_s, .useful_s = share * length_s, .load_s = share * length_s});
  }
  const Imbalance imbalance = imbalance_of(run);
  EXPECT_NEAR(imbalance.total_error_s, 0, 1e-12);
  EXPECT_LT(imbalance.periodic_error_s, .1 * imbalance.periodic_s);
}

TEST(Imbalance, the_estimated_error_follows_from_the_deviations_of_phases_from_their_mean) {
  // Imbalance costs 1 s in one phase and 2 s in the other. The phases have equal lengths, so each
  // of these times deviates from their mean by 1/2 s.
  const Imbalance imbalance = imbalance_of(run_of({{4, 2}, {4, 0}}));
  EXPECT_DOUBLE_EQ(imbalance.total_s, 3);
  EXPECT_DOUBLE_EQ(imbalance.total_error_s, 1.96 * std::sqrt(2 * (2 * 0.25) / (2 - 1)));
}

TEST(Imbalance, loads_are_even_from_the_first_phase_on_or_from_the_first_redistribution_on) {
  const std::vector<double> uneven{4, 2, 2, 0}, even{2, 2, 2, 2};
  const MeasuredRun run = run_of(std::vector(4, uneven));
  Imbalance imbalance;
  imbalance.every = 2;
  EXPECT_THAT(distributed_loads_s(run, imbalance, true), ElementsAre(even, even, even, even));
  EXPECT_THAT(distributed_loads_s(run, imbalance, false), ElementsAre(uneven, uneven, even, even));
  const MeasuredRun balanced = run_of(std::vector(4, even));
  EXPECT_THAT(distributed_loads_s(balanced, imbalance, true), ElementsAre(even, even, even, even));
}

}  // namespace
}  // namespace poise
