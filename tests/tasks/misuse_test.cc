// SPDX-License-Identifier: BSD-3-Clause
// Tests that a context reports mistakes of the program, also those that only some ranks make, and
// failures of ranks and messages. All ranks run each test.
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "runtimes/tasks/transport/transport.h"
#include "tests/support/leaks.h"
#include "tests/tasks/ranks.h"

#include "poise/base/clock.h"
#include "poise/base/error.h"

namespace poise::tasks {
namespace {

using testing::HasSubstr;

const auto kDoNothing = function("do nothing", [](int) {});

TEST(Misuse, refuses_tasks_with_a_negative_or_infinite_cost) {
  Context context(MPI_COMM_WORLD);
  for (const double cost : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_THROW(context.submit(With{.cost = cost}, kDoNothing, 1), Error);
  context.wait();
}

TEST(Misuse, wait_refuses_zero_as_the_number_of_waiting_threads) {
  Context context(MPI_COMM_WORLD);
  EXPECT_THROW(context.wait(0), Error);
  context.wait();
}

TEST(Misuse, a_task_with_an_unregistered_function_id_is_refused) {
  Context context(MPI_COMM_WORLD);
  try {
    context.submit(With{}, 123456, {});
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "function id 123456 is not registered; use the id that its registration returned");
  }
}

TEST(Misuse, all_ranks_refuse_a_setting_that_is_wrong_on_any_rank) {
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

TEST(Misuse, settings_that_change_the_message_format_must_be_equal_on_all_ranks) {
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

std::string text_of_refusal(MPI_Comm communicator) {
  try {
    Context context(communicator);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Misuse, refuses_a_null_communicator_and_an_intercommunicator) {
  EXPECT_THAT(text_of_refusal(MPI_COMM_NULL), HasSubstr("only on ranks that belong to"));
  if (count_ranks() == 1) GTEST_SKIP() << "an intercommunicator needs two ranks";
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, own_rank() % 2, own_rank(), &half);
  call_leaky_mpi(
      [&] { MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - own_rank() % 2, 0, &both); });
  EXPECT_THAT(text_of_refusal(both), HasSubstr("is an intercommunicator"));
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST(Misuse, all_ranks_get_a_system_error_if_the_system_refuses_a_thread_on_any_rank) {
  pthread_attr_t before, huge;
  pthread_getattr_default_np(&before);
  pthread_attr_init(&huge);
  pthread_attr_setstacksize(&huge, std::size_t{1} << 47);  // the whole address space of a process
  if (own_rank() == count_ranks() - 1) pthread_setattr_default_np(&huge);
  std::string text;
  try {
    Context context(MPI_COMM_WORLD, {.threads = 2});
  } catch (const SystemError& error) {
    text = error.what();
  }
  pthread_setattr_default_np(&before);
  EXPECT_THAT(text, HasSubstr("a tasks::Context wants 1 more threads, but the system allows 0: "));
}

TEST(Misuse, refuses_a_function_that_only_some_ranks_registered) {
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
  EXPECT_THAT(text, HasSubstr("function \"only_here\" (value4) is registered on rank " +
                              std::to_string(last) + " but not on rank 0"));
  if (own_rank() < last) function("only_here", only_here);
  Context context(MPI_COMM_WORLD);
}

TEST(Misuse, refuses_a_function_registered_after_the_context_was_created) {
  Context context(MPI_COMM_WORLD);
  static const auto late = function("late", [](int) {});
  EXPECT_THROW(context.submit(late, 1), Error);
}

TEST(Misuse, wait_is_refused_in_a_thread_that_must_not_call_mpi) {
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

// Makes rank 1 send a payload twice as long as rank 0 expects.
void truncate() {
  Transport post(MPI_COMM_WORLD, std::size_t{1} << 20, 0);
  std::vector<std::byte> data(100000);
  const Payload all{data.data(), data.size()}, half{data.data(), data.size() / 2};
  if (own_rank() == 0) say("rank 0 expects half a message");
  meet();
  if (own_rank() == 1) post.send(0, std::vector<std::byte>(64), {all}, nullptr);
  for (const double begin_s = wall_now_s(); wall_now_s() < begin_s + 200;)
    post.poll([&](const Transport::Arrival& arrival) { post.fetch(arrival, {&half, 1}, [] {}); });
}

// Lends rank 1 a task whose output is larger than the address space. Rank 0 runs such a task, too,
// without an end, so that it does not run the second one itself.
void lend_too_much() {
  const auto poll = register_function("poll", "out1", [](std::span<const Item>) {
    for (const double begin_s = wall_now_s(); wall_now_s() < begin_s + 200;)
      Context::current().poll();
  });
  if (own_rank() == 1) say("rank 1 borrows too much");
  Policy policy;
  policy.decide = [](const LendingView&) { return std::vector<Loan>{{.rank = 1, .tasks = 1}}; };
  Context context(MPI_COMM_WORLD, {.policy = policy});
  std::byte output{};
  const Item items[] = {{&output, std::size_t{1} << 52, Mode::out}};
  for (int i = 0; i < 2 && own_rank() == 0; ++i) context.submit({}, poll, items);
  context.wait();
}

}  // namespace

void run_into(std::string_view trouble) {
  if (trouble == "truncated") return truncate();
  if (trouble == "memory") return lend_too_much();
  const bool last = own_rank() == count_ranks() - 1;
  if (trouble == "signature")
    register_function("f", last ? "value8" : "value4", [](std::span<const Item>) {});
  if (trouble == "uncaught") Context(MPI_COMM_WORLD, {.settings = last ? "polcy=none" : ""});
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
