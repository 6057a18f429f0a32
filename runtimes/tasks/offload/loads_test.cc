// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/offload/loads.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace poise::tasks {
namespace {

constexpr std::size_t kLoadsPerMessage = 3;  // loads that each message carries
constexpr double kPollsElsewhere = std::numeric_limits<double>::infinity();

/// Simulated ranks that each send at most one message per round.
class Village {
 public:
  explicit Village(std::uint32_t num_ranks) {
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
      loads_.emplace_back(rank, std::vector<double>(num_ranks, 1));
      own_.push_back({.rank = rank, .version = 1, .wait = 1});
    }
  }
  Load& own(std::uint32_t rank) { return own_[rank]; }
  Loads& loads(std::uint32_t rank) { return loads_[rank]; }
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
                      [&](const Loads& loads) { return loads.of(loaded).queued > 0; }));
  }

 private:
  std::vector<Loads> loads_;
  std::vector<Load> own_;
  std::uint64_t messages_ = 0;
};

/// Counts the rounds until all ranks know the only rank with tasks. As in a wait, that rank
/// gossips, and the others send steal requests and are answered.
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
      const auto whom = village.loads(rank).victim(1, round, random);
      if (!whom) continue;
      village.tell(rank, *whom);
      village.tell(*whom, rank);
    }
    // At most two messages per rank and round.
    EXPECT_LE(village.messages(), std::uint64_t{round} * 2 * num_ranks);
    if (village.that_know(loaded) + 1 == num_ranks) return round;
  }
  return 100;
}

TEST(Loads, stated_in_earlier_waits_are_ignored) {
  Loads loads(0, {1, 1});
  loads.update({.rank = 1, .version = 1, .wait = 1, .queued = 3});
  EXPECT_TRUE(loads.has_tasks(1, 1));
  EXPECT_TRUE(loads.may_have_tasks(1, 1));
  EXPECT_FALSE(loads.has_tasks(1, 2));
  EXPECT_TRUE(loads.may_have_tasks(1, 2));
  loads.update({.rank = 1, .version = 2, .wait = 2, .queued = 0});
  EXPECT_FALSE(loads.may_have_tasks(1, 2));
}

TEST(Loads, reach_all_ranks_in_a_logarithmic_number_of_rounds) {
  for (const std::uint32_t num_ranks : {2, 4, 16, 32, 256})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE("ranks " + std::to_string(num_ranks) + ", seed " + std::to_string(seed));
      EXPECT_LE(rounds_until_all_know(num_ranks, seed), 2 + std::log2(num_ranks));
    }
}

TEST(Loads, are_gossiped_to_ranks_at_distances_of_powers_of_two) {
  Loads loads(30, std::vector<double>(32, 1));
  std::vector<std::uint32_t> told;
  for (int i = 0; i < 6; ++i) told.push_back(loads.next_gossip_target());
  EXPECT_EQ(told, (std::vector<std::uint32_t>{31, 0, 2, 6, 14, 31}));
}

TEST(Loads, are_ignored_if_they_are_older_or_about_the_rank_itself) {
  Loads loads(0, {1, 1, 1, 1});
  EXPECT_TRUE(loads.update({.rank = 1, .version = 5, .queued = 7}));
  EXPECT_FALSE(loads.update({.rank = 1, .version = 4, .queued = 9}));
  EXPECT_FALSE(loads.update({.rank = 0, .version = 9, .queued = 9}));
  EXPECT_EQ(loads.of(1).queued, 7);
}

TEST(Loads, choose_the_victim_with_the_most_work_unless_it_is_excluded) {
  Loads loads(0, {1, 1, 1, 1});
  Random random(1);
  loads.update({.rank = 1, .version = 1, .wait = 1, .busy_s = 1, .queued = 5});
  loads.update({.rank = 2, .version = 1, .wait = 1, .busy_s = 2, .queued = 5});
  loads.update({.rank = 3, .version = 1, .wait = 2, .busy_s = 3, .queued = 5});
  EXPECT_EQ(loads.victim(1, 10, random), 2u);
  loads.do_not_steal_from(2, 1, 11);
  EXPECT_EQ(loads.victim(1, 10, random), 1u);
  EXPECT_EQ(loads.victim(1, 12, random), 2u);
  EXPECT_EQ(loads.victim(2, 10, random), 3u);
}

TEST(Loads, are_gossiped_to_near_ranks_first) {
  Loads loads(0, {1, kPollsElsewhere, 2, kPollsElsewhere, 1, kPollsElsewhere});
  std::vector<std::uint32_t> told;
  for (int i = 0; i < 4; ++i) told.push_back(loads.next_gossip_target());
  EXPECT_EQ(told, (std::vector<std::uint32_t>{4, 2, 1, 4}));
}

TEST(Loads, choose_the_nearest_victim_among_ranks_with_similar_work) {
  Loads loads(0, {1, kPollsElsewhere, 2, 1, 1});
  Random random(1);
  const auto has = [&](std::uint32_t rank, std::uint32_t version, double busy_s) {
    loads.update({.rank = rank, .version = version, .wait = 1, .busy_s = busy_s, .queued = 5});
  };
  has(1, 1, 10);
  EXPECT_EQ(loads.victim(1, 0, random), 1u);
  has(2, 1, 4);  // too little work to be worth a request
  EXPECT_EQ(loads.victim(1, 0, random), 1u);
  has(2, 2, 9);
  EXPECT_EQ(loads.victim(1, 0, random), 2u);
  has(3, 1, 6);
  has(4, 1, 7);
  EXPECT_EQ(loads.victim(1, 0, random), 4u);
  loads.do_not_steal_from(4, 1, 1);
  EXPECT_EQ(loads.victim(1, 0, random), 3u);
}

TEST(Loads, choose_near_random_victims_more_often_than_far_ones) {
  std::vector<double> distances(8, kPollsElsewhere);
  for (std::uint32_t rank = 0; rank < 4; ++rank) distances[rank] = 1;
  const Loads loads(0, distances);
  Random random(1);
  int near = 0, far = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto whom = loads.victim(1, 0, random);
    if (whom) ++(*whom < 4 ? near : far);
  }
  EXPECT_GT(near, 5 * far);
  EXPECT_GT(far, 0);
}

}  // namespace
}  // namespace poise::tasks
