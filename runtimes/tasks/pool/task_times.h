// How long tasks of each function take, learnt from those that ran.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtimes/tasks/pool/moving_average.h"

namespace poise::tasks {

/// Seconds per unit of cost, for each function: a moving average over some 20 ms of work, or over
/// eight tasks if that is more. Over a few short tasks it would be what disturbed one of them, and
/// equal ranks would lend to each other. Threads may learn at once; of two values learnt at the
/// same time one may be lost.
class TaskTimes {
 public:
  explicit TaskTimes(std::size_t num_functions)
      : known_(std::make_unique<Known[]>(num_functions)) {}

  /// From tasks in a row, with what they cost and took together.
  void learn(std::uint32_t function, double seconds, double cost, std::size_t batch_size = 1) {
    if (cost <= 0) return;
    Known& known = known_[function];
    const double average = per_unit(function), several = static_cast<double>(batch_size);
    const double tasks = known.tasks.load(std::memory_order_relaxed) + several;
    // As long as it was expected to be: disturbed ones would weigh the more the worse.
    const double weight = std::min(kMaxWeight, average * cost / kMemory_s);
    known.tasks.store(tasks, std::memory_order_relaxed);
    known.seconds.store(
        moved_average(average, seconds / cost, std::max(weight, several / tasks), several),
        std::memory_order_relaxed);
  }

  /// Seconds per unit of cost; 0 when the function never ran.
  double per_unit(std::uint32_t function) const {
    return known_[function].seconds.load(std::memory_order_relaxed);
  }

 private:
  static constexpr double kMaxWeight = 0.125, kMemory_s = 20e-3;
  struct Known {
    std::atomic<double> seconds{0}, tasks{0};
  };
  std::unique_ptr<Known[]> known_;
};

}  // namespace poise::tasks
