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
     reports_the_mean_time_of_its_queued_tasks_or_the_time_of_its_last_task_if_none_is_queued) {
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

TEST(LendingAgent, after_passing_on_borrowed_tasks_a_rank_must_run_one_before_it_passes_on_more) {
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
    EXPECT_EQ(problem.view.queued, 1u) << "the view of the lender itself is complete in any case";
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
    agent.news_for(rank, {}, 1);  // the message that carries the answer
  }
  return answers;
}

TEST(LendingAgent, ranks_on_other_nodes_get_no_more_results_until_they_confirm_the_previous_ones) {
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

// The sender may enter the wait before the receiver does and send its first results. It keeps
// further results until the receiver confirms the first ones.
TEST(LendingAgent, results_that_arrive_before_a_rank_enters_a_wait_are_confirmed_in_that_wait) {
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

// Only refusals are limited: a confirmed borrower sends further results, but a thief whose request
// is declined sends nothing.
TEST(LendingAgent,
     between_two_polls_confirms_every_result_but_sends_only_a_limited_number_of_refusals) {
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
     results_of_tasks_lent_by_a_third_rank_go_to_the_collector_if_the_owner_wants_a_collector) {
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

TEST(LendingAgent, tasks_in_flight_and_their_total_time_shrink_as_the_borrower_reports_arrivals) {
  LendingAgent agent = agent_on_first_node();
  agent.lent(5, 3, 0.5);
  agent.lent(5, 5, 1.5);
  EXPECT_EQ(agent.peers().find(5)->in_flight, 8u);
  EXPECT_EQ(agent.peers().find(5)->in_flight_s, 2);
  agent.hear(5, {.received = 2}, 1);
  EXPECT_EQ(agent.peers().find(5)->in_flight, 6u);
  EXPECT_FLOAT_EQ(agent.peers().find(5)->in_flight_s, 1.5F);
  agent.hear(5, {.received = 9}, 1);
  EXPECT_EQ(agent.peers().find(5)->in_flight, 0u);
  EXPECT_EQ(agent.peers().find(5)->in_flight_s, 0);
}

TEST(LendingAgent, the_next_message_to_a_lender_reports_the_tasks_that_have_arrived_from_it) {
  LendingAgent agent = agent_on_first_node();
  agent.received(7, 2);
  agent.received(7, 3);
  EXPECT_TRUE(agent.peers().find(7)->has_lent);
  EXPECT_EQ(agent.news_for(6, {}, 1).received, 0u);
  EXPECT_EQ(agent.news_for(7, {}, 1).received, 5u);
  EXPECT_EQ(agent.news_for(7, {}, 1).received, 0u);
}

TEST(LendingAgent, loads_from_another_node_are_stamped_with_the_time_at_which_they_arrive) {
  LendingAgent agent = agent_on_first_node();
  News news{.own = {.rank = 3, .version = 1, .reported_at_s = 70},
            .others = {{.rank = 6, .version = 1, .reported_at_s = 60}}};
  agent.hear(3, news, 9);
  EXPECT_EQ(agent.peers().find(3)->reported_at_s, 70);
  EXPECT_EQ(agent.peers().find(6)->reported_at_s, 60);
  news.own = {.rank = 8, .version = 1, .reported_at_s = 70};
  news.others[0].version = 2;
  agent.hear(8, news, 9);
  EXPECT_EQ(agent.peers().find(8)->reported_at_s, 9);
  EXPECT_EQ(agent.peers().find(6)->reported_at_s, 9);
}

TEST(LendingAgent, reports_its_load_with_a_new_version_each_time) {
  LendingAgent agent = agent_of_two_ranks();
  agent.set_threads(4);
  QueueState queue;
  queue.queued = 9;
  queue.lendable = 8;
  queue.queued_s = 6;
  queue.running_s = 2;
  const Load outside = agent.next_own_load(queue, 3);
  EXPECT_EQ(outside.rank, 0u);
  EXPECT_EQ(outside.version, 1u);
  EXPECT_EQ(outside.wait, 0u);
  EXPECT_EQ(outside.reported_at_s, 3);
  EXPECT_EQ(outside.busy_s, (6.0 + 2) / 4);
  EXPECT_EQ(outside.task_s, 0.75);
  EXPECT_EQ(outside.queued, 8);
  EXPECT_EQ(outside.threads, 4);
  EXPECT_EQ(outside.reported, 8);
  agent.enter(7, 3);
  agent.report_load(2.5);
  EXPECT_EQ(agent.news_for(1, queue, 4).own.version, 2u);
  EXPECT_EQ(agent.own_load(queue, 4).wait, 7u);
  EXPECT_EQ(agent.own_load(queue, 4).reported, 2.5);
  agent.leave();
  EXPECT_EQ(agent.own_load(queue, 4).wait, 0u);
}

TEST(LendingAgent, sends_its_load_every_200_us_while_it_has_more_tasks_than_threads) {
  for (const auto& [push, pull] :
       {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    LendingAgent::Settings settings{.pull = pull};
    settings.loans.push = push;
    LendingAgent agent(
        0, 2, [](std::uint32_t) { return PeerLocality{}; }, settings);
    agent.set_threads(2);
    QueueState queue;
    queue.lendable = 2;
    EXPECT_FALSE(agent.gossip_is_due(queue, 1));
    queue.lendable = 3;
    EXPECT_EQ(agent.gossip_is_due(queue, 1), push || pull);
    EXPECT_FALSE(agent.gossip_is_due(queue, 1 + 0.9 * lending_tuning::kNewsDelay_s));
    EXPECT_EQ(agent.gossip_is_due(queue, 1 + 1.1 * lending_tuning::kNewsDelay_s), push || pull);
  }
}

TEST(LendingAgent, requests_of_earlier_waits_need_no_answer_and_requests_of_later_waits_are_kept) {
  LendingAgent agent = agent_on_first_node();
  agent.enter(2, 0);
  EXPECT_TRUE(agent.asked_by({5, 1, 0.1}));
  EXPECT_FALSE(agent.is_thief(5));
  EXPECT_TRUE(agent.asked_by({6, 3, 0.1}));
  EXPECT_TRUE(agent.is_thief(6));
  agent.leave();
  EXPECT_TRUE(agent.asked_by({7, 2, 0.1}));
  EXPECT_FALSE(agent.is_thief(7)) << "this rank has left the wait";
  EXPECT_TRUE(agent.asked_by({8, 3, 0.1}));
  EXPECT_TRUE(agent.is_thief(8));
  agent.decline_all();
  EXPECT_FALSE(agent.has_answers());
  agent.enter(3, 0);
  agent.decline_all();
  EXPECT_EQ(answers_of(agent), (Answers{{6, true}, {8, true}}));
}

TEST(LendingAgent, requests_beyond_the_limit_are_declined) {
  LendingAgent agent = agent_on_first_node();
  agent.enter(1, 0);
  for (std::uint32_t rank = 10; rank < 10 + lending_tuning::kMaxSearched; ++rank)
    EXPECT_TRUE(agent.asked_by({rank, 1, 0.1}));
  EXPECT_FALSE(agent.asked_by({5, 1, 0.25}));
  EXPECT_TRUE(agent.has_answers());
  const auto answered = agent.lent(5, 1, 1);
  ASSERT_TRUE(answered) << "tasks answer the request after all";
  EXPECT_EQ(answered->requested_at_s, 0.25);
  EXPECT_FALSE(agent.has_answers());
  EXPECT_FALSE(agent.lent(5, 1, 1));
}

TEST(LendingAgent, lends_only_to_ranks_in_the_same_wait_and_to_unknown_ranks_that_request_tasks) {
  for (const bool push : {true, false}) {
    LendingAgent::Settings settings;
    settings.loans.push = push;
    LendingAgent agent(
        0, 9, [](std::uint32_t) { return PeerLocality{}; }, settings);
    agent.enter(1, 0);
    agent.hear({.rank = 1, .version = 1, .wait = 1});
    agent.hear({.rank = 2, .version = 1, .wait = 2});
    agent.hear({.rank = 3, .version = 1, .wait = 1});
    for (const std::uint32_t rank : {2u, 3u, 4u}) agent.asked_by({rank, 1, 0.1});
    EXPECT_EQ(agent.can_borrow(1), push);
    EXPECT_FALSE(agent.can_borrow(2)) << "it is in another wait";
    EXPECT_TRUE(agent.can_borrow(3));
    EXPECT_TRUE(agent.can_borrow(4));
    EXPECT_FALSE(agent.can_borrow(5));
    EXPECT_FALSE(agent.can_borrow(0)) << "itself";
    EXPECT_FALSE(agent.can_borrow(9)) << "there is no such rank";
  }
}

TEST(LendingAgent, learns_the_latency_from_requests_of_this_wait_and_their_answers) {
  const PeerLocality near{0, 1};
  const auto latency_s = [&](const LendingAgent& agent) {
    return agent.costs().links.latency_s(near);
  };
  const double initial_s = latency_s(agent_of_two_ranks());
  LendingAgent agent = agent_of_two_ranks();
  agent.enter(1, 5);
  EXPECT_FALSE(agent.was_declined(1, 4.9, 6)) << "sent before this wait";
  agent.got_tasks(1, 0, 6);
  EXPECT_EQ(latency_s(agent), initial_s);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(agent.was_declined(1, 6, 6 + 6e-6));
  EXPECT_NEAR(latency_s(agent), 3e-6, 1e-9);
  for (int i = 0; i < 100; ++i) agent.got_tasks(1, 7, 7 + 2e-6);
  EXPECT_NEAR(latency_s(agent), 1e-6, 1e-9);
}

TEST(LendingAgent, sends_requests_only_while_threads_are_idle_or_about_to_be_idle) {
  LendingAgent agent = agent_of_two_ranks();
  agent.set_threads(3);
  agent.enter(1, 2);
  QueueState queue;
  queue.queued = 3;
  EXPECT_FALSE(agent.steal_is_due(queue, 2)) << "as many tasks as threads are queued";
  queue.queued = 1;
  queue.running = 1;
  queue.running_deviation_s = 9;
  EXPECT_TRUE(agent.steal_is_due(queue, 2));
  EXPECT_FALSE(agent.steal_is_due(queue, 1.9)) << "before the wait";
  queue.running = 2;
  EXPECT_FALSE(agent.steal_is_due(queue, 2));
  const double latency_s = lending_tuning::kMinPause_s / 2;
  queue.running_deviation_s = 1.9 * latency_s;
  EXPECT_TRUE(agent.steal_is_due(queue, 2));
  queue.running_deviation_s = 2.1 * latency_s;
  EXPECT_FALSE(agent.steal_is_due(queue, 2));
  LendingAgent silent(0, 2, [](std::uint32_t) { return PeerLocality{}; }, {.pull = false});
  silent.enter(1, 0);
  EXPECT_FALSE(silent.steal_is_due({}, 2));
  EXPECT_FALSE(silent.steal({}, 2));
  EXPECT_TRUE(silent.is_silent(2));
}

TEST(LendingAgent, the_weight_of_a_result_grows_with_the_expected_time_of_its_tasks) {
  LendingAgent agent = agent_of_two_ranks();
  agent.learn_slowness(1, 2e-3, 0.5e-3);  // the expected time is 1/40 of kTaskTimeMemory_s (20 ms)
  const double first = 1 + 1 / 40.0 / (1 / 16.0) * 3;
  EXPECT_NEAR(agent.slowness_of(1), first, 1e-6);
  agent.learn_slowness(1, 0, 1);
  EXPECT_NEAR(agent.slowness_of(1), first, 1e-6) << "the time is too short to measure";
  agent.learn_slowness(1, 0.25e-3, 0.5e-3);
  EXPECT_NEAR(agent.slowness_of(1), first + 1 / 40.0 / (2 / 16.0) * (0.5 - first), 1e-6);
  EXPECT_EQ(agent.slowness_of(0), 1);
}

TEST(LendingAgent, learns_how_fast_the_link_to_a_rank_transfers_bytes) {
  LendingAgent agent = agent_on_first_node();
  for (int i = 0; i < 1000; ++i) agent.learn_byte_s(9, 4e-9);
  EXPECT_NEAR(agent.borrower(9, {}).byte_s, 4e-9, 1e-12);
  EXPECT_LT(agent.borrower(2, {}).byte_s, 1e-9);
  EXPECT_EQ(agent.room_at(77, 1e9, 0), 4u) << "four large tasks per thread of an unknown rank";
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
