// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/lending_agent.h"

#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace poise {
namespace {

LendingAgent agent_of_two_ranks() {
  return LendingAgent(0, 2, [](std::uint32_t) { return PeerLocality{}; }, {});
}

TEST(LendingAgent, learns_from_long_tasks_that_a_rank_is_slow) {
  LendingAgent agent = agent_of_two_ranks();
  for (int task = 0; task < 60; ++task) agent.learn_slowness(1, 10e-3, 5e-3);
  EXPECT_NEAR(agent.slowness_of(1), 2, 0.05);
}

TEST(LendingAgent, learns_the_slowness_of_a_rank_as_the_mean_over_its_first_long_tasks) {
  LendingAgent agent = agent_of_two_ranks();
  agent.learn_slowness(1, 15e-3, 5e-3);
  EXPECT_NEAR(agent.slowness_of(1), 3, 1e-6);
  agent.learn_slowness(1, 5e-3, 5e-3);
  EXPECT_NEAR(agent.slowness_of(1), 2, 1e-6);
  for (int task = 2; task < 16; ++task) agent.learn_slowness(1, 10e-3, 5e-3);
  EXPECT_NEAR(agent.slowness_of(1), 2, 1e-6);
  for (int task = 0; task < 100; ++task) agent.learn_slowness(1, 5e-3, 5e-3);
  EXPECT_NEAR(agent.slowness_of(1), 1, 0.01);
}

TEST(LendingAgent, learns_how_slow_a_rank_is_from_the_first_result_of_a_long_task) {
  LendingAgent agent = agent_of_two_ranks();
  agent.learn_slowness(1, 40e-3, 5e-3);
  EXPECT_NEAR(agent.slowness_of(1), 8, 1e-6);
}

TEST(LendingAgent, expects_an_unknown_rank_to_be_slow_if_all_ranks_that_returned_results_are_slow) {
  LendingAgent agent(0, 4, [](std::uint32_t) { return PeerLocality{}; }, {});
  const auto guess = [&] { return agent.borrower(3, {}).slowness; };
  EXPECT_EQ(guess(), 1);
  agent.learn_slowness(1, 40e-3, 5e-3);
  EXPECT_NEAR(guess(), 8, 1e-6);
  for (int task = 0; task < 20; ++task) agent.learn_slowness(2, 2.5e-3, 5e-3);
  EXPECT_EQ(guess(), 1) << "unknown ranks are not preferred to equally fast known ones";
}

TEST(LendingAgent, sends_every_borrower_a_first_message_before_any_gets_a_second) {
  const LendingAgent agent = agent_of_two_ranks();
  std::vector<Loan> loans{{1, 2}, {2, 1}, {3, 3}};
  std::vector<std::uint32_t> messages;
  lend_in_turn(loans, agent, [&](Loan& loan, bool asked) {
    EXPECT_FALSE(asked);
    messages.push_back(loan.rank);
    return --loan.tasks > 0;
  });
  EXPECT_EQ(messages, (std::vector<std::uint32_t>{1, 2, 3, 1, 3, 3}));
}

TEST(LendingAgent,
     states_the_mean_time_of_its_queued_tasks_or_if_none_is_queued_the_time_of_its_last_task) {
  const LendingAgent agent = agent_of_two_ranks();
  QueueState queue;
  EXPECT_EQ(agent.own_load(queue, 1).task_s, 0);
  queue.ran_s = 3;
  EXPECT_EQ(agent.own_load(queue, 1).task_s, 3);
  queue.queued = queue.lendable = 2;
  queue.queued_s = 8;
  EXPECT_EQ(agent.own_load(queue, 1).task_s, 4);
  queue.all_times_known = false;
  EXPECT_EQ(agent.own_load(queue, 1).task_s, 0);
}

TEST(LendingAgent, learns_from_many_short_tasks_that_a_rank_is_slow) {
  LendingAgent agent = agent_of_two_ranks();
  for (int task = 0; task < 1000; ++task) agent.learn_slowness(1, 200e-6, 100e-6);
  EXPECT_NEAR(agent.slowness_of(1), 2, 0.05);
}

// Page faults and cold caches can make a task of a microsecond take many times as long. A rank must
// not count as slow because of a few such tasks: its next tasks may take a millisecond, and then
// these delays hardly matter.
TEST(LendingAgent, does_not_regard_a_rank_as_slow_because_of_a_few_very_short_tasks) {
  LendingAgent agent = agent_of_two_ranks();
  for (int task = 0; task < 100; ++task) agent.learn_slowness(1, 20e-6, 1e-6);
  EXPECT_LT(agent.slowness_of(1), 1.1);
}

TEST(LendingAgent, requests_tasks_before_it_is_idle_only_if_it_knows_when_its_last_task_will_end) {
  LendingAgent agent = agent_of_two_ranks();
  agent.enter(1, 0);
  QueueState queue;
  queue.running = 1;
  queue.running_s = 1e-3;
  EXPECT_TRUE(agent.steal_is_due(queue, 1));
  queue.running_deviation_s = 0.5e-3;
  EXPECT_FALSE(agent.steal_is_due(queue, 1));
  queue.running = 0;
  EXPECT_TRUE(agent.steal_is_due(queue, 1));
}

TEST(LendingAgent, passes_borrowed_tasks_on_only_once_before_it_runs_one) {
  LendingAgent agent = agent_of_two_ranks();
  agent.enter(1, 0);
  QueueState queue;
  queue.queued = queue.lendable = 1;
  queue.queued_s = 10e-3;
  queue.all_borrowed = true;
  agent.learn_slowness(1, 10e-3, 40e-3);  // the thief is four times as fast
  const auto number_of_loans = [&] {
    News news;
    news.own = {.rank = 1, .version = 1, .wait = 1};
    agent.hear(1, news, 1);
    agent.asked_by({.rank = 1, .wait = 1});
    LoanProblem problem;
    agent.pose(problem, queue, 1);
    return agent.loans(problem, queue, 1, [] { return std::vector<QueuedTask>{}; }).size();
  };
  EXPECT_EQ(number_of_loans(), 1u);
  EXPECT_EQ(number_of_loans(), 0u) << "it could pass tasks on forever";
  queue.running = 1;
  EXPECT_EQ(number_of_loans(), 1u) << "it is busy, so tasks make progress";
  queue.running = 0;
  ++queue.ran;
  EXPECT_EQ(number_of_loans(), 1u);
}

// Ranks 0 to 3 are on the first node, the others on nodes of their own.
LendingAgent agent_on_first_node() {
  return LendingAgent(
      0, 200,
      [](std::uint32_t rank) {
        return PeerLocality{rank, rank < 4 ? 1 : std::numeric_limits<double>::infinity()};
      },
      {}, lending_tuning::kMaxPeers, {0, 1, 2, 3});
}

// Ranks that get an answer now, and whether their requests are declined.
using Answers = std::vector<std::pair<std::uint32_t, bool>>;
Answers answers_of(LendingAgent& agent) {
  Answers answers;
  for (const auto& [rank, declined] : agent.take_answers()) {
    answers.emplace_back(rank, declined.has_value());
    agent.news_for(rank, {}, 1);  // the message to the rank
  }
  return answers;
}

TEST(LendingAgent, a_rank_of_another_node_gets_no_more_results_until_it_confirms_the_last_ones) {
  LendingAgent agent = agent_on_first_node();
  EXPECT_TRUE(agent.may_send_results(5));
  agent.sent_results(5);
  EXPECT_FALSE(agent.may_send_results(5));
  EXPECT_TRUE(agent.may_send_results(6));
  agent.hear(5, {}, 1);
  agent.hear(6, {.confirms_results = true}, 1);
  EXPECT_FALSE(agent.may_send_results(5)) << "no message of rank 5 has confirmed the results";
  agent.hear(5, {.confirms_results = true}, 1);
  EXPECT_TRUE(agent.may_send_results(5));
}

TEST(LendingAgent, ranks_of_a_node_send_each_other_results_without_confirmations) {
  LendingAgent agent = agent_on_first_node();
  agent.sent_results(3);
  EXPECT_TRUE(agent.may_send_results(3));
  agent.got_results(3);
  EXPECT_FALSE(agent.has_answers());
  EXPECT_FALSE(agent.news_for(3, {}, 1).confirms_results);
}

TEST(LendingAgent, the_next_message_to_a_rank_confirms_the_results_received_from_that_rank) {
  LendingAgent agent = agent_on_first_node();
  agent.got_results(7);
  agent.got_results(5);
  agent.got_results(7);
  EXPECT_FALSE(agent.news_for(6, {}, 1).confirms_results);
  EXPECT_TRUE(agent.news_for(7, {}, 1).confirms_results);
  EXPECT_FALSE(agent.news_for(7, {}, 1).confirms_results);
  EXPECT_EQ(agent.take_answers().at(0).rank, 5);
  EXPECT_TRUE(agent.news_for(5, {}, 1).confirms_results);
  EXPECT_FALSE(agent.has_answers());
}

// The rank that sent the results may have entered the wait before this rank. Then it holds further
// results of this wait until the first ones are confirmed.
TEST(LendingAgent, results_that_arrive_before_a_rank_enters_a_wait_are_confirmed_in_this_wait) {
  LendingAgent agent = agent_on_first_node();
  agent.got_results(6);
  agent.enter(1, 0);
  EXPECT_EQ(agent.take_answers().at(0).rank, 6);
}

TEST(LendingAgent, declines_each_request_once_unless_it_first_lends_tasks_to_the_thief) {
  LendingAgent agent = agent_on_first_node();
  agent.enter(1, 0);
  for (const std::uint32_t rank : {5, 6, 7}) EXPECT_TRUE(agent.asked_by({rank, 1, rank * 0.1}));
  EXPECT_FALSE(agent.has_answers()) << "the lender has not decided yet";
  agent.decline_all();
  const auto answered = agent.lent(6, 1, 1e-3);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->requested_at_s, 6 * 0.1);
  EXPECT_EQ(answers_of(agent), (Answers{{5, true}, {7, true}}));
  EXPECT_FALSE(agent.has_answers());
}

