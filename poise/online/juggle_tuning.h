// All tuned numbers of Juggle's decisions: value, unit, reason. Those of its measurements are in
// runtimes/juggle/tuning.h.
#pragma once

#include <cstdint>

namespace poise {

struct JuggleTuning {
  // Which threads take part. A round is the time from one measurement to the next.
  double busy_share = 0.05;       // of a round: a thread that ran longer was computing
  double ready_share = 0.5;       // share of a round: a thread that ran or waited longer is ready
  std::uint32_t busy_rounds = 2;  // rounds of computing before a thread takes part
  // Shorter pauses are ignored, because turns are rare on a crowded cpu.
  std::uint32_t pause_rounds = 5;
  double max_quiet_s = 10;   // a thread that has slept longer no longer takes part
  double min_quiet_s = 0.3;  // the same limit for a thread that only started others
  double turn_s = 0.01;      // added to min_quiet_s per thread on the place
  // Between these bounds: allowed sleep divided by the cpu time used.
  double quiet_over_run = 5;

  // Windows, during which threads are watched for sleep.
  double quick_start_s = 1;          // rounds are short while threads and phases are unknown
  double min_window_s = 0.05;        // in a shorter one, unreported waits look like sleep
  double window_share = 0.9;         // minimal share of a round, because rounds vary by a tenth
  double fading = 1.0 / 8;           // weight of the newest window in an average
  std::uint32_t enough_windows = 6;  // needed before an average is used
  double uncounted_wait_s = 0.008;  // about two time slices: the kernel reports a wait when it ends
  double watch_free_s = 0.6;  // watch free threads before moving them: the kernel may do better

  // When balancing points take place.
  double gap_rounds = 3;  // a longer round, in periods, means that the balancer paused
  // Minimal distance of two points as a share of the period, because rounds may be short.
  double point_share = 0.75;
  double margin_share = 0.05;    // xi of the paper, as a fraction of the period
  double speed_tolerance = 0.1;  // smaller relative differences of speed are ignored
  double max_lead_periods = 20;  // limit for leads and lags: older ones belong to earlier phases
  double reactive_rounds = 5;    // checks for blocked threads per period
  double wanted_place = 0.2;     // fraction of the time; a less used place does not show its speed
  double unequal_places = 0.75;  // a slower place runs another program or is a small core

  // When to balance at all.
  double periods_per_phase = 5;   // shorter phases gain little
  double phase_tolerance = 0.9;   // slightly shorter phases are still balanced
  double awake = 0.05;            // fraction of the time; less sleep is ignored
  double unfair_lags = 2;         // a smaller spread results from the kernel's own rotation
  double many_births_per_s = 20;  // above this rate many threads are still on their parent's cpu
  double first_hold_s = 1;        // pause after balancing stops; it doubles each time
  double max_hold_s = 64;         // maximum of that pause
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
