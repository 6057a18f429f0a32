#include "runtimes/objects/exchange.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

#include "poise/base/random.h"

namespace poise::objects {
namespace {

struct World {
  int rank = 0, ranks = 1;
  World() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
};

/// How many bytes rank `from` sends to `to` in a round, the same answer everywhere; often none.
std::size_t bytes_of(std::uint64_t round, int from, int to) {
  const std::uint64_t draw =
      mix(mix(round * 64 + static_cast<std::uint64_t>(from)) * 64 + static_cast<std::uint64_t>(to));
  return draw % 3 == 0 ? 0 : draw % 1000;
}

Parcel parcel_of(std::size_t bytes, int from) {
  Parcel parcel;
  if (bytes == 0) return parcel;
  const std::vector<std::byte> content(bytes, static_cast<std::byte>(from));
  parcel.open().append(content.data(), bytes);
  return parcel;
}

void expect_all_rounds_arrive(std::size_t max_piece) {
  const World world;
  Exchange exchange(MPI_COMM_WORLD, max_piece);
  for (std::uint64_t round = 0; round < 50; ++round) {
    std::vector<Parcel> parcels;
    for (int to = 0; to < world.ranks; ++to)
      parcels.push_back(
          parcel_of(to == world.rank ? 0 : bytes_of(round, world.rank, to), world.rank));
    std::vector<std::size_t> bytes_from(static_cast<std::size_t>(world.ranks));
    for (const auto& [from, parcel] : exchange.all(parcels)) {
      bytes_from[static_cast<std::size_t>(from)] += parcel.content().size();
      EXPECT_TRUE(std::all_of(parcel.content().begin(), parcel.content().end(),
                              [from = from](std::byte b) { return b == std::byte(from); }));
    }
    for (int from = 0; from < world.ranks; ++from)
      EXPECT_EQ(bytes_from[static_cast<std::size_t>(from)],
                from == world.rank ? 0 : bytes_of(round, from, world.rank))
          << "from " << from << " in round " << round;
  }
}

TEST(Exchange, what_was_sent_in_a_round_arrives_in_it) { expect_all_rounds_arrive(1 << 30); }

TEST(Exchange, large_messages_travel_in_pieces) { expect_all_rounds_arrive(64); }

TEST(Exchange, sends_to_known_receivers_in_pieces_while_they_send_too) {
  const World world;
  Exchange exchange(MPI_COMM_WORLD, 100);
  constexpr int kEach = 5;
  for (int i = 0; i < kEach; ++i)
    for (int to = 0; to < world.ranks; ++to)
      if (to != world.rank)
        exchange.send(to, parcel_of(static_cast<std::size_t>(1000 + 100 * i), world.rank));
  std::size_t bytes = 0;
  for (int i = 0; i < kEach * (world.ranks - 1); ++i)
    bytes += exchange.receive().parcel.content().size();
  exchange.finish();
  EXPECT_EQ(bytes, static_cast<std::size_t>(world.ranks - 1) * (5 * 1000 + 100 * 10));
}

TEST(Exchange, content_is_aligned) {
  Parcel parcel = parcel_of(100, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(parcel.content().data()) % 16, 0u);
}

}  // namespace
}  // namespace poise::objects
