// SPDX-License-Identifier: BSD-3-Clause
// Tests of tasks replicated on other ranks. All ranks run each test.
#include <atomic>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory_resource>
#include <mpi.h>
#include <thread>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

#include "poise/base/clock.h"
#include "poise/base/random.h"

namespace poise::tasks {
namespace {

std::atomic<std::uint64_t> runs{0};

// A task whose effect shows whether it runs twice: it increments numbers in place.
const auto kAddOne = function("add one", [](std::span<std::uint32_t> numbers, int us) {
  ++runs;
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
  for (auto& number : numbers) ++number;
  return static_cast<int>(Context::current().rank());
});
const auto kBusy =
    function("busy", [](int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); });
const auto kUnlucky = function("unlucky", [](int number) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  if (number % 2) throw std::runtime_error("odd");
});

With on_all_ranks() {
  With with;
  for (int rank = 0; rank < count_ranks(); ++rank)
    with.replicas.push_back(static_cast<std::uint32_t>(rank));
  return with;
}

// Lending is off in these tests, so a task that runs on another rank was replicated there. Every
// test runs both with and without shared memory.
class Replicas : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Transports, Replicas,
                         testing::Values("policy=none", "policy=none,shared_bytes=0",
                                         "policy=none,shared_bytes=0,large_bytes=1000",
                                         "policy=none,delay_us=1000",
                                         "policy=none,delay_us=1000,shared_bytes=0"));

// Checks that each replicated task runs only once. Rank 0 owns all tasks. On rank 0, returns false
// if no other rank ran a task or, without shared memory, if rank 0 itself ran too few tasks. On
// other ranks, returns true.
bool run_replicated_tasks(const std::string& settings) {
  Context context(MPI_COMM_WORLD, {.settings = settings});
  constexpr std::size_t kTasks = 150, kLength = 3000;
  std::vector<std::vector<std::uint32_t>> numbers(context.rank() == 0 ? kTasks : 0);
  std::vector<Future<int>> ran_on;
  runs = 0;
  meet();
  for (auto& mine : numbers) {
    mine.assign(kLength, 5);
    ran_on.push_back(context.submit(on_all_ranks(), kAddOne, inout(mine), 500));
  }
  context.wait();
  EXPECT_EQ(sum_over_ranks(runs), kTasks);
  std::size_t away = 0;
  for (std::size_t t = 0; t < numbers.size(); ++t) {
    EXPECT_EQ(numbers[t], std::vector<std::uint32_t>(kLength, 6)) << t;
    away += ran_on[t].get() > 0;
  }
  EXPECT_EQ(sum_over_ranks(context.counters().replicas_won), sum_over_ranks(away));
  if (count_ranks() == 1) {
    EXPECT_EQ(away, 0u);
    return true;
  }
  if (context.rank() > 0) return true;
  // An idle rank must not take all replicas while their owner is inside a task. Checked only
  // without shared memory.
  const bool owner_runs_enough =
      settings.find("shared_bytes=0") == std::string::npos ||
      4 * (kTasks - away) * static_cast<std::size_t>(count_ranks()) >= kTasks;
  return away > 0 && owner_runs_enough;
}

TEST_P(Replicas, each_replicated_task_runs_only_once_and_some_run_on_other_ranks) {
  EXPECT_TRUE(happens_in_some_round([] { return run_replicated_tasks(GetParam()); }));
}

// Only one copy of each task runs: the original or a replica. For each of the other copies,
// Policy::cancelled is called on the rank that holds that copy.
TEST_P(Replicas, the_rank_that_holds_a_replica_is_notified_if_the_replica_does_not_run) {
  std::atomic<std::uint64_t> cancelled{0}, wrong{0};
  std::uint64_t sent = 0;
  Policy policy;
  policy.cancelled = [&](std::span<const Item> items, const Self& self) {
    ++cancelled;
    wrong += !self.replicated || self.home != 0 || items.size() != 3;
  };
  {
    Context context(MPI_COMM_WORLD, {.settings = GetParam(), .policy = policy});
    std::vector<std::vector<std::uint32_t>> numbers(context.rank() == 0 ? 100 : 0);
    for (auto& mine : numbers) {
      mine.assign(300, 5);
      context.submit(on_all_ranks(), kAddOne, inout(mine), 300);
    }
    context.wait();
    sent = context.counters().replicas_sent;
  }
  EXPECT_EQ(sum_over_ranks(cancelled), sum_over_ranks(sent));
  EXPECT_EQ(sum_over_ranks(wrong), 0u);
}

// Two tasks keep rank 0 busy. The first polls for messages until the replica of a third task has
// been sent. The second does not poll, and ends when that replica has run.
const auto kUntilRun = function("until run", [](std::span<const std::uint32_t> number) {
  const double begin_s = wall_now_s();
  while (*const_cast<const volatile std::uint32_t*>(number.data()) == 0 &&
         wall_now_s() - begin_s < 200)
    std::this_thread::yield();
});

