// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/ghost_directory.h"

#include <gtest/gtest.h>

#include "poise/distributed/simulated_testing.h"

namespace poise::objects {
namespace {

constexpr ObjectId kObjects = 1000;
constexpr std::uint32_t kRanks = 7;

/// Objects on a ring: each sends to the next. Object id is on rank (id + shift) % kRanks.
struct Ring {
  static std::uint32_t rank_of(ObjectId id, std::uint32_t shift) { return (id + shift) % kRanks; }
  static ObjectId next(ObjectId id) { return (id + 1) % kObjects; }
};

TEST(GhostDirectory, every_object_has_exactly_one_home_rank_which_knows_where_the_object_is) {
  for (const ObjectId num_objects : {1u, 6u, 7u, 20u, kObjects})
    for (ObjectId id = 0; id < num_objects; ++id) {
      std::uint32_t homes = 0;
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        GhostDirectory directory(num_objects, rank, kRanks);
        for (ObjectId other = 0; other < num_objects; ++other) directory.add_initial(other, 9);
        homes += directory.find(id).is_known;
        EXPECT_EQ(directory.find(id).position,
                  directory.find(id).is_known ? 9 : directory.home_of(id));
      }
      EXPECT_EQ(homes, 1u) << id << " of " << num_objects;
    }
}

TEST(GhostDirectory, a_rank_other_than_the_home_rank_of_an_object_can_learn_where_the_object_is) {
  GhostDirectory directory(kObjects, 0, kRanks);
  const GhostDirectory::Found before = directory.find(kObjects - 1);
  EXPECT_FALSE(before.is_known);
  EXPECT_EQ(before.position, kRanks - 1);
  directory.learn(kObjects - 1, 3);
  const GhostDirectory::Found after = directory.find(kObjects - 1);
  EXPECT_TRUE(after.is_known);
  EXPECT_EQ(after.position, 3u);
}

TEST(GhostDirectory,
     after_migrations_a_rank_finds_its_objects_and_the_receivers_of_their_messages) {
  SimulatedRanks(kRanks).run([](const poise_communication& table) {
    Communicator ranks(table);
    const std::uint32_t rank = table.rank;
    GhostDirectory directory(kObjects, rank, kRanks);
    for (ObjectId id = 0; id < kObjects; ++id) directory.add_initial(id, Ring::rank_of(id, 0));
    for (ObjectId id = 0; id < kObjects; ++id) directory.learn(id, Ring::rank_of(id, 0));
    for (std::uint32_t shift = 1; shift < 4; ++shift) {
      std::map<std::uint32_t, std::vector<ObjectId>> leaving;
      std::vector<Message> sent;
      std::vector<ObjectId> own;
      for (ObjectId id = 0; id < kObjects; ++id) {
        if (Ring::rank_of(id, shift) == rank) own.push_back(id);
        if (Ring::rank_of(id, shift - 1) != rank) continue;
        leaving[Ring::rank_of(id, shift)].push_back(id);
        sent.push_back({id, Ring::next(id), 1, 8});
      }
      directory.update(ranks, leaving, sent, own);
      for (const ObjectId id : own)
        for (const ObjectId known : {id, Ring::next(id)}) {
          EXPECT_TRUE(directory.find(known).is_known);
          EXPECT_EQ(directory.find(known).position, Ring::rank_of(known, shift));
        }
      const std::size_t home = kObjects / kRanks + 1;
      EXPECT_LE(directory.size(), 2 * own.size() + home);
    }
  });
}

}  // namespace
}  // namespace poise::objects
