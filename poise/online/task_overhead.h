// SPDX-License-Identifier: BSD-3-Clause
// The CPU time that a rank spends on each task that it lends or borrows (o of the LogGP model).
#pragma once

#include <algorithm>
#include <cstddef>

#include "poise/online/lending_tuning.h"
#include "poise/online/moving_average.h"

namespace poise {

/// The CPU time to pack, unpack or finish tasks: seconds per task plus seconds per byte of the
/// tasks' data, counted in both directions (to the borrower and back). Page faults and preemption
/// can only lengthen samples, so smaller samples count more.
class TaskOverhead {
 public:
  void learn(std::size_t tasks, double bytes, double seconds) {
    const double count = tasks;
    // In a loan of few tasks, most of the overhead comes from the message. Such a loan says little
    // about the overhead per task of larger loans.
    const double trust = std::min(1.0, count * lending_tuning::kMaxWeight);
    // With the initial overheads, the bytes of this sample may cost more time than its tasks. If
    // they do, the sample updates the overhead per byte, otherwise the overhead per task.
    if (bytes * lending_tuning::kInitialPerByte_s < lending_tuning::kInitialOverhead_s * count)
      task_s_ = follow(task_s_, seconds / count, trust);
    else
      byte_s_ = follow(byte_s_, std::max(0.0, seconds - task_s_ * count) / bytes, 1);
  }
  /// The overhead of a task with `bytes` bytes, in seconds.
  double seconds(double bytes) const { return task_s_ + byte_s_ * bytes; }

 private:
  static double follow(double average, double sample, double trust) {
    const double weight = sample < average ? weight_of_smaller() : lending_tuning::kMaxWeight;
    return moved_average(average, sample, trust * weight);
  }
  double task_s_ = lending_tuning::kInitialOverhead_s;
  double byte_s_ = lending_tuning::kInitialPerByte_s;
};

}  // namespace poise
