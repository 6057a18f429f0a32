// SPDX-License-Identifier: BSD-3-Clause
// Tests of doorbells between ranks of a node. All ranks run each test.
#include "runtimes/tasks/transport/doorbell.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mpi.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/transport/locality.h"
#include "runtimes/tasks/transport/per_rank.h"
#include "tests/tasks/ranks.h"

#include "poise/base/clock.h"

namespace poise::tasks {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 24;

std::atomic<bool> is_lent{false}, is_lent_in_time{false};
std::atomic<int>* round_running = nullptr;  // this counter is in memory that the ranks share
const auto kWork = function("work", [](int) {});
const auto kUntilLent = function("until lent", [](int round, double max_s) {
  round_running->store(round);
  const double end_s = wall_now_s() + max_s;
  while (!is_lent && wall_now_s() < end_s)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  is_lent_in_time = is_lent.load();
});

std::uint32_t next_rank() { return static_cast<std::uint32_t>((own_rank() + 1) % count_ranks()); }

TEST(Doorbells, a_message_is_pending_from_its_announcement_until_it_is_received) {
  const auto nodes = discover_locality(MPI_COMM_WORLD).nodes;
  Arena arena(MPI_COMM_WORLD, nodes, kPart);
  Doorbells bells(MPI_COMM_WORLD, arena);
  EXPECT_FALSE(bells.is_pending());
  bool all_share = true;
  for (std::uint32_t rank = 0; rank < nodes.size(); ++rank) all_share &= arena.shared_with(rank);
  EXPECT_EQ(bells.all_ranks_notify(), all_share);
  meet();
  bells.notify(next_rank());
  meet();
  const auto self = (next_rank() + nodes.size() - 1) % nodes.size();
  const auto before = static_cast<std::uint32_t>((self + nodes.size() - 1) % nodes.size());
  EXPECT_EQ(bells.is_pending(), before != self && arena.shared_with(before));
  bells.received_from(before);
  EXPECT_FALSE(bells.is_pending());
  meet();
}

// Before the progress thread falls asleep, it compares this counter of wake-ups with the value that
// it read earlier. If they differ, it has been woken in between, and stays awake.
TEST(Doorbells, a_rank_counts_how_often_other_ranks_wake_its_progress_thread) {
  const auto nodes = discover_locality(MPI_COMM_WORLD).nodes;
  Arena arena(MPI_COMM_WORLD, nodes, kPart);
  Doorbells bells(MPI_COMM_WORLD, arena);
  EXPECT_EQ(bells.progress_wakes(), 0u);
  meet();
  if (count_ranks() > 1) bells.wake_progress(next_rank());
  meet();
  const auto self = (next_rank() + nodes.size() - 1) % nodes.size();
  const auto before = static_cast<std::uint32_t>((self + nodes.size() - 1) % nodes.size());
  const bool can_call = before != self && arena.shared_with(before);
  EXPECT_EQ(bells.progress_wakes(), can_call ? 1u : 0u);
  meet();
}

TEST(Doorbells, a_rank_has_pending_messages_until_it_has_received_all_that_were_announced) {
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  Doorbells bells(MPI_COMM_WORLD, arena);
  constexpr std::uint32_t kFirst = 0, kSecond = 1;
  if (count_ranks() < 2 || !bells.all_ranks_notify()) GTEST_SKIP() << "needs two ranks of a node";
  if (next_rank() == kSecond)
    for (int i = 0; i < 3; ++i) bells.notify(kSecond);
  meet();
  if (next_rank() == (kSecond + 1) % static_cast<std::uint32_t>(count_ranks()))
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(bells.is_pending());
      bells.received_from(kFirst);
    }
  EXPECT_FALSE(bells.is_pending());
  meet();
}

TEST(Doorbells, a_rank_can_wake_the_sleeping_threads_of_another_rank) {
  constexpr double kTimeout_s = 250;  // longer than the time limit of the test
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  Doorbells bells(MPI_COMM_WORLD, arena);
  if (count_ranks() < 2 || !bells.all_ranks_notify()) GTEST_SKIP() << "needs two ranks of a node";
  const auto ranks = static_cast<std::uint32_t>(count_ranks());
  const std::uint32_t self = (next_rank() + ranks - 1) % ranks, before = (self + ranks - 1) % ranks;
  bells.notify(next_rank());
  while (!bells.is_pending()) bells.parker().park(kTimeout_s, [&] { return bells.is_pending(); });
  bells.received_from(before);
  std::atomic<bool> awake{false};
  std::thread sleeper([&] {
    bells.progress_parker().park(kTimeout_s, [] { return false; });
    awake = true;
  });
  while (sum_over_ranks(awake) < ranks)
    bells.wake_progress(next_rank());  // repeated, because that rank's thread may still be awake
  sleeper.join();
  meet();
}

TEST(Doorbells, a_rank_answers_steal_requests_while_it_runs_a_long_task) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "needs a progress thread";
  if (count_ranks() < 2) GTEST_SKIP() << "needs two ranks";
  Policy policy;
  policy.decide = [](const LendingView& view) {
    std::vector<Loan> loans;
    for (const Borrower& other : view.others)
      if (other.asks) loans.push_back({other.rank, 1, {}});
    return loans;
  };
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  PerRank<std::atomic<int>> running(MPI_COMM_WORLD, arena);
  round_running = own_rank() == 0 ? &running.own() : running.of(0);
  if (sum_over_ranks(round_running == nullptr) > 0) GTEST_SKIP() << "needs shared memory";
  // Without a wake-up, the progress thread polls only after 1000 s, and the long task ends first.
  Context context(MPI_COMM_WORLD,
                  {.settings = "progress_thread=on,progress_us=1e9", .policy = policy});
  bool is_always_lent = true;
  for (int round = 1; round <= 10 && is_always_lent; ++round) {
    is_lent = is_lent_in_time = false;
    if (context.rank() == 0) {
      context.submit({.pinned = true}, kUntilLent, round, 60.0);
      for (int t = 0; t < 4; ++t)
        context.submit({.on_lend = [](std::span<Item>) { is_lent = true; }}, kWork, t);
    } else {
      // The steal request must arrive during the long task: an earlier request would be answered
      // without a wake-up.
      while (round_running->load() < round) std::this_thread::yield();
    }
    context.wait();
    is_always_lent = sum_over_ranks(is_lent_in_time) > 0;
  }
  EXPECT_TRUE(is_always_lent);
}

TEST(Doorbells, announce_no_messages_if_ranks_share_no_memory) {
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, 0);
  Doorbells bells(MPI_COMM_WORLD, arena);
  bells.notify(next_rank());
  meet();
  EXPECT_FALSE(bells.is_pending());
  EXPECT_FALSE(bells.all_ranks_notify());
  bells.received_from(next_rank());
  EXPECT_FALSE(bells.is_pending());
}

}  // namespace
}  // namespace poise::tasks
