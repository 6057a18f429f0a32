// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/lending.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <string>

#include "tests/support/seeds.h"

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns the time at which all ranks are done if lent[i] tasks are lent to the i-th borrower.
// Computes it directly from the model in lending.h.
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
                std::uint32_t remaining) {
  if (next == lent.size()) return end_of(view, lent);
  double best_s = 1e300;
  for (std::uint32_t k = 0; k <= remaining; ++k) {
    lent[next] = k;
    best_s = std::min(best_s, best_end(view, lent, next + 1, remaining - k));
  }
  lent[next] = 0;
  return best_s;
}

TEST(CostAwareLoans, lend_half_of_the_queued_tasks_to_an_idle_rank_of_equal_speed) {
  const Borrower other{.rank = 1};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 10, .others = {&other, 1}}, 0),
              ElementsAre(Loan{1, 5}));
}

TEST(CostAwareLoans, lend_to_near_ranks_before_far_ones) {
  // Within 4 s, this rank can finish four of the eight tasks and the near rank three. So only one
  // task goes to the far rank.
  const Borrower others[] = {{.rank = 7, .delay_s = 2}, {.rank = 3, .delay_s = 1}};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 8, .others = others}, 0),
              ElementsAre(Loan{3, 3}, Loan{7, 1}));
}

// Four borrowers, farthest first, as seen by the rank that has all tasks.
std::vector<Borrower> neighbours(double farthest_s, double middle_s, double nearest_s) {
  const double elsewhere = std::numeric_limits<double>::infinity();
  return {{.rank = 4, .delay_s = farthest_s, .distance = elsewhere},
          {.rank = 3, .delay_s = middle_s, .distance = 2},
          {.rank = 2, .delay_s = middle_s, .distance = 1.5},
          {.rank = 1, .delay_s = nearest_s}};
}

TEST(CostAwareLoans,
     go_first_to_ranks_in_the_memory_domain_of_the_lender_then_in_its_node_then_to_others) {
  const auto loans = [](std::uint32_t tasks, const std::vector<Borrower>& others) {
    return cost_aware_loans({.task_s = 1, .queued = tasks, .others = others}, 0);
  };
  // In 1.5 s each rank can do one task.
  EXPECT_THAT(loans(2, neighbours(0.5, 0.5, 0.5)), ElementsAre(Loan{1, 1}));
  EXPECT_THAT(loans(3, neighbours(0.5, 0.5, 0.5)), ElementsAre(Loan{1, 1}, Loan{2, 1}));
  EXPECT_THAT(loans(4, neighbours(0.5, 0.5, 0.5)), ElementsAre(Loan{1, 1}, Loan{2, 1}, Loan{3, 1}));
  // By 3.2 s each rank can finish three tasks, except rank 1 with the longest delay, which can
  // finish two. The ranks are filled in order of distance, so the farthest gets only the rest.
  EXPECT_THAT(loans(13, neighbours(0.1, 0.2, 0.3)),
              ElementsAre(Loan{1, 2}, Loan{2, 3}, Loan{3, 3}, Loan{4, 2}));
}

TEST(SizedLoans,
     go_first_to_ranks_in_the_memory_domain_of_the_lender_then_in_its_node_then_to_others) {
  const auto others = neighbours(0.5, 0.5, 0.5);
  std::vector<QueuedTask> queue;
  for (std::uint64_t name = 1; name <= 7; ++name) queue.push_back({.name = name, .task_s = 1});
  const auto ranks = [&](std::size_t tasks) {
    std::vector<std::uint32_t> found;
    for (const Loan& loan :
         sized_loans({.others = others, .queue = std::span(queue).first(tasks)}, 0))
      found.push_back(loan.rank);
    return found;
  };
  EXPECT_THAT(ranks(2), ElementsAre(1));
  EXPECT_THAT(ranks(3), ElementsAre(1, 2));
  EXPECT_THAT(ranks(4), ElementsAre(1, 2, 3));
  EXPECT_THAT(ranks(7), ElementsAre(1, 2, 3, 4));
}

TEST(CostAwareLoans, lend_nothing_if_transfers_take_at_least_as_long_as_running_the_tasks_locally) {
  const Borrower far{.rank = 1, .delay_s = 11};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 10, .others = {&far, 1}}, 0), IsEmpty());
  const Borrower near{.rank = 1};
  EXPECT_THAT(cost_aware_loans({.task_s = 1, .queued = 10, .lend_s = 1, .others = {&near, 1}}, 0),
              IsEmpty());
}

