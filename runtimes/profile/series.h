// SPDX-License-Identifier: BSD-3-Clause
// Divides a run into phases. A cut is a moment at which a phase may end: an MPI_Pcontrol, the end
// of an iteration, or the end of a time slice. A phase is what a rank measured between two cuts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtimes/profile/phase.h"

namespace poise::profile {

/// Sums of a rank since the start of the run. A phase stores the difference between the sums at its
/// end and those at its start.
struct Sums {
  Totals totals;
  PairTable traffic;
};

/// Holds at most tuning::kMaxPhases phases. When there are more, phases with the same label are
/// merged in pairs. If this leaves too many phases, for example because each step has its own
/// label, all phases lose their labels. After phases without labels were merged, a new phase spans
/// twice as many cuts (moments at which a phase may end) as before. So phases are merged only when
/// the number of cuts has doubled, and the time for merging grows with the logarithm of the number
/// of cuts. Ranks that make the same cuts merge the same phases, independently of their clocks.
class Series {
 public:
  /// Begins the first phase.
  void start(std::int64_t now_ns, const Sums& sums, const Machinery& machinery);

  /// Counts a cut, that is, a moment at which a phase may end. Returns true if the phase must end
  /// at this cut; the caller must then call cut().
  bool is_due() { return ++cuts_since_ >= cuts_per_phase_; }

  /// Ends the current phase and returns it, and begins the next one with the label `next_label`.
  Phase cut(std::int64_t now_ns, const Sums& sums, const Machinery& machinery,
            std::uint64_t next_label = 0);

  const std::vector<Phase>& phases() const { return phases_; }
  std::vector<Phase> take() { return std::move(phases_); }
  /// False if all phases have lost their labels, because there were too many different ones.
  bool has_labels() const { return has_labels_; }
  /// When the current phase began, and the kernel's measurements at that time.
  std::int64_t begin_ns() const { return begin_ns_; }
  const Machinery& machinery() const { return machinery_; }

 private:
  void halve();
  std::size_t merge_pairs();
  void drop_labels();

  std::vector<Phase> phases_;
  std::uint64_t label_ = 0, cuts_since_ = 0, cuts_per_phase_ = 1;
  bool has_labels_ = true;
  // Values at the last cut. `traffic_` has one entry for each peer that was known at that cut, in
  // the order of the table of peers. The table may have grown since.
  std::int64_t begin_ns_ = 0;
  Totals totals_;
  std::vector<Traffic> traffic_;
  Machinery machinery_;
};

/// The sum of the durations of all phases but the longest.
std::int64_t outside_longest_ns(std::span<const Phase> phases);

/// Merges neighbouring phases until each lasts at least `least_ns` on some rank. `longest_ns` has
/// the longest duration of each phase over all ranks. Phases with different labels are not merged.
void merge_short(std::vector<Phase>& phases, const std::vector<std::int64_t>& longest_ns,
                 std::int64_t least_ns);

}  // namespace poise::profile
