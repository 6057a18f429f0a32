// What a rank pays for each task that it lends or borrows.
#pragma once

#include <algorithm>
#include <cstddef>

#include "runtimes/tasks/pool/moving_average.h"

namespace poise::tasks {

/// A rank's own work with tasks that come or go: some for each, and some for each byte, there and
/// back. Memory that is touched for the first time, and disturbances, only ever make it longer: it
/// follows smaller values more quickly.
class TaskOverhead {
 public:
  void learn(std::size_t tasks, double bytes, double seconds) {
    const double each = static_cast<double>(tasks);
    // Of a loan of few the message takes the larger part, which says little of a loan of many.
    if (bytes < kMany * each)
      task_s_ = follow(task_s_, seconds / each, std::min(1.0, each / kSome));
    else
      byte_s_ = follow(byte_s_, std::max(0.0, seconds - task_s_ * each) / bytes, 1);
  }
  double seconds(double bytes) const { return task_s_ + byte_s_ * bytes; }

 private:
  static double follow(double average, double sample, double trust) {
    return moved_average(average, sample, trust * (sample < average ? 0.25 : 0.125));
  }
  static constexpr double kMany = 4096;  // bytes whose time is not lost in that of a task
  static constexpr double kSome = 8;     // tasks
  // Quicker than most: what is not tried is not learnt.
  double task_s_ = 0.1e-6, byte_s_ = 0.1e-9;
};

}  // namespace poise::tasks
