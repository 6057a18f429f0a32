#include "poise/online/juggle_stance.h"

#include <algorithm>

namespace poise {

namespace {

constexpr double kPeriodsPerPhase = 5;
constexpr double kPhaseTolerance = 0.9;  // a period of this fraction of its limit is still worth it
/// Sleeping less than this fraction of the time counts as not sleeping.
constexpr double kAwake = 0.05;
/// Spread, in lags, up to which the kernel's own rotation explains it.
constexpr double kUnfairLags = 2;
/// Children stay on their parent's cpu until found, so fast creation defeats balancing.
constexpr double kManyBirthsPerS = 20;
constexpr double kMaxHoldS = 64;

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
    hold_s_ = std::min(2 * hold_s_, kMaxHoldS);
  } else if (!is_balancing_ && is_worth_it && now_s >= rests_until_s_) {
    is_balancing_ = true;
  }
  return is_balancing_;
}

}  // namespace poise
