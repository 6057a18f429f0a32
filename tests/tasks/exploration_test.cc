// SPDX-License-Identifier: BSD-3-Clause
// Tests of exploration: loans that measure whether lending pays and how long tasks take.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mpi.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

#include "poise/base/clock.h"

namespace poise::tasks {
namespace {

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }
using DataTask = Function<void, std::span<const char>>;
const DataTask kShort =
    function("short task with data", [](std::span<const char>) { sleep_us(300); });
const auto kSleep = function("sleep for microseconds", sleep_us);
const DataTask kLong =
    function("long task with data", [](std::span<const char>) { sleep_us(700); });

// Runs 40 tasks of rank 0. Each task that is lent takes `handing_over_us` microseconds to lend.
// Returns how many tasks were lent.
int lent_in_a_step(Context& context, const DataTask& task, int handing_over_us) {
  const std::vector<char> data(10000);
  int lent = 0;
  for (int t = 0; t < 40 && context.rank() == 0; ++t) {
    With with;
    with.on_lend = [&, handing_over_us](std::span<Item>) {
      ++lent;
      if (handing_over_us > 0) sleep_us(handing_over_us);
    };
    context.submit(std::move(with), task, in(data));
  }
  context.wait();
  MPI_Bcast(&lent, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return lent;
}

// Repeats lent_in_a_step(), for at most 200 s, until `wanted` is true for the number of lent tasks.
// Returns whether that happened.
template <typename Wanted>
bool some_step(Context& context, const DataTask& task, int handing_over_us, Wanted wanted) {
  const double end_s = wall_now_s() + 200;
  for (int goes_on = 1; goes_on;) {
    if (wanted(lent_in_a_step(context, task, handing_over_us))) return true;
    goes_on = wall_now_s() < end_s;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return false;
}

TEST(Exploration, a_rank_that_stopped_lending_lends_again_when_lending_pays) {
  Context context(MPI_COMM_WORLD);
  if (context.num_ranks() == 1) GTEST_SKIP() << "one rank lends nothing";
  ASSERT_TRUE(some_step(context, kLong, 5000, [](int lent) { return lent == 0; }));
  // The rank has learnt that lending a task takes longer than running it. So it lends tasks only
  // now and then, to measure again whether lending pays.
  EXPECT_TRUE(some_step(context, kShort, 0, [](int lent) { return lent > 10; }));
}

std::atomic<int> finished{0};
Counters until_finished;

// Keeps the only thread of rank 0 busy until `wanted` other tasks of rank 0 have finished, and then
// stores the counters of the context.
const auto kStayUntilFinished = function("stay until others are finished", [](int wanted) {
  const double end_s = wall_now_s() + 200;
  while (finished < wanted && wall_now_s() < end_s) {
    Context::current().poll();
    sleep_us(20);  // leaves the core to other ranks
  }
  until_finished = Context::current().counters();
});

// If a rank runs no task of a function itself, it learns how long the function's tasks take from
// the results that borrowers return. Until the first result, each loan consists of a single task.
TEST(Exploration, a_lender_learns_from_results_of_lent_tasks_how_long_their_function_takes) {
  constexpr int kTasks = 200;
  Context context(MPI_COMM_WORLD, {.settings = "progress_thread=off"});
  if (context.num_ranks() == 1) GTEST_SKIP() << "one rank lends nothing";
  finished = 0;
  meet();
  if (context.rank() == 0) {
    context.submit({.priority = 1, .pinned = true}, kStayUntilFinished, kTasks / 2);
    for (int t = 0; t < kTasks; ++t) {
      With with;
      with.on_finish = [] { ++finished; };
      context.submit(std::move(with), kSleep, 500);
    }
  }
  context.wait();
  if (context.rank() > 0) return;
  EXPECT_GE(until_finished.lent, kTasks / 2);
  EXPECT_LT(until_finished.loans, until_finished.lent / 2);
}

}  // namespace
}  // namespace poise::tasks
