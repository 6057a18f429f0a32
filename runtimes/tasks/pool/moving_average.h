// The average that measured times go through.
#pragma once

#include <algorithm>

namespace poise::tasks {

/// A moving average. A sample pulls it up to four times its size at most: a task during which the
/// system ran something else says little about the next one. So does one of `several` tasks to the
/// sample's average.
inline double moved_average(double average, double sample, double weight, double several = 1) {
  if (average <= 0) return sample;
  return average + weight * (std::min(sample, (1 + 3 / several) * average) - average);
}

}  // namespace poise::tasks
