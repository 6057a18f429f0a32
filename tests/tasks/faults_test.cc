// SPDX-License-Identifier: BSD-3-Clause
// Tests of programs that misuse a context: their functions throw or wait where they must not, or
// differ between ranks.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <mpi.h>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

#include "poise/base/error.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;

const auto kPause = function("pause", [](std::span<const char>, int us) {
  std::this_thread::sleep_for(std::chrono::microseconds(us));
});
const auto kFill =
    function("fill", [](std::uint64_t size) { return std::vector<std::uint64_t>(size, size); });

// True on rank 0. MPI is asked for the rank only once, before several threads run.
bool is_first() {
  static const bool first = own_rank() == 0;
  return first;
}

std::string thrown_by_wait(Context& context) {
  try {
    context.wait();
  } catch (const TaskFailed& failure) {
    return failure.what();
  }
  return {};
}

// Submits the given number of tasks of 1 ms on rank 0.
template <typename With>
void submit_pauses(Context& context, int tasks, const With& with_of) {
  static const std::vector<char> data(100);
  for (int t = 0; t < tasks && is_first(); ++t) context.submit(with_of(t), kPause, in(data), 1000);
}

TEST(Faults, only_the_task_whose_on_lend_callback_throws_fails) {
  for (const bool replicated : {false, true}) {
    Context context(MPI_COMM_WORLD);
    std::atomic<int> asked = 0, finished = 0;
    submit_pauses(context, 40, [&](int t) {
      With with;
      if (replicated && t < 20)
        for (int rank = 1; rank < count_ranks(); ++rank)
          with.replicas.push_back(static_cast<std::uint32_t>(rank));
      with.on_lend = [&asked](std::span<Item>) {
        ++asked;
        throw 7;
      };
      with.on_finish = [&finished] { ++finished; };
      return with;
    });
    const std::string text = thrown_by_wait(context);
    if (is_first()) {
      EXPECT_EQ(finished, 40);
      EXPECT_EQ(asked > 0, count_ranks() > 1);
      EXPECT_EQ(context.counters().failed, static_cast<std::uint64_t>(asked));
    }
    if (asked > 0) {
      EXPECT_THAT(text, HasSubstr("callback on_lend: something that is not a std::exception"));
    }
    context.wait();  // the context still works
  }
}

TEST(Faults, wait_reports_the_exceptions_that_on_finish_callbacks_throw) {
  Context context(MPI_COMM_WORLD, {.threads = 2});
  std::atomic<int> finished = 0;
  submit_pauses(context, 40, [&](int t) {
    return With{.on_finish = [&finished, t] {
      ++finished;
      if (t % 2) throw t;
    }};
  });
  const std::string text = thrown_by_wait(context);
  if (!is_first()) return;
  EXPECT_EQ(finished, 40);
  EXPECT_THAT(text, HasSubstr("callback on_finish: something that is not a std::exception"));
  EXPECT_THAT(text, HasSubstr("(and 19 more)"));
}

struct Unreadable {
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(number);
    if (number == 3) throw std::runtime_error("three cannot be read");
  }
  int number = 0;
};
const auto kUnreadable = function("unreadable", [](int number) {
  Unreadable result;
  result.number = number;
  return result;
});

TEST(Faults, the_on_finish_callback_is_called_even_if_the_result_of_its_task_is_unreadable) {
  Context context(MPI_COMM_WORLD);
  std::atomic<int> finished = 0;
  for (int number = 0; number < 5; ++number)
    context.submit({.on_finish = [&] { ++finished; }}, kUnreadable, number);
  EXPECT_THAT(thrown_by_wait(context), HasSubstr("three cannot be read"));
  EXPECT_EQ(finished, 5);
}

TEST(Faults, the_on_finish_callback_of_a_task_is_destroyed_before_wait_returns) {
  Context context(MPI_COMM_WORLD, {.threads = 3});
  for (int wait = 0; wait < 20; ++wait) {
    const auto held = std::make_shared<std::atomic<int>>();
    submit_pauses(context, 10, [&](int) { return With{.on_finish = [held] { ++*held; }}; });
    context.wait();
    EXPECT_EQ(held.use_count(), 1);
  }
}

