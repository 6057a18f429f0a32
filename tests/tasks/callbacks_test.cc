// SPDX-License-Identifier: BSD-3-Clause
// Tests of exceptions in tasks, callbacks and policies, and of when callbacks are called. All ranks
// run each test.
#include <atomic>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;

std::atomic<std::uint64_t> runs{0};

const auto kThrow = function("throw", [](int what) {
  if (what % 3 == 0) throw std::runtime_error("no luck with " + std::to_string(what));
  ++runs;
});
const auto kThrowNumber = function("throw a number", [](int number) { throw number; });

std::function<void()> what_to_call;
const auto kCall = function("call", [] { what_to_call(); });

// Submits a task that calls `what` on this rank.
void call_in_a_task(Context& context, std::function<void()> what) {
  what_to_call = std::move(what);
  context.submit({.pinned = true}, kCall);
}

// Returns the text of the exception that the wait throws on this rank, or an empty text if it
// throws none.
std::string thrown_by_wait(Context& context) {
  try {
    context.wait();
  } catch (const TaskFailed& failure) {
    return failure.what();
  }
  return {};
}

const auto kThrowData = function(
    "throw data", [](std::span<const int> x) { throw std::runtime_error(std::to_string(x[0])); });

TEST(Callbacks, the_text_of_a_failure_names_the_task_and_the_line_that_submitted_it) {
  Context context(MPI_COMM_WORLD);
  const std::vector<int> x{5};
  const int line = __LINE__ + 1;
  if (context.rank() == 0) context.submit({.name = 7}, kThrowData, in(x));
  const std::string text = thrown_by_wait(context);
  if (context.rank() > 0) return;
  EXPECT_THAT(text, HasSubstr("task 7 of function \"throw data\", submitted at "));
  EXPECT_THAT(text, HasSubstr(fmt::format("callbacks_test.cc:{}, failed on rank ", line)));
}

TEST(Callbacks, wait_throws_the_exception_of_a_task_on_the_rank_that_submitted_the_task) {
  Context context(MPI_COMM_WORLD);
  runs = 0;
  meet();
  for (int t = 1; t <= 30 && context.rank() == 0; ++t) context.submit(kThrow, t);
  const std::string text = thrown_by_wait(context);
  if (context.rank() == 0) {
    EXPECT_THAT(text, HasSubstr("a task of function \"throw\" failed on rank"));
    EXPECT_THAT(text, HasSubstr("no luck with "));
    EXPECT_THAT(text, HasSubstr("(and 9 more)"));
  } else {
    EXPECT_EQ(text, "");
  }
  EXPECT_EQ(sum_over_ranks(runs), 20u);
  context.wait();  // the context still works
}

const auto kParent = function("parent of a child that throws", [](bool waits, bool catches) {
  Context& context = Context::current();
  context.submit(kThrow, 3);
  if (!waits) return 1;
  try {
    context.wait();
  } catch (const TaskFailed&) {
    if (!catches) throw;
  }
  return 2;
});

TEST(Callbacks,
     a_task_fails_if_its_wait_finds_a_failed_child_unless_the_task_catches_the_exception) {
  Context context(MPI_COMM_WORLD);
  for (const bool catches : {false, true}) {
    std::vector<Future<int>> parents;
    for (int t = 0; t < 20 && is_first(); ++t)
      parents.push_back(context.submit(kParent, true, catches));
    const std::string text = thrown_by_wait(context);
    for (const auto& parent : parents) EXPECT_EQ(parent.ready(), catches);
    if (catches || !is_first()) {
      EXPECT_EQ(text, "");
      continue;
    }
    EXPECT_THAT(text, HasSubstr("a task of function \"parent of a child that throws\" failed on "));
    EXPECT_THAT(text, HasSubstr("a task of function \"throw\" failed on rank "));
    EXPECT_THAT(text, HasSubstr("no luck with 3 (and 19 more)"));
  }
}