TEST(Replication, idle_ranks_run_replicas_while_the_rank_that_owns_the_task_is_busy) {
  if (count_ranks() == 1) GTEST_SKIP() << "needs two ranks";
  Context context(MPI_COMM_WORLD, {.settings = "policy=none,progress_thread=off"});
  std::pmr::vector<std::uint32_t> number(1, 0u, context.memory());
  Future<int> ran_on;
  if (context.rank() == 0) {
    keep_threads_until_one_has_left(context);
    context.submit(With{.priority = 1, .pinned = true}, kUntilRun, in(number));
    With with = says_when_it_leaves();
    with.replicas = {1};
    ran_on = context.submit(std::move(with), kAddOne, inout(number), 0);
  }
  context.wait();
  if (context.rank() > 0) return;
  EXPECT_EQ(ran_on.get(), 1);
  EXPECT_EQ(number[0], 1u);
}

// With shared memory, rank 1 takes tokens itself, so rank 0 need not answer a request.
TEST(Replication, many_replicas_are_sent_in_one_message) {
  if (count_ranks() == 1) GTEST_SKIP() << "needs two ranks";
  Context context(MPI_COMM_WORLD, {.settings = "policy=none"});
  if (context.rank() == 0) keep_threads_until_one_has_left(context);
  for (int t = 0; t < 1000 && context.rank() == 0; ++t) {
    With with = says_when_it_leaves();
    with.replicas = {1};
    context.submit(std::move(with), kBusy, 0);
  }
  context.wait();
  if (context.rank() > 0) return;
  EXPECT_EQ(context.counters().replicas_sent, 1000u);
  EXPECT_LT(context.counters().messages, 250u);
}

TEST(Replication, the_exception_of_a_replicated_task_is_thrown_on_the_rank_that_owns_the_task) {
  Context context(MPI_COMM_WORLD, {.settings = "policy=none"});
  for (int t = 0; t < 20 && context.rank() == 0; ++t) context.submit(on_all_ranks(), kUnlucky, t);
  std::string text;
  try {
    context.wait();
  } catch (const TaskFailed& failure) {
    text = failure.what();
  }
  EXPECT_EQ(text.find("(and 9 more)") != std::string::npos, context.rank() == 0) << text;
}

TEST(Replication, replication_to_unknown_ranks_is_refused) {
  Context context(MPI_COMM_WORLD);
  With with;
  with.replicas = {1000};
  EXPECT_THROW(context.submit(std::move(with), kBusy, 1), Error);
}

TEST(Replication, a_policy_can_choose_which_queued_tasks_are_replicated_and_where) {
  Policy policy;
  policy.replicate = [](const LendingView& view) {
    return std::vector<Replication>{{view.queued / 2, {1, view.rank, 1000}}};
  };
  Context context(MPI_COMM_WORLD, {.settings = "policy=none", .policy = policy});
  if (context.rank() == 0) keep_threads_until_one_has_left(context);
  for (int t = 0; t < 150 && context.rank() == 0; ++t)
    context.submit(says_when_it_leaves(), kBusy, 0);
  context.wait();
  const std::uint64_t sent = sum_over_ranks(context.counters().replicas_sent);
  EXPECT_LE(sent, 75u);
  EXPECT_EQ(sent > 0, count_ranks() > 1);
}

// Combines replicas, loans of the same tasks, several threads and consecutive waits.
TEST(Replication, never_runs_a_task_twice) {
  for (const char* settings : {"poll_us=0,min_gain=0", "shared_bytes=0,poll_us=0,min_gain=0",
                               "delay_us=500,poll_us=0,min_gain=0"}) {
    Context context(MPI_COMM_WORLD, {.threads = 2, .settings = settings});
    const std::uint64_t seed = 11 + context.rank();
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    for (int wait = 0; wait < 5; ++wait) {
      runs = 0;
      meet();
      std::vector<std::vector<std::uint32_t>> numbers(300);
      for (auto& mine : numbers) {
        mine.assign(random.below(2) ? 8 : 6000, 0);
        With with;
        for (std::uint64_t copies = random.below(3); copies > 0; --copies)
          with.replicas.push_back(
              static_cast<std::uint32_t>(random.below(static_cast<unsigned>(count_ranks()))));
        context.submit(std::move(with), kAddOne, inout(mine), static_cast<int>(random.below(3)));
      }
      context.wait();
      EXPECT_EQ(sum_over_ranks(runs), 300u * static_cast<unsigned>(count_ranks()));
      for (const auto& mine : numbers)
        ASSERT_EQ(mine, std::vector<std::uint32_t>(mine.size(), 1)) << "wait " << wait;
    }
  }
}

}  // namespace
}  // namespace poise::tasks
