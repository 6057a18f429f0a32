// SPDX-License-Identifier: BSD-3-Clause

#include "poise/online/juggle_tuning.h"

#include "poise/base/error.h"

namespace poise {

namespace {

constexpr JuggleTuning kInitial;

/// True if the balancer detects that a thread slept for half of a window, even in a window of the
/// minimum length.
constexpr bool sees_sleep(const JuggleTuning& tuning) {
  return 2 * tuning.sleep_tolerance(tuning.min_window_s) < 1;
}

static_assert(sees_sleep(kInitial));
static_assert(kInitial.noise < kInitial.ready_share);
static_assert(kInitial.busy_rounds < kInitial.pause);
static_assert(2 * kInitial.enough_windows * kInitial.min_window_s < kInitial.watch_s,
              "phases are known, and free threads watched for long, before rounds become long");
static_assert(kInitial.shortest_period_s < kInitial.short_period_s);

}  // namespace

JuggleTuning juggle_tuning_from(std::string_view changes) {
  Knobs knobs(kJuggleKnobs);
  if (!changes.empty()) knobs.set_all("poise juggle", changes);
  JuggleTuning tuning;
#define POISE_SET(type, name, initial, least, greatest, unit, why) \
  tuning.name = static_cast<type>(knobs[#name]);
  POISE_JUGGLE_TUNING(POISE_SET)
#undef POISE_SET
  if (!sees_sleep(tuning))
    fail(
        "poise juggle: noise + two_slices_s / min_window_s is {:.3g}; it must be less than 0.5, or "
        "sleeping threads cannot be detected",
        tuning.sleep_tolerance(tuning.min_window_s));
  return tuning;
}

}  // namespace poise
