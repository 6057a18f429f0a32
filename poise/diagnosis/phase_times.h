// SPDX-License-Identifier: BSD-3-Clause
// Loads and times of the ranks in each phase of a profiled run.
#pragma once

#include <span>
#include <vector>

#include "poise/diagnosis/measured_run.h"

namespace poise {

double largest(std::span<const double> values);

/// The load of each rank.
std::vector<double> loads_of(const MeasuredPhase& phase);

/// The time that the busiest rank spends outside MPI.
double largest_useful_s(const MeasuredPhase& phase);

/// Per phase, the time in which the busiest rank does not compute.
std::vector<double> exposed_times_s(const MeasuredRun& run);

/// The mean transfer time of the ranks in each phase.
std::vector<double> mean_transfers_s(const MeasuredRun& run);

/// The sum of phase_times_s[p] over the phases p in `phases`.
double sum_of(std::span<const std::size_t> phases, const std::vector<double>& phase_times_s);

}  // namespace poise
