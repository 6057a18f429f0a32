// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/pair_table.h"

#include <gtest/gtest.h>
#include <map>

#include "poise/base/random.h"

namespace poise::profile {
namespace {

TEST(pair_table, messages_and_bytes_per_rank_equal_the_sums_in_a_standard_map) {
  Random random(7);
  PairTable table;
  std::map<std::pair<std::uint32_t, bool>, std::pair<std::uint64_t, std::uint64_t>> expected;
  for (int i = 0; i < 20'000; ++i) {
    const auto peer = static_cast<std::uint32_t>(random.bits() % 1000 * 65'536);
    const bool is_fetched = random.bits() % 4 == 0;
    const std::uint64_t bytes = random.bits() % (std::uint64_t{1} << 33);
    table.add(peer, 1, bytes, is_fetched);
    auto& [messages, sum] = expected[{peer, is_fetched}];
    ++messages;
    sum += bytes;
  }
  ASSERT_EQ(table.totals().size(), expected.size());
  for (const Traffic& sent : table.totals()) {
    const auto& [messages, bytes] = expected.at({sent.peer, sent.is_fetched});
    EXPECT_EQ(sent.messages, messages);
    EXPECT_EQ(sent.bytes, bytes);
  }
}

TEST(pair_table, lists_partner_ranks_in_the_order_of_their_first_message) {
  PairTable table;
  for (const std::uint32_t peer : {5u, 3u, 5u, 9u, 3u}) table.add(peer, 1, 10);
  ASSERT_EQ(table.totals().size(), 3u);
  EXPECT_EQ(table.totals()[0], (Traffic{5, false, 2, 20}));
  EXPECT_EQ(table.totals()[1], (Traffic{3, false, 2, 20}));
  EXPECT_EQ(table.totals()[2], (Traffic{9, false, 1, 10}));
}

}  // namespace
}  // namespace poise::profile
