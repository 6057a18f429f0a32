#include "poise/online/juggle_stance.h"

#include <algorithm>

#include "poise/online/juggle_tuning.h"

namespace poise {

namespace {

constexpr JuggleTuning kTuning;

}  // namespace

double phase_length_s(double broken_windows_per_s) {
  return broken_windows_per_s <= 0 ? 1e9 : 2 / broken_windows_per_s;
}

double period_for(double phase_s, double shortest_s, double longest_s) {
  return std::clamp(phase_s / kTuning.periods_per_phase, std::min(shortest_s, longest_s),
                    longest_s);
}

bool JuggleStance::next(const JuggleSigns& signs, double now_s) {
  if (!signs.phase_s) return is_balancing_ = false;  // the set of threads has changed
  const bool is_worth_it =
      signs.is_uneven && signs.births_per_s < kTuning.many_births_per_s &&
      signs.phase_s.has_value() &&
      *signs.phase_s >= kTuning.phase_tolerance * kTuning.periods_per_phase * shortest_period_s_ &&
      (signs.is_bound || (signs.asleep < kTuning.awake &&
                          (is_balancing_ || signs.spread_lags > kTuning.unfair_lags)));
  if (is_balancing_ && !is_worth_it) {
    is_balancing_ = false;
    rests_until_s_ = now_s + hold_s_;
    hold_s_ = std::min(2 * hold_s_, kTuning.max_hold_s);
  } else if (!is_balancing_ && is_worth_it && now_s >= rests_until_s_) {
    is_balancing_ = true;
  }
  return is_balancing_;
}

}  // namespace poise
