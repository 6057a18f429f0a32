// SPDX-License-Identifier: BSD-3-Clause
// Determines the kind of imbalance of a run: whether the same ranks are busiest in all phases, and
// how much time a balancer that knows only earlier phases could save.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/diagnosis/measured_run.h"

namespace poise {

enum class ImbalanceKind : std::uint8_t {
  none,        // less than kMinShare of the run's time is lost
  persistent,  // the same ranks are the busiest in all phases
  named,       // the same ranks are the busiest in all phases of the same name
  drifting,    // the busier ranks change slowly: the loads of a phase predict those of the next
  random,      // past loads do not predict the next ones
  unknown,     // too few phases to tell
};

/// How many seconds the run would save if its load were balanced.
struct Imbalance {
  ImbalanceKind kind = ImbalanceKind::none;
  /// The time saved if all loads were even in every phase: the largest minus the mean load, summed
  /// over the phases, but at most the run time minus the mean load of the run. If this limit
  /// reduces total_s, then persistent_s, named_s and periodic_s are reduced by the same factor.
  double total_s = 0;
  /// The time saved if work is distributed once, before the run, by the mean loads of all phases.
  double persistent_s = 0;
  /// The time saved if work is distributed once, before the run, separately for each phase name: in
  /// the phases of a name, all ranks have the same total load. Phases with rare names count as
  /// phases without a name.
  double named_s = 0;
  /// The time saved if work is redistributed at a fixed interval, each time according to the loads
  /// since the previous redistribution. `every` is this interval, in phases: the best of several
  /// that are tried. The cost of moving the work is not subtracted.
  double periodic_s = 0;
  std::uint32_t every = 1;
  // Half widths of the 95 % confidence intervals of total_s, persistent_s, named_s and periodic_s,
  // computed from the spread over phases.
  double total_error_s = 0, persistent_error_s = 0, named_error_s = 0, periodic_error_s = 0;
  double moved_share = 0;  // fraction of all work that moves, summed over redistributions
  std::uint64_t distributions = 0;
};

/// The time lost by imbalance in each phase: the largest load of a rank minus the mean load. If
/// these times add up to more than the run time minus the mean load of the run, they are all
/// reduced by the same factor, so that they add up to this difference.
std::vector<double> lost_s(const MeasuredRun& run);

/// Determines the kind of imbalance and the possible savings. Assumes that work is divisible, and
/// that moved work keeps its ratio of measured to predicted load. O(phases x ranks).
Imbalance imbalance_of(const MeasuredRun& run);

/// The loads of all ranks in each phase after work is redistributed. `imbalance` is the result of
/// imbalance_of(). If `is_once`, work is redistributed once, before the run (separately for each
/// phase name if `imbalance.kind` is ImbalanceKind::named). Otherwise work is redistributed every
/// `imbalance.every` phases.
std::vector<std::vector<double>> distributed_loads_s(const MeasuredRun& run,
                                                     const Imbalance& imbalance, bool is_once);

}  // namespace poise
