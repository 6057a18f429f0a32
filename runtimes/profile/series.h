// SPDX-License-Identifier: BSD-3-Clause
// A run cut into phases: what a rank measured between one cut and the next.
#pragma once

#include <cstdint>
#include <vector>

#include "runtimes/profile/phase.h"

namespace poise::profile {

/// The sums of a rank so far, from which a series takes the differences between its cuts.
struct Sums {
  Totals totals;
  PairTable traffic;
};

/// At most tuning::kMaxPhases phases: when more come, each label's phases are merged two by two,
/// and from then on twice the cuts make a phase. Ranks that make the same cuts merge alike,
/// whatever their clocks say. The cost of all cuts of a run grows with the logarithm of their
/// number.
class Series {
 public:
  /// Begins the first phase.
  void start(std::int64_t now_ns, const Sums& sums, const Machinery& machinery);

  /// Whether cut() would end a phase now; else it only counts the cut, and needs no arguments.
  bool is_due() { return ++cuts_since_ >= cuts_per_phase_; }

  /// Ends the running phase, which it returns, and begins the next, called `next_label`.
  Phase cut(std::int64_t now_ns, const Sums& sums, const Machinery& machinery,
            std::uint64_t next_label = 0);

  const std::vector<Phase>& phases() const { return phases_; }
  std::vector<Phase> take() { return std::move(phases_); }
  std::uint64_t cuts_per_phase() const { return cuts_per_phase_; }

 private:
  void halve();

  std::vector<Phase> phases_;
  std::uint64_t label_ = 0, cuts_since_ = 0, cuts_per_phase_ = 1;
  // At the last cut; the counts of `traffic_` belong to the first entries of the table.
  std::int64_t begin_ns_ = 0;
  Totals totals_;
  std::vector<Traffic> traffic_;
  Machinery machinery_;
};

/// Merges neighbours until each phase is at least `least_ns` long on some rank: `longest_ns` has
/// the longest time of each phase on all ranks. Phases of different labels are not merged.
void merge_short(std::vector<Phase>& phases, const std::vector<std::int64_t>& longest_ns,
                 std::int64_t least_ns);

}  // namespace poise::profile
