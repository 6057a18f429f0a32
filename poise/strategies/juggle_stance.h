// Whether to balance at all: where the kernel does as well alone, the thread balancer stands down.
//
// What was seen on Linux 5.10 and later, after the paper: the kernel turns threads that never sleep
// by itself, if slowly, and moves those that sleep at barriers better than a periodic balancer can;
// threads bound to their cpus it cannot move. Phases much shorter than a period gain nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "poise/strategies/juggle_tuning.h"

namespace poise {

/// What speaks for balancing and against it.
struct JuggleSigns {
  bool is_uneven = false;              // some place has, or must have, more threads than another
  bool is_bound = false;               // by the program, so that the kernel cannot move threads
  double asleep = 0;                   // share of the time that the sleepiest thread slept
  std::optional<double> phase_s = {};  // length of the phases; none: unknown
  double spread_lags = 0;   // between most and least progress, over the lag that balancing leaves
  double births_per_s = 0;  // new threads
};

/// The length of phases when so many windows per second saw a thread both run and sleep: every
/// phase breaks two windows, where it begins and where it ends.
double phase_length_s(double broken_windows_per_s);

/// The period for phases of phase_s: a fifth of it, within the bounds.
double period_for(double phase_s, double shortest_s, double longest_s);

/// Balances or stands down; slow to change back and forth.
class JuggleStance {
 public:
  explicit JuggleStance(double shortest_period_s) : shortest_period_s_(shortest_period_s) {}

  /// Whether to balance from now on.
  bool next(const JuggleSigns& signs, double now_s);
  bool is_balancing() const { return is_balancing_; }

 private:
  double shortest_period_s_;
  bool is_balancing_ = false;
  double hold_s_ = JuggleTuning().first_hold_s, rests_until_s_ = 0;
};

}  // namespace poise
