// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/offload_counts.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/error.h"
#include "poise/base/random.h"
#include "poise/online/offload_policy.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PairedLoans, pair_the_most_loaded_rank_with_the_least_loaded) {
  const std::vector<double> tasks = {10, 0, 40, 20};  // rank 1 has the fewest, then 0, 3 and 2
  const CountThresholds thresholds{.max_tasks = 100};
  EXPECT_THAT(paired_loans(tasks, 2, thresholds), ElementsAre(Loan{1, 20}));
  EXPECT_THAT(paired_loans(tasks, 3, thresholds), ElementsAre(Loan{0, 5}));
  EXPECT_THAT(paired_loans(tasks, 0, thresholds), IsEmpty());
  EXPECT_THAT(paired_loans(tasks, 1, thresholds), IsEmpty());
  EXPECT_THAT(paired_loans(tasks, 2, CountThresholds{}), ElementsAre(Loan{1, 1}));
}

TEST(PairedLoans, are_made_only_if_enough_tasks_are_queued_and_loads_differ_enough) {
  // The numbers of tasks differ by 1, which is less than min_absolute.
  EXPECT_THAT(paired_loans(std::vector<double>{3, 2}, 0, {}), IsEmpty());
  // The numbers of tasks differ by 3 %, which is less than min_relative.
  EXPECT_THAT(paired_loans(std::vector<double>{100, 97}, 0, {}), IsEmpty());
  EXPECT_THAT(paired_loans(std::vector<double>{100, 90}, 0, {}), ElementsAre(Loan{1, 1}));
  EXPECT_THAT(paired_loans(std::vector<double>{2, 0}, 0, {.min_local = 3}), IsEmpty());
  EXPECT_THAT(paired_loans(std::vector<double>{5}, 0, {}), IsEmpty());
}

TEST(PairedLoans, among_ranks_with_equal_loads_those_with_higher_numbers_are_in_the_heavier_half) {
  const std::vector<double> tasks(5, 7);
  const CountThresholds none{.min_absolute = 0, .min_relative = 0};
  for (std::uint32_t rank = 0; rank < 3; ++rank)
    EXPECT_THAT(paired_loans(tasks, rank, none), IsEmpty()) << rank;
  EXPECT_THAT(paired_loans(tasks, 3, none), ElementsAre(Loan{1, 1}));
  EXPECT_THAT(paired_loans(tasks, 4, none), ElementsAre(Loan{0, 1}));
  EXPECT_THAT(paired_loans(std::vector<double>{0, 0}, 1,
                           {.min_local = 0, .min_absolute = 0, .min_relative = 0}),
              IsEmpty());
}

/// Returns the loans that follow from the rules of paired_loans() or lightest_loans().
std::vector<Loan> expected_loans(const std::vector<double>& tasks, std::uint32_t self,
                                 const CountThresholds& thresholds, bool is_paired) {
  double sum = 0;
  std::vector<std::pair<double, std::uint32_t>> order;
  for (std::uint32_t rank = 0; rank < tasks.size(); ++rank) {
    sum += tasks[rank];
    order.emplace_back(tasks[rank], rank);
  }
  std::sort(order.begin(), order.end());
  std::size_t to = 0;
  for (std::size_t i = 0; is_paired && i < order.size(); ++i)
    if (order[i].second == self) to = order.size() - 1 - i;
  const double mine = tasks[self], theirs = order[to].first;
  const bool is_heavy = is_paired ? order[order.size() - 1 - to] >= order[(order.size() + 1) / 2]
                                  : mine * static_cast<double>(tasks.size()) > sum;
  if (!is_heavy || mine < thresholds.min_local || mine - theirs < thresholds.min_absolute ||
      mine - theirs < thresholds.min_relative * mine || mine <= 0)
    return {};
  const double lent = std::min(
      {std::max(1.0, std::floor(thresholds.share * (mine - theirs))), thresholds.max_tasks, mine});
  return {{order[to].second, static_cast<std::uint32_t>(lent)}};
}

TEST(OffloadCounts, loans_for_random_loads_are_those_that_the_rules_give) {
  int lent = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<double> tasks(2 + random.below(5));
    for (double& count : tasks) count = static_cast<double>(random.below(12));
    const CountThresholds thresholds{.min_local = static_cast<double>(random.below(6)),
                                     .min_absolute = static_cast<double>(random.below(6)),
                                     .min_relative = random.uniform(),
                                     .share = random.uniform(),
                                     .max_tasks = static_cast<double>(1 + random.below(9))};
    for (std::uint32_t self = 0; self < tasks.size(); ++self) {
      const auto paired = paired_loans(tasks, self, thresholds);
      EXPECT_EQ(paired, expected_loans(tasks, self, thresholds, true)) << self;
      EXPECT_EQ(lightest_loans(tasks, self, thresholds),
                expected_loans(tasks, self, thresholds, false))
          << self;
      lent += !paired.empty();
    }
  }
  EXPECT_GT(lent, 200);
}

TEST(LightestLoans, need_at_least_two_ranks) {
  EXPECT_THAT(lightest_loans(std::vector<double>{5}, 0, {}), IsEmpty());
  EXPECT_THAT(lightest_loans(std::vector<double>{5, 1}, 0, {}), ElementsAre(Loan{1, 1}));
}

TEST(LightestLoans, go_from_a_rank_above_the_average_load_to_the_least_loaded_rank) {
  const std::vector<double> tasks = {10, 0, 40, 20};
  EXPECT_THAT(lightest_loans(tasks, 2, {.max_tasks = 100}), ElementsAre(Loan{1, 20}));
  EXPECT_THAT(lightest_loans(tasks, 3, {.max_tasks = 100}), ElementsAre(Loan{1, 10}));
  EXPECT_THAT(lightest_loans(tasks, 0, {.max_tasks = 100}), IsEmpty());
}

TEST(OffloadPolicies,
     the_policies_paired_and_lightest_lend_to_the_known_rank_with_the_fewest_tasks) {
  LoanProblem problem;
  problem.others = {{.rank = 7}, {.rank = 3}};
  problem.known = {{.queued = 5, .in_flight = 1}, {.queued = 1, .in_flight = 1}};
  problem.view = {.queued = 20};
  const QueueState queue;
  const LendingCosts costs;
  const std::function<std::vector<QueuedTask>()> named_queue;
  OffloadMemory memory;
  for (const char* name : {"paired", "lightest"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(offload_policy(name).loans({.problem = problem,
                                            .queue = queue,
                                            .costs = costs,
                                            .thresholds = {.max_tasks = 100},
                                            .named_queue = named_queue},
                                           memory),
                ElementsAre(Loan{3, 9}));
  }
}

TEST(OffloadPolicies, have_different_names_and_an_unknown_name_is_an_error) {
  for (const OffloadPolicy& policy : offload_policies())
    EXPECT_EQ(&offload_policy(policy.name), &policy);
  EXPECT_THROW(offload_policy("no"), Error);
}

}  // namespace
}  // namespace poise
