// SPDX-License-Identifier: BSD-3-Clause
// Predicts the next load of each task from its earlier loads.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// One way to predict loads: a row of the table below. `next` predicts the next load of one task
/// from `series`, which holds the task's earlier loads (at least one), oldest first. The prediction
/// is finite but may be negative.
struct Predictor {
  std::string_view name, summary;
  double (*next)(std::span<const double> series, double smoothing);
};

double last_load(std::span<const double> series, double smoothing);
double mean_load(std::span<const double> series, double smoothing);
/// Exponentially weighted moving average: s = smoothing * x + (1 - smoothing) * s over the series,
/// starting with s = the oldest load.
double smoothed_load(std::span<const double> series, double smoothing);
/// Extends the least-squares line through the series by one step.
double trend_load(std::span<const double> series, double smoothing);

inline constexpr Predictor kPredictors[] = {
    {"last", "the next phase is like the last", last_load},
    {"mean", "moving average over the window", mean_load},
    {"ewma", "exponentially weighted moving average, the newest counts `smoothing`", smoothed_load},
    {"trend", "least-squares line over the window", trend_load},
};

/// Predicts the next load of every task, at least 0, from the last `window` phases: the current one
/// and the newest of `past` (oldest first, one load per task). Ignores all phases before the last
/// change of the number of tasks. O(tasks * window).
std::vector<double> predict_loads(const Predictor& predictor,
                                  std::span<const std::vector<double>> past,
                                  const std::vector<Task>& current, std::size_t window,
                                  double smoothing);

}  // namespace poise
