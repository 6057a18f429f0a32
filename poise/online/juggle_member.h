// SPDX-License-Identifier: BSD-3-Clause
// What the balancer knows about each thread that it may move, and about each place.
#pragma once

#include <cstdint>
#include <optional>

#include "poise/machine/machine.h"
#include "poise/online/juggle.h"

namespace poise {

/// The state of a place.
struct JugglePlace {
  DomainId domain = 0;  // numbered from 0; threads stay in their domain
  double speed = 1;     // speed relative to the fastest place
};

/// A thread's readings at a balancing point. `key` identifies the thread as long as it lives.
struct ThreadReading {
  std::uint64_t key = 0;
  /// Seconds of running, and seconds of waiting for a cpu, since the thread's start.
  double run_s = 0, wait_s = 0;
  bool is_bound = false;                  // the thread's own affinity excludes some places
  std::optional<PlaceId> own_place = {};  // the only place that the thread's own affinity allows
  /// Work that the thread has done since its start, in any unit, such as instructions.
  std::optional<double> work = {};
  /// How often the kernel put the thread on a cpu since its start; 0: unknown.
  std::uint64_t turns = 0;
  bool is_beyond = false;  // the thread's affinity has more cpus than the cpu quota allows
  std::optional<WaitReport> waits = {};  // the thread's own report of its waits, if any
};

/// The state of a thread.
struct JuggleMember {
  ThreadReading last;
  /// The thread's place now, and its place before this balancing point.
  std::optional<PlaceId> place = {}, place_before = {};
  bool is_wide = false, was_wide = false;  // the thread may use all places of the domain of `place`
  bool takes_part = false;
  bool is_ready = true;   // the thread ran or waited for a cpu since the last measurement
  double progress_s = 0;  // the thread's run time, weighted by the speeds of its places
  /// `worked_s` is the thread's total progress, which is never reset. `worked_at_point_s` is the
  /// value of `worked_s` at the last balancing point.
  double worked_s = 0, worked_at_point_s = 0;
  /// Progress, and time of waiting for a cpu, between the last two measurements.
  double gained_s = 0, waited_s = 0;
  /// Values of run_s and wait_s at the last proactive balancing point.
  double run_at_point_s = 0, wait_at_point_s = 0;
  double run_at_window_s = 0, wait_at_window_s = 0;
  std::uint64_t turns_at_window = 0;
  double seen_s = 0;  // time at which the balancer first saw the thread
  /// Fraction of the last observation window for which the thread seemed to sleep. The average
  /// `asleep` does not include this window yet.
  double seems_asleep = 0;
  /// Number of observation windows in which the thread was a member of the team.
  std::uint32_t windows = 0;
  /// Exponential averages of four values: the fraction of the time for which the thread slept
  /// (asleep), the fraction for which it waited for a cpu (waiting), the windows per second in
  /// which it both slept and was ready (broken_per_s), and the times per second that it was put on
  /// a cpu (turns_per_s).
  double asleep = 0, waiting = 0, broken_per_s = 0, turns_per_s = 0;
  /// `run_at_leave_s` is the value of run_s when the thread last left the team. `run_apart_s` is
  /// the total run time of the thread outside the team.
  double run_at_leave_s = 0, run_apart_s = 0;
  double busy_s = 0;  // time at which the thread last computed, or was first seen
  std::uint32_t busy_rounds = 0, quiet_rounds = 0;
  std::uint64_t migrations = 0;

  /// The only place on which the thread may run. Nothing if it may run on several places.
  std::optional<PlaceId> seat() const {
    if (is_wide) return {};
    return place ? place : last.own_place;
  }
};

}  // namespace poise
