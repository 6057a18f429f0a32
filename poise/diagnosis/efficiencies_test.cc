// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/efficiencies.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

#include "tests/support/text_of_error.h"

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

TEST(efficiencies, are_ratios_of_the_sums_over_all_phases) {
  Random random(6);
  for (int i = 0; i < 100; ++i) {
    MeasuredRun run;
    run.knows_waiting = i % 4 > 0;
    for (std::size_t r = 1 + random.below(9); r > 0; --r)
      run.node_of_rank.push_back(static_cast<std::uint32_t>(random.below(4)));
    const double ranks = run.num_ranks();
    std::vector<double> useful(run.num_ranks()), loads = useful, busy = useful, squares = useful,
                                                 walls = useful;
    double queued_s = 0, wall_s = 0;
    for (std::size_t p = 1 + random.below(5); p > 0; --p) {
      MeasuredPhase& phase = run.phases.emplace_back();
      for (std::size_t r = 0; r < ranks; ++r) {
        const double load_s = random.uniform(), waits_s = random.uniform(),
                     width_s = random.uniform(), queues_s = random.uniform(),
                     useful_s = load_s + queues_s / 2;
        phase.ranks.push_back({.wall_s = useful_s + waits_s + random.uniform(),
                               .useful_s = useful_s,
                               .load_s = load_s,
                               .queued_s = queues_s,
                               .waited = {waits_s, width_s}});
        useful[r] += useful_s;
        loads[r] += load_s;
        busy[r] += useful_s + waits_s;
        squares[r] += width_s * width_s;
        queued_s += queues_s;
        wall_s += phase.ranks[r].wall_s;
        walls[r] += phase.ranks[r].wall_s;
      }
      const std::vector<double> phases_s = phase_times_s(run);
      EXPECT_NEAR(std::accumulate(phases_s.begin(), phases_s.end(), 0.0),
                  *std::max_element(walls.begin(), walls.end()), 1e-12);
      EXPECT_GE(*std::min_element(phases_s.begin(), phases_s.end()), 0);
    }
    const double run_s = *std::max_element(walls.begin(), walls.end());
    double fullest_node_s = 0;
    for (std::uint32_t node = 0; node < 4; ++node) {
      double sum_s = 0, count = 0;
      for (std::size_t r = 0; r < ranks; ++r)
        if (run.node_of_rank[r] == node) sum_s += useful[r], ++count;
      if (count > 0) fullest_node_s = std::max(fullest_node_s, sum_s / count);
    }
    const auto mean_of = [&](const std::vector<double>& values) {
      return std::accumulate(values.begin(), values.end(), 0.0) / ranks;
    };
    const double most_s = *std::max_element(useful.begin(), useful.end());
    const auto busiest = std::max_element(busy.begin(), busy.end());
    const Efficiencies e = efficiencies(run);
    EXPECT_DOUBLE_EQ(e.run_s, run_s);
    EXPECT_DOUBLE_EQ(e.parallel, mean_of(useful) / run_s);
    EXPECT_DOUBLE_EQ(e.load_balance, mean_of(useful) / most_s);
    EXPECT_DOUBLE_EQ(e.inside_nodes, fullest_node_s / most_s);
    EXPECT_DOUBLE_EQ(e.between_nodes, std::min(1.0, mean_of(useful) / fullest_node_s));
    EXPECT_DOUBLE_EQ(e.communication, most_s / run_s);
    EXPECT_DOUBLE_EQ(e.transfer, run.knows_waiting ? *busiest / run_s : 1);
    EXPECT_DOUBLE_EQ(e.serialisation, std::min(1.0, e.communication / e.transfer));
    EXPECT_DOUBLE_EQ(e.transfer_half_width, std::sqrt(squares[busiest - busy.begin()]) / run_s);
    EXPECT_DOUBLE_EQ(e.work_balance,
                     mean_of(loads) / *std::max_element(loads.begin(), loads.end()));
    EXPECT_DOUBLE_EQ(e.queued, std::min(1.0, queued_s / wall_s));
  }
}

