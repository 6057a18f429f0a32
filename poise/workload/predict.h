// What a task will cost next, told from what it cost before.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "poise/workload/workload.h"

namespace poise {

/// A row of the table of predictors. `next` takes the loads of one task, oldest first and at least
/// one of them; its result is finite but may be negative.
struct Predictor {
  std::string_view name, summary;
  double (*next)(std::span<const double> series, double smoothing);
};

double last_load(std::span<const double> series, double smoothing);
double mean_load(std::span<const double> series, double smoothing);
/// s = smoothing x + (1 - smoothing) s from the oldest on, which starts it.
double smoothed_load(std::span<const double> series, double smoothing);
/// The least-squares line through the series, one step on.
double trend_load(std::span<const double> series, double smoothing);

inline constexpr Predictor kPredictors[] = {
    {"last", "the next phase is like the last", last_load},
    {"mean", "moving average over the window", mean_load},
    {"ewma", "exponentially weighted moving average, the newest counts `smoothing`", smoothed_load},
    {"trend", "least-squares line over the window", trend_load},
};

/// The next load of every task, at least 0, from the last `window` phases: the current one and the
/// youngest of `past` (oldest first, one load per task). A phase with another number of tasks ends
/// the history. O(tasks * window).
std::vector<double> predict_loads(const Predictor& predictor,
                                  std::span<const std::vector<double>> past,
                                  const std::vector<Task>& current, std::size_t window,
                                  double smoothing);

}  // namespace poise
