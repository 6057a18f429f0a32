// SPDX-License-Identifier: BSD-3-Clause

#include "poise/workload/predict.h"

#include <algorithm>

namespace poise {

double last_load(std::span<const double> series, double) { return series.back(); }

double mean_load(std::span<const double> series, double) {
  double sum = 0;
  for (const double load : series) sum += load;
  return sum / series.size();
}

double smoothed_load(std::span<const double> series, double smoothing) {
  double smoothed = series.front();
  for (const double load : series.subspan(1)) smoothed += smoothing * (load - smoothed);
  return smoothed;
}

double trend_load(std::span<const double> series, double smoothing) {
  if (series.size() < 2) return last_load(series, smoothing);
  // If phases are numbered symmetrically around 0, slope and intercept can be computed separately.
  // The sum of squares of n such numbers is n (n^2 - 1) / 12, and the next phase has number (n + 1)
  // / 2.
  const double n = series.size();
  double moment = 0;
  for (std::size_t i = 0; i < series.size(); ++i) moment += (i - (n - 1) / 2) * series[i];
  const double slope = moment * 12 / (n * (n * n - 1));
  return mean_load(series, smoothing) + slope * (n + 1) / 2;
}

std::vector<double> predict_loads(const Predictor& predictor,
                                  std::span<const std::vector<double>> past,
                                  const std::vector<Task>& current, std::size_t window,
                                  double smoothing) {
  std::size_t used = 0;
  while (used < past.size() && used + 1 < window &&
         past[past.size() - 1 - used].size() == current.size())
    ++used;
  past = past.last(used);

  std::vector<double> next(current.size()), series(used + 1);
  for (std::size_t t = 0; t < current.size(); ++t) {
    for (std::size_t phase = 0; phase < used; ++phase) series[phase] = past[phase][t];
    series[used] = current[t].load_s;
    next[t] = std::max(predictor.next(series, smoothing), 0.0);
  }
  return next;
}

}  // namespace poise