TEST(CostAwareLoans, lend_only_if_lending_saves_more_than_the_given_fraction_of_the_time) {
  // If one task is lent, the borrower runs it in 9 s, and the lender runs the other nine in 9 s.
  // Alone, the lender would need 10 s.
  const Borrower slow{.rank = 1, .slowness = 9};
  const LendingView view{.task_s = 1, .queued = 10, .others = {&slow, 1}};
  EXPECT_THAT(cost_aware_loans(view, 0.05), ElementsAre(Loan{1, 1}));
  EXPECT_THAT(cost_aware_loans(view, 0.15), IsEmpty());
}

TEST(CostAwareLoans, finish_all_tasks_as_early_as_the_best_of_all_possible_loans) {
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
                           random.uniform(0, 2),   1.0 + static_cast<double>(random.below(3)),
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

LendingView random_view(Random& random, std::vector<Borrower>& others) {
  const double distances[] = {1, 1.5, std::numeric_limits<double>::infinity()};
  others.resize(1 + random.below(4));
  for (std::uint32_t i = 0; i < others.size(); ++i)
    others[i] = {.rank = i + 1,
                 .busy_s = random.uniform(0, 4),
                 .threads = 1.0 + static_cast<double>(random.below(3)),
                 .slowness = random.uniform(0.5, 2),
                 .delay_s = random.uniform(0, 3),
                 .extra_s = random.below(2) ? random.uniform(0, 0.5) : 0,
                 .byte_s = random.uniform(0, 0.1),
                 .asks = random.below(2) > 0,
                 .distance = distances[random.below(3)]};
  return {.task_s = random.uniform(0.5, 2),
          .queued = static_cast<std::uint32_t>(1 + random.below(20)),
          .busy_s = random.uniform(0, 2),
          .threads = 1.0 + static_cast<double>(random.below(3)),
          .lend_s = random.uniform(0, 0.3),
          .others = others};
}

TEST(CostAwareLoans, go_to_a_rank_only_if_one_more_task_would_make_every_nearer_rank_end_too_late) {
  Random random(9);
  int with_several = 0;
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial) + " of seed 9");
    std::vector<Borrower> others;
    const LendingView view = random_view(random, others);
    const auto loans = cost_aware_loans(view, 0);
    std::vector<std::uint32_t> lent(others.size());
    for (const Loan& loan : loans) lent[loan.rank - 1] = loan.tasks;
    const double end_s = end_of(view, lent);
    with_several += loans.size() > 1;
    for (std::size_t i = 0; i < others.size(); ++i)
      for (std::size_t j = 0; j < others.size(); ++j) {
        if (lent[j] == 0 || std::pair(others[i].distance, others[i].delay_s) >=
                                std::pair(others[j].distance, others[j].delay_s))
          continue;
        std::vector<std::uint32_t> more(others.size());
        more[i] = lent[i] + 1;
        LendingView only = view;
        only.queued = more[i];  // the lender keeps no task, so the borrower's end is the end of all
        EXPECT_GT(end_of(only, more), end_s + 1e-9) << "rank " << i + 1;
      }
  }
  EXPECT_GT(with_several, 50);
}

TEST(CostAwareLoans, are_made_if_and_only_if_the_best_of_all_loans_gains_enough) {
  Random random(10);
  int decided[2] = {0, 0};
  for (int trial = 0; trial < 300; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial) + " of seed 10");
    std::vector<Borrower> others;
    LendingView view = random_view(random, others);
    others.resize(std::min<std::size_t>(others.size(), 2));
    view.others = others;
    view.queued = 1 + view.queued / 2;
    std::vector<std::uint32_t> none(others.size());
    const double best_s = best_end(view, none, 0, view.queued), alone_s = end_of(view, none);
    const double min_gain = random.uniform(0, 0.6);
    if (std::abs(best_s - alone_s * (1 - min_gain)) < 1e-6) continue;
    const bool pays = best_s < alone_s * (1 - min_gain);
    EXPECT_EQ(!cost_aware_loans(view, min_gain).empty(), pays);
    ++decided[pays];
  }
  EXPECT_GT(decided[0], 50);
  EXPECT_GT(decided[1], 50);
}