TEST(efficiencies,
     a_run_takes_as_long_as_its_slowest_rank_even_if_ranks_do_not_begin_phases_together) {
  MeasuredRun run{.node_of_rank = {0, 0}};
  for (const auto& [first_s, second_s] : {std::pair(4, 1), std::pair(0, 4)}) {
    MeasuredPhase& phase = run.phases.emplace_back();
    for (const double s : {first_s, second_s})
      phase.ranks.push_back({.wall_s = s, .useful_s = s, .load_s = s});
  }
  const Efficiencies e = efficiencies(run);
  EXPECT_DOUBLE_EQ(e.run_s, 5);
  EXPECT_DOUBLE_EQ(e.parallel, 0.9);
  EXPECT_DOUBLE_EQ(e.communication, 1);
  EXPECT_DOUBLE_EQ(e.transfer, 1);
  EXPECT_EQ(phase_times_s(run), (std::vector<double>{4, 1}));
}

TEST(efficiencies, are_1_if_the_run_took_no_time) {
  const Efficiencies e =
      efficiencies({.node_of_rank = {0, 1}, .phases = {{.name = "", .ranks = {{}, {}}}}});
  EXPECT_EQ(e.run_s, 0);
  for (const double x : {e.parallel, e.load_balance, e.communication, e.inside_nodes,
                         e.between_nodes, e.serialisation, e.transfer, e.work_balance})
    EXPECT_EQ(x, 1);
  EXPECT_EQ(e.transfer_half_width, 0);
  EXPECT_EQ(e.queued, 0);
}

std::string complaint(const MeasuredRun& run) {
  return text_of_error([&] { check(run); });
}

TEST(efficiencies, profiles_with_a_time_or_a_quota_that_is_negative_or_not_finite_are_refused) {
  using testing::HasSubstr;
  const MeasuredRun good{.node_of_rank = {0, 1},
                         .phases = {barrier_phase({1, 2}, 0), barrier_phase({0, 3}, 0)},
                         .others_s = {0, 1},
                         .quotas = {{.cpus = 0, .stopped_s = 0}, {.cpus = 2, .stopped_s = 3}}};
  EXPECT_EQ(complaint(good), "no error");
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const double value : {-1.0, kInfinite, std::nan("")}) {
    for (double RankTimes::*time :
         {&RankTimes::wall_s, &RankTimes::useful_s, &RankTimes::load_s, &RankTimes::queued_s}) {
      MeasuredRun run = good;
      run.phases[1].ranks[1].*time = value;
      EXPECT_THAT(complaint(run), HasSubstr("phase 1, rank 1 of the profile has a time of"));
    }
    for (double Seconds::*part : {&Seconds::value, &Seconds::half_width}) {
      MeasuredRun run = good;
      run.phases[0].ranks[1].waited.*part = value;
      EXPECT_THAT(complaint(run), HasSubstr("phase 0, rank 1 of the profile has a time of"));
    }
    for (double NodeQuota::*part : {&NodeQuota::cpus, &NodeQuota::stopped_s}) {
      MeasuredRun run = good;
      run.quotas[1].*part = value;
      EXPECT_THAT(complaint(run), HasSubstr("both numbers must be finite and at least 0"));
    }
    MeasuredRun run = good;
    run.others_s[1] = value;
    EXPECT_THAT(complaint(run), HasSubstr("s of CPU time of other programs"));
  }
  MeasuredRun run = good;
  run.others_s.pop_back();
  EXPECT_THAT(complaint(run), HasSubstr("on 1 nodes, but the program ran on 2 nodes"));
  run = good;
  run.quotas.push_back({});
  EXPECT_THAT(complaint(run), HasSubstr("for 3 nodes, but the program ran on 2 nodes"));
  run = good;
  run.phases[1].ranks.pop_back();
  EXPECT_THAT(complaint(run), HasSubstr("phase 1 of the profile has times of 1 ranks, but"));
}

TEST(efficiencies, a_named_part_of_a_run_consists_of_the_phases_with_that_name) {
  MeasuredRun run{.node_of_rank = {0, 1}, .knows_waiting = false};
  for (const double s : {1, 2, 3, 4}) run.phases.push_back(barrier_phase({s, 0}, 0));
  run.phases[1].name = run.phases[3].name = "solve";
  run.phases[2].name = "send";
  const MeasuredRun part = part_named(run, "solve");
  ASSERT_EQ(part.phases.size(), 2u);
  EXPECT_EQ(part.phases[0].ranks[0].wall_s, 2);
  EXPECT_EQ(part.phases[1].ranks[0].wall_s, 4);
  EXPECT_EQ(part.node_of_rank, run.node_of_rank);
  EXPECT_FALSE(part.knows_waiting);
  EXPECT_EQ(part_named(run, "").phases.size(), 4u);
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
