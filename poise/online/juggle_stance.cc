// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_stance.h"

#include <algorithm>
#include <cstddef>

#include "poise/base/enum_index.h"
#include "poise/online/juggle_tuning.h"

namespace poise {

namespace {

constexpr std::string_view kActions[] = {"left to the kernel", "rotated", "one per cpu",
                                         "free on all cpus"};

}  // namespace

std::string_view name_of(JuggleAction action) { return kActions[index_of(action)]; }

double phase_length_s(double broken_windows_per_s) {
  return broken_windows_per_s <= 0 ? 1e9 : 2 / broken_windows_per_s;
}

double period_for(double phase_s, double longest_s, const JuggleTuning& tuning) {
  return std::clamp(phase_s / tuning.points_per_phase,
                    std::min(tuning.shortest_period_s, longest_s), longest_s);
}

/// True if every thread sleeps for less than the fraction `noise` of the time. While threads
/// rotate, twice this limit applies, so that the rotation does not stop and start again and again.
bool JuggleStance::is_awake(const JuggleSigns& signs) const {
  return signs.asleep < tuning_.noise * (action_ == JuggleAction::rotate ? 2 : 1);
}

bool JuggleStance::has_long_phases(const JuggleSigns& signs) const {
  return *signs.phase_s >= tuning_.round_share * tuning_.points_per_phase *
                               std::min(tuning_.shortest_period_s, longest_s_);
}

/// True if lost_cpus, the number of cpus that the threads could use but do not, exceeds the limit
/// `notable`. While threads rotate, half of the limit applies, so that the rotation does not
/// stop and start again and again.
bool JuggleStance::is_crowded(const JuggleSigns& signs) const {
  return signs.lost_cpus > tuning_.notable / (action_ == JuggleAction::rotate ? 2 : 1);
}

/// True if threads that never sleep would become notably faster if all progressed at the same rate.
/// At the end of each phase, such threads spin until the slowest one arrives. The kernel also
/// rotates the threads, but too rarely to even out their progress within a short phase.
bool JuggleStance::is_worth_rotating(const JuggleSigns& signs) const {
  return signs.even_gain > 1 + tuning_.noise;
}

JuggleAction JuggleStance::wanted_for_bound(const JuggleSigns& signs) const {
  if (!signs.is_uneven) return JuggleAction::leave;
  if (action_ == JuggleAction::widen && !is_awake(signs)) return JuggleAction::widen;
  if (signs.fits && !signs.has_stranger) return JuggleAction::spread;
  return has_long_phases(signs) ? JuggleAction::rotate : JuggleAction::widen;
}

JuggleAction JuggleStance::wanted_for_free(const JuggleSigns& signs, double now_s) const {
  if (is_awake(signs)) {
    const bool pays = action_ == JuggleAction::rotate || is_worth_rotating(signs);
    return is_crowded(signs) || (signs.is_uneven && pays) ? JuggleAction::rotate
                                                          : JuggleAction::leave;
  }
  if (!signs.fits || has_long_phases(signs)) return JuggleAction::leave;
  if (action_ != JuggleAction::spread)
    return is_crowded(signs) ? JuggleAction::spread : JuggleAction::leave;
  // If threads still wait for cpus some time after each got a cpu of its own, another program uses
  // the same cpus. Then the threads are left to the kernel, which may choose better cpus.
  const bool is_cured = !is_crowded(signs) || now_s - since_s_ < tuning_.watch_s;
  return is_cured ? JuggleAction::spread : JuggleAction::leave;
}

JuggleAction JuggleStance::wanted(const JuggleSigns& signs, double now_s) const {
  if (signs.births_per_s >= tuning_.max_births_per_s) return JuggleAction::leave;
  // If a quota allows fewer cpus than there are threads, threads that spin while they wait would
  // compete for these few cpus. Such threads are left to the kernel.
  if (signs.is_confined) return is_awake(signs) ? JuggleAction::leave : JuggleAction::widen;
  return signs.is_bound ? wanted_for_bound(signs) : wanted_for_free(signs, now_s);
}

JuggleAction JuggleStance::next(const JuggleSigns& signs, double now_s) {
  if (!signs.phase_s)
    return action_ = JuggleAction::leave;  // the length of phases is still unknown
  const JuggleAction wants = wanted(signs, now_s);
  if (wants == JuggleAction::leave && action_ != JuggleAction::leave) {
    rests_until_s_ = now_s + hold_s_;
    hold_s_ = std::min(2 * hold_s_, tuning_.max_pause_s());
  }
  const bool rests = action_ == JuggleAction::leave && now_s < rests_until_s_;
  if (wants != action_ && !rests) {
    action_ = wants;
    since_s_ = now_s;
  }
  period_s_ = period_for(*signs.phase_s, longest_period_s(signs), tuning_);
  return action_;
}

/// The longest balancing period allowed. For threads that never sleep, the length of phases is
/// unknown and may be short. Therefore the period is short while such threads lose time by waiting
/// for cpus or for each other. If they wait for cpus, the period is at least a multiple of such a
/// wait, because otherwise a moved thread would spend most of the period waiting for its turn.
double JuggleStance::longest_period_s(const JuggleSigns& signs) const {
  if (!is_awake(signs)) return longest_s_;
  if (is_crowded(signs))
    return std::min(longest_s_, std::max(tuning_.short_period_s,
                                         tuning_.waits_per_period * signs.longest_wait_s));
  return is_worth_rotating(signs) ? std::min(longest_s_, tuning_.short_period_s) : longest_s_;
}

}  // namespace poise