TEST(Callbacks,
     failures_of_child_tasks_whose_parent_does_not_wait_are_reported_by_the_outermost_wait) {
  Context context(MPI_COMM_WORLD);
  const auto parent = context.submit({.pinned = true}, kParent, false, false);
  EXPECT_THAT(thrown_by_wait(context), HasSubstr("a task of function \"throw\" failed on rank "));
  EXPECT_EQ(parent.get(), 1);
}

TEST(Callbacks, exceptions_of_any_type_in_lent_tasks_are_reported_to_the_lender) {
  Context context(MPI_COMM_WORLD,
                  {.settings = "progress_thread=off", .policy = all_to_the_last_rank()});
  const std::uint32_t last = context.num_ranks() - 1;
  for (const bool number : {false, true}) {
    runs = 0;
    meet();
    if (context.rank() == 0) keep_threads_until_one_has_left(context);
    for (int t = 1; t <= 30 && context.rank() == 0; ++t)
      context.submit(says_when_it_leaves(), number ? kThrowNumber : kThrow, t);
    const std::string text = thrown_by_wait(context);
    if (context.rank() == 0) {
      EXPECT_THAT(text, HasSubstr(fmt::format(
                            "failed on rank {}: {}", last,
                            number ? "something that is not a std::exception" : "no luck with ")));
      EXPECT_THAT(text, HasSubstr(number ? "(and 29 more)" : "(and 9 more)"));
    } else {
      EXPECT_EQ(text, "");
    }
    EXPECT_EQ(runs, context.rank() == last && !number ? 20u : 0u);
  }
  context.wait();
}

TEST(Callbacks, an_on_lend_callback_that_throws_makes_only_its_own_task_fail) {
  for (const bool replicated : {false, true}) {
    Context context(MPI_COMM_WORLD);
    std::atomic<int> asked = 0, finished = 0;
    if (is_first()) keep_threads_until_one_has_left(context);
    submit_pauses(context, 40, [&](int t) {
      With with;
      if (replicated && t < 20)
        for (int rank = 1; rank < count_ranks(); ++rank)
          with.replicas.push_back(static_cast<std::uint32_t>(rank));
      with.on_lend = [&asked](std::span<Item>) {
        ++asked;
        --still_to_leave;
        throw 7;
      };
      with.on_finish = [&finished] { ++finished; };
      return with;
    });
    const std::string text = thrown_by_wait(context);
    if (is_first()) {
      EXPECT_EQ(finished, 40);
      EXPECT_EQ(asked > 0, count_ranks() > 1);
      const Counters counters = context.counters();
      EXPECT_EQ(counters.failed, static_cast<std::uint64_t>(asked));
      EXPECT_EQ(counters.lent + counters.loans + counters.bytes_lent, 0u) << "no task was sent";
    }
    if (asked > 0) {
      EXPECT_THAT(text, HasSubstr("callback on_lend: something that is not a std::exception"));
    }
    context.wait();  // the context still works
  }
}

TEST(Callbacks, the_counter_of_lent_bytes_uses_the_item_sizes_that_the_on_lend_callback_has_set) {
  Context context(MPI_COMM_WORLD);
  std::vector<char> larger(5000);
  if (is_first()) keep_threads_until_one_has_left(context);
  submit_pauses(context, 40, [&](int) {
    return With{.on_lend = [&larger](std::span<Item> items) {
      items[0].data = larger.data();
      items[0].bytes = larger.size();
      --still_to_leave;
    }};
  });
  context.wait();
  const Counters counters = context.counters();
  if (is_first()) {
    EXPECT_EQ(counters.lent > 0, count_ranks() > 1);
    EXPECT_EQ(counters.bytes_lent, counters.lent * (larger.size() + sizeof(int)));
  }
}

