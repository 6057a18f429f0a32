// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/peer_table.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <unordered_map>

namespace poise {
namespace {

constexpr std::size_t kLoadsPerMessage = 3;  // number of loads that each message carries
constexpr double kPollsElsewhere = std::numeric_limits<double>::infinity();

PeerLocality everywhere_near(std::uint32_t) { return {}; }

PeerTable table(const std::vector<double>& distances, std::uint32_t self = 0) {
  return {self, static_cast<std::uint32_t>(distances.size()), [distances](std::uint32_t rank) {
            return PeerLocality{0, distances[rank]};
          }};
}

/// Returns the victim for a thief whose requests have not been declined yet.
std::optional<std::uint32_t> victim(const PeerTable& peers, std::uint64_t wait, double now_s,
                                    Random& random) {
  const auto known = peers.known_victim(wait, now_s);
  return known ? known : peers.random_victim(now_s, random);
}

/// Simulated ranks that each send at most one message per round.
class Village {
 public:
  explicit Village(std::uint32_t num_ranks) {
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      loads_.emplace_back(rank, num_ranks, everywhere_near);
      own_.push_back({.rank = rank, .version = 1, .wait = 1});
    }
  }
  Load& own(std::uint32_t rank) { return own_[rank]; }
  PeerTable& loads(std::uint32_t rank) { return loads_[rank]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(own_.size()); }
  std::uint64_t messages() const { return messages_; }

  void tell(std::uint32_t from, std::uint32_t to) {
    ++messages_;
    loads_[to].update(own_[from]);
    for (const Load& load : loads_[from].recent_for(to, kLoadsPerMessage)) loads_[to].update(load);
  }

  std::uint32_t that_know(std::uint32_t loaded) const {
    return static_cast<std::uint32_t>(
        std::count_if(loads_.begin(), loads_.end(),
                      [&](const PeerTable& loads) { return loads.load_of(loaded).queued > 0; }));
  }

 private:
  std::vector<PeerTable> loads_;
  std::vector<Load> own_;
  std::uint64_t messages_ = 0;
};

/// Only one rank has tasks. Counts the rounds until all other ranks know which rank that is. In
/// each round, the rank with tasks sends its load to one partner, and every other rank sends a
/// steal request and is answered.
std::uint32_t rounds_until_all_know(std::uint32_t num_ranks, std::uint64_t seed) {
  Village village(num_ranks);
  Random random(seed);
  const auto loaded = static_cast<std::uint32_t>(random.below(num_ranks));
  village.own(loaded).queued = 100;
  village.own(loaded).busy_s = 1;
  for (std::uint32_t round = 1; round < 100; ++round) {
    village.tell(loaded, village.loads(loaded).next_gossip_target());
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      if (rank == loaded) continue;
      const auto whom = victim(village.loads(rank), 1, round, random);
      if (!whom) continue;
      village.tell(rank, *whom);
      village.tell(*whom, rank);
    }
    // Each rank sends at most two messages per round.
    EXPECT_LE(village.messages(), std::uint64_t{round} * 2 * num_ranks);
    if (village.that_know(loaded) + 1 == num_ranks) return round;
  }
  return 100;
}

TEST(PeerTable, a_load_reported_in_an_earlier_call_of_wait_does_not_prove_that_a_rank_has_tasks) {
  PeerTable loads = table({1, 1});
  loads.update({.rank = 1, .version = 1, .wait = 1, .queued = 3});
  EXPECT_TRUE(loads.has_tasks(1, 1));
  EXPECT_TRUE(loads.may_have_tasks(1, 1));
  EXPECT_FALSE(loads.has_tasks(1, 2));
  EXPECT_TRUE(loads.may_have_tasks(1, 2));
  loads.update({.rank = 1, .version = 2, .wait = 2, .queued = 0});
  EXPECT_FALSE(loads.may_have_tasks(1, 2));
}

