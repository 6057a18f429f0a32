// SPDX-License-Identifier: BSD-3-Clause
// Tests of items longer than MPI can count. All ranks run each test, if there is enough memory.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <mpi.h>
#include <string>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

// The number of elements, which take a little more than 2 GiB.
constexpr std::size_t kLength = (std::size_t{1} << 31) / 8 + 1000;
// The test runs only with this much free memory, twice what it uses.
constexpr std::uint64_t kNeededKilobytes = 8'000'000;

const auto kAddOne = function("add one to each", [](std::span<std::uint64_t> numbers) {
  for (auto& number : numbers) ++number;
});
const auto kKeepBusy = function(
    "keep busy", [](int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); });

// Returns the free memory: the minimum over all ranks.
std::uint64_t free_kilobytes() {
  std::uint64_t free = 0;
  std::ifstream file("/proc/meminfo");
  for (std::string key, rest; file >> key && std::getline(file, rest);)
    if (key == "MemAvailable:") free = std::stoull(rest);
  reduce(MPI_COMM_WORLD, &free, 1, MPI_MIN);
  return free;
}

void lend_huge_item(const std::string& settings) {
  if (!std::getenv("POISE_HUGE_ITEM")) GTEST_SKIP() << "set POISE_HUGE_ITEM to run it";
  if (free_kilobytes() < kNeededKilobytes) GTEST_SKIP() << "8 GB of memory are not free";
  Context context(MPI_COMM_WORLD, {.settings = settings});
  const bool first = context.rank() == 0;
  std::vector<std::uint64_t> numbers(first ? kLength : 0, 7);
  for (int t = 0; t < 2 && first; ++t) context.submit(With{.pinned = true}, kKeepBusy, 500);
  if (first) context.submit(kAddOne, inout(numbers));
  context.wait();
  EXPECT_EQ(context.counters().returned, first && context.num_ranks() > 1 ? 1u : 0u);
  for (const std::uint64_t number : numbers) ASSERT_EQ(number, 8u);
}

TEST(Context, lends_a_task_with_more_than_two_gigabytes_of_data_by_messages) {
  lend_huge_item("shared_bytes=0,min_gain=0");
}
TEST(Context, lends_a_task_with_more_than_two_gigabytes_of_data_through_shared_memory) {
  lend_huge_item("min_gain=0");
}

}  // namespace
}  // namespace poise::tasks
