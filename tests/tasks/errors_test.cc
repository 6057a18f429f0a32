// SPDX-License-Identifier: BSD-3-Clause
// Tests of errors: exceptions in tasks, wrong use of a context, ranks and messages that fail. All
// ranks run each test.
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <thread>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/transport/transport.h"
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
const auto kDoNothing = function("do nothing", [](int) {});

// Returns the text of the exception that the wait throws on this rank, or an empty text if it
// throws none.
std::string failure_of_wait(Context& context) {
  try {
    context.wait();
  } catch (const TaskFailed& failure) {
    return failure.what();
  }
  return "";
}

TEST(Context, wait_throws_the_exception_of_a_task_on_the_rank_that_submitted_the_task) {
  Context context(MPI_COMM_WORLD);
  runs = 0;
  meet();
  for (int t = 1; t <= 30 && context.rank() == 0; ++t) context.submit(kThrow, t);
  const std::string text = failure_of_wait(context);
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

TEST(Context, exceptions_of_any_type_in_lent_tasks_are_reported_to_the_lender) {
  Context context(MPI_COMM_WORLD,
                  {.settings = "progress_thread=off", .policy = all_to_the_last_rank()});
  const std::uint32_t last = context.num_ranks() - 1;
  for (const bool number : {false, true}) {
    runs = 0;
    meet();
    if (context.rank() == 0) keep_threads_until_one_has_left(context);
    for (int t = 1; t <= 30 && context.rank() == 0; ++t)
      context.submit(says_when_it_leaves(), number ? kThrowNumber : kThrow, t);
    const std::string text = failure_of_wait(context);
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

TEST(Context, refuses_tasks_with_a_negative_or_infinite_cost) {
  Context context(MPI_COMM_WORLD);
  for (const double cost : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(context.submit(With{.cost = cost}, kDoNothing, 1), Error);
  context.wait();
}

TEST(Context, all_ranks_refuse_a_setting_that_is_wrong_on_any_rank) {
  for (const bool everywhere : {true, false}) {
    std::string text;
    try {
      const bool here = everywhere || own_rank() == count_ranks() - 1;
      Context context(MPI_COMM_WORLD, {.settings = here ? "polcy=none" : ""});
    } catch (const Error& error) {
      text = error.what();
    }
    EXPECT_THAT(text, HasSubstr("did you mean \"policy\""));
  }
  EXPECT_THROW(Context(MPI_COMM_WORLD, {.threads = 0}), Error);
}

TEST(Context, refuses_a_function_that_only_some_ranks_registered) {
  const int last = count_ranks() - 1;
  if (last == 0) GTEST_SKIP() << "one rank agrees with itself";
  const auto only_here = [](int) {};
  if (own_rank() == last) function("only_here", only_here);
  std::string text;
  try {
    Context context(MPI_COMM_WORLD);
  } catch (const Error& error) {
    text = error.what();
  }
  EXPECT_THAT(text, HasSubstr("function \"only_here\" (value4 ) is registered on rank " +
                              std::to_string(last) + " but not on rank 0"));
  if (own_rank() < last) function("only_here", only_here);
  Context context(MPI_COMM_WORLD);
}

TEST(Context, refuses_a_function_registered_after_the_context_was_created) {
  Context context(MPI_COMM_WORLD);
  static const auto late = function("late", [](int) {});
  EXPECT_THROW(context.submit(late, 1), Error);
}

TEST(Context, wait_is_refused_in_a_thread_that_must_not_call_mpi) {
  if (may_any_thread_call_mpi()) GTEST_SKIP() << "any thread may call MPI";
  Context context(MPI_COMM_WORLD);
  std::thread([&] { EXPECT_THROW(context.wait(), Error); }).join();
}

// Prints a line, and gives the launcher time to read it before the job ends.
void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
}

const auto kKill = function("kill", [] {
  say(fmt::format("rank {} is inside its last task", Context::current().rank()));
  std::raise(SIGKILL);
});

// Rank 1 sends a payload twice as long as rank 0 expects.
void truncate() {
  Transport post(MPI_COMM_WORLD, std::size_t{1} << 20, 0);
  std::vector<std::byte> data(100000);
  const Payload all{data.data(), data.size()}, half{data.data(), data.size() / 2};
  if (own_rank() == 0) say("rank 0 expects half a message");
  meet();
  if (own_rank() == 1) post.send(0, std::vector<std::byte>(64), {all}, nullptr);
  for (const double begin_s = MPI_Wtime(); MPI_Wtime() < begin_s + 20;)
    post.poll([&](const Transport::Arrival& arrival) { post.fetch(arrival, {&half, 1}, [] {}); });
}

}  // namespace

void run_into(std::string_view trouble) {
  if (trouble == "truncated") return truncate();
  const bool last = own_rank() == count_ranks() - 1;
  try {
    Context context(MPI_COMM_WORLD);
    if (trouble == "late" && last) std::this_thread::sleep_for(std::chrono::seconds(1));
    if (trouble == "killed" && last) context.submit({.pinned = true}, kKill);
    context.wait();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

int run_without_mpi(int argc, char** argv) {
  const auto refused = [](const char* text) {
    try {
      Context context(MPI_COMM_WORLD);
    } catch (const Error& error) {
      return std::string(error.what()).find(text) != std::string::npos;
    }
    return false;
  };
  const bool before = refused("call MPI_Init_thread first");
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &level);
  const bool single = level > MPI_THREAD_SINGLE || refused("MPI_THREAD_SINGLE");
  MPI_Finalize();
  const bool after = refused("but MPI is finalized");
  std::puts(before && single && after ? "misuse is refused" : "misuse is NOT refused");
  return 0;
}

}  // namespace poise::tasks