TEST(CostAwareLoans, never_lend_more_tasks_than_are_queued) {
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

// The earliest time at which both ranks are done, over all 2^n sets of tasks to lend.
double best_end_of_two(const LendingView& view) {
  double best_s = 1e300;
  for (std::uint32_t lent = 0; lent < (1U << view.queue.size()); ++lent) {
    double own_s = view.busy_s, other_s = view.others[0].busy_s + view.others[0].delay_s;
    for (std::size_t i = 0; i < view.queue.size(); ++i)
      if ((lent >> i & 1U) == 0)
        own_s += view.queue[i].task_s;
      else
        own_s += view.queue[i].lend_s, other_s += view.queue[i].task_s;
    best_s = std::min(best_s, std::max(own_s, lent == 0 ? 0 : other_s));
  }
  return best_s;
}

double end_of_two(const LendingView& view, const std::vector<Loan>& loans) {
  double own_s = view.busy_s, other_s = view.others[0].busy_s + view.others[0].delay_s;
  for (const QueuedTask& task : view.queue) {
    const bool is_lent =
        !loans.empty() && std::count(loans[0].names.begin(), loans[0].names.end(), task.name) > 0;
    own_s += is_lent ? task.lend_s : task.task_s;
    other_s += is_lent ? task.task_s : 0;
  }
  return std::max(own_s, loans.empty() ? 0 : other_s);
}

TEST(SizedLoans, move_the_most_work_with_the_fewest_tasks) {
  const QueuedTask queue[] = {{.name = 1, .task_s = 1},
                              {.name = 2, .task_s = 8},
                              {.name = 3, .task_s = 1},
                              {.name = 4, .task_s = 4},
                              {.name = 5, .task_s = 2}};
  const Borrower other{.rank = 7};
  EXPECT_THAT(sized_loans({.others = {&other, 1}, .queue = queue}, 0),
              ElementsAre(Loan{7, 1, {2}}));
}

TEST(SizedLoans, lend_borrowed_tasks_only_on_request_and_never_lend_tasks_that_are_slow_to_send) {
  const QueuedTask queue[] = {{.name = 1, .task_s = 3, .lend_s = 3},
                              {.name = 2, .task_s = 2, .borrowed = true},
                              {.name = 3, .task_s = 1, .lend_s = 0.1}};
  const Borrower other{.rank = 7};
  EXPECT_THAT(sized_loans({.others = {&other, 1}, .queue = queue}, 0),
              ElementsAre(Loan{7, 1, {3}}));
}

TEST(SizedLoans, pass_borrowed_tasks_only_to_a_rank_that_requests_tasks) {
  const QueuedTask queue[] = {{.name = 1, .task_s = 1, .borrowed = true},
                              {.name = 2, .task_s = 1.5}};
  const Borrower others[] = {{.rank = 6, .asks = true}, {.rank = 7}};
  EXPECT_THAT(sized_loans({.others = others, .queue = queue}, 0), ElementsAre(Loan{6, 1, {1}}));
}

TEST(SizedLoans, prefer_near_ranks_and_lend_nothing_if_the_gain_is_small) {
  const QueuedTask queue[] = {{.name = 1, .task_s = 2},
                              {.name = 2, .task_s = 2},
                              {.name = 3, .task_s = 2},
                              {.name = 4, .task_s = 2}};
  const Borrower others[] = {{.rank = 1, .delay_s = 1}, {.rank = 2, .delay_s = 0.1}};
  EXPECT_THAT(sized_loans({.others = others, .queue = queue}, 0.1),
              ElementsAre(Loan{2, 1, {1}}, Loan{1, 1, {2}}));
  const Borrower busy{.rank = 1, .busy_s = 5.5};
  EXPECT_THAT(sized_loans({.others = {&busy, 1}, .queue = queue}, 0.1), IsEmpty());
}

TEST(SizedLoans, finish_all_tasks_nearly_as_early_as_the_best_choice_of_tasks_to_lend) {
  for (std::uint64_t seed = 0; seed < num_seeds(500); ++seed) {
    Random random(seed);
    std::vector<QueuedTask> queue(1 + random.below(9));
    double longest_s = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const double task_s = random.uniform(0, random.below(4) ? 1 : 10);
      queue[i] = {.name = i + 1, .task_s = task_s, .lend_s = random.uniform(0, 0.1)};
      longest_s = std::max(longest_s, task_s);
    }
    const Borrower other{.rank = 1, .busy_s = random.uniform(0, 10), .delay_s = 0.1};
    const LendingView view{.busy_s = random.uniform(), .others = {&other, 1}, .queue = queue};
    const auto loans = sized_loans(view, 0);
    // On m ranks, a greedy choice ends later than the best one by at most the fraction 1 - 1/m of
    // the longest task's time (Graham, "Bounds on multiprocessing timing anomalies", 1969), which
    // is half of that time on two ranks. The cost of lending is added: 0.1 s for each of up to nine
    // tasks.
    EXPECT_LE(end_of_two(view, loans), best_end_of_two(view) + longest_s / 2 + 0.9)
        << "seed " << seed;
    EXPECT_LE(end_of_two(view, loans), end_of_two(view, {}) + 1e-12) << "seed " << seed;
  }
}