TEST(Faults, tasks_run_on_their_own_rank_if_the_lending_policy_throws) {
  Policy policy;
  policy.decide = [](const LendingView&) -> std::vector<Loan> { throw 1; };
  policy.load = [](const LendingView&) -> double { throw 2; };
  policy.replicate = [](const LendingView&) -> std::vector<Replication> { throw 3; };
  Context context(MPI_COMM_WORLD, {.policy = policy});
  submit_pauses(context, 10, [](int) { return With{}; });
  context.wait();
  EXPECT_EQ(context.counters().lent, 0u);
}

TEST(Faults, a_call_of_wait_inside_an_on_finish_callback_is_refused) {
  Context context(MPI_COMM_WORLD);
  std::string text;
  submit_pauses(context, 1, [&](int) {
    return With{.pinned = true, .on_finish = [&] {
                  try {
                    context.wait();
                  } catch (const Error& error) {
                    text = error.what();
                  }
                }};
  });
  context.wait();
  if (is_first()) {
    EXPECT_THAT(text, HasSubstr("wait was called in on_finish, on_lend or a policy"));
  }
}

TEST(Faults, wait_refuses_zero_as_the_number_of_waiting_threads) {
  Context context(MPI_COMM_WORLD);
  EXPECT_THROW(context.wait(0), Error);
  context.wait();
}

TEST(Faults, a_task_with_an_unregistered_function_id_is_refused) {
  Context context(MPI_COMM_WORLD);
  try {
    context.submit(With{}, 123456, {});
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "function id 123456 is not registered; use the id that its registration returned");
  }
}

TEST(Faults, settings_that_change_the_message_format_must_be_equal_on_all_ranks) {
  if (count_ranks() == 1) GTEST_SKIP() << "one rank agrees with itself";
  for (const std::string name : {"large_bytes", "chunk_bytes", "shared_bytes"}) {
    const std::string settings = name + (is_first() ? "=20000" : "=30000");
    try {
      Context context(MPI_COMM_WORLD, {.settings = settings});
      FAIL() << "it was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "the setting " + name +
                                  " of the tasks runtime is 20000 on one rank and 30000 on "
                                  "another; use one value on all ranks");
    }
  }
}

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

TEST(Faults, a_task_can_wait_for_child_tasks_that_run_in_order_on_its_data) {
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

TEST(Faults, the_depth_of_nested_waits_is_limited) {
  Context context(MPI_COMM_WORLD);
  constexpr int kParents = 100000;
  for (int t = 0; t < kParents && is_first(); ++t) context.submit({.priority = 1}, kParent);
  context.wait();
  const Counters counters = context.counters();
  EXPECT_EQ(sum_over_ranks(counters.ran_own + counters.ran_borrowed), 2u * kParents);
}

TEST(Faults, long_results_are_sent_in_a_separate_payload_message) {
  for (const char* settings :
       {"shared_bytes=0,large_bytes=1000,chunk_bytes=5000", "large_bytes=1000"}) {
    Context context(MPI_COMM_WORLD, {.settings = settings});
    std::vector<Future<std::vector<std::uint64_t>>> filled;
    submit_pauses(context, 20, [](int) { return With{.pinned = true}; });
    for (std::uint64_t size = 0; size < 3000 && is_first(); size += 50)
      filled.push_back(context.submit(kFill, size));
    context.wait();
    for (std::uint64_t i = 0; i < filled.size(); ++i)
      ASSERT_EQ(filled[i].get(), std::vector<std::uint64_t>(50 * i, 50 * i));
    if (is_first()) {
      EXPECT_EQ(context.counters().returned > 0, count_ranks() > 1);
    }
  }
}

TEST(Faults, shared_memory_is_not_used_if_a_file_size_limit_forbids_it) {
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

TEST(Faults, two_threads_can_wait_for_the_tasks_of_two_contexts_at_once) {
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
TEST(FaultsAtTheEnd, a_context_destroyed_by_an_exception_does_not_wait_for_tasks) {
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
