// The moving average of measured times, robust against preemption.
#pragma once

#include <algorithm>

#include "runtimes/tasks/tuning.h"

namespace poise::tasks {

/// The average after one more sample. Caps the sample at kOutlier times the average: a task that
/// was preempted says little about the next one. Where the sample is itself the mean of `count`
/// values, the cap allows one of them to be that large. The first sample becomes the average.
inline double moved_average(double average, double sample, double weight, double count = 1) {
  if (average <= 0) return sample;
  const double cap = (1 + (tuning::kOutlier - 1) / count) * average;
  return average + weight * (std::min(sample, cap) - average);
}

}  // namespace poise::tasks
