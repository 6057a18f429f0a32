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
class Parker {
 public:
  Parker() { sem_init(&woken_, 1, 0); }
  ~Parker() { sem_destroy(&woken_); }
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Until woken, but so long at most; not at all if `awake()`, which is asked when nobody can miss
  /// the sleeper any more. Where several sleep, one is woken, the others find out by themselves.
  /// May end early.
  template <typename Awake>
  void park(double max_s, Awake awake) {
    parked_.store(true);
    if (!awake()) wait(max_s);
    parked_.store(false);
  }

  void wake() {
    if (parked_.load() && parked_.exchange(false)) sem_post(&woken_);
  }

 private:
  void wait(double max_s) {
    timespec until{};
    clock_gettime(CLOCK_MONOTONIC, &until);
    const auto seconds = std::floor(max_s);
    until.tv_sec += static_cast<std::time_t>(seconds);
    until.tv_nsec += std::lround((max_s - seconds) * 1e9);
    if (until.tv_nsec >= 1'000'000'000) {
      ++until.tv_sec;
      until.tv_nsec -= 1'000'000'000;
    }
    while (sem_clockwait(&woken_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
  }

  static_assert(std::atomic<bool>::is_always_lock_free);  // else no other process could see it
  std::atomic<bool> parked_{false};
  sem_t woken_{};
};

}  // namespace poise::tasks
