// Whether ranks unlearn that lending did not pay.
#include <chrono>
#include <gtest/gtest.h>
#include <mpi.h>
#include <thread>
#include <vector>

#include "runtimes/tasks/context.h"

namespace poise::tasks {
namespace {

using Clock = std::chrono::steady_clock;

void sleep_us(int us) { std::this_thread::sleep_for(std::chrono::microseconds(us)); }
using Nap = Function<void, std::span<const char>>;
const Nap kNap = function("nap over data", [](std::span<const char>) { sleep_us(300); });
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

}  // namespace
}  // namespace poise::tasks
