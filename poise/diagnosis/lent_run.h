// SPDX-License-Identifier: BSD-3-Clause
// Predicts the time that a profiled run would save if its ranks lent tasks to one another.
#pragma once

#include <optional>

#include "poise/diagnosis/measured_run.h"
#include "poise/diagnosis/replayed_run.h"
#include "poise/machine/machine.h"

namespace poise {

/// A profile does not say into which tasks a program could divide its work. Therefore iterations
/// are simulated (simulate/lending_simulation.h) with few tasks per rank and with many: a rank with
/// the mean load divides an iteration into kFewTasks or kManyTasks equal tasks (tuning.h). The
/// predicted saving is the mean of the two simulated savings. Its interval covers both, or the
/// uncertainty due to phases that are not simulated (sum_over_run()) if that is larger. Tasks have
/// no data. Iterations longer than kMaxLent_s are simulated as if they took this time.
///
/// Returns nothing if `replay` is not possible, or if there are too many ranks to simulate them
/// quickly. O(simulated phases * tasks log tasks).
std::optional<Seconds> saved_by_lending(const MeasuredRun& run, const Machine& machine,
                                        const ReplayedRun& replay);

}  // namespace poise
