// SPDX-License-Identifier: BSD-3-Clause
// The moving average of measured times. It is robust against preemption.
#pragma once

#include <algorithm>

#include "poise/online/lending_tuning.h"

namespace poise {

/// Returns the moving average after one more sample. The sample is capped at kOutlier times the
/// average, because a preempted task says little about the next one. If the sample is the mean of
/// `count` values, the cap is lower: it allows one value of kOutlier times the average among
/// otherwise average ones. The first sample becomes the average.
inline double moved_average(double average, double sample, double weight, double count = 1) {
  if (average <= 0) return sample;
  const double cap = (1 + (lending_tuning::kOutlier - 1) / count) * average;
  return average + weight * (std::min(sample, cap) - average);
}

}  // namespace poise
