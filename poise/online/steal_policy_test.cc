// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/steal_policy.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace poise {
namespace {

constexpr double kLatency_s = 1e-6;

/// A thief, which is rank 0 of `num_ranks`, in its first wait.
struct Scene {
  explicit Scene(std::uint32_t num_ranks)
      : peers(0, num_ranks, [](std::uint32_t) { return PeerLocality{}; }) {
    steal.enter(0);
  }
  std::optional<StealRequest> next() { return steal.next(peers, 1, now_s, kLatency_s, random); }
  bool is_silent() const { return steal.is_silent(peers, 1, now_s); }
  /// Lets all victims decline until the thief sends no more requests. Returns the requests.
  std::vector<StealRequest> until_silent() {
    std::vector<StealRequest> requests;
    for (int i = 0; i < 10'000; ++i, now_s += 10e-6)
      if (const auto request = next()) {
        requests.push_back(*request);
        if (!request->is_lasting) steal.was_declined(peers, request->victim, now_s);
      }
    return requests;
  }
  PeerTable peers;
  StealPolicy steal;
  Random random{1};
  double now_s = 0;
};

TEST(StealPolicy, requests_tasks_from_a_few_random_ranks_then_once_from_each_gossip_partner) {
  for (const std::uint32_t num_ranks : {2u, 3u, 16u, 1000u, 100'000u}) {
    Scene scene(num_ranks);
    const auto requests = scene.until_silent();
    std::multiset<std::uint32_t> lasting;
    std::size_t others = 0;
    for (const StealRequest& request : requests)
      request.is_lasting ? void(lasting.insert(request.victim)) : void(++others);
    EXPECT_EQ(others, lending_tuning::kRandomTries);
    const auto partners = scene.peers.partners();
    EXPECT_EQ(lasting, std::multiset<std::uint32_t>(partners.begin(), partners.end()));
    EXPECT_FALSE(scene.next());
  }
}

TEST(StealPolicy,
     asks_gossip_partners_after_a_few_declined_requests_even_if_other_ranks_seem_to_have_tasks) {
  Scene scene(100);
  for (std::uint32_t rank = 70; rank < 76; ++rank)
    scene.peers.update({.rank = rank, .version = 1, .wait = 1, .busy_s = 1, .queued = 9});
  for (std::uint32_t i = 0; i < lending_tuning::kRandomTries; ++i) {
    const auto request = scene.next();
    ASSERT_TRUE(request);
    EXPECT_FALSE(request->is_lasting);
    scene.steal.was_declined(scene.peers, request->victim, scene.now_s);
  }
  for (const std::uint32_t partner : scene.peers.partners()) {
    EXPECT_FALSE(scene.is_silent());
    const auto request = scene.next();
    ASSERT_TRUE(request);
    EXPECT_TRUE(request->is_lasting);
    EXPECT_EQ(request->victim, partner);
  }
  EXPECT_FALSE(scene.is_silent()) << "two ranks that seem to have tasks have not been asked yet";
  for (int i = 0; i < 2; ++i, scene.now_s += 1) ASSERT_TRUE(scene.next());
}

TEST(StealPolicy, pauses_longer_after_each_further_declined_request_until_tasks_arrive) {
  Scene scene(100);
  scene.until_silent();
  const auto decline = [&](std::uint32_t victim) {
    scene.peers.update({.rank = victim, .version = 1, .wait = 1, .busy_s = 1, .queued = 9});
    EXPECT_EQ(scene.next()->victim, victim);
    scene.steal.was_declined(scene.peers, victim, scene.now_s);
    return scene.steal.next_s() - scene.now_s;
  };
  double pause_s = 0;
  for (std::uint32_t victim = 70; pause_s < lending_tuning::kMaxPause_s; ++victim) {
    ASSERT_LT(victim, 80U);
    const double longer_s = decline(victim);
    EXPECT_GT(longer_s, pause_s);
    pause_s = longer_s;
    EXPECT_FALSE(scene.next());
    scene.now_s = scene.steal.next_s();
  }
  EXPECT_DOUBLE_EQ(pause_s, lending_tuning::kMaxPause_s);
  scene.steal.got_tasks(scene.peers, 90, false, scene.now_s);
  EXPECT_EQ(decline(90), 0);
}

TEST(StealPolicy, sends_requests_again_after_tasks_have_arrived) {
  Scene scene(8);
  scene.until_silent();
  scene.steal.got_tasks(scene.peers, 4, true, scene.now_s);
  EXPECT_TRUE(scene.next());
  EXPECT_FALSE(scene.steal.is_remembered_by(scene.peers, 4));
  EXPECT_TRUE(scene.steal.is_remembered_by(scene.peers, 2));
}

TEST(StealPolicy, sends_a_request_to_a_rank_that_is_newly_known_to_have_tasks) {
  Scene scene(100);
  scene.until_silent();
  scene.peers.update({.rank = 77, .version = 1, .wait = 1, .busy_s = 1, .queued = 9});
  const auto request = scene.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->victim, 77u);
  EXPECT_FALSE(request->is_lasting);
  scene.now_s += 1;
  EXPECT_FALSE(scene.next()) << "it has not answered yet";
}

TEST(StealPolicy, requests_tasks_back_from_a_borrower_with_more_borrowed_tasks_than_threads) {
  Scene scene(100);
  for (const std::uint32_t rank : {60u, 77u}) scene.peers.at(rank).wait = 1;
  scene.peers.at(60).in_flight = 1;  // rank 60 runs the one task that it has borrowed
  scene.peers.at(77).in_flight = 2;
  const auto request = scene.next();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->victim, 77u);
  EXPECT_EQ(scene.steal.unresponsive(scene.peers, 1, 1e-3), std::vector<std::uint32_t>{77});
}

TEST(StealPolicy, reports_just_once_that_a_victim_with_tasks_does_not_answer) {
  Scene scene(100);
  scene.peers.update({.rank = 77, .version = 1, .wait = 1, .busy_s = 1, .queued = 9});
  ASSERT_TRUE(scene.next());
  EXPECT_TRUE(scene.steal.unresponsive(scene.peers, 1, 0.1e-3).empty());
  EXPECT_EQ(scene.steal.unresponsive(scene.peers, 1, 1e-3), std::vector<std::uint32_t>{77});
  EXPECT_TRUE(scene.steal.unresponsive(scene.peers, 1, 2e-3).empty());
}

TEST(StealPolicy,
     the_pause_doubles_with_each_request_from_20_us_to_1_ms_but_is_at_least_one_round_trip) {
  for (const double latency_s : {1e-6, 30e-6}) {
    Scene scene(1000);
    const auto asks = [&](double at_s) {
      return scene.steal.next(scene.peers, 1, at_s, latency_s, scene.random).has_value();
    };
    for (double pause_s = 20e-6; pause_s < 3e-3; pause_s *= 2) {
      ASSERT_TRUE(asks(scene.now_s));
      const double expected_s = std::max(std::min(pause_s, 1e-3), 2 * latency_s);
      EXPECT_NEAR(scene.steal.next_s() - scene.now_s, expected_s, 1e-12);
      EXPECT_FALSE(asks(scene.now_s + 0.99 * expected_s));
      scene.now_s = scene.steal.next_s();
    }
    scene.steal.got_tasks(scene.peers, 999, false, scene.now_s);
    EXPECT_EQ(scene.steal.next_s(), scene.now_s);
    ASSERT_TRUE(asks(scene.now_s));
    EXPECT_NEAR(scene.steal.next_s() - scene.now_s, std::max(20e-6, 2 * latency_s), 1e-12);
  }
}

TEST(StealPolicy, waits_a_millisecond_for_the_answer_of_a_rank_known_to_have_tasks) {
  Scene scene(100);
  scene.peers.update({.rank = 77, .version = 1, .wait = 1, .busy_s = 1, .queued = 9});
  ASSERT_EQ(scene.next()->victim, 77u);
  EXPECT_DOUBLE_EQ(scene.steal.next_s(), 1e-3);
}

TEST(StealPolicy, each_refusal_by_a_victim_doubles_the_time_until_the_victim_may_be_asked_again) {
  Scene scene(100);
  for (const double excluded_s : {20e-6, 40e-6, 80e-6, 160e-6, 320e-6, 640e-6, 1e-3, 1e-3}) {
    scene.steal.was_declined(scene.peers, 77, 5);
    EXPECT_NEAR(scene.peers.find(77)->excluded_until_s, 5 + excluded_s, 1e-12);
    EXPECT_FALSE(scene.peers.may_be_victim(77, 5 + 0.99 * excluded_s));
    EXPECT_TRUE(scene.peers.may_be_victim(77, 5 + 1.01 * excluded_s));
  }
  scene.steal.was_declined(scene.peers, 78, 5);
  EXPECT_NEAR(scene.peers.find(78)->excluded_until_s, 5 + 20e-6, 1e-12);
  scene.steal.got_tasks(scene.peers, 77, false, 5);
  EXPECT_FALSE(scene.peers.may_be_victim(77, 5)) << "it had not been asked";
  scene.steal.was_declined(scene.peers, 77, 5);
  EXPECT_NEAR(scene.peers.find(77)->excluded_until_s, 5 + 20e-6, 1e-12);
  scene.steal.got_tasks(scene.peers, 77, true, 5);
  EXPECT_TRUE(scene.peers.may_be_victim(77, 5));
}

TEST(StealPolicy, from_the_fifth_declined_request_on_pauses_double_from_20_us_to_1_ms) {
  Scene scene(100);
  std::vector<double> pauses_s;
  for (std::uint32_t victim = 50; victim < 62; ++victim) {
    scene.steal.was_declined(scene.peers, victim, 3);
    pauses_s.push_back(scene.steal.next_s() - 3);
  }
  const double expected_s[] = {0, 0, 0, 0, 20e-6, 40e-6, 80e-6, 160e-6, 320e-6, 640e-6, 1e-3, 1e-3};
  for (std::size_t i = 0; i < pauses_s.size(); ++i)
    EXPECT_NEAR(pauses_s[i], expected_s[i], 1e-12) << i;
  scene.steal.enter(4);
  EXPECT_EQ(scene.steal.next_s(), 4);
  scene.steal.was_declined(scene.peers, 70, 5);
  EXPECT_EQ(scene.steal.next_s(), 5) << "a new wait";
}

TEST(StealPolicy, remembers_the_latest_64_requests_without_an_answer) {
  Scene scene(100'000);
  std::vector<std::uint32_t> asked;
  for (int i = 0; i < 70; ++i, scene.now_s += 1) {
    const auto request = scene.next();
    ASSERT_TRUE(request);
    asked.push_back(request->victim);
  }
  asked.erase(asked.begin(), asked.begin() + 6);
  asked.pop_back();  // the latest request is too recent for its victim to count as unresponsive
  EXPECT_EQ(scene.steal.unresponsive(scene.peers, 1, scene.now_s - 1 + 100e-6), asked);
}

TEST(StealPolicy, each_pause_between_requests_is_longer_than_the_previous_pause) {
  Scene scene(1000);
  double pause_s = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(scene.next());
    const double longer_s = scene.steal.next_s() - scene.now_s;
    EXPECT_GT(longer_s, pause_s);
    pause_s = longer_s;
    scene.now_s = scene.steal.next_s();
  }
}

}  // namespace
}  // namespace poise
