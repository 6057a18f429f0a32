// Every number of Juggle's decisions that was chosen rather than given: value, unit, why. Those of
// its measurements are in runtimes/juggle/tuning.h.
#pragma once

#include <cstdint>

namespace poise {

struct JuggleTuning {
  // Who takes part. A round is the time from one measurement to the next.
  double busy_share = 0.05;        // of a round: a thread that ran as long computes
  double ready_share = 0.5;        // of a round: a thread that ran or waited as long is ready
  std::uint32_t busy_rounds = 2;   // in which a thread computed before it takes part
  std::uint32_t pause_rounds = 5;  // shorter pauses count as none: on a crowded cpu turns are rare
  double max_quiet_s = 10;         // without computing, after which a thread takes part no more
  double min_quiet_s = 0.3;   // the same for one that only started others: it holds a place idle
  double turn_s = 0.01;       // added to that per thread of a place: more than one turn there
  double quiet_over_run = 5;  // in between: this many times the cpu time that it has had

  // Windows, in which threads are watched for sleep.
  double quick_start_s = 1;          // rounds are short while threads and phases are being found
  double min_window_s = 0.05;        // in shorter ones uncounted waits look like sleep
  double window_share = 0.9;         // of a round, at least: rounds vary by a tenth
  double fading = 1.0 / 8;           // weight of the newest window in an average
  std::uint32_t enough_windows = 6;  // before an average says something
  double uncounted_wait_s = 0.008;   // the kernel counts a wait when it ends: about two time slices
  double watch_free_s = 0.6;         // threads free to move are watched before they are moved, for
                                     // the kernel balances those that sleep better

  // Balancing points.
  double gap_rounds = 3;         // a round of more periods measured a pause of the balancer
  double point_share = 0.75;     // of a period: points come no closer, for a round may be short
  double margin_share = 0.05;    // xi of the paper, of a period
  double speed_tolerance = 0.1;  // places whose speeds differ by a smaller share are equal
  double max_lead_periods = 20;  // an older lead or lag says nothing of this phase
  double reactive_rounds = 5;    // in a period: how often blocked threads are looked for
  double wanted_place = 0.2;  // share of the time: a place wanted less shows nothing of its speed
  double unequal_places = 0.75;  // a place this slow against another has a stranger or a small core

  // Whether to balance at all.
  double periods_per_phase = 5;   // a phase of fewer periods gains little
  double phase_tolerance = 0.9;   // somewhat shorter phases are worth it
  double awake = 0.05;            // share of the time: less sleep is none
  double unfair_lags = 2;         // a smaller spread is explained by the kernel's own turning
  double many_births_per_s = 20;  // children inherit the cpu of their parent until found
  double first_hold_s = 1;        // rest after standing down; it doubles each time
  double max_hold_s = 64;         // up to this
};

static_assert(JuggleTuning().busy_share < JuggleTuning().ready_share);
static_assert(JuggleTuning().busy_rounds < JuggleTuning().pause_rounds);
static_assert(JuggleTuning().min_quiet_s < JuggleTuning().max_quiet_s);
static_assert(2 * (JuggleTuning().busy_share +
                   JuggleTuning().uncounted_wait_s / JuggleTuning().min_window_s) <
                  1,
              "the shortest window must leave something to see (sleep_tolerance)");
static_assert(JuggleTuning().enough_windows * JuggleTuning().min_window_s <
                  JuggleTuning().quick_start_s,
              "phases are known before rounds become long");
static_assert(JuggleTuning().watch_free_s < JuggleTuning().quick_start_s);
static_assert(JuggleTuning().first_hold_s < JuggleTuning().max_hold_s);

}  // namespace poise