TEST(PeerTable, gossip_brings_loads_to_all_ranks_in_a_logarithmic_number_of_rounds) {
  for (const std::uint32_t num_ranks : {2, 4, 16, 32, 256})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("ranks " + std::to_string(num_ranks) + ", seed " + std::to_string(seed));
      EXPECT_LE(rounds_until_all_know(num_ranks, seed), 2 + std::log2(num_ranks));
    }
}

TEST(PeerTable, loads_are_gossiped_to_ranks_at_distances_of_powers_of_two) {
  PeerTable loads = table(std::vector<double>(32, 1), 30);
  std::vector<std::uint32_t> told;
  for (int i = 0; i < 6; ++i) told.push_back(loads.next_gossip_target());
  EXPECT_EQ(told, (std::vector<std::uint32_t>{31, 0, 2, 6, 14, 31}));
}

TEST(PeerTable,
     ignores_loads_older_than_the_stored_ones_and_loads_of_the_rank_that_owns_the_table) {
  PeerTable loads = table({1, 1, 1, 1});
  EXPECT_TRUE(loads.update({.rank = 1, .version = 5, .queued = 7}));
  EXPECT_FALSE(loads.update({.rank = 1, .version = 4, .queued = 9}));
  EXPECT_FALSE(loads.update({.rank = 0, .version = 9, .queued = 9}));
  EXPECT_EQ(loads.load_of(1).queued, 7);
}

TEST(PeerTable, chooses_the_victim_with_the_most_work_unless_it_is_excluded) {
  PeerTable loads = table({1, 1, 1, 1});
  Random random(1);
  loads.update({.rank = 1, .version = 1, .wait = 1, .busy_s = 1, .queued = 5});
  loads.update({.rank = 2, .version = 1, .wait = 1, .busy_s = 2, .queued = 5});
  loads.update({.rank = 3, .version = 1, .wait = 2, .busy_s = 3, .queued = 5});
  EXPECT_EQ(victim(loads, 1, 10, random), 2u);
  loads.do_not_steal_from(2, 11);
  EXPECT_EQ(victim(loads, 1, 10, random), 1u);
  EXPECT_EQ(victim(loads, 1, 12, random), 2u);
  EXPECT_EQ(victim(loads, 2, 10, random), 3u);
  loads.enter();
  EXPECT_EQ(victim(loads, 1, 10, random), 2u);
}

TEST(PeerTable, loads_are_gossiped_to_near_ranks_first) {
  PeerTable loads = table({1, kPollsElsewhere, 2, kPollsElsewhere, 1, kPollsElsewhere});
  std::vector<std::uint32_t> told;
  for (int i = 0; i < 4; ++i) told.push_back(loads.next_gossip_target());
  EXPECT_EQ(told, (std::vector<std::uint32_t>{4, 2, 1, 4}));
}

TEST(PeerTable, chooses_the_nearest_victim_among_ranks_with_similar_work) {
  PeerTable loads = table({1, kPollsElsewhere, 2, 1, 1});
  Random random(1);
  const auto has = [&](std::uint32_t rank, std::uint32_t version, double busy_s) {
    loads.update({.rank = rank, .version = version, .wait = 1, .busy_s = busy_s, .queued = 5});
  };
  has(1, 1, 10);
  EXPECT_EQ(victim(loads, 1, 0, random), 1u);
  has(2, 1, 4);  // rank 2 has too little work to be worth a steal request
  EXPECT_EQ(victim(loads, 1, 0, random), 1u);
  has(2, 2, 9);
  EXPECT_EQ(victim(loads, 1, 0, random), 2u);
  has(3, 1, 6);
  has(4, 1, 7);
  EXPECT_EQ(victim(loads, 1, 0, random), 4u);
  loads.do_not_steal_from(4, 1);
  EXPECT_EQ(victim(loads, 1, 0, random), 3u);
}

