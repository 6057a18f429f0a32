// SPDX-License-Identifier: BSD-3-Clause
// A place where threads sleep until another thread, of this or another process, wakes them.
#pragma once

#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
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
    num_parked_.fetch_add(1);
    if (!awake()) wait(max_s);
    num_parked_.fetch_sub(1);
  }

  void wake() {
    if (num_parked_.load() == 0) return;
    // If the semaphore is above 0, an earlier wake() has woken a thread that has not decremented
    // the semaphore yet. That thread will see what the caller has announced, so one post is enough.
    int posted = 0;
    sem_getvalue(&woken_, &posted);
    if (posted == 0) sem_post(&woken_);
  }

 private:
  void wait(double max_s) {
    const std::int64_t until_ns = wall_now_ns() + std::llround(max_s * 1e9);
    const timespec until{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
    while (sem_clockwait(&woken_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
    }
  }

  using Count = std::atomic<std::uint32_t>;
  static_assert(Count::is_always_lock_free);  // a lock would work in one process only
  Count num_parked_{0};
  sem_t woken_{};
};

}  // namespace poise::tasks
