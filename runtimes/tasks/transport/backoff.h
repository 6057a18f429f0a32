// How a thread waits that cannot sleep until somebody wakes it.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "runtimes/tasks/transport/clock.h"

namespace poise::tasks {

/// How somebody who finds nothing to do waits: spinning first, then making room for longer.
class Backoff {
 public:
  explicit Backoff(double spin_s = 50e-6) : spin_s_(spin_s) {}
  void reset() { since_s_ = -1; }
  void pause() {
    pause([](double sleep_s) {
      std::this_thread::sleep_for(std::chrono::duration<double>(sleep_s));
    });
  }
  /// `nap`: to be called with how many seconds to sleep.
  template <typename Nap>
  void pause(Nap nap) {
    const double now_s = clock_s();
    if (since_s_ < 0) since_s_ = now_s;
    if (now_s - since_s_ < spin_s_) return;
    if (now_s - since_s_ < kYield_s)
      std::this_thread::yield();
    else
      nap(kSleep_s);
  }

 private:
  static constexpr double kYield_s = 1e-3, kSleep_s = 50e-6;
  double spin_s_;
  double since_s_ = -1;
};

/// A mutex for moments. Free, as it mostly is, it costs less than half of std::mutex, of which two
/// pairs were a quarter of what a task costs.
class BriefMutex {
 public:
  void lock() {
    if (!taken_.exchange(true, std::memory_order_acquire)) return;
    Backoff backoff(kBriefSpin_s);
    do backoff.pause();
    while (taken_.load(std::memory_order_relaxed) ||
           taken_.exchange(true, std::memory_order_acquire));
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  static constexpr double kBriefSpin_s = 0.5e-6;  // longer: its owner has lost its core
  std::atomic<bool> taken_{false};
};

}  // namespace poise::tasks