// Confirmations bring further results, but a thief that is declined brings nothing.
TEST(LendingAgent, confirms_all_results_but_declines_few_requests_between_two_polls) {
  LendingAgent agent = agent_on_first_node();
  agent.enter(1, 0);
  for (const std::uint32_t rank : {5, 6}) EXPECT_TRUE(agent.asked_by({rank, 1, 0.1}));
  agent.decline_all();
  for (const std::uint32_t rank : {6, 7}) agent.got_results(rank);
  EXPECT_EQ(answers_of(agent), (Answers{{6, true}, {7, false}, {5, true}}));
  constexpr std::uint32_t kMost = lending_tuning::kMaxAtOnce;
  for (std::uint32_t rank = 8; rank < 8 + 2 * kMost; ++rank) agent.asked_by({rank, 1, 0.1});
  agent.decline_all();
  EXPECT_EQ(answers_of(agent).size(), kMost);
  for (std::uint32_t rank = 100; rank < 100 + 2 * kMost; ++rank) agent.got_results(rank);
  EXPECT_EQ(answers_of(agent).size(), 2 * kMost) << "all confirmations, and no more";
  EXPECT_EQ(answers_of(agent).size(), kMost);
  EXPECT_FALSE(agent.has_answers());
}

TEST(LendingAgent,
     results_go_to_the_collector_if_the_owner_wants_it_and_a_third_rank_lent_the_task) {
  LendingAgent agent = agent_on_first_node();
  agent.enter(1, 0);
  EXPECT_EQ(agent.returns_to(6, true, true), 2) << "6 modulo 4 ranks of this node";
  EXPECT_EQ(agent.returns_to(6, false, true), 6);
  EXPECT_EQ(agent.returns_to(6, true, false), 6) << "the owner itself lent the task";
  EXPECT_EQ(agent.returns_to(3, true, true), 3) << "the owner is on this node";
  EXPECT_EQ(agent.returns_to(4, true, true), 4) << "this rank is the collector";
  agent.hear({.rank = 2, .version = 1, .wait = 0});
  EXPECT_EQ(agent.returns_to(6, true, true), 6) << "the collector has not entered the wait";
  agent.hear({.rank = 2, .version = 2, .wait = 1});
  EXPECT_EQ(agent.returns_to(6, true, true), 2);
}

TEST(LendingAgent, drops_a_pending_refusal_if_the_thief_asks_again_or_if_a_new_wait_begins) {
  LendingAgent agent = agent_on_first_node();
  agent.enter(1, 0);
  EXPECT_TRUE(agent.asked_by({5, 1, 0.1}));
  agent.decline_all();
  EXPECT_TRUE(agent.asked_by({5, 1, 0.2}));
  EXPECT_FALSE(agent.has_answers());
  agent.decline_all();
  agent.enter(2, 1);
  EXPECT_FALSE(agent.has_answers());
}

}  // namespace
}  // namespace poise
