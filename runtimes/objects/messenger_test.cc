// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/objects/messenger.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "poise/base/random.h"

namespace poise::objects {
namespace {

struct Ranks {
  int rank = 0, count = 1;
  Ranks() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
  }
};

/// The number of bytes that rank `from` sends to rank `to` in a round: pseudo-random and often 0.
/// Every rank computes the same number.
std::size_t bytes_of(std::uint64_t round, int from, int to) {
  const std::uint64_t draw =
      mix(mix(round * 64 + static_cast<std::uint64_t>(from)) * 64 + static_cast<std::uint64_t>(to));
  return draw % 3 == 0 ? 0 : draw % 1000;
}

MessageBuffer message_of(std::size_t bytes, int from) {
  MessageBuffer message;
  if (bytes == 0) return message;
  const std::vector<std::byte> content(bytes, static_cast<std::byte>(from));
  message.open().append(content.data(), bytes);
  return message;
}

void expect_all_rounds_arrive(std::size_t max_piece) {
  const Ranks ranks;
  Messenger messenger(MPI_COMM_WORLD, max_piece);
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<MessageBuffer> outgoing;
    for (int to = 0; to < ranks.count; ++to)
      outgoing.push_back(
          message_of(to == ranks.rank ? 0 : bytes_of(round, ranks.rank, to), ranks.rank));
    std::vector<std::size_t> bytes_from(static_cast<std::size_t>(ranks.count));
    for (const auto& [from, message] : messenger.sparse_all_to_all(outgoing)) {
      bytes_from[static_cast<std::size_t>(from)] += message.content().size();
      EXPECT_TRUE(std::all_of(message.content().begin(), message.content().end(),
                              [from = from](std::byte b) { return b == std::byte(from); }));
    }
    for (int from = 0; from < ranks.count; ++from)
      EXPECT_EQ(bytes_from[static_cast<std::size_t>(from)],
                from == ranks.rank ? 0 : bytes_of(round, from, ranks.rank))
          << "from " << from << " in round " << round;
  }
}

TEST(Messenger, delivers_messages_of_an_all_to_all_exchange_in_the_round_in_which_they_were_sent) {
  expect_all_rounds_arrive(1 << 30);
}

TEST(Messenger, splits_large_messages_of_an_all_to_all_exchange) { expect_all_rounds_arrive(64); }

TEST(Messenger, splits_large_messages_even_if_all_ranks_send_at_the_same_time) {
  const Ranks ranks;
  Messenger messenger(MPI_COMM_WORLD, 100);
  constexpr int kEach = 5;
  for (int i = 0; i < kEach; ++i)
    for (int to = 0; to < ranks.count; ++to)
      if (to != ranks.rank)
        messenger.send(to, message_of(static_cast<std::size_t>(1000 + 100 * i), ranks.rank));
  std::size_t bytes = 0;
  for (int i = 0; i < kEach * (ranks.count - 1); ++i)
    bytes += messenger.receive().buffer.content().size();
  messenger.finish();
  EXPECT_EQ(bytes, static_cast<std::size_t>(ranks.count - 1) * (5 * 1000 + 100 * 10));
}

TEST(Messenger, aligns_the_content_of_received_messages) {
  const MessageBuffer message = message_of(100, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.content().data()) % 16, 0u);
}

}  // namespace
}  // namespace poise::objects
