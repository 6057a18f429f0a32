// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/attribution.h"

#include <gtest/gtest.h>
#include <map>

#include "runtimes/profile/tuning.h"

namespace poise::profile {
namespace {

struct Sent {
  std::uint64_t messages = 0, bytes = 0;
};
using Matrix = std::map<std::pair<int, int>, Sent>;

/// The messages that all ranks send in one collective.
Matrix matrix_of(Collective collective, int size) {
  Matrix matrix;
  collective.size = size;
  for (collective.rank = 0; collective.rank < size; ++collective.rank)
    sends_of(collective, [&](int to, std::uint64_t messages, std::uint64_t bytes) {
      EXPECT_TRUE(to >= 0 && to < size && to != collective.rank);
      Sent& sent = matrix[{collective.rank, to}];
      sent.messages += messages;
      sent.bytes += bytes;
    });
  return matrix;
}

Sent total(const Matrix& matrix) {
  Sent sum;
  for (const auto& [pair, sent] : matrix) {
    sum.messages += sent.messages;
    sum.bytes += sent.bytes;
  }
  return sum;
}

TEST(attribution, collective_trees_deliver_the_data_to_each_rank_exactly_once) {
  for (int size = 1; size <= 33; ++size)
    for (int root = 0; root < size; root += 3) {
      std::map<int, int> received;
      for (const auto& [pair, sent] :
           matrix_of({.meaning = Meaning::bcast, .root = root, .bytes = 10}, size)) {
        ++received[pair.second];
        EXPECT_EQ(sent.bytes, 10u);
      }
      EXPECT_EQ(received.size(), static_cast<std::size_t>(size - 1));
      EXPECT_FALSE(received.contains(root));
      for (const auto& [rank, times] : received) EXPECT_EQ(times, 1);
      // A reduction sends the messages of a broadcast in the opposite direction.
      Matrix backwards;
      for (const auto& [pair, sent] :
           matrix_of({.meaning = Meaning::reduce, .root = root, .bytes = 10}, size))
        backwards[{pair.second, pair.first}] = sent;
      EXPECT_EQ(backwards.size(), received.size());
      for (const auto& [pair, sent] : backwards)
        EXPECT_TRUE(
            matrix_of({.meaning = Meaning::bcast, .root = root, .bytes = 10}, size).contains(pair));
    }
}

TEST(attribution, message_and_byte_counts_of_collectives_match_the_formulas_for_n_ranks) {
  for (int size = 2; size <= 33; ++size) {
    const auto n = static_cast<std::uint64_t>(size);
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::allgather, .bytes = 8}, size)).bytes,
              n * (n - 1) * 8);
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::alltoall, .bytes = 8}, size)).bytes,
              n * (n - 1) * 8);
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::gather, .bytes = 8}, size)).bytes, (n - 1) * 8);
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::scatter, .bytes = 8}, size)).bytes, (n - 1) * 8);
    const std::uint64_t vector = n * tuning::kLongAllreduce_bytes;
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::allreduce, .bytes = vector}, size)).bytes,
              2 * (n - 1) * vector);
  }
  for (int power = 1; power <= 6; ++power) {  // recursive doubling: log2 n messages per rank
    const std::uint64_t n = std::uint64_t{1} << power;
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::allreduce, .bytes = 8}, 1 << power)).messages,
              n * static_cast<std::uint64_t>(power));
    EXPECT_EQ(total(matrix_of({.meaning = Meaning::barrier}, 1 << power)).messages,
              n * static_cast<std::uint64_t>(power));
  }
  // Recursive doubling with seven ranks. Four ranks, the largest power of two, exchange data in two
  // rounds. Each of the other three ranks sends a message before these rounds, and receives one
  // after them.
  EXPECT_EQ(total(matrix_of({.meaning = Meaning::allreduce, .bytes = 8}, 7)).messages,
            4u * 2 + 3 * 2);
}

TEST(attribution, each_block_of_an_alltoall_goes_to_the_rank_that_needs_it) {
  const auto block = [](int other) { return static_cast<std::uint64_t>(100 + other); };
  for (const auto& [pair, sent] :
       matrix_of({.meaning = Meaning::alltoallv, .block_bytes = block}, 5))
    EXPECT_EQ(sent.bytes, block(pair.second));
  // In a ring, a rank sends all blocks except the one that its right neighbour already has.
  for (const auto& [pair, sent] :
       matrix_of({.meaning = Meaning::allgatherv, .block_bytes = block}, 5)) {
    EXPECT_EQ(pair.second, (pair.first + 1) % 5);
    EXPECT_EQ(sent.bytes, 100u + 101 + 102 + 103 + 104 - block(pair.second));
  }
  for (const auto& [pair, sent] : matrix_of({.meaning = Meaning::scan, .bytes = 8}, 9))
    EXPECT_GT(pair.second, pair.first);
}

}  // namespace
}  // namespace poise::profile
