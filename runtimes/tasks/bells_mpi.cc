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

TEST(Bells, are_heard_until_they_are_answered) {
  const auto nodes = neighbours_of(MPI_COMM_WORLD).nodes;
  Arena arena(MPI_COMM_WORLD, nodes, kPart);
  Bells bells(MPI_COMM_WORLD, arena);
  EXPECT_FALSE(bells.rang());
  bool all_share = true;
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) all_share &= arena.shared_with(rank);
  EXPECT_EQ(bells.ring_for_all(), all_share);
  meet();
  bells.ring(next_rank());
  meet();
  const auto self = (next_rank() + nodes.size() - 1) % nodes.size();
  const auto before = (self + nodes.size() - 1) % nodes.size();
  EXPECT_EQ(bells.rang(), before != self && arena.shared_with(static_cast<std::uint32_t>(before)));
  bells.answer();
  EXPECT_FALSE(bells.rang());
  meet();
}

TEST(Bells, are_silent_where_no_memory_is_shared) {
  Arena arena(MPI_COMM_WORLD, neighbours_of(MPI_COMM_WORLD).nodes, 0);
  Bells bells(MPI_COMM_WORLD, arena);
  bells.ring(next_rank());
  meet();
  EXPECT_FALSE(bells.rang());
  EXPECT_FALSE(bells.ring_for_all());
}

}  // namespace
}  // namespace poise::tasks
