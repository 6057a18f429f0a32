// SPDX-License-Identifier: BSD-3-Clause
// Tests of memory that the ranks of a node share, and of copies made for lending. All ranks run
// each test.
#include "runtimes/tasks/transport/arena.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory_resource>
#include <mpi.h>
#include <numeric>
#include <thread>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/transport/locality.h"
#include "tests/tasks/ranks.h"

#include "poise/base/random.h"

namespace poise::tasks {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 24;

TEST(Arena, every_rank_of_a_node_reads_what_the_other_ranks_wrote) {
  if (!on_one_node()) GTEST_SKIP() << "ranks are on several nodes";
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  auto* here = static_cast<int*>(arena.allocate(sizeof(int)));
  *here = 100 + own_rank();
  const auto spot = arena.find(here, sizeof(int));
  EXPECT_EQ(spot.has_value(), count_ranks() > 1);
  if (!spot) return arena.deallocate(here, sizeof(int));
  const auto spots = all_of(MPI_COMM_WORLD, *spot);
  for (std::size_t rank = 0; rank < spots.size(); ++rank) {
    EXPECT_TRUE(arena.shared_with(static_cast<std::uint32_t>(rank)));
    EXPECT_EQ(*static_cast<int*>(arena.at(spots[rank])), 100 + static_cast<int>(rank));
  }
  meet();
  arena.deallocate(here, sizeof(int));
}

TEST(Arena, allocated_blocks_do_not_overlap_and_all_can_be_freed) {
  Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, kPart);
  const std::uint64_t seed = 7 + static_cast<unsigned>(own_rank());
  SCOPED_TRACE(seed);
  Random random(seed);
  struct Piece {
    unsigned char* data;
    std::size_t bytes;
    unsigned char mark;
  };
  std::vector<Piece> pieces;
  for (int i = 0; i < 3000; ++i) {
    if (pieces.size() > 100 || (random.below(3) == 0 && !pieces.empty())) {
      std::swap(pieces[random.below(pieces.size())], pieces.back());
      const Piece piece = pieces.back();
      pieces.pop_back();
      ASSERT_EQ(std::count(piece.data, piece.data + piece.bytes, piece.mark),
                static_cast<std::ptrdiff_t>(piece.bytes));
      arena.deallocate(piece.data, piece.bytes);
    } else {
      const std::size_t bytes = random.below(random.below(2) ? 300000 : 500);
      auto* data = static_cast<unsigned char*>(arena.allocate(bytes));
      const auto mark = static_cast<unsigned char>(i);
      std::fill_n(data, bytes, mark);
      pieces.push_back({data, bytes, mark});
    }
  }
  for (const Piece& piece : pieces) arena.deallocate(piece.data, piece.bytes);
  EXPECT_EQ(arena.allocated_bytes(), 0u);
  if (count_ranks() == 1) return;
  void* const all = arena.try_allocate(kPart);  // one piece again
  ASSERT_NE(all, nullptr);
  EXPECT_EQ(arena.try_allocate(1), nullptr);
  arena.deallocate(all, kPart);
}

TEST(Arena, allocates_private_memory_if_shared_memory_is_full_or_missing) {
  for (const std::size_t part_bytes : {std::size_t{0}, kPart}) {
    Arena arena(MPI_COMM_WORLD, discover_locality(MPI_COMM_WORLD).nodes, part_bytes);
    std::pmr::vector<char> much(2 * kPart, 'x', &arena);
    EXPECT_EQ(arena.find(much.data(), much.size()), std::nullopt);
    EXPECT_EQ(arena.find(nullptr, 0), std::nullopt);
  }
}

const auto kDouble =
    function("double", [](std::span<const std::uint32_t> x, std::span<std::uint32_t> y) {
      std::this_thread::sleep_for(std::chrono::microseconds(300));
      for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
    });
const auto kDoubleInPlace = function("double in place", [](std::span<std::uint32_t> x) {
  std::this_thread::sleep_for(std::chrono::microseconds(300));
  for (auto& value : x) value *= 2;
});

