// Decides whether to balance threads at all, or to leave them to the kernel.
// The rules come from observations on Linux 5.10 and later, not from the paper. The kernel slowly
// rotates threads that never sleep. It places threads that sleep at barriers better than periodic
// balancing can. It cannot move threads that are bound to cpus. Phases much shorter than a period
// gain nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "poise/online/juggle_tuning.h"

namespace poise {

/// Observations for and against balancing.
struct JuggleSigns {
  bool is_uneven = false;  // some place has, or must have, more threads than another
  bool is_bound = false;   // the program binds its threads, so the kernel cannot move them
  double asleep = 0;       // fraction of the time for which the sleepiest thread slept
  std::optional<double> phase_s = {};  // estimated length of the phases, if known
  /// Difference between most and least progress, divided by the lag that balancing leaves.
  double spread_lags = 0;
  double births_per_s = 0;  // new threads
};

/// Estimates the length of phases from the rate of broken windows, which are windows in which a
/// thread both ran and slept. Each phase breaks two windows, one at its beginning and one at its
/// end.
double phase_length_s(double broken_windows_per_s);

/// The balancing period for phases of phase_s seconds: a fifth of phase_s, within the given bounds.
double period_for(double phase_s, double shortest_s, double longest_s);

/// Decides whether to balance, with hysteresis.
class JuggleStance {
 public:
  explicit JuggleStance(double shortest_period_s) : shortest_period_s_(shortest_period_s) {}

  /// Returns true to balance from now on.
  bool next(const JuggleSigns& signs, double now_s);
  bool is_balancing() const { return is_balancing_; }

 private:
  double shortest_period_s_;
  bool is_balancing_ = false;
  double hold_s_ = JuggleTuning().first_hold_s, rests_until_s_ = 0;
};

}  // namespace poise
