// SPDX-License-Identifier: BSD-3-Clause
// Tests of waits: tasks wait for their children, two threads wait at the same time, ranks share no
// memory, and an exception destroys a context. All ranks run each test.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/support/test_folder.h"
#include "tests/tasks/ranks.h"

#include "poise/trace/timeline.h"

namespace poise::tasks {
namespace {

// An ordered task submits ordered children on the same data, and waits for them.
extern const Function<void, std::span<std::uint64_t>, int> kFold;
void fold(std::span<std::uint64_t> x, int depth) {
  auto& context = Context::current();
  for (int i = 0; i < 2 && depth > 0; ++i)
    context.submit({.ordered = true}, kFold, inout(x), depth - 1);
  context.wait();
  x[0] = 3 * x[0] + static_cast<std::uint64_t>(depth);
}
const Function<void, std::span<std::uint64_t>, int> kFold = function("fold", fold);

std::uint64_t folded(std::uint64_t x, int depth) {
  for (int i = 0; i < 2 && depth > 0; ++i) x = folded(x, depth - 1);
  return 3 * x + static_cast<std::uint64_t>(depth);
}

TEST(Waits, a_task_can_wait_for_ordered_child_tasks_that_use_the_data_of_the_task) {
  for (const unsigned threads : {1u, 3u}) {
    Context context(MPI_COMM_WORLD, {.threads = threads});
    std::vector<std::uint64_t> x(1, 1);
    std::uint64_t expected = 1;
    for (int step = 0; step < 3; ++step) {
      context.submit({.ordered = true}, kFold, inout(x), 3);
      expected = folded(expected, 3);
    }
    context.wait();
    EXPECT_EQ(x[0], expected);
  }
}

// A parent that waits runs its own child first. If another thread or rank has taken this child, the
// parent's thread meanwhile runs other tasks, here other parents, which wait in turn. Without a
// limit such waits could nest too deeply for the stack.
const auto kChild = function("child", [] {});
const auto kParent = function("parent", [] {
  Context::current().submit(kChild);
  Context::current().wait();
});

TEST(Waits, the_depth_of_nested_waits_is_limited) {
  Context context(MPI_COMM_WORLD);
  constexpr int kParents = 100000;
  for (int t = 0; t < kParents && is_first(); ++t) context.submit({.priority = 1}, kParent);
  context.wait();
  const Counters counters = context.counters();
  EXPECT_EQ(sum_over_ranks(counters.ran_own + counters.ran_borrowed), 2u * kParents);
}

// While a task yields, its thread runs the next task on the same stack.
const auto kYield = function("yield", [] { Context::current().yield(); });

TEST(Waits, the_depth_of_nested_yields_is_limited) {
  Context context(MPI_COMM_WORLD);
  constexpr int kTasks = 100000;
  for (int t = 0; t < kTasks && is_first(); ++t) context.submit(kYield);
  context.wait();
  const Counters counters = context.counters();
  EXPECT_EQ(sum_over_ranks(counters.ran_own + counters.ran_borrowed), 1u * kTasks);
}

// Tasks of kUntilSet yield until a task of kSet, which is behind them in the queue, has run.
std::atomic<bool> is_set{false};
const auto kUntilSet = function("until set", [] {
  while (!is_set) Context::current().yield();
});
const auto kSet = function("set", [] { is_set = true; });

TEST(Waits, many_tasks_can_yield_until_another_task_has_run) {
  Context context(MPI_COMM_WORLD);
  is_set = false;
  for (int t = 0; t < 500; ++t) context.submit({.pinned = true}, kUntilSet);
  context.submit({.pinned = true}, kSet);
  context.wait();
  EXPECT_EQ(context.counters().ran_own, 501u);
}

// A task of rank 1 yields until rank 1 has run a task of rank 0. Rank 0 lends tasks only to ranks
// that send steal requests, so the test hangs if rank 1 sends none. Rank 0 stays busy until the
// lent task has returned: an idle rank 0 might steal the task back.
std::atomic<bool> has_run{false}, has_returned{false};
const auto kNote = function("note that it has run", [] { has_run = true; });
const auto kYieldUntilNoted = function("yield until noted", [] {
  while (!has_run) Context::current().yield();
});

const auto kStayUntilReturned = function("stay until the note has returned", [] {
  while (!has_returned) {
    Context::current().poll();
    std::this_thread::sleep_for(std::chrono::microseconds(20));  // leaves the core to rank 1
  }
});

TEST(Waits, a_rank_whose_task_yields_until_a_task_of_another_rank_has_run_steals_that_task) {
  if (count_ranks() != 2) GTEST_SKIP() << "needs two ranks";
  Context context(MPI_COMM_WORLD, {.settings = "push=0"});
  has_run = has_returned = false;
  if (is_first()) {
    context.submit({.priority = 1, .pinned = true}, kStayUntilReturned);
    context.submit({.on_finish = [] { has_returned = true; }}, kNote);
  } else {
    context.submit({.pinned = true}, kYieldUntilNoted);
  }
  context.wait();
  EXPECT_EQ(has_run, !is_first());
}

const auto kFill =
    function("fill", [](std::uint64_t size) { return std::vector<std::uint64_t>(size, size); });

TEST(Waits, long_results_are_sent_in_a_separate_payload_message) {
  for (const char* settings :
       {"shared_bytes=0,large_bytes=1000,chunk_bytes=5000", "large_bytes=1000"}) {
    Context context(MPI_COMM_WORLD, {.settings = settings});
    std::vector<Future<std::vector<std::uint64_t>>> filled;
    if (is_first()) keep_threads_until_one_has_left(context);
    for (std::uint64_t size = 0; size < 3000 && is_first(); size += 50)
      filled.push_back(context.submit(size > 2000 ? says_when_it_leaves() : With{}, kFill, size));
    context.wait();
    for (std::uint64_t i = 0; i < filled.size(); ++i)
      ASSERT_EQ(filled[i].get(), std::vector<std::uint64_t>(50 * i, 50 * i));
    if (is_first()) {
      EXPECT_EQ(context.counters().returned > 0, count_ranks() > 1);
    }
  }
}

TEST(Waits, shared_memory_is_not_used_if_a_file_size_limit_forbids_it) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit short_one{1 << 20, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &short_one);
  {
    Context context(MPI_COMM_WORLD);
    submit_pauses(context, 20, [](int) { return With{}; });
    context.wait();
    if (is_first()) {
      EXPECT_EQ(context.counters().bytes_sent > 0, count_ranks() > 1);
    }
  }
  setrlimit(RLIMIT_FSIZE, &before);
}

const auto kDoze =
    function("doze 1 ms", [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
const auto kDozeInChildren = function("doze in children", [] {
  Context::current().submit({.pinned = true}, kDoze);
  Context::current().wait();
  Context::current().submit({.pinned = true}, kDoze);
  Context::current().yield();
});

TEST(Waits, the_times_in_tasks_and_the_idle_times_sum_to_the_times_of_all_waiting_threads) {
  for (const unsigned threads : {1u, 2u}) {
    Context context(MPI_COMM_WORLD, {.threads = threads});
    for (int t = 0; t < 20; ++t) context.submit({.pinned = true}, kDozeInChildren);
    context.wait();
    const Counters counters = context.counters();
    EXPECT_NEAR(counters.working_s + counters.idle_s, threads * counters.waiting_s, 1e-6);
  }
}

TEST(Waits, tasks_that_ran_in_yields_before_a_wait_do_not_count_as_work_in_the_wait) {
  Context context(MPI_COMM_WORLD);
  for (int t = 0; t < 20; ++t) context.submit({.pinned = true}, kDoze);
  while (context.yield()) {
  }
  context.wait();
  const Counters counters = context.counters();
  EXPECT_GE(counters.working_s, 20e-3);
  EXPECT_GT(counters.idle_s, 0);
  EXPECT_LE(counters.idle_s, counters.waiting_s);
}

TEST(Waits, a_trace_shows_all_time_in_tasks_as_work_if_two_threads_wait_together) {
  if (!may_any_thread_call_mpi()) GTEST_SKIP() << "only the main thread may wait";
  const TestFolder folder;
  double working_s = 0, shown_s = 0;
  ::setenv("POISE_TASKS_TRACE", folder.file("trace.json").c_str(), 1);
  {
    Context context(MPI_COMM_WORLD, {.threads = 2});
    for (int t = 0; t < 20 && is_first(); ++t) context.submit({.pinned = true}, kDoze);
    std::thread other([&] { context.wait(2); });
    context.wait(2);
    other.join();
    working_s = context.counters().working_s;
  }
  ::unsetenv("POISE_TASKS_TRACE");
  if (own_rank() != 0) return;
  // The name of the file ends with a number if the process has written traces before.
  const std::string path = std::filesystem::directory_iterator(folder.path())->path();
  for (const auto& spans : read_timeline(path).places) shown_s += seconds_of(spans)[0];
  EXPECT_NEAR(shown_s, working_s, 1e-6);
}

TEST(Waits, two_threads_can_wait_for_the_tasks_of_two_contexts_at_the_same_time) {
  int level = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) GTEST_SKIP() << "only the main thread may wait";
  Context a(MPI_COMM_WORLD), b(MPI_COMM_WORLD, {.threads = 2});
  is_first();
  std::thread other([&] {
    for (int wait = 0; wait < 3; ++wait) {
      submit_pauses(a, 20, [](int) { return With{}; });
      a.wait();
    }
  });
  for (int wait = 0; wait < 3; ++wait) {
    submit_pauses(b, 20, [](int) { return With{}; });
    b.wait();
  }
  other.join();
  if (is_first()) {
    EXPECT_EQ(a.counters().ran_own + a.counters().returned, 60u);
    EXPECT_EQ(b.counters().ran_own + b.counters().returned, 60u);
  }
}

// This must be the last test: the context that it abandons exists until the process ends.
TEST(WaitsAtTheEnd, a_context_destroyed_by_an_exception_does_not_wait_for_tasks) {
  const auto leave = [] {
    Context context(MPI_COMM_WORLD, {.threads = 2});
    context.wait();
    meet();
    throw std::runtime_error("away");
  };
  EXPECT_THROW(leave(), std::runtime_error);
  Context context(MPI_COMM_WORLD);
  submit_pauses(context, 10, [](int) { return With{}; });
  context.wait();
}

}  // namespace
}  // namespace poise::tasks
