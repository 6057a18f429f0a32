// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/charm/own_past.h"

#include <gtest/gtest.h>

#include "tests/support/seeds.h"

#include "poise/base/random.h"
#include "poise/distributed/simulated_testing.h"

namespace poise::charm {
namespace {

constexpr std::uint32_t kRanks = 3, kTasks = 300;

/// Returns the loads after all ranks have replaced spikes. rank_of_task says which rank has each
/// task; task t goes to rank next_rank[t] afterwards.
std::vector<double> replaced(std::vector<OwnPast>& pasts, const std::vector<double>& measured_s,
                             const std::vector<std::uint32_t>& rank_of_task,
                             const std::vector<std::uint32_t>& next_rank) {
  std::vector<double> loads_s(measured_s.size());
  SimulatedRanks(pasts.size()).run([&](const poise_communication& table) {
    Communicator ranks(table);
    OwnArrays arrays;
    std::vector<std::uint32_t> tasks, next;
    for (std::uint32_t t = 0; t < measured_s.size(); ++t) {
      if (rank_of_task[t] != ranks.rank()) continue;
      tasks.push_back(t), next.push_back(next_rank[t]);
      arrays.row_of_task.push_back(arrays.ids.size());
      arrays.ids.push_back(mix(t)), arrays.load_s.push_back(measured_s[t]);
    }
    pasts[ranks.rank()].replace_spikes(ranks, arrays);
    std::uint64_t num_arriving = 0;
    pasts[ranks.rank()] = pasts[ranks.rank()].after(ranks, next, num_arriving);
    for (std::size_t i = 0; i < tasks.size(); ++i) loads_s[tasks[i]] = arrays.load_s[i];
  });
  return loads_s;
}

TEST(OwnPast,
     all_ranks_together_replace_the_same_load_spikes_as_a_single_pe_that_knows_all_objects) {
  std::size_t num_replaced = 0;
  for (std::uint64_t seed = 0; seed < num_seeds(20); ++seed) {
    SCOPED_TRACE(seed);
    Random random(mix(seed));
    std::vector<OwnPast> pasts(kRanks);
    std::vector<std::vector<double>> past_loads_s;
    std::vector<std::uint32_t> at(kTasks), next(kTasks);
    for (std::uint32_t& rank : at) rank = random.below(kRanks);
    for (int decision = 0; decision < 6; ++decision) {
      Workload central;
      std::vector<double> measured_s;
      for (std::uint32_t t = 0; t < kTasks; ++t)
        measured_s.push_back((1 + random.below(100) / 100.0) * (random.below(kTasks) < 2 ? 30 : 1) *
                             (1 + decision));
      for (const double load_s : measured_s) central.tasks.push_back({load_s});
      num_replaced += replace_spikes(past_loads_s, central);
      for (std::uint32_t& rank : next) rank = random.below(kRanks);
      const std::vector<double> loads_s = replaced(pasts, measured_s, at, next);
      for (std::uint32_t t = 0; t < kTasks; ++t)
        EXPECT_NEAR(loads_s[t], central.tasks[t].load_s, 1e-9) << t;
      past_loads_s.push_back(measured_s);
      at = next;
    }
  }
  EXPECT_GT(num_replaced, fewer_if_sanitized(100)) << "otherwise the test compares little";
}

TEST(OwnPast, a_high_load_is_not_replaced_if_earlier_loads_of_the_object_are_unknown) {
  std::vector<OwnPast> pasts(kRanks);
  const std::vector<std::uint32_t> first(kTasks, 0);
  replaced(pasts, std::vector<double>(kTasks - 1, 1.0), first, first);
  std::vector<double> loads_s(kTasks, 1.0);
  loads_s.back() = 100;  // a new object
  EXPECT_EQ(replaced(pasts, loads_s, first, first), loads_s);
  loads_s.back() = 1000;
  EXPECT_LT(replaced(pasts, loads_s, first, first).back(), 1000);
}

}  // namespace
}  // namespace poise::charm
