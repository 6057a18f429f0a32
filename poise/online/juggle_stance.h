// SPDX-License-Identifier: BSD-3-Clause
// Decides whether to leave the threads of a program to the kernel or which of three remedies to
// apply. The rules come from observations on Linux 5.10 and later, not from the Juggle paper. The
// kernel rotates threads that never sleep, but too slowly for phases of 0.1 s, and it puts two of
// them on one cpu if another program computes beside them. The kernel places threads that sleep at
// barriers better than periodic balancing can, but it cannot move threads that are bound to cpus.
// Rotating gains nothing if phases are much shorter than the time between two balancing points.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "poise/online/juggle_tuning.h"

namespace poise {

/// What the balancer does with the threads of a program.
enum class JuggleAction : std::uint8_t {
  leave,   // does nothing: the kernel places the threads
  rotate,  // threads change places, so that all progress at the same rate
  spread,  // each place gets one thread, which stays there
  widen    // threads may use all places although the program binds them, and the kernel chooses
};

/// Name of the action for reports, such as "left to the kernel" or "rotated".
std::string_view name_of(JuggleAction action);

/// What the balancer has observed of the threads. From these values it decides whether to balance.
struct JuggleSigns {
  /// True if places differ in speed or in their numbers of threads. Unequal numbers of threads
  /// count only if equal ones are impossible, or if the program's bindings cause the difference.
  bool is_uneven = false;
  bool is_bound = false;      // the program binds its threads, so the kernel cannot move them
  bool fits = false;          // there are no more threads than places
  bool is_confined = false;   // a quota allows fewer places than there are threads
  bool has_stranger = false;  // another program, or a slow cpu, delays threads of some place
  /// Fraction of the time for which a thread sleeps; the maximum over all threads.
  double asleep = 0;
  /// Number of cpus (an average) that the threads could use but do not, because other programs run
  /// there, or because the kernel has put several threads on one cpu while another is idle.
  double lost_cpus = 0;
  /// Mean time for which a thread waits for its turn on a cpu; the largest mean of all threads.
  double longest_wait_s = 0;
  std::optional<double> phase_s = {};  // estimated length of the phases, if known
  /// The factor by which threads that always compute become faster if all of them progress at the
  /// same rate: ceil(n/m) / (n/m) for n threads on m places. If threads stay in their domains, n
  /// and m are those of the domain with the largest n/m.
  double even_gain = 1;
  double births_per_s = 0;  // new threads per second
};

/// Estimates the length of phases from the rate of broken windows, which are windows in which a
/// thread both ran and slept. Each phase breaks two windows, one at its beginning and one at its
/// end.
double phase_length_s(double broken_windows_per_s);

/// The balancing period for phases of phase_s seconds: a fifth of phase_s, at most longest_s and,
/// if longest_s allows it, at least tuning.shortest_period_s.
double period_for(double phase_s, double longest_s, const JuggleTuning& tuning = {});

/// Chooses what the balancer does. Uses hysteresis, so the choice does not flip back and forth.
class JuggleStance {
 public:
  /// `longest_period_s` is the longest allowed time between two balancing points, in seconds.
  explicit JuggleStance(double longest_period_s, const JuggleTuning& tuning = {})
      : tuning_(tuning), longest_s_(longest_period_s), hold_s_(tuning.watch_s) {}

  /// Returns the action that holds until the next call.
  JuggleAction next(const JuggleSigns& signs, double now_s);
  JuggleAction action() const { return action_; }
  /// Seconds between two balancing points while threads rotate.
  double period_s() const { return period_s_ > 0 ? period_s_ : longest_s_; }

 private:
  JuggleAction wanted(const JuggleSigns& signs, double now_s) const;
  JuggleAction wanted_for_bound(const JuggleSigns& signs) const;
  JuggleAction wanted_for_free(const JuggleSigns& signs, double now_s) const;
  bool is_awake(const JuggleSigns& signs) const;
  bool has_long_phases(const JuggleSigns& signs) const;
  bool is_crowded(const JuggleSigns& signs) const;
  bool is_worth_rotating(const JuggleSigns& signs) const;
  double longest_period_s(const JuggleSigns& signs) const;

  JuggleTuning tuning_;
  double longest_s_;
  double period_s_ = 0;
  JuggleAction action_ = JuggleAction::leave;
  double since_s_ = 0;  // time at which the present action began
  double hold_s_, rests_until_s_ = 0;
};

}  // namespace poise
