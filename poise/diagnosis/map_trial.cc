// SPDX-License-Identifier: BSD-3-Clause

#include "poise/diagnosis/map_trial.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "poise/base/error.h"
#include "poise/diagnosis/tuning.h"

namespace poise {

namespace {

using namespace diagnosis_tuning;

/// Quantiles of Student's t distribution at 0.9975, for 2 to 11 degrees of freedom. So a two-sided
/// test is right with a probability of 99.5 %, and all of up to ten tests with at least 95 %.
constexpr std::array<double, 10> kStudent = {14.089, 7.453, 5.598, 4.773, 4.317,
                                             4.029,  3.833, 3.690, 3.581, 3.497};
static_assert(kStudent.size() == kMaxPairs - kMinPairs + 1 && kMinPairs == 3,
              "a value for each number of pairs at which the trial may end");

std::vector<double> logs_of(const MapHistory& history, RunKind kind) {
  std::vector<double> logs;
  for (const TimedRun& run : history.runs)
    if (run.kind == kind) logs.push_back(std::log(run.seconds));
  return logs;
}

struct Interval {
  double mean = 0, half = 0;
};

/// Returns the confidence interval of the mean of `values`. At least kMinPairs values are needed.
Interval interval_of(std::span<const double> values) {
  const double count = values.size();
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  return {mean, kStudent[values.size() - kMinPairs] * deviation / std::sqrt(count)};
}

/// Returns the fraction of time saved, given log(new time / old time).
double saved(double log_ratio) { return 1 - std::exp(log_ratio); }

double noise_of(std::span<const double> logs) {
  if (logs.size() < kMinPairs) return 0;
  double squares = 0;
  for (std::size_t i = 1; i < logs.size(); ++i)
    squares += (logs[i] - logs[i - 1]) * (logs[i] - logs[i - 1]);
  return std::sqrt(squares / (2.0 * (logs.size() - 1)));
}

/// Tests after each pair of runs, oldest pair first, whether to keep or to drop the map. The first
/// decision is final: later runs cannot change it.
void judge(std::span<const double> own, std::span<const double> mapped, NextRun& next) {
  const std::size_t pairs = std::min({own.size(), mapped.size(), std::size_t{kMaxPairs}});
  std::vector<double> ratios;
  double sum = 0;
  next.state = TrialState::running;
  for (std::size_t i = 0; i < pairs && next.state == TrialState::running; ++i) {
    ratios.push_back(mapped[i] - own[i]);
    sum += ratios.back();
    next.pairs = ratios.size();
    next.gain = saved(sum / ratios.size());
    if (ratios.size() < kMinPairs) continue;
    const Interval interval = interval_of(ratios);
    next.low = saved(interval.mean + interval.half);
    next.high = saved(interval.mean - interval.half);
    if (next.low > 0)
      next.state = TrialState::kept;
    else if (next.high < kMinMapGain || ratios.size() == kMaxPairs)
      next.state = TrialState::dropped;
  }
}

/// Pairs 0, 2, 4 and so on begin with the run in the launcher's order; the other pairs begin with
/// the mapped run.
RunKind next_of_trial(std::size_t own, std::size_t mapped) {
  if (own != mapped) return own < mapped ? RunKind::own_order : RunKind::mapped;
  return own % 2 == 0 ? RunKind::own_order : RunKind::mapped;
}

}  // namespace

NextRun next_run(const MapHistory& history) {
  bool is_profiled = false;
  for (const TimedRun& run : history.runs) {
    if (!(run.seconds > 0 && run.seconds < 1e9))
      fail("the time of a run is {} s; it must be above 0 and below 1e9 s", run.seconds);
    is_profiled = is_profiled || run.kind == RunKind::profiled;
  }
  NextRun next;
  if (!is_profiled) return next;
  next.kind = RunKind::own_order;
  const std::vector<double> own = logs_of(history, RunKind::own_order),
                            mapped = logs_of(history, RunKind::mapped);
  next.noise = noise_of(own);
  next.state = TrialState::no_gain;
  if (!history.has_map || history.predicted < kMinMapGain) return next;
  judge(own, mapped, next);
  if (history.map_failed) next.state = TrialState::failed;
  if (next.state == TrialState::kept) next.kind = RunKind::mapped;
  if (next.state != TrialState::running) return next;
  if (history.predicted <= next.noise)
    next.state = TrialState::noise;
  else
    next.kind = next_of_trial(own.size(), mapped.size());
  return next;
}

}  // namespace poise
