// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/to_measured.h"

#include <gtest/gtest.h>
#include <optional>

#include "poise/base/enum_index.h"

namespace poise::profile {
namespace {

TEST(to_measured, waits_are_extrapolated_from_the_sampled_calls_to_all_calls) {
  Phase phase{.label = 3, .begin_ns = 0, .end_ns = 10'000'000'000};
  phase.totals.useful_ns = 4'000'000'000;
  phase.useful_cpu_ns = 3'000'000'000;
  phase.totals.useful_queued_ns = 500'000'000;
  phase.totals.mpi_ns[index_of(Kind::io)] = 500'000'000;
  phase.totals.outside_messages = 3;
  phase.totals.may_wait_calls = {2, 10};
  phase.totals.may_wait_ns = {3'000'000'000, 2'000'000'000};
  phase.waiting[0] = {.samples = 2,
                      .sampled_ns = 3'000'000'000,
                      .waited_ns = 1'000'000'000,
                      .for_whom = {{1, 1'000'000'000}}};
  phase.waiting[1] = {.samples = 5,
                      .sampled_ns = 1'000'000'000,
                      .waited_ns = 500'000'000,
                      // Of the 2 s in calls that may wait, 1 s was in sampled calls.
                      .for_whom = {{1, 500'000'000}}};
  std::vector<RankProfile> ranks(2);
  ranks[0] = {.rank = 0, .num_ranks = 2, .host = "a", .phases = {phase}, .names = {{3, "solve"}}};
  ranks[1] = {.rank = 1, .num_ranks = 2, .host = "b", .phases = {phase}};
  const MeasuredRun run = measured(ranks);
  EXPECT_NO_THROW(check(run));
  EXPECT_EQ(run.node_of_rank, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(run.phases[0].name, "solve");
  const RankTimes& times = run.phases[0].ranks[0];
  EXPECT_DOUBLE_EQ(times.wall_s, 10);
  EXPECT_DOUBLE_EQ(times.useful_s, 4);
  EXPECT_DOUBLE_EQ(times.load_s, 3.5);
  EXPECT_DOUBLE_EQ(times.asleep_s, 0.5);
  EXPECT_DOUBLE_EQ(times.io_s, 0.5);
  EXPECT_EQ(run.messages_outside, 6u);  // of two ranks
  EXPECT_DOUBLE_EQ(times.waited.value, 2);
  ASSERT_EQ(times.waited_for.size(), 2u);
  EXPECT_DOUBLE_EQ(times.waited_for[0].second + times.waited_for[1].second, 2);
  EXPECT_TRUE(run.are_slices);
  EXPECT_TRUE(run.knows_waiting);
  EXPECT_TRUE(run.knows_threads);
  ranks[1].is_complete = false;
  EXPECT_FALSE(measured(ranks).knows_waiting);
  EXPECT_FALSE(measured(ranks).knows_threads);
  ranks[1].is_complete = true;
  ranks[0].cuts = Cuts::collectives;
  EXPECT_FALSE(measured(ranks).are_slices);
  ranks[0].knows_message_waits = false;
  EXPECT_FALSE(measured(ranks).knows_waiting);
}

TEST(to_measured,
     waits_in_phases_without_sampled_calls_are_estimated_from_phases_of_the_same_name) {
  Phase sampled{.label = 1, .begin_ns = 0, .end_ns = 10'000'000'000};
  sampled.totals.may_wait_calls[1] = 1000;
  sampled.totals.may_wait_ns[1] = 2'000'000'000;
  sampled.waiting[1] = {.samples = 100,
                        .sampled_ns = 200'000'000,
                        .waited_ns = 80'000'000,
                        .wait_squares = 0.1,
                        .time_squares = 0.4,
                        .products = 0.2,
                        .for_whom = {{1, 60'000'000}, {2, 20'000'000}}};
  Phase left_out = sampled, other = sampled;
  left_out.waiting[1] = other.waiting[1] = {};
  other.label = 2;
  const RankProfile rank{.host = "a", .phases = {sampled, left_out, other}};
  const MeasuredRun run = measured({rank});
  const RankTimes &known = run.phases[0].ranks[0], &times = run.phases[1].ranks[0];
  EXPECT_DOUBLE_EQ(known.waited.value, 0.4 * 2);
  EXPECT_DOUBLE_EQ(times.waited.value, 0.4 * 2);
  EXPECT_GT(times.waited.half_width, known.waited.half_width);
  ASSERT_EQ(times.waited_for.size(), 2u);
  EXPECT_DOUBLE_EQ(times.waited_for[0].second, 0.3 * 2);
  EXPECT_DOUBLE_EQ(times.waited_for[1].second, 0.1 * 2);
  EXPECT_EQ(run.phases[2].ranks[0].waited.value, 0);
}

TEST(to_measured, counts_the_computing_threads_of_all_ranks_of_a_node) {
  const Phase phase{.begin_ns = 0, .end_ns = 1'000'000'000, .useful_cpu_ns = 600'000'000};
  std::vector<RankProfile> ranks(3);
  const TeamUse one{
      .watched_ns = 1'000'000'000, .cpus = {0, 1}, .threads = {{900'000'000, 0, 7, -1}}};
  TeamUse three = one;  // the third thread belongs to the MPI library
  three.threads = {
      {600'000'000, 100'000'000, 5, 0}, {300'000'000, 0, 2, 0}, {9'000'000, 0, 99, -1}};
  ranks[0] = {.rank = 0, .num_ranks = 3, .host = "a", .phases = {phase}, .team = three};
  ranks[1] = {.rank = 1, .num_ranks = 3, .host = "b", .phases = {phase}, .team = one};
  ranks[2] = {.rank = 2, .num_ranks = 3, .host = "a", .phases = {phase}, .team = one};
  const MeasuredRun run = measured(ranks);
  ASSERT_EQ(run.teams.size(), 1u);
  EXPECT_EQ(run.teams[0].rank, 0u);
  ASSERT_EQ(run.teams[0].work_s.size(), 2u);
  EXPECT_DOUBLE_EQ(run.teams[0].work_s[0], 0.6);
  EXPECT_DOUBLE_EQ(run.teams[0].work_s[1], 0.3);
  ASSERT_EQ(run.threads_of_node.size(), 2u);
  const JuggleFacts& facts = run.threads_of_node[0];
  EXPECT_EQ(facts.threads, 3u);
  EXPECT_DOUBLE_EQ(facts.threads_s, 3);
  EXPECT_EQ(facts.cpus, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(facts.bound_on, (std::vector<std::uint32_t>{2, 0}));
  EXPECT_DOUBLE_EQ(facts.asleep_s, 0.7);
  EXPECT_EQ(facts.turns, 14);
  EXPECT_TRUE(facts.waits_actively);
  EXPECT_EQ(run.threads_of_node[1].threads, 0u);  // a rank with one thread does not count
  EXPECT_FALSE(run.is_free[0]) << "two of its threads are bound";
  EXPECT_TRUE(run.is_free[1]);
}

TEST(to_measured, cpu_time_inside_mpi_does_not_count_as_work_of_the_initial_thread) {
  const Phase phase{.begin_ns = 0, .end_ns = 500'000'000, .useful_cpu_ns = 200'000'000};
  RankProfile rank{.host = "a", .phases = {phase, phase}};
  rank.team = {.watched_ns = 1'000'000'000,
               .cpus = {0, 1},
               .threads = {{1'000'000'000, 0, 1, -1}, {300'000'000, 0, 1, -1}}};
  MeasuredRun run = measured({rank});
  ASSERT_EQ(run.teams.size(), 1u);
  ASSERT_EQ(run.teams[0].work_s.size(), 2u);
  EXPECT_DOUBLE_EQ(run.teams[0].work_s[0], 0.4);
  EXPECT_DOUBLE_EQ(run.teams[0].work_s[1], 0.3);
  EXPECT_EQ(run.threads_of_node[0].threads, 2u);

  rank.phases[0].useful_cpu_ns = rank.phases[1].useful_cpu_ns = 1'000'000;
  run = measured({rank});
  ASSERT_EQ(run.teams.size(), 1u);
  ASSERT_EQ(run.teams[0].work_s.size(), 1u) << "the initial thread hardly computes";
  EXPECT_DOUBLE_EQ(run.teams[0].work_s[0], 0.3);
  EXPECT_EQ(run.threads_of_node[0].threads, 2u) << "but it uses a cpu";
}

TEST(to_measured, the_quota_of_a_node_is_the_smallest_quota_of_its_ranks) {
  const Phase phase{.begin_ns = 0, .end_ns = 1'000'000'000};
  RankProfile a{.rank = 0, .num_ranks = 3, .host = "a", .phases = {phase}};
  RankProfile b = a, c = a;
  a.cpus = {.quota_cpus = 4, .stopped_ns = 2'000'000'000};
  b.rank = 1;
  b.cpus = {.quota_cpus = 2, .stopped_ns = 3'000'000'000};  // on the same node as rank 0
  c.rank = 2;
  c.host = "b";
  const MeasuredRun run = measured({a, b, c});
  ASSERT_EQ(run.quotas.size(), 2u);
  EXPECT_EQ(run.quotas[0].cpus, 2);
  EXPECT_EQ(run.quotas[0].stopped_s, 3);
  EXPECT_EQ(run.threads_of_node[0].quota_cpus, 2);
  EXPECT_EQ(run.quotas[1].cpus, 0);
  EXPECT_EQ(run.threads_of_node[1].quota_cpus, std::nullopt);
}

/// The seconds that other programs used on a node with two ranks; nothing if they are unknown.
std::optional<double> others_s(const RankProfile& a, const RankProfile& b) {
  const MeasuredRun run = measured({a, b});
  EXPECT_EQ(run.others_s.size(), 1u);
  return run.knows_others ? std::optional(run.others_s[0]) : std::nullopt;
}

TEST(to_measured,
     busy_time_of_a_node_minus_cpu_time_of_its_ranks_counts_as_time_of_other_programs) {
  const Phase phase{.begin_ns = 0, .end_ns = 1'000'000'000};
  RankProfile a{.rank = 0, .num_ranks = 2, .host = "a", .phases = {phase}};
  a.team.cpus = {0, 1};
  a.cpus = {.all_ns = 9'000'000'000, .own_ns = 3'000'000'000};
  RankProfile b = a;
  b.rank = 1;
  b.cpus = {.all_ns = 8'000'000'000, .own_ns = 2'000'000'000};
  EXPECT_DOUBLE_EQ(others_s(a, b).value(), 9 - 3 - 2);  // both ranks saw the same cpus
  b.team.cpus = {2};
  EXPECT_DOUBLE_EQ(others_s(a, b).value(), 9 + 8 - 3 - 2);
  b.team.cpus = {1, 2};  // cpu 1 would be counted twice, so the result is unknown
  EXPECT_EQ(others_s(a, b), std::nullopt);
  b.team.cpus = {2};
  b.cpus.all_ns = -1;
  EXPECT_EQ(others_s(a, b), std::nullopt);
  // The kernel counts the time of all programs in ticks, so it may be less than a rank's own time.
  b.cpus = {.all_ns = 1, .own_ns = 12'000'000'000};
  EXPECT_EQ(others_s(a, b), 0);
}

}  // namespace
}  // namespace poise::profile
