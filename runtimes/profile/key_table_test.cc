// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/key_table.h"

#include <gtest/gtest.h>
#include <unordered_map>

#include "poise/base/random.h"

namespace poise::profile {
namespace {

TEST(key_table, holds_the_same_entries_as_a_standard_map_after_random_insertions_and_deletions) {
  Random random(9);
  KeyTable<int> table;
  std::unordered_map<std::uint64_t, int> map;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t key = 2 + 64 * random.below(step < 100'000 ? 50u : 3000u);
    switch (random.below(3)) {
      case 0: table[key] = map[key] = step; break;
      case 1:
        table.erase(key);
        map.erase(key);
        break;
      default: {
        const auto found = map.find(key);
        const int* const value = table.find(key);
        ASSERT_EQ(value != nullptr, found != map.end());
        if (value != nullptr) {
          ASSERT_EQ(*value, found->second);
        }
      }
    }
    ASSERT_EQ(table.size(), map.size());
  }
}

}  // namespace
}  // namespace poise::profile
