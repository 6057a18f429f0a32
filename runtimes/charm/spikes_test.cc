// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/spikes.h"

#include <gmock/gmock.h>

#include "runtimes/charm/balancer.h"

namespace poise::charm {
namespace {

using testing::Each;

Workload with_loads(const std::vector<double>& loads_s) {
  Workload workload;
  for (const double load_s : loads_s) workload.tasks.push_back({load_s, 0, true});
  return workload;
}

std::vector<double> loads_of(const Workload& workload) {
  std::vector<double> loads_s;
  for (const Task& task : workload.tasks) loads_s.push_back(task.load_s);
  return loads_s;
}

/// Returns 1,000 loads of 1 s, except for one given load.
std::vector<double> ones(double spike_s = 1) {
  std::vector<double> loads_s(1000, 1.0);
  loads_s[7] = spike_s;
  return loads_s;
}

TEST(Spikes, an_unusually_high_load_is_replaced_by_an_earlier_load) {
  Workload workload = with_loads(ones(31));
  EXPECT_EQ(replace_spikes({ones(), ones()}, workload), 1u);
  EXPECT_NEAR(workload.tasks[7].load_s, 1, 0.04);  // 0.04: the spike raised the mean by 3 %
  workload.tasks[7].load_s = 1;
  EXPECT_EQ(loads_of(workload), ones());
}

TEST(Spikes,
     a_high_load_is_kept_if_the_object_had_as_high_a_load_at_one_of_the_last_two_decisions) {
  for (const auto& past : {std::vector{ones(), ones(31)}, std::vector{ones(31), ones()}}) {
    Workload workload = with_loads(ones(31));
    EXPECT_EQ(replace_spikes(past, workload), 0u);
    EXPECT_EQ(loads_of(workload), ones(31));
  }
  Workload workload = with_loads(ones(31));
  EXPECT_EQ(replace_spikes({ones(31), ones(), ones()}, workload), 1u) << "only the last two count";
}

TEST(Spikes, loads_that_rise_because_the_phase_is_longer_are_not_spikes) {
  Workload workload = with_loads(std::vector<double>(1000, 50.0));
  EXPECT_EQ(replace_spikes({ones(), ones()}, workload), 0u);
  EXPECT_THAT(loads_of(workload), Each(50.0));
}

TEST(Spikes,
     a_task_that_is_missing_from_the_list_of_past_loads_is_treated_as_if_its_past_load_were_0) {
  Workload workload = with_loads(ones(31));
  workload.tasks.push_back({0, 0, false});  // a PE that sends messages
  EXPECT_EQ(replace_spikes({ones(), ones()}, workload), 1u);
  EXPECT_NEAR(workload.tasks[7].load_s, 1, 0.04);
  workload.tasks.resize(999);
  EXPECT_EQ(replace_spikes({ones(), ones()}, workload), 0u) << "these are other objects";
}

TEST(Spikes, no_load_is_replaced_if_many_loads_rise_at_the_same_time) {
  std::vector<double> loads_s = ones();
  std::fill_n(loads_s.begin(), 10, 40.0);
  Workload ten = with_loads(loads_s);
  EXPECT_EQ(replace_spikes({ones()}, ten), 10u);
  loads_s[10] = 40;
  Workload eleven = with_loads(loads_s);
  EXPECT_EQ(replace_spikes({ones()}, eleven), 0u);
  EXPECT_EQ(loads_of(eleven), loads_s);
}

TEST(Spikes, no_load_is_replaced_if_past_loads_are_unknown) {
  Workload workload = with_loads(ones(31));
  EXPECT_EQ(replace_spikes({}, workload), 0u);
  EXPECT_EQ(replace_spikes({std::vector<double>(1000, 0.0)}, workload), 0u);
  EXPECT_EQ(loads_of(workload), ones(31));
}

TEST(Spikes, one_preempted_object_does_not_change_the_placement) {
  // 40 objects of 1 s on four PEs are balanced. Then one of them is preempted for 30 s.
  Statistics statistics;
  statistics.pes.resize(4);
  statistics.pes_are_here = false;
  for (std::uint64_t i = 0; i < 40; ++i)
    statistics.objects.push_back({{i, 1}, 1, 0, static_cast<std::int32_t>(i % 4), true});
  const auto moves = [&](Balancer& balancer) {
    const auto pes = balancer.decide(statistics).pe_of_object;
    int moved = 0;
    for (std::size_t i = 0; i < 40; ++i) moved += pes[i] != statistics.objects[i].pe;
    return moved;
  };
  for (const char* strategy : {"refine", "greedy_refine", "poise"}) {
    Balancer balancer(0, strategy);
    EXPECT_EQ(moves(balancer), 0) << strategy;
    statistics.objects[5].wall_s = 30;
    EXPECT_EQ(moves(balancer), 0) << strategy;
    EXPECT_GT(moves(balancer), 0) << strategy << ": it is slow indeed";
    statistics.objects[5].wall_s = 1;
  }
}

}  // namespace
}  // namespace poise::charm
