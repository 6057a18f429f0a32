// SPDX-License-Identifier: BSD-3-Clause

#include "poise/distributed/rank_directory.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "poise/base/random.h"

namespace poise {
namespace {

TEST(RankDirectory, every_rank_holds_the_directory_entries_of_about_equally_many_ids) {
  for (const std::uint32_t num_ranks : {1u, 3u, 64u, 1000u}) {
    std::vector<std::uint32_t> count(num_ranks);
    for (std::uint64_t id = 0; id < 100 * num_ranks; ++id) ++count.at(directory_of(id, num_ranks));
    for (const std::uint32_t ids : count) {
      EXPECT_GT(ids, 50u);
      EXPECT_LT(ids, 150u);
    }
  }
  EXPECT_LT(directory_of(~std::uint64_t{0}, 0xffffffffu), 0xffffffffu);
}

// A rank keeps its ids in an IdTable, which chooses the slot of an id by the lowest bits of mix().
// If n ids shared a few slots, looking up all n ids would take a time proportional to n^2.
TEST(RankDirectory, the_ids_of_a_rank_spread_over_the_slots_of_a_hash_table) {
  constexpr std::uint32_t kRanks = 4096, kIds = 512;
  std::set<std::uint64_t> slots;
  std::uint32_t found = 0;
  for (std::uint64_t id = 0; found < kIds; ++id) {
    if (directory_of(id, kRanks) != 5) continue;
    ++found;
    slots.insert(mix(id) % (2 * kIds));
  }
  EXPECT_GT(slots.size(), kIds / 2);
}

}  // namespace
}  // namespace poise
