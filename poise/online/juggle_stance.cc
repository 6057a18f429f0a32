#include "poise/online/juggle_stance.h"

#include <algorithm>

namespace poise {

namespace {

constexpr double kPeriodsPerPhase = 5;
constexpr double kPhaseTolerance = 0.9;  // somewhat shorter phases are worth it
constexpr double kAwake = 0.05;          // sleep up to this is none
constexpr double kUnfairLags = 2;        // a spread that the kernel's own turning explains
constexpr double kManyBirthsPerS = 20;   // children inherit the cpu of their parent until found
constexpr double kLongestHoldS = 64;

}  // namespace

double phase_length_s(double window_s, double broken) {
  return broken <= 0 ? 1e9 : 2 * window_s / broken;
}

double period_for(double phase_s, double shortest_s, double longest_s) {
  return std::clamp(phase_s / kPeriodsPerPhase, std::min(shortest_s, longest_s), longest_s);
}

bool JuggleStance::next(const JuggleSigns& signs, double now_s) {
  const bool is_worth_it =
      signs.is_uneven && signs.births_per_s < kManyBirthsPerS &&
      signs.phase_s >= kPhaseTolerance * kPeriodsPerPhase * shortest_period_s_ &&
      (signs.is_bound ||
       (signs.asleep < kAwake && (is_balancing_ || signs.spread_lags > kUnfairLags)));
  if (is_balancing_ && !is_worth_it) {
    is_balancing_ = false;
    rests_until_s_ = now_s + hold_s_;
    hold_s_ = std::min(2 * hold_s_, kLongestHoldS);
  } else if (!is_balancing_ && is_worth_it && now_s >= rests_until_s_) {
    is_balancing_ = true;
  }
  return is_balancing_;
}

}  // namespace poise
