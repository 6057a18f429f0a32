// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/efficiencies.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise {
namespace {

/// A phase in which each rank computes for its `useful_s`, then waits for the slowest rank, and
/// then transfers data for `transfer_s`.
MeasuredPhase barrier_phase(const std::vector<double>& useful_s, double transfer_s) {
  MeasuredPhase phase;
  const double last_s = *std::max_element(useful_s.begin(), useful_s.end());
  for (const double s : useful_s)
    phase.ranks.push_back(
        {.wall_s = last_s + transfer_s, .useful_s = s, .load_s = s, .waited = {last_s - s, 0}});
  return phase;
}

TEST(efficiencies, one_imbalanced_phase_has_the_efficiencies_computed_by_hand) {
  const MeasuredRun run{.node_of_rank = {0, 0, 1, 1}, .phases = {barrier_phase({4, 2, 1, 1}, 1)}};
  const Efficiencies e = efficiencies(run);
  EXPECT_DOUBLE_EQ(e.run_s, 5);
  EXPECT_DOUBLE_EQ(e.parallel, 0.4);
  EXPECT_DOUBLE_EQ(e.load_balance, 0.5);
  // On the busier node, the mean useful time is 3 s and the largest useful time is 4 s.
  EXPECT_DOUBLE_EQ(e.inside_nodes, 0.75);
  EXPECT_DOUBLE_EQ(e.between_nodes, 2.0 / 3.0);  // 2 of 3
  EXPECT_DOUBLE_EQ(e.communication, 0.8);
  EXPECT_DOUBLE_EQ(e.serialisation, 1);
  EXPECT_DOUBLE_EQ(e.transfer, 0.8);
}

/// The ranks work one after another: all have the same work, yet all wait. The cause is
/// dependences, not imbalance.
TEST(efficiencies, ranks_that_work_one_after_another_lower_the_serialisation_efficiency) {
  MeasuredRun run{.node_of_rank = {0, 0, 0}};
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<double> useful_s(3, 0);
    useful_s[static_cast<std::size_t>(turn)] = 1;
    run.phases.push_back(barrier_phase(useful_s, 0));
  }
  const Efficiencies e = efficiencies(run);
  EXPECT_DOUBLE_EQ(e.load_balance, 1);
  EXPECT_DOUBLE_EQ(e.serialisation, 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(e.transfer, 1);
  EXPECT_DOUBLE_EQ(e.parallel, 1.0 / 3.0);
}

TEST(efficiencies, queueing_for_a_shared_core_does_not_count_as_imbalance_of_work) {
  MeasuredRun run{.node_of_rank = {0, 0}, .phases = {barrier_phase({2, 1}, 0)}};
  run.phases[0].ranks[0].load_s = 1;
  run.phases[0].ranks[0].queued_s = 1;
  const Efficiencies e = efficiencies(run);
  EXPECT_DOUBLE_EQ(e.load_balance, 0.75);
  EXPECT_DOUBLE_EQ(e.work_balance, 1);
  EXPECT_DOUBLE_EQ(e.queued, 0.25);
}

TEST(efficiencies, load_balance_and_communication_efficiency_multiply_to_the_parallel_efficiency) {
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    MeasuredRun run;
    const std::size_t ranks = 1 + random.below(20);
    for (std::size_t r = 0; r < ranks; ++r)
      run.node_of_rank.push_back(static_cast<std::uint32_t>(random.below(4)));
    for (std::size_t p = 1 + random.below(9); p > 0; --p) {
      std::vector<double> useful_s;
      for (std::size_t r = 0; r < ranks; ++r) useful_s.push_back(random.uniform());
      run.phases.push_back(barrier_phase(useful_s, random.uniform()));
    }
    const Efficiencies e = efficiencies(run);
    EXPECT_NEAR(e.parallel, e.load_balance * e.communication, 1e-12);
    EXPECT_NEAR(e.load_balance, e.inside_nodes * e.between_nodes, 1e-12);
    EXPECT_NEAR(e.communication, e.serialisation * e.transfer, 1e-12);
    for (const double x :
         {e.parallel, e.inside_nodes, e.between_nodes, e.serialisation, e.transfer}) {
      EXPECT_GT(x, 0);
      EXPECT_LE(x, 1);
    }
  }
}

TEST(efficiencies, empty_or_inconsistent_profiles_and_profiles_with_negative_times_are_refused) {
  EXPECT_THROW(check(MeasuredRun{}), Error);
  EXPECT_THROW(check(MeasuredRun{.node_of_rank = {0}}), Error);
  EXPECT_THROW(check(MeasuredRun{.node_of_rank = {0, 0}, .phases = {barrier_phase({1}, 0)}}),
               Error);
  EXPECT_THROW(check(MeasuredRun{.node_of_rank = {0}, .phases = {barrier_phase({-1}, 0)}}), Error);
}

}  // namespace
}  // namespace poise
