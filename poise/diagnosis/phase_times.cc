// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/phase_times.h"

#include <algorithm>

#include "poise/diagnosis/efficiencies.h"

namespace poise {

double largest(std::span<const double> values) {
  return *std::max_element(values.begin(), values.end());
}

std::vector<double> loads_of(const MeasuredPhase& phase) {
  std::vector<double> loads_s;
  for (const RankTimes& rank : phase.ranks) loads_s.push_back(rank.load_s);
  return loads_s;
}

double largest_useful_s(const MeasuredPhase& phase) {
  double s = 0;
  for (const RankTimes& rank : phase.ranks) s = std::max(s, rank.useful_s);
  return s;
}

std::vector<double> exposed_times_s(const MeasuredRun& run) {
  std::vector<double> exposed_s = phase_times_s(run);
  for (std::size_t p = 0; p < exposed_s.size(); ++p)
    exposed_s[p] = std::max(0.0, exposed_s[p] - largest_useful_s(run.phases[p]));
  return exposed_s;
}

std::vector<double> mean_transfers_s(const MeasuredRun& run) {
  std::vector<double> means_s;
  for (const MeasuredPhase& phase : run.phases) {
    double sum_s = 0;
    for (const RankTimes& rank : phase.ranks)
      sum_s += std::max(0.0, rank.wall_s - rank.useful_s - rank.waited.value);
    means_s.push_back(sum_s / phase.ranks.size());
  }
  return means_s;
}

double sum_of(std::span<const std::size_t> phases, const std::vector<double>& phase_times_s) {
  double sum_s = 0;
  for (const std::size_t phase : phases) sum_s += phase_times_s[phase];
  return sum_s;
}

}  // namespace poise
