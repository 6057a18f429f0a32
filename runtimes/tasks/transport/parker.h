// SPDX-License-Identifier: BSD-3-Clause
// A place where threads sleep until another thread, of this or another process, wakes them.
#pragma once

#include <atomic>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <semaphore.h>

#include "poise/base/clock.h"

namespace poise::tasks {

/// A place where one or more threads can sleep. A Parker in shared memory works between processes,
/// too. wake() only reads one word if no thread sleeps, and otherwise makes a system call of a few
/// microseconds.
class Parker {
 public:
  Parker() { sem_init(&woken_, 1, 0); }
  ~Parker() { sem_destroy(&woken_); }
  Parker(const Parker&) = delete;
  Parker& operator=(const Parker&) = delete;

  /// Sleeps until wake() is called, for at most `max_s` seconds; may also return early. Does not
  /// sleep at all if `awake()` returns true. This thread is registered as a sleeper before `awake`
  /// is called, so no later wake() is missed. If several threads sleep, wake() wakes one of them,
  /// and the others sleep until their time is over.
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
    const std::int64_t until_ns = wall_now_ns() + std::llround(max_s * 1e9);
    const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
    while (sem_clockwait(&woken_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
  }

  static_assert(std::atomic<bool>::is_always_lock_free);  // a lock would work in one process only
  std::atomic<bool> parked_{false};
  sem_t woken_{};
};

}  // namespace poise::tasks
