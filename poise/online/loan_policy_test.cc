// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/loan_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "poise/base/random.h"

namespace poise {
namespace {

using testing::IsEmpty;

PeerTable table(std::uint32_t num_ranks, std::size_t capacity = lending_tuning::kMaxPeers) {
  return {0, num_ranks,
          [](std::uint32_t rank) {
            return PeerLocality{rank / 100, rank < 100 ? 1.0 : 2.0};
          },
          capacity};
}

QueueState queue_of(std::size_t tasks, double task_s) {
  QueueState queue;
  queue.queued = queue.lendable = tasks;
  queue.queued_s = static_cast<double>(tasks) * task_s;
  return queue;
}

constexpr LoanMoment kNow{.now_s = 1, .wait = 1, .threads = 1};
const auto kNoNames = [] { return std::vector<QueuedTask>{}; };

TEST(LoanPolicy, the_number_of_steps_to_make_a_decision_does_not_grow_with_the_number_of_ranks) {
  LoanPolicy policy(LoanSettings{});
  for (const std::uint32_t num_ranks : {100u, 10'000u, 1'000'000u}) {
    Random random(num_ranks);
    PeerTable peers = table(num_ranks);
    Thieves thieves;
    LendingCosts costs;
    for (int i = 0; i < 2000; ++i) {
      const auto rank = static_cast<std::uint32_t>(1 + random.below(num_ranks - 1));
      peers.update({.rank = rank, .version = 1, .wait = 1, .busy_s = random.uniform()});
      thieves.add({rank, 1, 0.5, i % 100 == 0});
    }
    LoanProblem problem;
    policy.pose(problem, queue_of(1'000'000, 1e-3), peers, thieves, costs, kNow);
    EXPECT_GE(problem.others.size(), 64u);
    EXPECT_LE(problem.others.size(),
              lending_tuning::kMaxSearched + 20 + lending_tuning::kMaxCandidates);
    std::size_t steps = 0;
    EXPECT_FALSE(cost_aware_loans(problem.view, 0.1, &steps).empty());
    EXPECT_LE(steps, 3 * problem.others.size() + 3);  // a step takes about 0.05 us
  }
}

TEST(LoanPolicy, considers_lending_to_ranks_that_requested_tasks_and_to_the_nearest_idle_ranks) {
  LoanPolicy policy(LoanSettings{});
  PeerTable peers = table(1000);
  for (std::uint32_t rank = 999; rank > 1; rank -= 2)
    peers.update({.rank = rank, .version = 1, .wait = 1, .busy_s = rank % 3 == 0 ? 1.0 : 0.0});
  Thieves thieves;
  thieves.add({501, 1, 0.5, false});
  thieves.add({7, 2, 0.5, false});  // sent in its second wait; the table knows its first
  LoanProblem problem;
  policy.pose(problem, queue_of(100, 1e-3), peers, thieves, {}, kNow);
  ASSERT_EQ(problem.others.size(), 1 + lending_tuning::kMaxCandidates);
  for (const Borrower& other : problem.others) {
    EXPECT_EQ(other.asks, other.rank == 501);
    if (!other.asks) {
      EXPECT_EQ(other.busy_s, 0);
    }
  }
  EXPECT_EQ(problem.others.back().rank, 501u);
}

TEST(LoanPolicy,
     lends_tasks_of_unknown_run_time_to_requesting_ranks_and_more_if_about_to_start_such_a_task) {
  LoanPolicy policy(LoanSettings{});
  PeerTable peers = table(10);
  peers.update({.rank = 3, .version = 1, .wait = 1, .threads = 2});
  peers.update({.rank = 4, .version = 1, .wait = 1});
  Thieves thieves;
  thieves.add({3, 1, 0.5, false});
  QueueState queue = queue_of(10, 0);
  queue.all_times_known = false;
  // Rank 3 has two threads. Rank 4 is idle, too, and may send a request soon.
  for (const auto& [running, tasks] : {std::pair(1u, 2u), std::pair(0u, 4u)}) {
    queue.running = running;
    LoanProblem problem;
    policy.pose(problem, queue, peers, thieves, {}, kNow);
    EXPECT_THAT(policy.loans(problem, queue, {}, 1, kNoNames),
                testing::ElementsAre(Loan{3, tasks}));
  }
}

TEST(LoanPolicy, lends_a_single_queued_task_of_unknown_run_time_only_while_a_long_task_runs) {
  LoanPolicy policy(LoanSettings{});
  PeerTable peers = table(2);
  peers.update({.rank = 1, .version = 1, .wait = 1});
  Thieves thieves;
  thieves.add({1, 1, 0.5, false});
  QueueState queue = queue_of(1, 0);
  queue.all_times_known = false;
  queue.running = 1;
  const auto lent = [&](bool all_borrowed, double elapsed_s) {
    queue.all_borrowed = all_borrowed;
    queue.running_s = elapsed_s;
    LoanProblem problem;
    policy.pose(problem, queue, peers, thieves, {}, kNow);
    return policy.loans(problem, queue, {}, 1, kNoNames);
  };
  for (const bool all_borrowed : {true, false}) {
    EXPECT_THAT(lent(all_borrowed, 1e-3), testing::ElementsAre(Loan{1, 1}));
    EXPECT_THAT(lent(all_borrowed, 1e-9), IsEmpty());
  }
}

TEST(LoanPolicy, tasks_that_wait_behind_a_long_task_are_lent_at_once) {
  LoanPolicy policy(LoanSettings{});
  PeerTable peers = table(2);
  peers.update({.rank = 1, .version = 1, .wait = 1});
  QueueState queue = queue_of(500, 2e-3);
  queue.running = 1;
  const auto lent = [&](double elapsed_s) {
    queue.running_s = elapsed_s;
    LoanProblem problem;
    policy.pose(problem, queue, peers, {}, {}, kNow);
    const auto loans = policy.loans(problem, queue, {}, 1, kNoNames);
    return loans.empty() ? 0 : loans.front().tasks;
  };
  EXPECT_NEAR(lent(0), 250, 2);
  // A task that has run for 0.3 s is expected to run for another 0.3 s.
  EXPECT_NEAR(lent(0.3), 325, 2);
  EXPECT_EQ(lent(2), 500u);
}

TEST(LoanPolicy, spends_at_most_a_hundredth_of_the_time_on_exploration) {
  LoanPolicy policy(LoanSettings{});
  PeerTable peers = table(2);
  peers.update({.rank = 1, .version = 1, .wait = 1});
  LendingCosts costs;
  for (int i = 0; i < 1000; ++i) costs.packing.learn(8, 0, 8e-3);  // 1 ms per task
  const QueueState queue = queue_of(100, 0.5e-3);
  double lent = 0;
  for (double now_s = 0; now_s < 10; now_s += 1e-3) {
    LoanProblem problem;
    policy.pose(problem, queue, peers, {}, costs, kNow);
    for (const Loan& loan : policy.loans(problem, queue, costs, now_s, kNoNames))
      lent += loan.tasks;
  }
  EXPECT_GT(lent, 10);
  EXPECT_LE(lent * 1e-3, 0.01 * 10);
}

// Rank 1 has lent tasks to this rank without knowing how slow this rank is.
TEST(LoanPolicy, returns_more_borrowed_tasks_to_a_lender_that_requests_them_and_is_faster) {
  const auto loans = [](bool asks, bool all_borrowed, float task_s) {
    LoanPolicy policy(LoanSettings{});
    PeerTable peers = table(3);
    peers.update({.rank = 1, .version = 1, .wait = 1, .task_s = task_s});
    peers.at(1).has_lent = true;
    Thieves thieves;
    if (asks) thieves.add({1, 1, 0.5, false});
    QueueState queue = queue_of(2, 10e-3);
    queue.all_borrowed = all_borrowed;
    LoanProblem problem;
    policy.pose(problem, queue, peers, thieves, {}, kNow);
    return policy.loans(problem, queue, {}, 1, kNoNames);
  };
  EXPECT_THAT(loans(true, true, 2e-3F), testing::ElementsAre(Loan{1, 2}));
  EXPECT_THAT(loans(true, true, 10e-3F), testing::ElementsAre(Loan{1, 1}));
  EXPECT_THAT(loans(true, true, 0), testing::ElementsAre(Loan{1, 1}));
  EXPECT_THAT(loans(true, false, 2e-3F), testing::ElementsAre(Loan{1, 1}));
  EXPECT_THAT(loans(false, false, 2e-3F), testing::ElementsAre(Loan{1, 1}));
  EXPECT_THAT(loans(false, true, 2e-3F), IsEmpty());
}

TEST(LoanPolicy,
     lends_borrowed_tasks_to_a_busy_rank_that_asks_but_own_tasks_to_an_idle_rank_that_does_not) {
  const auto borrower = [](bool all_borrowed) {
    LoanPolicy policy(LoanSettings{});
    PeerTable peers = table(20);
    peers.update({.rank = 19, .version = 1, .wait = 1, .busy_s = 5e-3});
    for (std::uint32_t rank = 1; rank < 19; ++rank)
      peers.update({.rank = rank, .version = 1, .wait = 1});
    Thieves thieves;
    thieves.add({19, 1, 0.5, true});
    QueueState queue = queue_of(1, 10e-3);
    queue.running = 1;
    queue.running_s = 9e-3;
    queue.all_borrowed = all_borrowed;
    LoanProblem problem;
    policy.pose(problem, queue, peers, thieves, {}, kNow);
    return policy.loans(problem, queue, {}, 1, kNoNames).at(0).rank;
  };
  EXPECT_EQ(borrower(true), 19u);
  EXPECT_EQ(borrower(false), 1u);
}

TEST(LoanPolicy, limits_the_number_of_borrowed_tasks_that_wait_at_a_rank) {
  const LoanPolicy policy(LoanSettings{.batch_bytes = 1000});
  Peer peer;
  peer.threads = 2;
  EXPECT_EQ(policy.room_at(peer, 10, 1), 100u);
  EXPECT_EQ(policy.room_at(peer, 1000, 1), 8u);
  peer.in_flight = 5;
  EXPECT_EQ(policy.room_at(peer, 1000, 1), 3u);
  peer.in_flight = 50;
  EXPECT_EQ(policy.room_at(peer, 1000, 1), 0u);
}

TEST(LoanPolicy, decides_sooner_about_lending_if_a_rank_has_requested_tasks) {
  LoanPolicy policy(LoanSettings{});
  for (const double now_s : {0.5, 1.0}) policy.decided(now_s, 10e-6);
  EXPECT_FALSE(policy.is_due(1 + 9e-6, true));
  EXPECT_TRUE(policy.is_due(1 + 11e-6, true));
  EXPECT_FALSE(policy.is_due(1 + 190e-6, false));
  EXPECT_TRUE(policy.is_due(1 + 210e-6, false));
}

TEST(LoanPolicy, soon_decides_again_after_one_decision_that_took_unusually_long) {
  LoanPolicy policy(LoanSettings{});
  policy.decided(1, 1e-6);
  policy.decided(2, 10e-3);  // the thread was preempted
  EXPECT_TRUE(policy.is_due(2 + 21e-6, false));
  policy.decided(3, 10e-3);  // decisions have become slow
  EXPECT_FALSE(policy.is_due(3.19, false));
  EXPECT_TRUE(policy.is_due(3.21, false));
}

TEST(Thieves, declines_task_requests_beyond_a_limit_unless_the_sender_asks_to_be_remembered) {
  Thieves thieves;
  for (std::uint32_t rank = 0; rank < lending_tuning::kMaxSearched; ++rank)
    EXPECT_TRUE(thieves.add({rank, 1, 0, false}));
  EXPECT_FALSE(thieves.add({1000, 1, 0, false}));
  EXPECT_TRUE(thieves.add({1001, 1, 0, true}));
  EXPECT_TRUE(thieves.add({5, 1, 0, false})) << "it waits already";
  EXPECT_EQ(thieves.take_declined(1).size(), lending_tuning::kMaxSearched);
  EXPECT_TRUE(thieves.find(1001));
  thieves.enter(2);
  EXPECT_THAT(thieves.all(), IsEmpty());
}

// Rank 1 has 6 tasks left and this rank 10. If the times of tasks differ much, rank 1 may well be
// the one that ends later.
TEST(LoanPolicy,
     lends_tasks_of_unequal_times_to_a_busy_rank_only_if_the_loads_of_the_ranks_differ_much) {
  const auto lends = [](std::size_t tasks, double deviation, double busy_s, bool asks) {
    LoanPolicy policy(LoanSettings{});
    PeerTable peers = table(2);
    peers.update({.rank = 1, .version = 1, .wait = 1, .busy_s = busy_s, .task_s = 1e-3F});
    Thieves thieves;
    if (asks) thieves.add({1, 1, 0.5, false});
    QueueState queue = queue_of(tasks, 1e-3);
    queue.queued_deviation_s = deviation * queue.queued_s;
    LoanProblem problem;
    policy.pose(problem, queue, peers, thieves, {}, kNow);
    return !policy.loans(problem, queue, {}, 1, kNoNames).empty();
  };
  EXPECT_TRUE(lends(10, 0, 6e-3, false));
  EXPECT_FALSE(lends(10, 0.5, 6e-3, false));
  EXPECT_TRUE(lends(10, 0.5, 0, false));
  EXPECT_TRUE(lends(10, 0.5, 6e-3, true));
  EXPECT_TRUE(lends(100, 0.5, 6e-3, false));
}

}  // namespace
}  // namespace poise