TEST(PeerTable, random_victims_are_more_often_near_ranks_than_far_ranks) {
  std::vector<double> distances(8, kPollsElsewhere);
  for (std::uint32_t rank = 0; rank < 4; ++rank) distances[rank] = 1;
  const PeerTable loads = table(distances);
  Random random(1);
  int near = 0, far = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto whom = victim(loads, 1, 0, random);
    if (whom) ++(*whom < 4 ? near : far);
  }
  EXPECT_GT(near, 5 * far);
  EXPECT_GT(far, 0);
}

TEST(PeerTable, stores_and_returns_all_fields_of_a_load) {
  PeerTable peers = table(std::vector<double>(9, 1));
  const std::uint64_t wait = (7ull << 32) + 5;
  EXPECT_TRUE(peers.update({.rank = 3,
                            .version = 4,
                            .wait = wait,
                            .reported_at_s = 1.5,
                            .busy_s = 2.5,
                            .task_s = 3.5F,
                            .queued = 6,
                            .threads = 7,
                            .reported = 8.5F}));
  const Load load = peers.load_of(3);
  EXPECT_EQ(load.rank, 3u);
  EXPECT_EQ(load.version, 4u);
  EXPECT_EQ(load.wait, wait);
  EXPECT_EQ(load.reported_at_s, 1.5);
  EXPECT_EQ(load.busy_s, 2.5);
  EXPECT_EQ(load.task_s, 3.5F);
  EXPECT_EQ(load.queued, 6);
  EXPECT_EQ(load.threads, 7);
  EXPECT_EQ(load.reported, 8.5F);
  EXPECT_EQ(peers.load_of(4).rank, 4u);
  peers.at(4).slowness = 2;
  EXPECT_EQ(peers.load_of(4).wait, 0u) << "it has reported nothing";
  peers.update({.rank = 5, .version = 1, .threads = 0});
  EXPECT_EQ(peers.load_of(5).threads, 1);
  peers.update({.rank = 6, .version = 1, .threads = 1e6F});
  EXPECT_EQ(peers.load_of(6).threads, 65535);
}

TEST(PeerTable, version_numbers_wrap_around) {
  PeerTable peers = table({1, 1});
  const auto stores = [&](std::uint32_t version) {
    return peers.update({.rank = 1, .version = version});
  };
  EXPECT_TRUE(stores(0xfffffff0));
  EXPECT_FALSE(stores(0xfffffff0));
  EXPECT_FALSE(stores(0xffffffef));
  EXPECT_TRUE(stores(0xffffffff));
  EXPECT_TRUE(stores(5));
  EXPECT_FALSE(stores(0xffffffff));
  EXPECT_TRUE(stores(6));
}

TEST(PeerTable, passes_on_loads_of_ranks_with_tasks_before_others_and_newer_loads_before_older) {
  PeerTable peers = table(std::vector<double>(40, 1));
  const auto passed_on = [&](std::uint32_t to, std::size_t most) {
    std::vector<std::uint32_t> ranks;
    for (const Load& load : peers.recent_for(to, most)) ranks.push_back(load.rank);
    return ranks;
  };
  using Ranks = std::vector<std::uint32_t>;
  for (std::uint32_t rank = 1; rank <= 4; ++rank)
    peers.update({.rank = rank, .version = 1, .wait = 1, .queued = rank % 2 ? 3.0F : 0.0F});
  EXPECT_EQ(passed_on(9, 9), (Ranks{3, 1, 4, 2}));
  EXPECT_EQ(passed_on(1, 2), (Ranks{3, 4}));
  peers.update({.rank = 1, .version = 2, .wait = 1, .queued = 1});
  peers.update({.rank = 5, .version = 1, .wait = 1, .queued = 0.5F});  // counts as no task
  EXPECT_EQ(passed_on(9, 9), (Ranks{1, 3, 5, 4, 2}));
  peers.update({.rank = 3, .version = 2, .wait = 1});
  EXPECT_EQ(passed_on(9, 9), (Ranks{1, 3, 5, 4, 2}));
  // In a new wait, loads reported in the previous wait no longer show which ranks have tasks.
  peers.update({.rank = 6, .version = 1, .wait = 2});
  EXPECT_EQ(passed_on(9, 9), (Ranks{6, 1, 3, 5, 4, 2}));
  for (std::uint32_t rank = 7; rank <= 20; ++rank)
    peers.update({.rank = rank, .version = 1, .wait = 2, .queued = rank == 7 ? 1.0F : 0.0F});
  EXPECT_EQ(passed_on(9, 9), (Ranks{7, 20, 19, 18, 17, 16, 15, 14})) << "at most eight";
}

