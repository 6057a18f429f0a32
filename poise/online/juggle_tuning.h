// SPDX-License-Identifier: BSD-3-Clause
// All tuned numbers of Juggle's decisions, with value, unit and reason. The numbers of its
// measurements are in runtimes/juggle/tuning.h.
#pragma once

#include <cstdint>

namespace poise {

struct JuggleTuning {
  // The following numbers decide which threads take part. A round is the time from one measurement
  // to the next.
  double negligible = 0.05;       // share of a round, a window or a period: less is noise
  double ready_share = 0.5;       // share of a round: a thread that ran or waited longer is ready
  std::uint32_t busy_rounds = 2;  // rounds of computing before a thread takes part
  // Three limits share this number. If a thread does not run for this many rounds, the rounds in
  // which it was busy are counted anew; it may miss a few rounds, because turns are rare on a
  // crowded cpu. If a thread sleeps for longer than this many times the cpu time that it has used,
  // it no longer takes part. If a round lasts longer than this many periods, the balancer itself
  // was stopped.
  double pause = 5;
  double max_quiet_s = 10;  // a thread that has slept longer no longer takes part
  // A thread counts as waiting for this many seconds after it called sched_yield: yield_s if it is
  // alone on its place, and shared_yield_s beside another thread, whose time slice is 3 to 4 ms.
  double yield_s = 2e-4, shared_yield_s = 0.01;

  // Lengths of windows, in which the balancer observes how much threads sleep.
  double min_window_s = 0.05;        // in a shorter one, unreported waits look like sleep
  double fading = 1.0 / 8;           // weight of the newest window in an average
  std::uint32_t enough_windows = 6;  // needed before an average is used
  double uncounted_wait_s = 0.008;  // about two time slices: the kernel reports a wait when it ends

  // The following numbers decide when balancing points take place.
  // `short_period_s` is the time between two balancing points while the threads and their phases
  // are unknown, and while other programs use the cpus. It is five kernel ticks long, because
  // measured cpu times are too imprecise over a shorter time.
  double short_period_s = 0.02;
  double shortest_period_s = 0.005;  // a point costs about 1% of it
  double round_share = 0.75;         // of a period: rounds vary by a tenth and may be short
  double points_per_phase = 5;       // with fewer points in a phase, little is gained
  double speed_tolerance = 0.1;      // smaller relative differences of speed are ignored
  double max_lead_periods = 20;  // limit for leads and lags: older ones belong to earlier phases

  // The following numbers decide whether the threads are balanced at all.
  // `notable` is a fraction that is used in three comparisons. If threads wait for a smaller
  // fraction of the time, their waits are noise. If a place is used for a smaller fraction of the
  // time, its speed is unknown. If a place is slower than the fastest by more than this fraction,
  // it runs another program or is a small core.
  double notable = 0.2;
  double unfair_lags = 2;         // a smaller spread results from the kernel's own rotation
  double many_births_per_s = 20;  // above this rate many threads are still on their parent's cpu
  // For this number of seconds after its threads began, a program is watched in short rounds. When
  // the balancer stops balancing, it pauses: the first pause lasts the same number of seconds, and
  // each further pause is twice as long as the one before.
  double watch_s = 1;
  double max_hold_s = 64;  // maximum pause
};

static_assert(JuggleTuning().negligible < JuggleTuning().ready_share);
static_assert(JuggleTuning().busy_rounds < JuggleTuning().pause);
static_assert(2 * (JuggleTuning().negligible +
                   JuggleTuning().uncounted_wait_s / JuggleTuning().min_window_s) <
                  1,
              "the shortest window must leave something to see (sleep_tolerance)");
static_assert(2 * JuggleTuning().enough_windows * JuggleTuning().min_window_s <
                  JuggleTuning().watch_s,
              "phases are known, and free threads watched for long, before rounds become long");
static_assert(JuggleTuning().yield_s < JuggleTuning().shared_yield_s);
static_assert(JuggleTuning().shortest_period_s < JuggleTuning().short_period_s);
static_assert(JuggleTuning().watch_s < JuggleTuning().max_hold_s);

}  // namespace poise