/// Returns the loans that follow from the rules of sized_loans().
std::vector<Loan> expected_loans(const LendingView& view, double min_gain) {
  std::vector<QueuedTask> tasks(view.queue.begin(), view.queue.end());
  std::stable_sort(tasks.begin(), tasks.end(),
                   [](const QueuedTask& a, const QueuedTask& b) { return a.task_s > b.task_s; });
  std::vector<Borrower> others(view.others.begin(), view.others.end());
  std::stable_sort(others.begin(), others.end(), [](const Borrower& a, const Borrower& b) {
    return std::pair(a.distance, a.delay_s) < std::pair(b.distance, b.delay_s);
  });
  std::vector<std::vector<std::uint64_t>> names(others.size());
  std::vector<double> ends_s;
  double own_s = view.busy_s;
  for (const QueuedTask& task : tasks) own_s += task.task_s / view.threads;
  for (const Borrower& other : others) ends_s.push_back(other.busy_s + other.delay_s);
  const double alone_s = own_s;
  const auto may_lend = [](const QueuedTask& task, const Borrower& other) {
    return task.lend_s < task.task_s && (!task.borrowed || other.asks);
  };
  const auto after_s = [&](const QueuedTask& task, std::size_t i) {
    return ends_s[i] + task.task_s * others[i].slowness / others[i].threads +
           task.bytes * others[i].byte_s;
  };
  const auto lend = [&](const QueuedTask& task, std::size_t i) {
    own_s += (task.lend_s - task.task_s) / view.threads;
    ends_s[i] = after_s(task, i);
    names[i].push_back(task.name);
  };
  std::vector<QueuedTask> kept;
  for (const QueuedTask& task : tasks) {
    const double mine_s = own_s + (task.lend_s - task.task_s) / view.threads;
    std::size_t i = 0;
    while (i < others.size() && (!may_lend(task, others[i]) || after_s(task, i) > mine_s)) ++i;
    if (i < others.size())
      lend(task, i);
    else
      kept.push_back(task);
  }
  double soonest_s = own_s;
  std::optional<std::pair<QueuedTask, std::size_t>> last;
  for (const QueuedTask& task : kept)
    for (std::size_t i = 0; i < others.size(); ++i) {
      const double both_s =
          std::max(own_s + (task.lend_s - task.task_s) / view.threads, after_s(task, i));
      if (!may_lend(task, others[i]) || both_s >= soonest_s) continue;
      soonest_s = both_s;
      last = {task, i};
    }
  if (last) lend(last->first, last->second);
  double end_s = own_s;
  for (std::size_t i = 0; i < others.size(); ++i)
    if (!names[i].empty()) end_s = std::max(end_s, ends_s[i]);
  std::vector<Loan> loans;
  for (std::size_t i = 0; i < others.size() && end_s <= alone_s * (1 - min_gain); ++i)
    if (!names[i].empty())
      loans.push_back({others[i].rank, static_cast<std::uint32_t>(names[i].size()), names[i]});
  return loans;
}

TEST(SizedLoans, match_loans_computed_directly_from_the_rules_for_random_input) {
  std::uint64_t lent = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < num_seeds(500); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Borrower> others;
    LendingView view = random_view(random, others);
    std::vector<QueuedTask> queue(random.below(12));
    for (std::size_t i = 0; i < queue.size(); ++i)
      queue[i] = {.name = 100 + i,
                  .task_s = random.uniform(0, 3),
                  .bytes = random.uniform(0, 9),
                  .lend_s = random.uniform(0, 0.5),
                  .borrowed = random.below(3) == 0};
    view.queue = queue;
    const double min_gain = random.below(2) ? 0 : random.uniform(0, 0.5);
    const auto loans = sized_loans(view, min_gain);
    EXPECT_EQ(loans, expected_loans(view, min_gain));
    lent += !loans.empty();
    refused += loans.empty();
  }
  EXPECT_GT(lent, num_seeds(100));
  EXPECT_GT(refused, num_seeds(100));
}