TEST(PeerTable, a_rank_with_half_as_much_work_as_the_busiest_can_be_the_victim) {
  PeerTable peers = table({1, 2, 1});
  peers.update({.rank = 1, .version = 1, .wait = 1, .busy_s = 8, .queued = 5});
  peers.update({.rank = 2, .version = 1, .wait = 1, .busy_s = 4, .queued = 5});
  EXPECT_EQ(peers.known_victim(1, 0), 2u);
  peers.update({.rank = 2, .version = 2, .wait = 1, .busy_s = 3.9, .queued = 5});
  EXPECT_EQ(peers.known_victim(1, 0), 1u);
  EXPECT_EQ(peers.known_victim(2, 0), std::nullopt);
}

TEST(PeerTable, finds_the_rank_that_holds_the_most_tasks_of_this_rank) {
  PeerTable peers = table(std::vector<double>(9, 1));
  EXPECT_EQ(peers.holder(1, 0), std::nullopt);
  for (std::uint32_t rank = 1; rank < 7; ++rank)
    peers.update({.rank = rank, .version = 1, .wait = rank == 6 ? 2u : 1u, .threads = 2});
  const std::uint32_t in_flight[] = {0, 2, 3, 5, 5, 4, 9};
  for (std::uint32_t rank = 1; rank < 7; ++rank) peers.at(rank).in_flight = in_flight[rank];
  EXPECT_EQ(peers.holder(1, 0), 3u);
  EXPECT_EQ(peers.holder(2, 0), 6u);
  peers.do_not_steal_from(3, 10);
  EXPECT_EQ(peers.holder(1, 9), 4u);
  EXPECT_EQ(peers.holder(1, 10), 3u);
  EXPECT_FALSE(peers.may_have_tasks(1, 1)) << "no more tasks than threads";
  EXPECT_TRUE(peers.may_have_tasks(2, 1));
  EXPECT_TRUE(peers.may_have_tasks(8, 1)) << "nothing is known";
  EXPECT_FALSE(peers.may_be_victim(0, 0)) << "itself";
}

TEST(PeerTable, forgets_the_ranks_that_were_not_used_since_they_were_last_checked) {
  PeerTable peers(0, 100, everywhere_near, 3);
  for (const std::uint32_t rank : {10u, 20u, 30u}) peers.at(rank);
  peers.at(10);
  peers.at(30);
  peers.at(25).slowness = 7;  // replaces rank 20, whose entry was used only once
  std::vector<std::uint32_t> ranks;
  for (const Peer& peer : peers.all()) ranks.push_back(peer.rank);
  EXPECT_EQ(ranks, (std::vector<std::uint32_t>{10, 25, 30}));
  EXPECT_EQ(peers.find(25)->slowness, 7);
  peers.update({.rank = 30, .version = 1, .wait = 1, .queued = 3});
  EXPECT_EQ(peers.recent_for(9, 9).size(), 1u);
  peers.at(10);
  peers.at(25);
  peers.at(5);
  EXPECT_FALSE(peers.find(30));
  EXPECT_EQ(peers.recent_for(9, 9).size(), 0u) << "a forgotten load is not passed on";
}

TEST(PeerTable, needs_no_memory_for_ranks_that_it_has_never_heard_of) {
  const PeerTable peers(3, 1'000'000, everywhere_near);
  EXPECT_EQ(peers.bytes(), 0u);
  EXPECT_FALSE(peers.find(7));
  EXPECT_EQ(peers.load_of(7).version, 0u);
}

