#include "poise/strategies/lending.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// When all is done, with so many tasks lent to each: the model of the header, spelled out.
double end_of(const LendingView& view, const std::vector<std::uint32_t>& lent) {
  double all = 0, end_s = 0;
  for (std::size_t i = 0; i < lent.size(); ++i) {
    const Borrower& other = view.others[i];
    all += lent[i];
    if (lent[i] > 0)
      end_s =
          std::max(end_s, other.busy_s + other.delay_s + other.extra_s * lent[i] +
                              std::ceil(lent[i] / other.threads) * view.task_s * other.slowness);
  }
  const double kept = view.queued - all;
  if (kept > 0)
    end_s = std::max(end_s, view.busy_s + view.lend_s * all / view.threads +
                                std::ceil(kept / view.threads) * view.task_s);
  return end_s;
}

double best_end(const LendingView& view, std::vector<std::uint32_t>& lent, std::size_t next,
                std::uint32_t left) {
  if (next == lent.size()) return end_of(view, lent);
  double best_s = 1e300;
  for (std::uint32_t k = 0; k <= left; ++k) {
    lent[next] = k;
    best_s = std::min(best_s, best_end(view, lent, next + 1, left - k));
  }
  lent[next] = 0;
  return best_s;
}

TEST(CostAwareLoans, halves_the_queue_of_two_equal_ranks) {
  const Borrower other{.rank = 1};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 10, .others = {&other, 1}}, 0),
              ElementsAre(Loan{1, 5}));
}

TEST(CostAwareLoans, fills_near_ranks_before_far_ones) {
  // In 4 s a near rank does 3 tasks and this one 4: the far rank is needed for 1 of 8 only.
  const Borrower others[] = {{.rank = 7, .delay_s = 2}, {.rank = 3, .delay_s = 1}};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 8, .others = others}, 0),
              ElementsAre(Loan{3, 3}, Loan{7, 1}));
}

TEST(CostAwareLoans, keeps_everything_when_the_way_is_longer_than_the_work) {
  const Borrower far{.rank = 1, .delay_s = 11};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 10, .others = {&far, 1}}, 0), IsEmpty());
  const Borrower near{.rank = 1};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 10, .lend_s = 1, .others = {&near, 1}}, 0),
              IsEmpty());
}

TEST(CostAwareLoans, asks_for_the_smallest_gain_that_is_wanted) {
  const Borrower slow{.rank = 1, .slowness = 9};  // 10 tasks take 9 s instead of 10 s
  const LendingView view{.task_s = 1, .queued = 10, .others = {&slow, 1}};
  EXPECT_THAT(cost_aware_loans(view, 0.05), ElementsAre(Loan{1, 1}));
  EXPECT_THAT(cost_aware_loans(view, 0.15), IsEmpty());
}

TEST(CostAwareLoans, ends_as_soon_as_the_best_of_all_loans) {
  Random random(7);
  int with_loans = 0;
  for (int trial = 0; trial < 400; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial) + " of seed 7");
    std::vector<Borrower> others(1 + random.below(3));
    for (std::uint32_t i = 0; i < others.size(); ++i)
      others[i] = {i + 1,
                   static_cast<double>(random.below(4)),
                   1.0 + static_cast<double>(random.below(3)),
                   random.uniform(0.5, 2),
                   random.uniform(0, 3),
                   random.uniform(0, 0.5)};
    const LendingView view{random.uniform(0.5, 2), static_cast<std::uint32_t>(1 + random.below(12)),
                           random.uniform(0, 2),   1.0,
                           random.uniform(0, 0.3), others};
    const auto loans = cost_aware_loans(view, 0);
    std::vector<std::uint32_t> lent(others.size());
    for (const Loan& loan : loans) lent[loan.rank - 1] = loan.tasks;
    std::vector<std::uint32_t> none(others.size());
    EXPECT_NEAR(end_of(view, lent), best_end(view, none, 0, view.queued), 1e-9);
    with_loans += !loans.empty();
  }
  EXPECT_GT(with_loans, 100);
}

TEST(CostAwareLoans, never_lends_more_than_is_queued) {
  Random random(8);
  for (int trial = 0; trial < 1000; ++trial) {
    std::vector<Borrower> others(1 + random.below(20));
    for (std::uint32_t i = 0; i < others.size(); ++i)
      others[i] = {i, random.uniform(0, 1e-3), 1.0 + static_cast<double>(random.below(8)),
                   1, random.uniform(0, 1e-4), random.uniform(0, 1e-5)};
    const LendingView view{random.uniform(1e-6, 1e-3),
                           static_cast<std::uint32_t>(random.below(100000)),
                           0,
                           1.0 + static_cast<double>(random.below(8)),
                           random.uniform(0, 1e-5),
                           others};
    std::uint64_t lent = 0;
    for (const Loan& loan : cost_aware_loans(view, 0.02)) lent += loan.tasks;
    EXPECT_LE(lent, view.queued);
  }
}

TEST(PairedLoans, pair_the_heaviest_with_the_lightest) {
  const std::vector<double> tasks = {10, 0, 40, 20};  // sorted: 1, 0, 3, 2
  const CountThresholds thresholds{.max_tasks = 100};
  EXPECT_THAT(paired_loans(tasks, 2, thresholds), ElementsAre(Loan{1, 20}));
  EXPECT_THAT(paired_loans(tasks, 3, thresholds), ElementsAre(Loan{0, 5}));
  EXPECT_THAT(paired_loans(tasks, 0, thresholds), IsEmpty());
  EXPECT_THAT(paired_loans(tasks, 1, thresholds), IsEmpty());
  EXPECT_THAT(paired_loans(tasks, 2, CountThresholds{}), ElementsAre(Loan{1, 1}));
}

TEST(PairedLoans, heed_the_thresholds) {
  EXPECT_THAT(paired_loans(std::vector<double>{3, 2}, 0, {}), IsEmpty());     // absolute: 1 < 2
  EXPECT_THAT(paired_loans(std::vector<double>{100, 97}, 0, {}), IsEmpty());  // relative: 3 %
  EXPECT_THAT(paired_loans(std::vector<double>{100, 90}, 0, {}), ElementsAre(Loan{1, 1}));
  EXPECT_THAT(paired_loans(std::vector<double>{2, 0}, 0, {.min_local = 3}), IsEmpty());
  EXPECT_THAT(paired_loans(std::vector<double>{5}, 0, {}), IsEmpty());
}

TEST(LightestLoans, go_from_whoever_is_above_average_to_the_lightest) {
  const std::vector<double> tasks = {10, 0, 40, 20};
  EXPECT_THAT(lightest_loans(tasks, 2, {.max_tasks = 100}), ElementsAre(Loan{1, 20}));
  EXPECT_THAT(lightest_loans(tasks, 3, {.max_tasks = 100}), ElementsAre(Loan{1, 10}));
  EXPECT_THAT(lightest_loans(tasks, 0, {.max_tasks = 100}), IsEmpty());
}

}  // namespace
}  // namespace poise
