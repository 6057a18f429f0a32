// SPDX-License-Identifier: BSD-3-Clause

#include "poise/simulate/theory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "poise/base/error.h"

namespace poise {
namespace {

TEST(Theory, eight_threads_on_seven_places_take_the_times_computed_by_hand) {
  const SpmdProgram program{8, 7, 30};
  const Slots slots = slots_of(program);
  EXPECT_EQ(slots.most, 2u);
  EXPECT_EQ(slots.fewest, 1u);
  EXPECT_EQ(slots.slow, 2u);
  EXPECT_EQ(slots.fast, 6u);
  EXPECT_EQ(static_s(program), 60);
  EXPECT_DOUBLE_EQ(ideal_s(program), 30 * 8.0 / 7);
  EXPECT_DOUBLE_EQ(lag_s(program, 0.1), 0.05);
  EXPECT_DOUBLE_EQ(proactive_bound_s(program, 0.1), 30 * 8.0 / 7);
  EXPECT_DOUBLE_EQ(proactive_bound_s(program, 50), 30 + 25);
  EXPECT_EQ(proactive_bound_s(program, 60), 60);
  EXPECT_EQ(reactive_s(program), 45);
}

TEST(Theory, a_run_gets_longer_by_the_costs_of_all_its_balancing_points) {
  // Section 4.5 of the paper: if each balancing point costs 100 us and the period is 0.5 ms, a
  // program runs at 80 % of the speed that it would have without this cost.
  EXPECT_DOUBLE_EQ(with_cost_s(8, 0.5e-3, 100e-6), 10);
  EXPECT_TRUE(std::isinf(with_cost_s(8, 100e-6, 100e-6)));
}

TEST(Theory,
     with_reactive_balancing_16_threads_on_12_places_take_50_percent_longer_than_a_thread_alone) {
  const SpmdProgram program{16, 12, 1};
  EXPECT_EQ(reactive_s(program), 1.5);
  EXPECT_EQ(reactive_closed_form_s(program), 1.5);
  EXPECT_DOUBLE_EQ(static_s(program) / reactive_s(program), 4.0 / 3);
  EXPECT_DOUBLE_EQ(static_s(program) / ideal_s(program), 1.5);
}

TEST(Theory, there_is_nothing_to_gain_if_all_places_have_equally_many_threads) {
  for (const SpmdProgram program : {SpmdProgram{16, 8, 3}, {8, 8, 3}, {3, 8, 3}, {1, 1, 3}}) {
    EXPECT_FALSE(is_imbalanced(program));
    EXPECT_EQ(lag_s(program, 1), 0);
    for (const double gained_s :
         {ideal_s(program), proactive_bound_s(program, 1), balanced_once_s(program),
          proactive_approximation_s(program, 1), reactive_s(program)})
      EXPECT_EQ(gained_s, static_s(program)) << program.threads << " on " << program.places;
  }
}

TEST(Theory, closed_form_and_recursion_give_the_same_time_for_reactive_balancing) {
  for (std::uint64_t places = 2; places <= 200; ++places)
    for (std::uint64_t threads = places + 1; threads < 2 * places; ++threads) {
      const SpmdProgram program{threads, places, 1, 3};
      EXPECT_EQ(reactive_s(program), reactive_closed_form_s(program))
          << threads << " on " << places;
      const double share = static_cast<double>(threads) / static_cast<double>(places);
      const double power = std::exp2(std::floor(std::log2(2 - share)));
      // The computed logarithm of a power of two may be slightly too small.
      if (std::abs(std::log2(2 - share) - std::round(std::log2(2 - share))) < 1e-9) continue;
      EXPECT_EQ(reactive_closed_form_s(program), 3 * (2 - power));
    }
}

/// A reference implementation of proactive_tight_bound_s(), which tracks the remaining work of
/// every thread. Returns nothing if rounding errors would decide the result.
std::optional<double> naive_tight_bound_s(const SpmdProgram& program, double period_s) {
  const Slots slots = slots_of(program);
  const double most = static_cast<double>(slots.most), fewest = static_cast<double>(slots.fewest);
  const std::size_t slow_places = program.threads % program.places;
  const std::size_t fast_places = program.places - slow_places;
  std::vector<double> rest_s(program.threads, program.phase_s);
  for (double now_s = 0;; now_s += period_s) {
    std::sort(rest_s.begin(), rest_s.end(), std::greater<>());  // the least advanced thread first
    std::vector<double> fast_s(fast_places, 0), slow_s(slow_places, 0);
    double first_end_s = 1e9;
    for (std::size_t t = 0; t < rest_s.size(); ++t) {
      const bool is_fast = t < slots.fast;
      (is_fast ? fast_s[t % fast_places] : slow_s[(t - slots.fast) % slow_places]) += rest_s[t];
      first_end_s = std::min(first_end_s, rest_s[t] * (is_fast ? fewest : most));
    }
    const double fullest_s = std::max(*std::max_element(fast_s.begin(), fast_s.end()),
                                      *std::max_element(slow_s.begin(), slow_s.end()));
    if (std::abs(fullest_s - period_s) < 1e-9 || std::abs(first_end_s - period_s) < 1e-9) return {};
    const double loose_s = proactive_bound_s(program, period_s);
    if (fullest_s < period_s) return std::max(loose_s, now_s + fullest_s);
    if (first_end_s < period_s) return std::max(loose_s, now_s + period_s);
    for (std::size_t t = 0; t < rest_s.size(); ++t)
      rest_s[t] -= period_s / (t < slots.fast ? fewest : most);
  }
}

TEST(Theory, the_tight_bound_agrees_with_a_reference_that_tracks_the_work_of_every_thread) {
  std::size_t known = 0;
  for (std::uint64_t threads = 3; threads <= 24; ++threads)
    for (std::uint64_t places = 2; places < threads; ++places)
      for (const double period_s : {0.0371, 0.13, 0.377, 0.91, 1.73}) {
        const SpmdProgram program{threads, places, 1.01};
        if (!is_imbalanced(program) || period_s >= static_s(program)) continue;
        const auto expected_s = naive_tight_bound_s(program, period_s);
        if (!expected_s) continue;
        ++known;
        EXPECT_NEAR(proactive_tight_bound_s(program, period_s), *expected_s, 1e-9)
            << threads << " on " << places << ", period " << period_s;
      }
  EXPECT_GT(known, 500u);
}

TEST(Theory, eleven_threads_on_four_places_take_the_times_computed_by_hand) {
  const SpmdProgram program{11, 4, 7, 5};
  const Slots slots = slots_of(program);
  EXPECT_EQ(slots.most, 3u);
  EXPECT_EQ(slots.fewest, 2u);
  EXPECT_EQ(slots.slow, 9u);
  EXPECT_EQ(slots.fast, 2u);
  EXPECT_EQ(static_s(program), 5 * 7 * 3);
  EXPECT_DOUBLE_EQ(ideal_s(program), 5 * 7 * 11 / 4.0);
  EXPECT_DOUBLE_EQ(lag_s(program, 3), 3 / 6.0);
  EXPECT_DOUBLE_EQ(proactive_bound_s(program, 3), 7 * 11 / 4.0);
  EXPECT_EQ(proactive_tight_bound_s(program, 21), 21);
  EXPECT_EQ(balanced_once_s(program), 21) << "fewer fast slots than slow ones";
  EXPECT_EQ(balanced_once_s({8, 7, 8}), 8 * 1.75);
  // The two threads in fast slots end after 14 s, when the nine others have 7 / 3 s of work left.
  // From then on, six of the nine threads run in pairs on three places, and the other three run on
  // one place.
  const double left_s = 7 / 3.0;
  EXPECT_NEAR(reactive_s(program), 5 * (14 + 2 * left_s + left_s / 3), 1e-9);
}

TEST(Theory, predicted_times_lie_between_the_ideal_and_the_time_without_balancing) {
  for (std::uint64_t threads = 2; threads <= 40; ++threads)
    for (std::uint64_t places = 1; places <= 44; ++places)
      for (const double period_s : {0.01, 0.5, 1.0, 1.7, 3.0, 100.0}) {
        SCOPED_TRACE(testing::Message() << threads << " on " << places << ", period " << period_s);
        const SpmdProgram program{threads, places, 1};
        EXPECT_LE(ideal_s(program), proactive_bound_s(program, period_s));
        EXPECT_LE(proactive_bound_s(program, period_s), static_s(program));
        EXPECT_LE(ideal_s(program), reactive_s(program) + 1e-12);
        EXPECT_LE(reactive_s(program), static_s(program) + 1e-12);
      }
}

TEST(Theory,
     the_formula_for_a_balancing_point_at_a_random_moment_equals_the_mean_over_1000_moments) {
  for (const SpmdProgram program : {SpmdProgram{8, 7, 2}, {17, 8, 2}, {33, 8, 2}}) {
    const Slots slots = slots_of(program);
    const double most = static_cast<double>(slots.most), fewest = static_cast<double>(slots.fewest);
    constexpr int kPoints = 1000;
    double sum_s = 0;
    for (int q = 0; q < kPoints; ++q) {
      const double done = (q + 0.5) / kPoints;
      sum_s += 2 * std::max(done * most + (1 - done) * fewest, done * fewest + (1 - done) * most);
    }
    EXPECT_NEAR(balanced_once_s(program), sum_s / kPoints, 1e-6);
  }
}

TEST(Theory, only_phases_that_contain_a_balancing_point_get_shorter) {
  // Without balancing, this program takes 20 s.
  const SpmdProgram program{8, 7, 1, 10};
  // A period of 6 s gives balancing points at 6, 12 and 18 s, and a period of 5 s at 5, 10 and
  // 15 s. In both cases, 3 of the 10 phases get shorter.
  EXPECT_DOUBLE_EQ(proactive_approximation_s(program, 6), 7 * 2 + 3 * 1.75);
  EXPECT_DOUBLE_EQ(proactive_approximation_s(program, 5), 7 * 2 + 3 * 1.75);
  EXPECT_DOUBLE_EQ(proactive_approximation_s(program, 40), 20);
  EXPECT_DOUBLE_EQ(proactive_approximation_s(program, 1), 10 * 1.5);  // (16) and (2)
}

TEST(Theory, one_balancing_point_per_phase_gains_nothing_if_most_threads_run_on_the_fuller_places) {
  const SpmdProgram program{13, 7, 1, 100};
  EXPECT_LT(slots_of(program).fast, slots_of(program).slow);
  EXPECT_EQ(proactive_approximation_s(program, 2), static_s(program));
}

TEST(Theory, throws_for_zero_threads_or_places_or_phases_and_for_invalid_durations) {
  EXPECT_THROW(check(SpmdProgram{0, 7, 1}), Error);
  EXPECT_THROW(check(SpmdProgram{8, 0, 1}), Error);
  EXPECT_THROW(check(SpmdProgram{8, 7, 0}), Error);
  EXPECT_THROW(check(SpmdProgram{8, 7, std::nan("")}), Error);
  EXPECT_THROW(check(SpmdProgram{8, 7, 1, 0}), Error);
  EXPECT_THROW(check_period(0), Error);
  EXPECT_THROW(check_period(HUGE_VAL), Error);
}

}  // namespace
}  // namespace poise