TEST(PeerTable, never_exceeds_its_capacity_and_forgets_the_least_recently_used_ranks) {
  PeerTable peers(0, 100'000, everywhere_near);
  for (std::uint32_t rank = 1; rank <= 20'000; ++rank) {
    peers.update({.rank = rank, .version = 1, .wait = 1});
    peers.at(5).slowness = 2;
  }
  EXPECT_EQ(peers.all().size(), lending_tuning::kMaxPeers);
  EXPECT_EQ(peers.bytes(), lending_tuning::kMaxPeers * 64);
  ASSERT_TRUE(peers.find(5));
  EXPECT_EQ(peers.find(5)->slowness, 2);
  EXPECT_TRUE(peers.find(20'000));
  EXPECT_FALSE(peers.find(17));
}

TEST(PeerTable, never_forgets_a_rank_to_which_it_still_has_to_report_the_arrival_of_tasks) {
  PeerTable peers(0, 100'000, everywhere_near, 4);
  for (std::uint32_t rank = 1; rank <= 10; ++rank) peers.at(rank).unacknowledged = rank;
  for (std::uint32_t rank = 11; rank <= 1000; ++rank) peers.at(rank);
  for (std::uint32_t rank = 1; rank <= 10; ++rank) {
    ASSERT_TRUE(peers.find(rank));
    EXPECT_EQ(peers.find(rank)->unacknowledged, rank);
  }
  EXPECT_LE(peers.all().size(), 11u);
}

TEST(PeerTable, forgets_ranks_without_tasks_in_flight_first) {
  PeerTable peers(0, 100'000, everywhere_near, 4);
  for (const std::uint32_t rank : {7, 3, 5}) peers.at(rank).in_flight = 1;
  for (std::uint32_t rank = 11; rank <= 1000; ++rank) peers.at(rank);
  for (const std::uint32_t rank : {3, 5, 7, 1000}) EXPECT_TRUE(peers.find(rank)) << rank;
  for (std::uint32_t rank = 11; rank <= 1000; ++rank) peers.at(rank).in_flight = 1;
  EXPECT_EQ(peers.all().size(), 4u);
}

// If the table forgot a rank that has not answered, a thief would ask that rank again and again.
TEST(PeerTable, ranks_that_have_answered_are_forgotten_sooner_than_ranks_that_have_not) {
  constexpr double kForever_s = std::numeric_limits<double>::infinity();
  PeerTable peers(0, 100'000, everywhere_near, 4);
  for (const std::uint32_t rank : {7, 3, 5}) peers.do_not_steal_from(rank, kForever_s);
  for (std::uint32_t rank = 11; rank <= 1000; ++rank) peers.do_not_steal_from(rank, 1);
  for (const std::uint32_t rank : {3, 5, 7}) EXPECT_FALSE(peers.may_be_victim(rank, 2)) << rank;
  for (std::uint32_t rank = 11; rank <= 1000; ++rank) peers.do_not_steal_from(rank, kForever_s);
  EXPECT_EQ(peers.all().size(), 4u);
}

// Compares the PeerTable with a std::unordered_map. The table has room for all ranks, so it never
// drops one.
TEST(PeerTable, every_stored_load_can_be_found) {
  Random random(5);
  PeerTable peers(0, 1 << 30, everywhere_near, 64);
  std::unordered_map<std::uint32_t, std::uint32_t> expected;
  for (int step = 0; step < 100'000; ++step) {
    const auto rank = static_cast<std::uint32_t>(1 + random.below(100) * 7919);
    Peer& peer = peers.at(rank);
    if (random.below(2)) {
      expected[rank] = peer.unacknowledged = static_cast<std::uint32_t>(random.below(3));
    } else if (expected[rank] > 0) {
      ASSERT_EQ(peer.unacknowledged, expected[rank]) << "rank " << rank << ", step " << step;
    } else {
      ASSERT_EQ(peer.unacknowledged, 0u);
    }
    ASSERT_EQ(peer.rank, rank);
  }
}

}  // namespace
}  // namespace poise
