// How a thread waits that cannot sleep until somebody wakes it.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "runtimes/tasks/clock.h"

namespace poise::tasks {

/// How somebody who finds nothing to do waits: spinning first, then making room for longer.
class Backoff {
 public:
  void reset() { since_s_ = -1; }
  void pause() {
    const double now_s = clock_s();
    if (since_s_ < 0) since_s_ = now_s;
    if (now_s - since_s_ < kSpin_s) return;
    if (now_s - since_s_ < kYield_s)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }

 private:
  static constexpr double kSpin_s = 50e-6, kYield_s = 1e-3;
  static constexpr std::chrono::microseconds kNap{50};
  double since_s_ = -1;
};

/// A mutex for moments. Free, as it mostly is, it costs a third of std::mutex: two pairs of these
/// were a quarter of what a task costs.
class BriefMutex {
 public:
  void lock() {
    if (!taken_.exchange(true, std::memory_order_acquire)) return;
    Backoff backoff;
    do backoff.pause();
    while (taken_.load(std::memory_order_relaxed) ||
           taken_.exchange(true, std::memory_order_acquire));
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace poise::tasks