TEST(CouldGain, is_true_if_perfect_sharing_of_all_work_saves_at_least_the_given_share_of_the_time) {
  Random random(11);
  int could[2] = {0, 0};
  for (int trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial) + " of seed 11");
    std::vector<Borrower> others;
    const LendingView view = random_view(random, others);
    const double alone_s = view.busy_s + view.queued * view.task_s / view.threads;
    double least_s = 0, most_s = alone_s;
    for (int i = 0; i < 60; ++i) {  // bisection
      const double end_s = (least_s + most_s) / 2;
      double done_s = end_s * view.threads;
      for (const Borrower& other : others)
        done_s +=
            std::max(0.0, end_s - other.busy_s - other.delay_s) * other.threads / other.slowness;
      (done_s < alone_s * view.threads ? least_s : most_s) = end_s;
    }
    const double gain = 1 - most_s / alone_s;
    for (const double min_gain : {gain - 1e-6, gain + 1e-6, random.uniform()}) {
      if (min_gain < 0) continue;
      EXPECT_EQ(could_gain(view, min_gain), gain > min_gain) << gain << ", " << min_gain;
      ++could[gain > min_gain];
    }
  }
  EXPECT_GT(could[0], 100);
  EXPECT_GT(could[1], 100);
}

TEST(CouldGain, is_true_only_if_lending_arbitrarily_divisible_tasks_would_save_enough_time) {
  const Borrower idle{.rank = 1}, late{.rank = 2, .busy_s = 9.5}, fast{.rank = 3, .slowness = 0.1};
  const auto could = [](const Borrower& other, double min_gain) {
    return could_gain({.task_s = 1, .queued = 10, .others = {&other, 1}}, min_gain);
  };
  EXPECT_TRUE(could(idle, 0.49));
  EXPECT_FALSE(could(idle, 0.51));
  EXPECT_FALSE(could(late, 0.1));
  EXPECT_TRUE(could(late, 0.02));
  EXPECT_TRUE(could(fast, 0.9));
}

/// The view with all times multiplied by a power of two, so that nothing is rounded.
LendingView scaled(LendingView view, double factor, std::vector<Borrower>& others,
                   std::vector<QueuedTask>& queue) {
  view.task_s *= factor;
  view.busy_s *= factor;
  view.lend_s *= factor;
  for (Borrower& other : others) {
    other.busy_s *= factor;
    other.delay_s *= factor;
    other.extra_s *= factor;
    other.byte_s *= factor;
  }
  for (QueuedTask& task : queue) {
    task.task_s *= factor;
    task.lend_s *= factor;
  }
  view.others = others;
  view.queue = queue;
  return view;
}

TEST(Loans, do_not_depend_on_the_unit_of_time) {
  for (std::uint64_t seed = 0; seed < num_seeds(200); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<Borrower> others;
    LendingView view = random_view(random, others);
    std::vector<QueuedTask> queue(random.below(12));
    for (std::size_t i = 0; i < queue.size(); ++i)
      queue[i] = {.name = i, .task_s = random.uniform(0, 3), .lend_s = random.uniform(0, 0.5)};
    view.queue = queue;
    const double min_gain = random.below(2) ? 0 : random.uniform(0, 0.5);
    for (const double factor : {0x1p-14, 0x1p14}) {
      std::vector<Borrower> its_others = others;
      std::vector<QueuedTask> its_queue = queue;
      const LendingView other = scaled(view, factor, its_others, its_queue);
      EXPECT_EQ(cost_aware_loans(other, min_gain), cost_aware_loans(view, min_gain));
      EXPECT_EQ(sized_loans(other, min_gain), sized_loans(view, min_gain));
      EXPECT_EQ(could_gain(other, min_gain), could_gain(view, min_gain));
      EXPECT_EQ(is_bottleneck(other, 9), is_bottleneck(view, 9));
      EXPECT_EQ(exploration_loans(other, 0.01 * factor, min_gain),
                exploration_loans(view, 0.01, min_gain));
    }
  }
}

