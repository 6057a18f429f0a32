// SPDX-License-Identifier: BSD-3-Clause
// The tuned numbers of Juggle's decisions, each with its value, range, unit and reason. The sizes
// and time-outs of its measurements are in runtimes/juggle/tuning.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "poise/base/knobs.h"

namespace poise {

// One line per number: type, name, initial value, minimum, maximum, unit, reason.
// `poise strategies --tuning` prints the table. The variable POISE_JUGGLE_TUNING sets numbers for
// experiments; names may change with any release. Terms:
//
//   round    the time from one measurement to the next
//   window   consecutive rounds in which the balancer observes how much threads sleep
//   point    balancing point: threads may change places
//   period   the time from one balancing point to the next
//   phase    the time from one barrier of the program to the next
//
// clang-format off
#define POISE_JUGGLE_TUNING(X) \
  X(double,        noise,             0.05,  1e-3, 0.4,  "of the time",       "smaller values are noise: run time in a round, sleep in a window, and the lag of a thread in a period") \
  X(double,        ready_share,       0.5,   0.01, 0.99, "of a round",        "a thread counts as ready if it ran or waited for more of the round, and a cpu as busy if threads wanted it for more") \
  X(double,        notable,           0.2,   0.01, 0.9,  "of the time",       "smaller values are ignored: use of a place, cpu time that other programs take, how much a place is slower than the fastest") \
  X(double,        speed_tolerance,   0.1,   0,    0.9,  "of the average",    "smaller differences between the speeds of places are ignored") \
  /* Which threads take part. */ \
  X(std::uint32_t, busy_rounds,       2,     1,    100,  "rounds",            "a thread takes part in balancing after it has computed in this many rounds") \
  X(double,        pause,             5,     0.5,  100,  "times",             "a thread that sleeps for this many times its run time is left out; after this many rounds without computing, its busy_rounds count anew; a round that is this many times too long counts as a gap") \
  X(double,        max_quiet_s,       10,    0.1,  1e4,  "s",                 "a thread that sleeps for longer is left out of balancing, even if it ran for long before") \
  X(double,        two_slices_s,      0.008, 1e-4, 0.1,  "s",                 "two time slices of the kernel: the kernel reports a wait only when it ends, and a thread that yields to another thread waits until the other's slice ends") \
  /* Windows. */ \
  X(double,        min_window_s,      0.05,  0.02, 10,   "s",                 "minimum length of a window: in a shorter one, waits that the kernel has not reported yet would look like sleep") \
  X(double,        fading,            0.125, 0.01, 1,    "of an average",                  "weight of the newest window in an average") \
  X(std::uint32_t, few_windows,       3,     1,    1000, "windows",           "if threads never sleep, their waits for cpus are judged after this many windows, because in short runs a later decision would be too late") \
  X(std::uint32_t, enough_windows,    6,     1,    1000, "windows",           "an average over windows is used once it covers this many") \
  /* When balancing points take place. */ \
  X(double,        short_period_s,    0.02,  1e-3, 10,   "s",                 "the period while threads are watched or other programs run: five kernel ticks, because cpu times over a shorter period are imprecise") \
  X(double,        waits_per_period,  2,     0,    100,  "waits",             "alongside other programs, a period is at least this many times the mean wait for a cpu; otherwise a moved thread might get no turn") \
  X(double,        shortest_period_s, 0.005, 1e-3, 10,   "s",                 "minimum period: a balancing point costs about 1% of it") \
  X(double,        round_share,       0.75,  0.1,  1,    "of a period",       "a round that takes more of the period ends it, because the length of rounds varies by a tenth") \
  X(double,        max_round_s,       1,     0.02, 3600, "s",                 "maximum length of a round: with a longer period, threads are also measured between balancing points, because reports end at the last measurement") \
  X(double,        points_per_phase,  5,     0.5,  100,  "points per phase",  "number of balancing points per phase: with fewer, balancing gains little") \
  X(double,        max_lead_periods,  20,    1,    1e6,  "periods",           "maximum lead or lag of a thread: longer ones come from earlier phases") \
  /* Whether threads are balanced. */ \
  X(double,        max_births_per_s,  20,    1,    1e6,  "threads per s",     "if more threads are created, none is moved, because many are still on the cpu of their parent") \
  X(double,        notable_births_per_s, 1,  1e-3, 1e6,  "threads per s",     "if more new threads are found, the diagnosis says that short-lived threads may take cpu time: in long runs a balancer finds only a few threads per second, however many are created") \
  X(double,        watch_s,           1,     0.01, 1e4,  "s",                 "time for which threads are watched in short rounds; also the first pause after balancing stopped; each further pause is twice as long")
// clang-format on

struct JuggleTuning {
#define POISE_FIELD(type, name, initial, least, greatest, unit, why) type name = initial;
  POISE_JUGGLE_TUNING(POISE_FIELD)
#undef POISE_FIELD

  // The following numbers depend on those above.
  //
  /// A thread that is alone on its place counts as waiting for this many seconds after a call of
  /// sched_yield. A thread that polls calls sched_yield again and again. After 0.2 ms without a
  /// call, it has stopped polling.
  constexpr double yield_s() const { return two_slices_s / 40; }
  /// Context switches per second above which a thread is assumed to yield in a loop: eight per time
  /// slice. Time slices alone give a few hundred per second.
  constexpr double max_turns_per_s() const { return 16 / two_slices_s; }
  /// The longest time, in seconds, for which the balancer rests after it stopped balancing: the
  /// first pause (watch_s), doubled six times.
  constexpr double max_pause_s() const { return 64 * watch_s; }
  /// The fraction of a window of window_s seconds below which sleep is ignored, because it may be
  /// noise, or a wait for a cpu that the kernel has not reported yet.
  constexpr double sleep_tolerance(double window_s) const {
    return noise + two_slices_s / window_s;
  }
};

/// The numbers of JuggleTuning as knobs: name, default value, range, help and unit of each.
inline constexpr auto kJuggleKnobs = std::to_array<Knob>({
#define POISE_KNOB(type, name, initial, least, greatest, unit, why) \
  Knob{#name, initial, least, greatest, why, {}, unit},
    POISE_JUGGLE_TUNING(POISE_KNOB)
#undef POISE_KNOB
});

/// Returns the tuning with the given changes, a list such as "noise=0.1,enough_windows=8". Throws
/// Error if a name is unknown or a value is not possible.
JuggleTuning juggle_tuning_from(std::string_view changes);

}  // namespace poise
