// SPDX-License-Identifier: BSD-3-Clause
// A wait without a notification: a thread first spins, then yields, then sleeps for increasing
// times.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "runtimes/tasks/tuning.h"

#include "poise/base/clock.h"
#include "poise/online/lending_tuning.h"

namespace poise::tasks {

/// How long a thread that has been idle for `idle_s` seconds sleeps between two polls.
inline double idle_sleep_s(double idle_s) {
  return std::clamp(lending_tuning::kWastedShare * idle_s, lending_tuning::kMinPause_s,
                    lending_tuning::kMaxSleep_s);
}

/// Spins, yields or sleeps, depending on the time since the first pause() after the last reset().
class Backoff {
 public:
  explicit Backoff(double spin_s = lending_tuning::kMinPause_s) : spin_s_(spin_s) {}
  void reset() { since_s_ = -1; }
  void pause() {
    pause([](double sleep_s) {
      std::this_thread::sleep_for(std::chrono::duration<double>(sleep_s));
    });
  }
  /// Waits a little. When it is time to sleep, calls `sleep` with the number of seconds.
  template <typename Sleep>
  void pause(Sleep sleep) {
    const double now_s = wall_now_s();
    if (since_s_ < 0) since_s_ = now_s;
    const double idle_s = now_s - since_s_;
    if (idle_s < spin_s_) return;
    if (idle_s < lending_tuning::kMaxPause_s)
      std::this_thread::yield();
    else
      sleep(idle_sleep_s(idle_s));
  }

 private:
  double spin_s_;
  double since_s_ = -1;
};

/// A mutex for very short critical sections. Without contention, locking and unlocking take less
/// than half as long as for std::mutex. With std::mutex, the two lock-unlock pairs that each task
/// needs were a quarter of the overhead per task.
class BriefMutex {
 public:
  void lock() {
    if (!taken_.exchange(true, std::memory_order_acquire)) return;
    Backoff backoff(tuning::kMutexSpin_s);
    do backoff.pause();
    while (taken_.load(std::memory_order_relaxed) ||
           taken_.exchange(true, std::memory_order_acquire));
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace poise::tasks
