// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/team_watch.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>

#include "runtimes/profile/machinery.h"
#include "runtimes/profile/rank_site.h"

#include "poise/base/clock.h"

namespace poise::profile {
namespace {

void compute_ns(std::int64_t ns) {
  const std::int64_t end = thread_cpu_now_ns() + ns;
  while (thread_cpu_now_ns() < end) {
  }
}

TEST(team_watch, finds_which_thread_computes_and_which_thread_is_bound_to_one_cpu) {
  constexpr std::int64_t kWork_ns = 50'000'000;
  const int cpu = allowed_cpus(0).front();
  std::atomic<int> ready = 0;
  std::atomic<bool> is_over = false;
  const auto wait = [&] {
    ++ready;
    while (!is_over) std::this_thread::yield();
  };
  compute_ns(kWork_ns);  // not counted, because the watch has not begun
  const TeamWatch watch;
  std::thread worker([&] {
    compute_ns(kWork_ns);
    wait();
  });
  std::thread bound([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    wait();
  });
  while (ready < 2) std::this_thread::yield();
  const TeamUse team = watch.read();
  is_over = true;
  worker.join();
  bound.join();
  if (team.threads.empty()) GTEST_SKIP() << "the kernel has no schedstat";
  ASSERT_GE(team.threads.size(), 3u);
  const auto computed = std::ranges::count_if(
      team.threads, [](const ThreadUse& use) { return use.run_ns >= kWork_ns * 9 / 10; });
  EXPECT_GE(computed, 1);
  if (allowed_cpus(0).size() > 1) {
    EXPECT_EQ(std::ranges::count(team.threads, cpu, &ThreadUse::only_cpu), 1);
  }
  EXPECT_EQ(team.cpus.size(), allowed_cpus(0).size());
  EXPECT_GT(team.watched_ns, 0);
  for (const ThreadUse& use : team.threads) EXPECT_LE(use.run_ns, team.watched_ns + kWork_ns / 10);
}

TEST(team_watch, lists_the_thread_that_created_the_watch_first) {
  TeamUse team;
  std::thread initial([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(allowed_cpus(0).front(), &one);
    ::sched_setaffinity(0, sizeof one, &one);  // tells it from the test's first thread
    team = TeamWatch().read();
  });
  initial.join();
  if (team.threads.empty()) GTEST_SKIP() << "the kernel has no schedstat";
  EXPECT_GE(team.threads.size(), 2u);
  EXPECT_EQ(team.threads.front().only_cpu, allowed_cpus(0).front());
}

}  // namespace
}  // namespace poise::profile
