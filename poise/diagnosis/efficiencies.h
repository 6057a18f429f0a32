// SPDX-License-Identifier: BSD-3-Clause
// The multiplicative efficiencies of a parallel program, as the POP centre of excellence defines
// them.
//
// Rosas, Giménez, Labarta: "Scalability prediction for fundamental performance factors",
// Supercomputing Frontiers and Innovations 1(2), 2014. The load balance inside and between nodes is
// that of TALP: Lopez, Ramirez Miranda, Garcia-Gasulla, SC-W 2021.
#pragma once

#include <cstdint>
#include <vector>

#include "poise/diagnosis/measured_run.h"

namespace poise {

/// All efficiencies are fractions of 1. They are related as follows:
///
///     parallel      = load_balance x communication = mean useful time / run time
///     load_balance  = inside_nodes x between_nodes = mean / largest useful time
///     communication = serialisation x transfer     = largest useful time / run time
///
/// For each rank, its useful time and its waiting time are added. `transfer` is the largest of
/// these sums divided by the run time, because on an ideal network the run would take as long as
/// the largest sum. Waiting for a rank that is late because of its own transfers counts as waiting,
/// so `transfer` is an upper bound and `serialisation` a lower bound.
struct Efficiencies {
  double run_s = 0;  // the time of the rank that takes longest
  double parallel = 1, load_balance = 1, communication = 1;
  double inside_nodes = 1, between_nodes = 1;
  double serialisation = 1, transfer = 1;
  double transfer_half_width = 0;  // half of the 95 % interval of `transfer` (waiting is sampled)
  /// Mean load divided by largest load, where a load is the useful time without the time waited for
  /// a core. If this ratio exceeds `load_balance`, ranks share cores unevenly.
  double work_balance = 1;
  double queued = 0;  // share of the ranks' time in which they waited for a core
  double asleep = 0;  // share of the ranks' time in which they slept outside MPI
};

Efficiencies efficiencies(const MeasuredRun& run);

/// The duration of each phase: from the end of the previous phase until the end of this one, each
/// on the rank that reaches it last. So the durations add up to the run time, even if some ranks
/// begin a phase before others have ended the previous one.
std::vector<double> phase_times_s(const MeasuredRun& run);

}  // namespace poise
