// SPDX-License-Identifier: BSD-3-Clause
// Observes how much the threads sleep, how long their phases are, and how much cpu time other
// programs take at the places of the threads. The observations show whether balancing helps and
// what slows the program down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "poise/online/juggle_causes.h"
#include "poise/online/juggle_member.h"
#include "poise/online/juggle_stance.h"

namespace poise {

/// The threads of the team, as indices into the list of members, and the places.
struct JuggleCrew {
  std::span<JuggleMember> members;
  std::span<const std::size_t> team;
  std::span<const JugglePlace> places;

  bool fits() const { return team.size() <= places.size(); }
};

class JuggleWatch {
 public:
  JuggleWatch(const JuggleTuning& tuning, std::size_t num_places) : tuning_(tuning) {
    set_places(num_places);
  }

  /// Forgets all observations of the places.
  void set_places(std::size_t num_places);
  void begin(double now_s) { window_s_ = since_s_ = now_s; }
  void add_birth() { ++births_; }

  /// Observes a round of real_s seconds. If the number of threads in the team has doubled, and they
  /// are not being balanced, discards the earlier observations: these were made in a serial part of
  /// the program and say nothing about the phases of the new threads.
  void observe(const JuggleCrew& crew, JuggleAction action, double real_s, double now_s);
  /// Ends the current window, the interval over which observations are averaged, if it is long
  /// enough. `round_s` is the approximate length of a round in seconds.
  void close_window(const JuggleCrew& crew, JuggleAction action, double round_s, double now_s);

  /// Returns the observations that speak for or against balancing the threads.
  JuggleSigns signs(const JuggleCrew& crew, JuggleAction action, double now_s);

  /// The time, in seconds, at which the present observations began: the start, or the time at which
  /// earlier observations were last discarded (observe()).
  double since_s() const { return since_s_; }
  /// Fraction of the recent time in which at least one thread on this place was ready or running.
  double wanted(PlaceId place) const { return wanted_[place]; }
  /// Totals of the whole run so far, for the diagnosis (juggle_causes.h). Lists have one entry per
  /// place.
  const JuggleFacts& facts() const { return facts_; }

 private:
  /// How threads used a place during a round, the time between two measurements.
  struct Use {
    double run_s = 0;    // sum over threads
    double ready_s = 0;  // the longest time for which a single thread was ready
    double own_s = 0;    // cpu time of the program's threads outside the team, such as new ones
  };
  void watch_places(const JuggleCrew& crew, double real_s);
  bool has_unequal_places() const;
  bool is_clearly_crowded(const JuggleCrew& crew) const;
  bool is_uneven(const JuggleCrew& crew) const;
  void close_for(JuggleMember& member, double window_s) const;
  /// Number of cpus that other programs took: from all threads, and, if each thread could have a
  /// cpu of its own, from the thread that lost most.
  struct LostCpus {
    double all = 0, most = 0;
  };
  LostCpus lost_in_window(const JuggleCrew& crew, double window_s) const;
  void add_to_facts(const JuggleCrew& crew, JuggleAction action, LostCpus lost, double window_s);
  std::optional<double> phase_seen_s(const JuggleCrew& crew, bool is_acting) const;

  JuggleTuning tuning_;
  double window_s_ = 0, last_window_s_ = 0;  // start of this window; length of the previous window
  double since_s_ = 0;
  std::size_t watched_size_ = 0;
  std::uint32_t windows_ = 0, births_ = 0;
  double births_per_s_ = 0, lost_cpus_ = 0;  // exponential moving averages
  std::uint32_t lost_windows_ = 0;           // number of windows that lost_cpus_ averages
  /// Length of phases; while threads are balanced, the last known length.
  std::optional<double> phase_s_;
  // Exponential averages, one per place. wanted_ is the fraction of the time in which at least one
  // thread of the place was ready or running. done_ is the fraction of the time in which one was
  // running, times the speed of the place.
  std::vector<double> wanted_, done_;
  /// For each place, the CPU time that other programs used in this window.
  std::vector<double> taken_s_;
  std::vector<Use> use_;  // scratch, per place
  JuggleFacts facts_;
};

}  // namespace poise
