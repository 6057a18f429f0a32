// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/loan_policy.h"

#include <algorithm>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string_view>
#include <tuple>

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
  thieves.add({7, 2, 0.5, false});  // rank 7 is in wait 2, but its load in the table is of wait 1
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
     lends_more_tasks_of_unknown_run_time_on_request_if_the_lender_is_about_to_run_one_task) {
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

TEST(LoanPolicy, tasks_queued_behind_a_long_task_are_lent_without_delay) {
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
  for (int i = 0; i < 1000; ++i) costs.packing.learn(8, 0, 8e-3);  // packing a task takes 1 ms
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
TEST(LoanPolicy,
     returns_more_borrowed_tasks_to_a_lender_that_requests_them_if_that_lender_is_faster) {
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
     if_all_tasks_are_borrowed_lends_to_a_busy_rank_that_asks_and_otherwise_to_an_idle_rank) {
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

TEST(LoanPolicy, considers_the_ranks_that_will_be_idle_soonest_and_among_equals_the_nearest) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    PeerTable peers(0, 100, [](std::uint32_t rank) { return PeerLocality{rank, 1.0 + rank % 3}; });
    const QueueState queue = queue_of(10, 1e-3);
    std::vector<std::tuple<double, double, std::uint32_t>> candidates;
    std::map<std::uint32_t, double> busy_of;
    for (std::uint32_t rank = 1; rank < 100; ++rank) {
      if (random.below(3) == 0) continue;
      const double busy_s = static_cast<double>(random.below(4)) / 4;
      const auto queued = static_cast<float>(random.below(3));
      const bool knows_times = random.below(2) > 0;
      const std::uint64_t wait = random.below(8) ? 1 : 2;
      peers.update({.rank = rank,
                    .version = 1,
                    .wait = wait,
                    .busy_s = busy_s,
                    .task_s = knows_times ? 1e-3F : 0,
                    .queued = queued,
                    .threads = 2});
      const bool has_lent = random.below(4) == 0;
      if (has_lent) peers.at(rank).in_flight_s = 0.5F;
      const double expected_s =
          (knows_times ? busy_s : std::max(busy_s, queued * 1e-3 / 2)) + (has_lent ? 0.25 : 0);
      busy_of[rank] = expected_s;
      if (wait == 1) candidates.emplace_back(expected_s, 1.0 + rank % 3, rank);
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.resize(std::min(candidates.size(), lending_tuning::kMaxCandidates));
    std::vector<std::pair<double, std::uint32_t>> expected;
    for (const auto& [busy_s, distance, rank] : candidates) expected.emplace_back(distance, rank);
    std::sort(expected.begin(), expected.end());
    LoanProblem problem;
    LoanPolicy(LoanSettings{}).pose(problem, queue, peers, {}, {}, kNow);
    ASSERT_EQ(problem.others.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(problem.others[i].rank, expected[i].second);
      EXPECT_EQ(problem.others[i].distance, expected[i].first);
      EXPECT_NEAR(problem.others[i].busy_s, busy_of[expected[i].second], 1e-9);
      EXPECT_FALSE(problem.others[i].asks);
    }
  }
}

TEST(LoanPolicy, describes_the_queue_and_the_costs_of_the_lender_to_the_offload_policy) {
  PeerTable peers(5, 9, [](std::uint32_t) { return PeerLocality{}; });
  peers.update({.rank = 7, .version = 1, .wait = 3, .queued = 4});
  peers.at(7).in_flight = 6;
  QueueState queue = queue_of(8, 2e-3);
  queue.queued = 11;
  queue.running = 3;
  queue.running_s = 12e-3;
  queue.bytes_both = 16;
  LendingCosts costs;
  for (int i = 0; i < 1000; ++i) costs.packing.learn(8, 0, 8 * 3e-6);
  LoanProblem problem;
  LoanPolicy(LoanSettings{})
      .pose(problem, queue, peers, {}, costs, {.now_s = 1, .wait = 3, .threads = 4});
  EXPECT_DOUBLE_EQ(problem.view.task_s, 2e-3);
  EXPECT_EQ(problem.view.queued, 8u);
  EXPECT_DOUBLE_EQ(problem.view.busy_s, 3e-3);
  EXPECT_EQ(problem.view.threads, 4);
  EXPECT_DOUBLE_EQ(problem.view.lend_s, costs.overhead_s(queue, 2));
  EXPECT_NEAR(problem.view.lend_s, 3e-6 + 0.2e-6, 1e-8);
  EXPECT_EQ(problem.view.rank, 5u);
  ASSERT_EQ(problem.known.size(), 1u);
  EXPECT_EQ(problem.known[0].queued, 4);
  EXPECT_EQ(problem.known[0].in_flight, 6u);
  EXPECT_EQ(problem.view.others.data(), problem.others.data());
}

TEST(LoanPolicy,
     a_policy_that_sees_all_ranks_may_choose_any_rank_in_the_same_wait_if_tasks_may_be_pushed) {
  for (const bool push : {true, false})
    for (const bool all_borrowed : {true, false})
      for (const char* name : {"cost", "paired"}) {
        PeerTable peers = table(50);
        for (std::uint32_t rank = 1; rank < 50; ++rank)
          peers.update({.rank = rank, .version = 1, .wait = rank % 5 == 0 ? 2u : 1u});
        Thieves thieves;
        thieves.add({7, 1, 0.5, false});
        thieves.add({8, 1, 0.5, true});
        thieves.add({10, 1, 0.5, false});  // the table knows that this rank is in another wait
        thieves.add({9, 0, 0.5, false});   // asked in an earlier wait
        QueueState queue = queue_of(10, 1e-3);
        queue.all_borrowed = all_borrowed;
        LoanProblem problem;
        LoanPolicy(LoanSettings{.policy = &offload_policy(name), .push = push})
            .pose(problem, queue, peers, thieves, {}, kNow);
        const bool sees_all = std::string_view(name) == "paired";
        const std::size_t silent = sees_all ? 37 : all_borrowed ? 0 : 8;
        EXPECT_EQ(problem.others.size(), 2 + (push ? silent : 0)) << name << push << all_borrowed;
        for (const Borrower& other : problem.others)
          EXPECT_EQ(other.asks, other.rank == 7 || other.rank == 8);
      }
}

TEST(LoanPolicy,
     describes_a_borrower_by_its_last_report_and_its_link_and_the_tasks_in_flight_to_it) {
  Peer peer;
  peer.rank = 6;
  peer.threads = 4;
  peer.busy_s = 0.5F;
  peer.queued = 12;
  peer.task_s = 0.25F;
  peer.in_flight_s = 3;
  peer.slowness = 1.5F;
  peer.num_results = 1;
  LendingCosts costs;
  QueueState queue = queue_of(10, 1);
  queue.bytes_both = 1e6;
  const PeerLocality at{3, 2};
  const Borrower known = borrower_at(peer, true, at, queue, costs);
  const double byte_s = 2 * lending_tuning::kInitialPerByte_s;
  EXPECT_EQ(known.rank, 6u);
  EXPECT_TRUE(known.asks);
  EXPECT_EQ(known.threads, 4);
  EXPECT_EQ(known.slowness, 1.5);
  EXPECT_DOUBLE_EQ(known.busy_s, 0.5 + 3 * 1.5 / 4);
  EXPECT_DOUBLE_EQ(known.byte_s, byte_s);
  EXPECT_DOUBLE_EQ(known.delay_s, 2 * 2 * lending_tuning::kMinPause_s / 2 + 1e5 * byte_s);
  EXPECT_DOUBLE_EQ(known.extra_s, costs.overhead_s(queue, 1e5) + 1e5 * byte_s);
  EXPECT_EQ(known.distance, 2);
  // The rank does not know how long its tasks take. They are assumed to take as long as the
  // lender's tasks.
  peer.task_s = 0;
  peer.num_results = 0;
  const Borrower unknown = borrower_at(peer, false, at, queue, costs);
  EXPECT_DOUBLE_EQ(unknown.busy_s, 12 * 1 / 4.0 + 3 / 4.0);
  EXPECT_EQ(unknown.slowness, 1);
  EXPECT_FALSE(unknown.asks);
  peer.queued = 0;
  EXPECT_DOUBLE_EQ(borrower_at(peer, false, at, queue, costs).busy_s, 0.5 + 3 / 4.0);
  for (int i = 0; i < 100; ++i) costs.least_slowness.learn(2);
  EXPECT_NEAR(borrower_at(peer, false, at, queue, costs).slowness, 2, 1e-6);
}

TEST(LoanPolicy, the_load_last_reported_by_a_rank_is_assumed_to_shrink_while_the_rank_works) {
  Peer peer;
  peer.reported_at_s = 10;
  peer.busy_s = 4;
  EXPECT_EQ(share_remaining(peer, 9), 1);
  EXPECT_EQ(share_remaining(peer, 10), 1);
  EXPECT_EQ(share_remaining(peer, 11), 0.75);
  EXPECT_EQ(share_remaining(peer, 14), 0);
  EXPECT_EQ(share_remaining(peer, 20), 0);
  peer.busy_s = 0;
  EXPECT_EQ(share_remaining(peer, 10), 0);
  const LoanPolicy policy(LoanSettings{.batch_bytes = 1000});
  peer.busy_s = 4;
  peer.queued = 40;
  peer.in_flight = 3;
  EXPECT_EQ(policy.room_at(peer, 10, 11), 100u - 30 - 3);
  EXPECT_EQ(policy.room_at(peer, 0.5, 15), 1000u - 3) << "a task has at least a byte";
}

TEST(LoanPolicy, the_margin_for_tasks_of_unequal_times_follows_from_their_deviations) {
  Borrower other{.rank = 1, .busy_s = 3, .threads = 2, .slowness = 1.5, .delay_s = 0.25};
  QueueState queue = queue_of(9, 4);
  queue.running = 7;
  queue.queued_deviation_s = 18;  // task times deviate by 2 s from their expected time
  const double here = (9 + 7) / 16.0, there = 1.5 * 1.5 * (6 + 2) / 4;
  EXPECT_DOUBLE_EQ(doubt_s(other, 6, queue, 4), 2 * std::sqrt((here + there) * 4 / 0.25));
  queue.queued_deviation_s = 0;
  EXPECT_EQ(doubt_s(other, 6, queue, 4), 0);
  queue.queued_deviation_s = 18;
  other.busy_s = 0;
  EXPECT_EQ(doubt_s(other, 6, queue, 4), 0);
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

TEST(Thieves, a_lasting_request_is_kept_until_its_wait_ends_and_any_other_until_it_is_declined) {
  Thieves thieves;
  EXPECT_FALSE(thieves.any(1));
  thieves.add({4, 1, 0.1, true});
  EXPECT_FALSE(thieves.any(1)) << "a lasting request does not hurry";
  thieves.add({5, 1, 0.2, false});
  thieves.add({6, 2, 0.3, false});
  thieves.add({5, 1, 0.4, false});  // replaces its first request
  EXPECT_TRUE(thieves.any(1));
  EXPECT_TRUE(thieves.any(2));
  EXPECT_FALSE(thieves.any(3));
  ASSERT_EQ(thieves.all().size(), 3u);
  EXPECT_EQ(thieves.all()[2].requested_at_s, 0.4);
  const auto declined = thieves.take_declined(1);
  ASSERT_EQ(declined.size(), 1u);
  EXPECT_EQ(declined[0].rank, 5u);
  EXPECT_FALSE(thieves.find(5));
  ASSERT_TRUE(thieves.find(6));
  EXPECT_EQ(thieves.find(6)->wait, 2u);
  thieves.enter(2);
  EXPECT_FALSE(thieves.find(4));
  EXPECT_TRUE(thieves.find(6));
  thieves.remove(6);
  EXPECT_THAT(thieves.all(), IsEmpty());
}

// Rank 1 has 6 tasks left, and this rank has 10. If the times of the tasks differ much, rank 1 may
// nevertheless finish later than this rank.
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
