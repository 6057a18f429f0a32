// SPDX-License-Identifier: BSD-3-Clause
#include "poise/diagnosis/map_trial.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

#include "poise/base/error.h"
#include "poise/base/random.h"

namespace poise {
namespace {

MapHistory profiled(double predicted) {
  return {.has_map = true, .predicted = predicted, .runs = {{RunKind::profiled, 10}}};
}

/// Simulates runs until the trial ends, but at most `most` runs. `seconds(i, kind)` returns the
/// duration of run i.
NextRun carry_out(MapHistory& history, int most,
                  const std::function<double(int, RunKind)>& seconds) {
  NextRun next = next_run(history);
  for (int i = 0; i < most && next.state == TrialState::running; ++i) {
    history.runs.push_back({next.kind, seconds(i, next.kind)});
    next = next_run(history);
  }
  return next;
}

TEST(map_trial, the_first_run_is_profiled) {
  EXPECT_EQ(next_run({}).kind, RunKind::profiled);
  EXPECT_EQ(next_run({.has_map = false, .predicted = 0, .runs = {{RunKind::own_order, 3}}}).kind,
            RunKind::profiled);
}

TEST(map_trial, ranks_stay_where_the_launcher_put_them_if_moving_them_promises_no_gain) {
  for (const double predicted : {0.0, 0.009, -1.0}) {
    const NextRun next = next_run(profiled(predicted));
    EXPECT_EQ(next.kind, RunKind::own_order);
    EXPECT_EQ(next.state, TrialState::no_gain);
  }
  MapHistory no_map = profiled(0.5);
  no_map.has_map = false;
  EXPECT_EQ(next_run(no_map).state, TrialState::no_gain);
}

TEST(map_trial, the_order_of_the_runs_with_and_without_the_map_alternates_from_pair_to_pair) {
  MapHistory history = profiled(0.2);
  std::string order;
  carry_out(history, 8, [&](int i, RunKind kind) {
    order += kind == RunKind::mapped ? 'm' : 'o';
    return i % 3 == 0 ? 10 : 11.0;  // run times vary too much for the trial to end
  });
  EXPECT_EQ(order, "ommoommo");
}

TEST(map_trial, three_pairs_of_runs_with_and_without_the_map_suffice_if_run_times_have_no_noise) {
  MapHistory faster = profiled(0.2), slower = profiled(0.2);
  const NextRun kept =
      carry_out(faster, 99, [](int, RunKind kind) { return kind == RunKind::mapped ? 8 : 10.0; });
  EXPECT_EQ(kept.state, TrialState::kept);
  EXPECT_EQ(kept.kind, RunKind::mapped);
  EXPECT_EQ(kept.pairs, 3u);
  EXPECT_NEAR(kept.gain, 0.2, 1e-12);
  EXPECT_NEAR(kept.low, 0.2, 1e-9);
  const NextRun dropped =
      carry_out(slower, 99, [](int, RunKind kind) { return kind == RunKind::mapped ? 11 : 10.0; });
  EXPECT_EQ(dropped.state, TrialState::dropped);
  EXPECT_EQ(dropped.kind, RunKind::own_order);
  EXPECT_EQ(dropped.pairs, 3u);
  EXPECT_NEAR(dropped.gain, -0.1, 1e-12);
}

TEST(map_trial, the_interval_of_the_gain_is_the_confidence_interval_of_students_t_distribution) {
  // The logarithms of the ratios of run times are -0.1, -0.2 and -0.3: mean -0.2, standard
  // deviation 0.1.
  MapHistory history = profiled(0.5);
  for (const double log_ratio : {-0.1, -0.2, -0.3}) {
    history.runs.push_back({RunKind::own_order, 10});
    history.runs.push_back({RunKind::mapped, 10 * std::exp(log_ratio)});
  }
  const NextRun next = next_run(history);
  const double half = 14.089 * 0.1 / std::sqrt(3.0);
  EXPECT_EQ(next.state, TrialState::running);
  EXPECT_NEAR(next.gain, 1 - std::exp(-0.2), 1e-12);
  EXPECT_NEAR(next.low, 1 - std::exp(-0.2 + half), 1e-9);
  EXPECT_NEAR(next.high, 1 - std::exp(-0.2 - half), 1e-9);
}

TEST(map_trial, the_trial_ends_after_twelve_pairs_if_the_interval_always_contains_zero) {
  // Quantiles of Student's t distribution at 0.9975, for 2 to 11 degrees of freedom.
  const std::vector<double> quantiles{14.089, 7.453, 5.598, 4.773, 4.317,
                                      4.029,  3.833, 3.690, 3.581, 3.497};
  MapHistory history = profiled(0.9);
  double sum = 0, squares = 0;
  for (std::size_t n = 1; n <= 12; ++n) {
    const double log_ratio = (n % 2 == 0 ? 0.3 : -0.35) + 0.01 * n;
    history.runs.push_back({RunKind::own_order, 10});
    history.runs.push_back({RunKind::mapped, 10 * std::exp(log_ratio)});
    sum += log_ratio;
    squares += log_ratio * log_ratio;
    const NextRun next = next_run(history);
    EXPECT_EQ(next.state, n < 12 ? TrialState::running : TrialState::dropped);
    EXPECT_EQ(next.pairs, n);
    EXPECT_NEAR(next.gain, 1 - std::exp(sum / n), 1e-12);
    const double variance = n < 3 ? 0 : (squares - sum * sum / n) / (n - 1),
                 half = n < 3 ? 0 : quantiles[n - 3] * std::sqrt(variance / n);
    EXPECT_NEAR(next.low, n < 3 ? 0 : 1 - std::exp(sum / n + half), 1e-9) << n;
    EXPECT_NEAR(next.high, n < 3 ? 0 : 1 - std::exp(sum / n - half), 1e-9) << n;
  }
}

TEST(map_trial, a_map_is_tried_only_if_its_promised_gain_is_at_least_one_percent) {
  EXPECT_EQ(next_run(profiled(0.01)).state, TrialState::running);
  EXPECT_EQ(next_run(profiled(0.0099)).state, TrialState::no_gain);
}

TEST(map_trial,
     a_map_is_dropped_once_the_whole_confidence_interval_of_its_gain_is_below_one_percent) {
  // The mean gain of three pairs is 0.4 %. The half width of its interval is 8.13 times the
  // standard deviation: 0.49 % for a deviation of 0.06 %, and 0.81 % for a deviation of 0.1 %.
  for (const double deviation : {0.0006, 0.001}) {
    MapHistory history = profiled(0.2);
    for (const double log_ratio : {-0.004 - deviation, -0.004, -0.004 + deviation}) {
      history.runs.push_back({RunKind::mapped, 10 * std::exp(log_ratio)});
      history.runs.push_back({RunKind::own_order, 10});
    }
    EXPECT_EQ(next_run(history).state,
              deviation < 0.0008 ? TrialState::dropped : TrialState::running);
  }
}

TEST(map_trial,
     the_noise_of_run_times_is_known_after_three_runs_with_the_rank_order_of_the_launcher) {
  MapHistory history = profiled(0.2);
  const std::vector<double> logs{0, 0.1, 0.3, 0};
  const std::vector<double> noise{0, 0, std::sqrt((0.01 + 0.04) / 4),
                                  std::sqrt((0.01 + 0.04 + 0.09) / 6)};
  for (std::size_t i = 0; i < logs.size(); ++i) {
    history.runs.push_back({RunKind::own_order, std::exp(logs[i])});
    EXPECT_NEAR(next_run(history).noise, noise[i], 1e-12);
  }
}

TEST(map_trial, a_map_that_won_its_trial_stays_in_use_whatever_later_runs_measure) {
  MapHistory history = profiled(0.2);
  carry_out(history, 99, [](int, RunKind kind) { return kind == RunKind::mapped ? 8 : 10.0; });
  for (int i = 0; i < 9; ++i) {
    history.runs.push_back({RunKind::mapped, 30});
    history.runs.push_back({RunKind::own_order, 10});
    EXPECT_EQ(next_run(history).state, TrialState::kept);
    EXPECT_NEAR(next_run(history).gain, 0.2, 1e-12);
  }
}

TEST(map_trial, a_map_is_not_tried_again_after_a_run_with_it_failed) {
  MapHistory history = profiled(0.5);
  history.map_failed = true;
  EXPECT_EQ(next_run(history).state, TrialState::failed);
  EXPECT_EQ(next_run(history).kind, RunKind::own_order);
}

TEST(map_trial, a_map_is_not_tried_while_its_promised_gain_is_below_the_noise_of_run_times) {
  MapHistory history = profiled(0.05);
  // The run times in the launcher's order have the logarithms 0, 0.2 and 0. So their standard
  // deviation, computed from successive differences, is 0.2 / sqrt(2).
  for (const double log_s : {0.0, 0.2, 0.0}) {
    history.runs.push_back({RunKind::own_order, std::exp(log_s)});
    history.runs.push_back({RunKind::mapped, std::exp(log_s)});
    history.runs.back().seconds *= log_s > 0 ? 1.5 : 1;
  }
  const NextRun next = next_run(history);
  EXPECT_EQ(next.state, TrialState::noise);
  EXPECT_EQ(next.kind, RunKind::own_order);
  EXPECT_NEAR(next.noise, 0.2 / std::sqrt(2.0), 1e-12);
  history.predicted = 0.15;
  EXPECT_EQ(next_run(history).state, TrialState::running);
}

/// The number of trials, out of 200, that end in each way if run times vary by the fraction
/// `noise`.
struct Counts {
  int kept = 0, dropped = 0, other = 0;
};
Counts trials(double gain, double noise, double predicted, double drift_per_run) {
  Counts counts;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    MapHistory history = profiled(predicted);
    const NextRun end = carry_out(history, 1000, [&](int i, RunKind kind) {
      const double log_s = noise * random.normal() + drift_per_run * i +
                           (kind == RunKind::mapped ? std::log(1 - gain) : 0);
      return 100 * std::exp(log_s);
    });
    EXPECT_LE(history.runs.size(), 25u);
    ++(end.state == TrialState::kept      ? counts.kept
       : end.state == TrialState::dropped ? counts.dropped
                                          : counts.other);
  }
  return counts;
}

TEST(map_trial, keeps_maps_that_make_the_simulated_program_faster) {
  EXPECT_GE(trials(0.10, 0.02, 0.1, 0).kept, 198);
  EXPECT_GE(trials(0.05, 0.02, 0.1, 0).kept, 190);
  EXPECT_GE(trials(0.10, 0.02, 0.1, 0.01).kept, 190);
}

TEST(map_trial, drops_maps_that_do_not_make_the_simulated_program_faster) {
  // At most 5 % of the trials may keep a map that saves nothing: 10 of 200, plus three standard
  // deviations of that number (9).
  for (const double drift : {0.0, 0.01, -0.01}) {
    EXPECT_LE(trials(0, 0.02, 0.1, drift).kept, 19) << drift;
    EXPECT_GE(trials(0, 0.02, 0.1, drift).dropped, 181) << drift;
  }
  EXPECT_EQ(trials(-0.05, 0.02, 0.1, 0).kept, 0);
  EXPECT_GE(trials(-0.05, 0.02, 0.1, 0).dropped, 195);
}

TEST(map_trial, run_times_that_are_not_positive_or_far_too_long_are_refused) {
  for (const double seconds : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    MapHistory history = profiled(0.1);
    history.runs.push_back({RunKind::mapped, seconds});
    EXPECT_THROW(next_run(history), Error);
  }
}

}  // namespace
}  // namespace poise