// Submits tasks on rank 0 whose vectors are allocated from `memory`, waits for them and checks
// their results.
void double_numbers_once(std::pmr::memory_resource* memory, Context& context, std::size_t length) {
  using Numbers = std::pmr::vector<std::uint32_t>;
  std::vector<Numbers> x, y, both;
  for (std::size_t t = 0; t < 60 && context.rank() == 0; ++t) {
    y.emplace_back(length, 0u, memory);
    both.emplace_back(length, static_cast<std::uint32_t>(t), memory);
    x.emplace_back(length, 0u, memory);
    std::iota(x.back().begin(), x.back().end(), static_cast<std::uint32_t>(t));
  }
  for (std::size_t t = 0; t < x.size(); ++t) {
    context.submit(kDouble, in(x[t]), out(y[t]));
    context.submit(kDoubleInPlace, inout(both[t]));
  }
  context.wait();
  for (std::size_t t = 0; t < x.size(); ++t) {
    const auto first = static_cast<std::uint32_t>(t);
    for (std::size_t i = 0; i < length; ++i) {
      EXPECT_EQ(y[t][i], 2 * (first + i));
      EXPECT_EQ(both[t][i], 2 * first);
    }
  }
}

// Repeats double_numbers_once() until another rank has returned results: on a busy machine, rank 0
// may have run all tasks before another rank enters the wait. Returns the counters, summed over
// ranks.
Counters double_numbers(std::pmr::memory_resource* memory, Context& context, std::size_t length) {
  Counters all;
  for (int round = 0; round < 50 && all.returned == 0; ++round) {
    double_numbers_once(memory, context, length);
    all = context.counters();
    for (std::uint64_t* count :
         {&all.returned, &all.bytes_sent, &all.bytes_copied, &all.bytes_in_place, &all.lent})
      *count = sum_over_ranks(*count);
    if (count_ranks() == 1) break;
  }
  return all;
}

TEST(Lending, does_not_copy_task_data_that_lies_in_shared_memory) {
  if (!on_one_node()) GTEST_SKIP() << "ranks are on several nodes";
  Context context(MPI_COMM_WORLD, {.settings = "min_gain=0"});
  const Counters all = double_numbers(context.memory(), context, 10000);
  EXPECT_EQ(all.bytes_sent, 0u);
  EXPECT_EQ(all.bytes_copied, 0u);
  EXPECT_EQ(all.bytes_in_place > 0, count_ranks() > 1);
  EXPECT_EQ(all.returned > 0, count_ranks() > 1);
}

TEST(Lending, task_data_in_private_memory_is_copied_once_to_the_borrower_and_once_back) {
  if (!on_one_node()) GTEST_SKIP() << "ranks are on several nodes";
  Context context(MPI_COMM_WORLD, {.settings = "min_gain=0"});
  const Counters all = double_numbers(std::pmr::new_delete_resource(), context, 10000);
  EXPECT_EQ(all.bytes_sent, 0u);
  // For each lent task, 40 kB are copied for the borrower, and 40 kB of results back to the owner.
  // If a borrower lends the task on, the next borrower uses the same copy.
  EXPECT_GE(all.bytes_copied, 80000 * all.returned);
  EXPECT_LE(all.bytes_copied, 80000 * all.lent);
}

TEST(Lending, sends_task_data_in_messages_if_ranks_share_no_memory) {
  Context context(MPI_COMM_WORLD, {.settings = "shared_bytes=0,min_gain=0"});
  const Counters all = double_numbers(context.memory(), context, 10000);
  EXPECT_EQ(all.bytes_copied + all.bytes_in_place, 0u);
  EXPECT_GE(all.bytes_sent, 80000 * all.returned);
}

TEST(Lending, gives_correct_results_when_shared_memory_is_full) {
  Context context(MPI_COMM_WORLD, {.settings = "shared_bytes=100000,min_gain=0"});
  const Counters all = double_numbers(context.memory(), context, 300000);
  EXPECT_EQ(all.bytes_sent + all.bytes_copied + all.bytes_in_place > 0, count_ranks() > 1);
}

}  // namespace
}  // namespace poise::tasks
