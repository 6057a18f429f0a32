// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/to_trace.h"

#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/machine/text.h"

namespace poise::profile {
namespace {

constexpr std::int64_t kS = 1'000'000'000;

profile::Phase phase_of(std::int64_t useful_ns, std::int32_t cpu,
                        std::vector<Traffic> traffic = {}) {
  profile::Phase phase;
  phase.end_ns = kS;
  phase.totals.useful_ns = phase.useful_cpu_ns = useful_ns;
  phase.cpu = cpu;
  phase.traffic = std::move(traffic);
  return phase;
}

RankProfile rank_of(std::uint32_t rank, Cuts cuts, std::vector<profile::Phase> phases) {
  return {.rank = rank, .num_ranks = 2, .host = "a", .cuts = cuts, .phases = std::move(phases)};
}

PlaceId by_cpu(std::uint32_t host, std::int32_t cpu) {
  return 2 * host + static_cast<PlaceId>(std::max(0, cpu));
}

TEST(to_trace, ranks_become_tasks_on_the_cores_where_they_ran) {
  std::vector<RankProfile> ranks = {
      rank_of(0, Cuts::slices, {phase_of(kS / 2, 1, {{1, false, 3, 300}}), phase_of(kS / 4, -1)}),
      rank_of(1, Cuts::slices, {phase_of(kS, 0, {{0, true, 2, 20}}), phase_of(0, 1)})};
  ranks[1].host = std::string("b");
  const Machine machine = machine_from_text("node:2 core:2");
  const Trace trace = trace_of(ranks, &machine, by_cpu);
  check(trace);
  ASSERT_EQ(trace.phases.size(), 2u);
  const poise::Phase& first = trace.phases[0];
  EXPECT_EQ(first.wall_s, 1);
  EXPECT_EQ(first.workload.tasks[0].load_s, 0.5);
  EXPECT_EQ(first.placement, Placement(std::vector<PlaceId>{1, 2}));
  ASSERT_EQ(first.workload.messages.size(), 2u);
  EXPECT_EQ(first.workload.messages[0].to, 1u);
  EXPECT_EQ(first.workload.messages[0].bytes, 300u);
  EXPECT_EQ(first.workload.messages[1].from, 0u);  // rank 1 fetched these bytes (MPI_Get)
  EXPECT_EQ(first.workload.messages[1].count, 2u);
  EXPECT_EQ(trace.phases[1].placement, Placement(std::vector<PlaceId>{1, 3}));
}

TEST(to_trace, waiting_for_a_cpu_does_not_count_as_load_but_sleeping_does) {
  profile::Phase phase = phase_of(10, 0);
  phase.useful_cpu_ns = 3;
  // The rank did not wait for a cpu, so it slept or an accelerator worked for it.
  EXPECT_DOUBLE_EQ(load_s(phase), 10e-9);
  phase.queued_ns = 50;  // inside MPI
  EXPECT_DOUBLE_EQ(load_s(phase), 10e-9);
  phase.totals.useful_queued_ns = 4;
  EXPECT_DOUBLE_EQ(load_s(phase), 6e-9);
  phase.totals.useful_queued_ns = 7;
  EXPECT_DOUBLE_EQ(load_s(phase), 3e-9);
}

TEST(to_trace, the_trace_of_a_job_that_died_contains_only_phases_that_all_ranks_completed) {
  const std::vector<RankProfile> blocks = {rank_of(0, Cuts::slices, {phase_of(5, 0)}),
                                           rank_of(0, Cuts::collectives, {phase_of(1, 0)}),
                                           rank_of(0, Cuts::collectives, {phase_of(2, 0)}),
                                           rank_of(0, Cuts::collectives, {phase_of(3, 0)}),
                                           rank_of(1, Cuts::slices, {phase_of(9, 0)}),
                                           rank_of(1, Cuts::collectives, {phase_of(7, 0)}),
                                           rank_of(1, Cuts::collectives, {phase_of(8, 0)})};
  const std::vector<RankProfile> ranks = whole(blocks);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].cuts, Cuts::collectives);
  ASSERT_EQ(ranks[0].phases.size(), 2u);
  EXPECT_EQ(ranks[0].phases[1].totals.useful_ns, 2);
  EXPECT_EQ(ranks[1].phases[1].totals.useful_ns, 8);
}

TEST(to_trace, a_job_that_called_collectives_only_at_its_start_is_divided_into_time_slices) {
  std::vector<profile::Phase> slices(4, phase_of(5, 0)), starting(4, phase_of(2, 0));
  for (std::size_t i = 0; i < 4; ++i) {
    slices[i].begin_ns = i * kS;
    slices[i].end_ns = (i + 1) * kS;
    starting[i].end_ns = kS / 2;
  }
  const auto cuts = [&](std::size_t num_slices) {
    slices.resize(num_slices);
    std::vector<RankProfile> blocks;
    for (const std::uint32_t rank : {0, 1}) {
      blocks.push_back(rank_of(rank, Cuts::slices, slices));
      blocks.push_back(rank_of(rank, Cuts::collectives, starting));
    }
    return whole(blocks)[0].cuts;
  };
  // All iterations but the longest together take 1.5 s of the run's 4 s.
  EXPECT_EQ(cuts(4), Cuts::collectives);
  starting[0].end_ns = 0;
  starting[1].end_ns = kS / 4;  // now they take 0.75 s
  EXPECT_EQ(cuts(4), Cuts::slices);
  EXPECT_EQ(cuts(3), Cuts::collectives) << "three slices are too few";
}

TEST(to_trace, ranks_without_data_have_no_load) {
  const std::vector<RankProfile> ranks = whole({rank_of(1, Cuts::collectives, {phase_of(5, 0)})});
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].cuts, Cuts::collectives);
  EXPECT_EQ(load_s(ranks[0].phases[0]), 0);
  EXPECT_FALSE(ranks[0].is_complete);
  EXPECT_THROW(whole({}), Error);
}

}  // namespace
}  // namespace poise::profile
