// SPDX-License-Identifier: BSD-3-Clause
// Tests that a context does not change the affinity of threads. All ranks run it.
#include <chrono>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <sched.h>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {

std::vector<int> allowed_units(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> units;
  if (::sched_getaffinity(thread, sizeof set, &set) != 0) return units;
  for (int unit = 0; unit < CPU_SETSIZE; ++unit)
    if (CPU_ISSET(unit, &set)) units.push_back(unit);
  return units;
}

void bind_to(const std::vector<int>& units) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int unit : units) CPU_SET(unit, &set);
  ASSERT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
}

namespace {

const auto kUnits = function("units it may run on", [] {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that every thread gets a task
  return allowed_units();
});

std::set<pid_t> threads_of_process() {
  std::set<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(std::stoi(entry.path().filename().string()));
  return threads;
}

TEST(Context, threads_are_not_pinned_by_the_runtime) {
  const std::vector<int> all = allowed_units();
  const std::set<pid_t> before = threads_of_process();
  for (const auto& units : {all, std::vector<int>{all.front()}}) {
    bind_to(units);
    {
      Context context(MPI_COMM_WORLD, {.threads = 2, .settings = more_threads()});
      std::vector<Future<std::vector<int>>> seen;
      for (int t = 0; t < 20; ++t) seen.push_back(context.submit(With{.pinned = true}, kUnits));
      context.wait();
      for (const auto& there : seen) EXPECT_EQ(there.get(), units);
      std::size_t num_own = 0;
      for (const pid_t thread : threads_of_process()) {
        if (before.contains(thread)) continue;
        ++num_own;
        EXPECT_EQ(allowed_units(thread), units);
      }
      EXPECT_GE(num_own, may_any_thread_call_mpi() && count_ranks() > 1 ? 2u : 1u);
      EXPECT_EQ(allowed_units(), units);
    }
    EXPECT_EQ(allowed_units(), units);
    bind_to(all);
  }
}

}  // namespace
}  // namespace poise::tasks
