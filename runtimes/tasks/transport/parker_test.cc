// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/tasks/transport/parker.h"

#include <gtest/gtest.h>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "poise/base/clock.h"

namespace poise::tasks {
namespace {

constexpr double kStalePoll_s = 250;  // how long a sleep lasts if its wake-up is lost

TEST(Parker, does_not_sleep_if_the_awaited_condition_is_already_true) {
  Parker sleeper;
  sleeper.park(kStalePoll_s, [] { return true; });
}

TEST(Parker, sleeps_until_the_timeout_if_no_other_thread_wakes_the_sleeper) {
  Parker sleeper;
  for (int i = 0; i < 100; ++i) sleeper.wake();  // has no effect without a sleeper
  for (const double seconds : {0.0, 1e-6, 0.001, 0.0099999999}) {
    const double begin_s = wall_now_s();
    sleeper.park(seconds, [] { return false; });
    EXPECT_GE(wall_now_s() - begin_s, seconds);
  }
}

TEST(Parker, a_wake_up_is_never_lost_even_just_before_a_thread_falls_asleep) {
  Parker sleeper;
  std::atomic<int> given{0};
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) {
      const int before = given++;
      sleeper.wake();
      while (given == before + 1) std::this_thread::yield();
    }
  });
  for (int taken = 0; taken < 1000; ++taken) {
    while (given % 2 == 0) sleeper.park(kStalePoll_s, [&] { return given % 2 == 1; });
    ++given;
  }
  other.join();
}

TEST(Parker, a_sleeping_thread_can_be_woken_after_another_thread_has_stopped_sleeping) {
  Parker sleeper;
  std::atomic<bool> is_registered{false}, given{false};
  std::thread other([&] {
    const double begin_s = wall_now_s();
    const auto awake = [&] {
      is_registered = true;
      return given.load();
    };
    while (!given) sleeper.park(kStalePoll_s, awake);
    EXPECT_LT(wall_now_s() - begin_s, kStalePoll_s);
  });
  while (!is_registered) std::this_thread::yield();
  sleeper.park(0, [] { return false; });            // this sleep lasts 0 s
  sleeper.park(kStalePoll_s, [] { return true; });  // does not sleep: the condition is true already
  given = true;
  sleeper.wake();
  other.join();
}

TEST(Parker, no_wake_up_is_lost_if_several_threads_sleep_with_different_timeouts) {
  constexpr int kGifts = 2000;
  Parker sleeper;
  std::atomic<int> given{0}, taken{0};
  const auto take_all = [&](double max_s) {
    while (taken < kGifts) {
      int before = taken;
      if (before < given)
        taken.compare_exchange_strong(before, before + 1);
      else
        sleeper.park(max_s, [&] { return taken < given || taken == kGifts; });
    }
    sleeper.wake();  // all gifts are taken, so the other thread can end, too
  };
  const double begin_s = wall_now_s();
  std::thread patient(take_all, kStalePoll_s), hasty(take_all, 1e-5);
  while (given < kGifts) {
    ++given;
    sleeper.wake();
    while (taken < given) std::this_thread::yield();
  }
  patient.join();
  hasty.join();
  EXPECT_LT(wall_now_s() - begin_s, kStalePoll_s);
}

TEST(Parker, a_thread_of_another_process_can_wake_a_sleeping_thread) {
  struct Shared {
    Parker sleeper;
    std::atomic<bool> given{false};
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *new (memory) Shared;
  const pid_t child = fork();
  if (child == 0) {
    shared.given = true;
    shared.sleeper.wake();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  while (!shared.given) shared.sleeper.park(kStalePoll_s, [&] { return shared.given.load(); });
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  shared.~Shared();
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace poise::tasks
