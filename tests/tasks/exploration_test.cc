// Whether ranks unlearn that lending did not pay.
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <mpi.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"
#include "tests/tasks/ranks.h"

namespace poise::tasks {
namespace {

using Clock = std::chrono::steady_clock;

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }
using Nap = Function<void, std::span<const char>>;
const Nap kNap = function("nap over data", [](std::span<const char>) { sleep_us(300); });
const auto kSleep = function("sleep for microseconds", sleep_us);
const Nap kLongNap = function("long nap over data", [](std::span<const char>) { sleep_us(700); });

// Of rank 0's 40 tasks so many were lent, each of which took it so long to hand over.
int lent_in_a_step(Context& context, const Nap& nap, int handing_over_us) {
  const std::vector<char> data(10000);
  int lent = 0;
  for (int t = 0; t < 40 && context.rank() == 0; ++t) {
    With with;
    with.on_lend = [&, handing_over_us](std::span<Item>) {
      ++lent;
      if (handing_over_us > 0) sleep_us(handing_over_us);
    };
    context.submit(std::move(with), nap, in(data));
  }
  context.wait();
  MPI_Bcast(&lent, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return lent;
}

// Steps until in one of them as many were lent as is wanted; false if none was in time.
template <typename Wanted>
bool some_step(Context& context, const Nap& nap, int handing_over_us, Wanted wanted) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  for (int goes_on = 1; goes_on;) {
    if (wanted(lent_in_a_step(context, nap, handing_over_us))) return true;
    goes_on = Clock::now() < end;
    MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  return false;
}

TEST(Lessons, are_that_lending_does_not_pay_and_that_it_does_again) {
  Context context(MPI_COMM_WORLD);
  if (context.num_ranks() == 1) GTEST_SKIP() << "one rank lends nothing";
  ASSERT_TRUE(some_step(context, kLongNap, 5000, [](int lent) { return lent == 0; }));
  // What handing over took is believed to be far more than these take: no chance makes it pay.
  EXPECT_TRUE(some_step(context, kNap, 0, [](int lent) { return lent > 10; }));
}

std::atomic<int> finished{0};
Counters until_finished;

// Keeps rank 0's only thread until rank 0 has this many results, and notes the counters of then.
const auto kStayUntilFinished = function("stay until others are finished", [](int wanted) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (finished < wanted && Clock::now() < end) {
    Context::current().poll();
    sleep_us(20);  // others need the core
  }
  until_finished = Context::current().counters();
});

// A rank that runs no task of a function itself learns from results how long its tasks take. While
// it does not know, each loan has a single task.
TEST(Exploration, learns_from_results_how_long_a_function_takes) {
  constexpr int kTasks = 200;
  Context context(MPI_COMM_WORLD, {.settings = "helper=off"});
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
