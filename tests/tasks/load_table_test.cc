// SPDX-License-Identifier: BSD-3-Clause
// Tests of the load table that the ranks of a node share. All ranks run each test.
#include "runtimes/tasks/offload/load_table.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <mpi.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/transport/locality.h"
#include "tests/tasks/ranks.h"

#include "poise/base/clock.h"

namespace poise::tasks {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 24;

std::uint32_t self() { return static_cast<std::uint32_t>(own_rank()); }

TEST(LoadTable, shows_the_newest_load_that_each_rank_of_the_node_published) {
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  LoadTable board(MPI_COMM_WORLD, arena);
  const auto ranks = static_cast<std::uint32_t>(count_ranks());
  for (std::uint32_t rank = 0; rank < ranks; ++rank) EXPECT_FALSE(board.load_of(rank));
  meet();
  for (std::uint32_t version = 1; version <= 3; ++version)
    board.publish({.rank = self(), .version = version, .queued = 10.0f * self() + version});
  meet();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    const auto said = board.load_of(rank);
    ASSERT_EQ(said.has_value(), rank != self() && arena.shared_with(rank));
    EXPECT_EQ(board.is_visible_to(rank), said.has_value());
    if (!said) continue;
    EXPECT_EQ(said->rank, rank);
    EXPECT_EQ(said->version, 3u);
    EXPECT_EQ(said->queued, 10.0f * static_cast<float>(rank) + 3);
  }
  meet();
}

// All ranks write as fast as they can; no rank may read a mixture of two loads.
TEST(LoadTable, a_reader_never_sees_a_mixture_of_an_old_and_a_new_load) {
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  LoadTable board(MPI_COMM_WORLD, arena);
  const std::uint32_t next = (self() + 1) % static_cast<std::uint32_t>(count_ranks());
  const bool can_read = next != self() && arena.shared_with(next);
  const double end_s = wall_now_s() + 0.1;
  std::uint64_t read = 0, torn = 0;
  // On a busy machine, the next rank may need more than 0.1 s to publish its first load.
  const auto goes_on = [&](double now_s) {
    return now_s < end_s || (can_read && read == 0 && now_s < end_s + 60);
  };
  for (std::uint32_t number = 1; goes_on(wall_now_s()); ++number) {
    board.publish({self(), number, number, 1.0 * number, 2.0 * number});
    const auto said = board.load_of(next);
    if (!said) continue;
    ++read;
    torn += said->wait != said->version || said->reported_at_s != said->version ||
            said->busy_s != 2.0 * said->version;
  }
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(read > 0, can_read);
  meet();
}

TEST(LoadTable, shows_no_loads_if_ranks_share_no_memory) {
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, 0);
  LoadTable board(MPI_COMM_WORLD, arena);
  board.publish({.rank = self(), .version = 1});
  meet();
  for (std::uint32_t rank = 0; rank < static_cast<std::uint32_t>(count_ranks()); ++rank)
    EXPECT_FALSE(board.load_of(rank) || board.is_visible_to(rank));
}

const auto kDoze = function("sleep on all ranks",
                            [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });

// Steal requests, which would carry loads, are off (pull=0), and all ranks have tasks. So a rank
// learns the loads of other ranks from the load table only or, without shared memory, from
// messages.
TEST(LoadTable, lending_policies_see_the_loads_of_all_ranks) {
  for (const char* settings : {"pull=0", "pull=0,shared_bytes=0"}) {
    std::vector<double> most(static_cast<std::size_t>(count_ranks()));
    Policy policy;
    policy.decide = [&](const LendingView& view) {
      for (std::size_t rank = 0; rank < most.size(); ++rank)
        most[rank] = std::max(most[rank], view.load_of_rank[rank]);
      return std::vector<Loan>{};
    };
    Context context(MPI_COMM_WORLD, {.settings = settings, .policy = policy});
    // In each round, all ranks submit tasks and wait. The rounds go on until every rank has seen a
    // load of every other rank. One round may not be enough, because a rank may begin its tasks
    // after another rank has finished all of its tasks.
    EXPECT_TRUE(happens_in_some_round([&] {
      if (count_ranks() == 1) return true;
      meet();
      for (int t = 0; t < 50; ++t) context.submit(kDoze);
      context.wait();
      return std::ranges::all_of(most, [](double load) { return load > 0; });
    }));
  }
}

}  // namespace
}  // namespace poise::tasks
