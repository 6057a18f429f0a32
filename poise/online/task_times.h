// SPDX-License-Identifier: BSD-3-Clause
// Run times per function, learnt from tasks that have run.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "poise/online/lending_tuning.h"
#include "poise/online/moving_average.h"

namespace poise {

/// Returns the seconds for which a running task is expected to continue: its average time minus the
/// time for which it has run so far. If the task has run for more than kSimilar times the average,
/// the average no longer helps. Then the remaining time is assumed to equal the time so far.
inline double remaining_s(double elapsed_s, double expected_s) {
  if (elapsed_s > lending_tuning::kSimilar * expected_s) return elapsed_s;
  return std::max(0.0, expected_s - elapsed_s);
}

/// Returns the expected deviation from remaining_s(), in seconds. It is infinite if nothing
/// predicts the end of the task: its average time is unknown, or it has already run for more than
/// kSimilar times this average. Otherwise it is deviation_s, the expected deviation from the
/// average.
inline double remaining_deviation_s(double elapsed_s, double expected_s, double deviation_s) {
  const bool is_unknown = expected_s <= 0 || elapsed_s > lending_tuning::kSimilar * expected_s;
  return is_unknown ? std::numeric_limits<double>::infinity() : deviation_s;
}

/// For each function, moving averages of the seconds per unit of cost and of their deviation. The
/// averages cover kTaskTimeMemory_s of work, and at least eight tasks. An average over fewer short
/// tasks would change with a single preempted task, and equally loaded ranks would then lend to
/// each other. Several threads may learn at the same time; one of two simultaneous samples may be
/// lost.
class TaskTimes {
 public:
  explicit TaskTimes(std::size_t num_functions)
      : known_(std::make_unique<Known[]>(num_functions)) {}

  /// Learns from a batch of tasks: the seconds they took together, and the sum of their costs.
  void learn(std::uint32_t function, double seconds, double cost, std::size_t batch_size = 1) {
    if (cost <= 0) return;
    Known& known = known_[function];
    const double average = per_unit(function), count = batch_size;
    const double tasks = known.tasks.load(std::memory_order_relaxed) + count;
    // The weight of the batch in the average depends on its expected time, not on its measured
    // time. Otherwise tasks that were preempted would dominate the average.
    const double weight =
        std::min(lending_tuning::kMaxWeight, average * cost / lending_tuning::kTaskTimeMemory_s);
    const double share = std::max(weight, count / tasks);
    known.tasks.store(tasks, std::memory_order_relaxed);
    known.seconds.store(moved_average(average, seconds / cost, share, count),
                        std::memory_order_relaxed);
    if (average <= 0) return;
    // The mean time of `count` tasks varies less than the time of one task: by 1 / sqrt(count).
    const double relative_s = std::min(seconds / cost / average, lending_tuning::kOutlier);
    const double before = deviation(function);
    known.deviation.store(before + share * (std::sqrt(count) * std::abs(relative_s - 1) - before),
                          std::memory_order_relaxed);
  }

  /// Seconds per unit of cost; 0 when unknown.
  double per_unit(std::uint32_t function) const {
    return known_[function].seconds.load(std::memory_order_relaxed);
  }

  /// The mean absolute deviation of a task's time from the expected time, as a fraction of the
  /// expected time; 0 until two tasks have run.
  double deviation(std::uint32_t function) const {
    return known_[function].deviation.load(std::memory_order_relaxed);
  }

 private:
  struct Known {
    std::atomic<double> seconds{0}, tasks{0}, deviation{0};
  };
  std::unique_ptr<Known[]> known_;
};

}  // namespace poise