TEST(Callbacks, wait_reports_the_exceptions_that_on_finish_callbacks_throw) {
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

TEST(Callbacks, the_on_finish_callback_is_called_even_if_the_result_of_its_task_is_unreadable) {
  Context context(MPI_COMM_WORLD);
  std::atomic<int> finished = 0;
  for (int number = 0; number < 5; ++number)
    context.submit({.on_finish = [&] { ++finished; }}, kUnreadable, number);
  EXPECT_THAT(thrown_by_wait(context), HasSubstr("three cannot be read"));
  EXPECT_EQ(finished, 5);
}

TEST(Callbacks, the_on_finish_callback_of_a_task_is_destroyed_before_wait_returns) {
  Context context(MPI_COMM_WORLD, {.threads = 3});
  for (int wait = 0; wait < 20; ++wait) {
    const auto held = std::make_shared<std::atomic<int>>();
    submit_pauses(context, 10, [&](int) { return With{.on_finish = [held] { ++*held; }}; });
    context.wait();
    EXPECT_EQ(held.use_count(), 1);
  }
}

TEST(Callbacks, tasks_run_on_their_own_rank_if_the_lending_policy_throws) {
  Policy policy;
  policy.decide = [](const LendingView&) -> std::vector<Loan> { throw 1; };
  policy.load = [](const LendingView&) -> double { throw 2; };
  policy.replicate = [](const LendingView&) -> std::vector<Replication> { throw 3; };
  Context context(MPI_COMM_WORLD, {.policy = policy});
  submit_pauses(context, 10, [](int) { return With{}; });
  context.wait();
  EXPECT_EQ(context.counters().lent, 0u);
}

TEST(Callbacks, a_call_of_wait_inside_an_on_finish_callback_is_refused) {
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
    EXPECT_THAT(
        text,
        HasSubstr("wait was called inside an on_finish or on_lend callback or an offload policy"));
  }
}

// A task that yields runs other tasks. Their callbacks are then called inside the task that yields.
const auto kYieldAndWait = function("yield and wait", [] {
  Context::current().yield();
  Context::current().wait();
});
const auto kAppend = function(
    "append", [](std::span<int> digits, int digit) { digits[0] = 10 * digits[0] + digit; });

TEST(Callbacks, a_task_that_yields_does_not_become_the_parent_of_tasks_that_callbacks_submit) {
  Context context(MPI_COMM_WORLD);
  std::vector<int> digits(1);
  const auto submit_second = [&] {
    context.submit({.pinned = true, .ordered = true}, kAppend, inout(digits), 2);
  };
  context.submit({.priority = 3, .pinned = true}, kYieldAndWait);
  context.submit({.priority = 2, .pinned = true, .on_finish = submit_second}, kPause, in(""), 0);
  context.submit({.priority = 1, .pinned = true, .ordered = true}, kAppend, inout(digits), 1);
  context.wait();
  EXPECT_EQ(digits[0], 12);
}

TEST(Callbacks, a_task_waits_for_the_tasks_that_callbacks_of_its_children_submit) {
  for (const unsigned threads : {1u, 3u}) {
    Context context(MPI_COMM_WORLD, {.threads = threads});
    std::atomic<int> finished = 0, finished_at_end = 0;
    constexpr int kChildren = 20;
    const auto child = [&] {
      return With{.on_finish = [&] {
        context.submit({.on_finish = [&finished] { ++finished; }}, kPause, in(""), 100);
      }};
    };
    const auto parent_body = [&] {
      for (int t = 0; t < kChildren; ++t) context.submit(child(), kPause, in(""), 100);
      context.wait();
      finished_at_end = finished.load();
    };
    call_in_a_task(context, parent_body);
    context.wait();
    EXPECT_EQ(finished_at_end, kChildren);
  }
}

TEST(Callbacks, wait_is_refused_in_a_callback_even_if_the_callback_is_called_inside_a_task) {
  Context context(MPI_COMM_WORLD);
  std::string text;
  const auto wait = [&] {
    try {
      context.wait();
    } catch (const Error& error) {
      text = error.what();
    }
  };
  call_in_a_task(context, [&] {
    context.submit({.pinned = true, .on_finish = wait}, kPause, in(""), 0);
    context.wait();
  });
  context.wait();
  EXPECT_THAT(
      text,
      HasSubstr("wait was called inside an on_finish or on_lend callback or an offload policy"));
}

}  // namespace
}  // namespace poise::tasks
