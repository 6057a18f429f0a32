// How a thread sleeps until another wakes it, which may be one of another process.
#pragma once

#include <atomic>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <semaphore.h>

namespace poise::tasks {

/// Where one thread or more sleep; may lie in memory that processes share. To wake whom nobody is
/// costs the look at a flag, to wake a sleeper some microseconds.
class Sleeper {
 public:
  Sleeper() { sem_init(&woken_, 1, 0); }
  ~Sleeper() { sem_destroy(&woken_); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  /// Until woken, but so long at most; not at all if `awake()`, which is asked when nobody can miss
  /// the sleeper any more. Where several sleep, one is woken, the others find out by themselves.
  /// May end early.
  template <typename Awake>
  void sleep(double most_s, Awake awake) {
    sleeps_.store(true);
    if (!awake()) wait(most_s);
    sleeps_.store(false);
  }

  void wake() {
    if (sleeps_.load() && sleeps_.exchange(false)) sem_post(&woken_);
  }

 private:
  void wait(double most_s) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const auto seconds = std::floor(most_s);
    until.tv_sec += static_cast<std::time_t>(seconds);
    until.tv_nsec += std::lround((most_s - seconds) * 1e9);
    if (until.tv_nsec >= 1'000'000'000) {
      ++until.tv_sec;
      until.tv_nsec -= 1'000'000'000;
    }
    while (sem_clockwait(&woken_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
  }

  static_assert(std::atomic<bool>::is_always_lock_free);  // else no other process could see it
  std::atomic<bool> sleeps_{false};
  sem_t woken_{};
};

}  // namespace poise::tasks
