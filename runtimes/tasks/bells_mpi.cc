// Tests of the bells of a node's ranks; run by all ranks.
#include <gtest/gtest.h>
#include <mpi.h>

#include "runtimes/tasks/bells.h"
#include "runtimes/tasks/neighbours.h"
#include "runtimes/tasks/ranks_testing.h"

namespace poise::tasks {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 24;

std::uint32_t next_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return static_cast<std::uint32_t>((rank + 1) % count_ranks());
}

TEST(Bells, ring_until_they_are_answered) {
  const auto nodes = neighbours_of(MPI_COMM_WORLD).nodes;
  Arena arena(MPI_COMM_WORLD, nodes, kPart);
  Bells bells(MPI_COMM_WORLD, arena);
  EXPECT_FALSE(bells.rings());
  bool all_share = true;
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) all_share &= arena.shared_with(rank);
  EXPECT_EQ(bells.ring_for_all(), all_share);
  meet();
  bells.ring(next_rank());
  meet();
  const auto self = (next_rank() + nodes.size() - 1) % nodes.size();
  const auto before = static_cast<std::uint32_t>((self + nodes.size() - 1) % nodes.size());
  EXPECT_EQ(bells.rings(), before != self && arena.shared_with(before));
  bells.answer(before);
  EXPECT_FALSE(bells.rings());
  meet();
}

TEST(Bells, ring_until_as_much_has_come_as_was_announced) {
  Arena arena(MPI_COMM_WORLD, neighbours_of(MPI_COMM_WORLD).nodes, kPart);
  Bells bells(MPI_COMM_WORLD, arena);
  constexpr std::uint32_t kFirst = 0, kSecond = 1;
  if (count_ranks() < 2 || !bells.ring_for_all()) GTEST_SKIP() << "needs two ranks of a node";
  if (next_rank() == kSecond)
    for (int i = 0; i < 3; ++i) bells.ring(kSecond);
  meet();
  if (next_rank() == (kSecond + 1) % static_cast<std::uint32_t>(count_ranks()))
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(bells.rings());
      bells.answer(kFirst);
    }
  EXPECT_FALSE(bells.rings());
  meet();
}

TEST(Bells, are_silent_where_no_memory_is_shared) {
  Arena arena(MPI_COMM_WORLD, neighbours_of(MPI_COMM_WORLD).nodes, 0);
  Bells bells(MPI_COMM_WORLD, arena);
  bells.ring(next_rank());
  meet();
  EXPECT_FALSE(bells.rings());
  EXPECT_FALSE(bells.ring_for_all());
  bells.answer(next_rank());
  EXPECT_FALSE(bells.rings());
}

}  // namespace
}  // namespace poise::tasks
