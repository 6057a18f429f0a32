// SPDX-License-Identifier: BSD-3-Clause
// The moving average of measured times. It is robust against preemption.
#pragma once

#include <algorithm>

#include "poise/online/lending_tuning.h"

namespace poise {

/// Returns the moving average after one more sample; the first sample becomes the average. A sample
/// counts as at most kOutlier times the average, because a preempted task says little about the
/// next one. If the sample is the mean of `count` values, it is capped at what that mean would be
/// if one value were kOutlier times the average and all others were equal to the average.
inline double moved_average(double average, double sample, double weight, double count = 1) {
  if (average <= 0) return sample;
  const double cap = (1 + (lending_tuning::kOutlier - 1) / count) * average;
  return average + weight * (std::min(sample, cap) - average);
}

/// Returns the weight of a sample below the average, for quantities that disturbances can only
/// increase. It is kOutlier times the weight of a sample above the average. A sample counts as at
/// most kOutlier times the average, so the smallest and the largest possible sample move the
/// average about equally far.
inline double weight_of_smaller() { return lending_tuning::kMaxWeight * lending_tuning::kOutlier; }

}  // namespace poise