TEST(Bottleneck,
     an_owner_is_a_bottleneck_if_lending_a_task_to_every_rank_takes_longer_than_running_a_task) {
  LendingView view{.task_s = 2, .queued = 1000, .lend_s = 0.01};
  EXPECT_FALSE(is_bottleneck(view, 200));
  EXPECT_TRUE(is_bottleneck(view, 201));
  view.queued = 200;
  EXPECT_FALSE(is_bottleneck(view, 100'000)) << "at most 200 ranks get tasks";
  view.task_s = 0;
  EXPECT_FALSE(is_bottleneck(view, 100'000)) << "nothing is known";
  view.busy_s = 1;
  EXPECT_TRUE(is_bottleneck(view, 100'000)) << "tasks may take 1 s, as the running one has so far";
}

TEST(ExploratoryLoan, lends_few_tasks_if_earlier_loans_were_expensive_or_slow) {
  const Borrower dear{.rank = 1, .extra_s = 3}, slow{.rank = 2, .slowness = 100};
  for (const Borrower& other : {dear, slow}) {
    const LendingView view{.task_s = 2, .queued = 100, .lend_s = 3, .others = {&other, 1}};
    EXPECT_THAT(cost_aware_loans(view, 0.1), IsEmpty());
    EXPECT_THAT(exploration_loans(view, 0.1, 0.1), ElementsAre(Loan{other.rank, 8}));
    EXPECT_THAT(exploration_loans(view, 2, 0.1), IsEmpty());
  }
}

TEST(ExploratoryLoan, lends_at_most_eight_tasks_to_the_nearest_rank_which_is_assumed_to_be_fast) {
  const Borrower others[] = {{.rank = 4, .slowness = 3, .delay_s = 2, .extra_s = 9},
                             {.rank = 5, .slowness = 3, .delay_s = 1, .extra_s = 9},
                             {.rank = 6, .slowness = 0.5, .delay_s = 1.5}};
  EXPECT_THAT(exploration_loans({.task_s = 2, .queued = 100, .others = others}, 0.5, 0.1),
              ElementsAre(Loan{5, 8}));
  EXPECT_THAT(exploration_loans({.task_s = 2, .queued = 6, .others = others}, 0.5, 0),
              ElementsAre(Loan{5, 1}));
  std::vector<QueuedTask> queue;
  for (std::uint64_t name = 1; name <= 40; ++name)
    queue.push_back({.name = name, .task_s = 2, .lend_s = 9});
  EXPECT_THAT(exploration_loans({.others = others, .queue = queue}, 0.5, 0),
              ElementsAre(Loan{5, 8, {1, 2, 3, 4, 5, 6, 7, 8}}));
  const Borrower near{.rank = 9, .slowness = 1.5};
  EXPECT_THAT(
      exploration_loans({.task_s = 1, .queued = 2, .lend_s = 5, .others = {&near, 1}}, 0.25, 0.1),
      ElementsAre(Loan{9, 1}));
  EXPECT_THAT(
      exploration_loans({.task_s = 1, .queued = 2, .lend_s = 5, .others = {&near, 1}}, 0.25, 0.5),
      IsEmpty());
}

TEST(ExploratoryLoan, lends_nothing_to_a_rank_that_is_too_far_away_or_too_busy) {
  const Borrower far{.rank = 1, .delay_s = 200}, busy{.rank = 2, .busy_s = 200};
  for (const Borrower& other : {far, busy})
    EXPECT_THAT(exploration_loans({.task_s = 2, .queued = 100, .others = {&other, 1}}, 0, 0.1),
                IsEmpty());
}

TEST(ExploratoryLoan, lends_the_shorter_of_two_tasks_with_the_same_transfer_cost) {
  const QueuedTask queue[] = {{.name = 1, .task_s = 2, .lend_s = 3},
                              {.name = 2, .task_s = 1, .lend_s = 3}};
  const Borrower other{.rank = 7, .extra_s = 3};
  const LendingView view{.others = {&other, 1}, .queue = queue};
  EXPECT_THAT(sized_loans(view, 0), IsEmpty());
  EXPECT_THAT(exploration_loans(view, 0.1, 0), ElementsAre(Loan{7, 1, {2}}));
}

}  // namespace
}  // namespace poise
