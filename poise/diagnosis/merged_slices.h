// SPDX-License-Identifier: BSD-3-Clause
// Merges consecutive time slices of a profiled run, if they are shorter than the iterations of the
// program.
#pragma once

#include <cstddef>

#include "poise/diagnosis/measured_run.h"
#include "poise/trace/trace.h"

namespace poise {

/// Returns how many consecutive phases to merge before the imbalance is judged: 1, 2, 4, …
///
/// If a time slice is shorter than an iteration, a rank with little work has computed in some
/// slices and waited in others, so an imbalance that persists looks random. The result is the
/// smallest number for which one distribution of the work before the run removes kPersistentShare
/// of the time that imbalance costs in the unmerged slices. If there is no such number, it is the
/// smallest number for which repeated distributions during the run do so, or else 1. It is also 1
/// if the phases are not slices.
std::size_t slices_to_merge(const MeasuredRun& run);

/// Returns the run or its trace with every `count` consecutive phases merged into one. The last
/// phase may consist of fewer than `count` phases.
MeasuredRun merged(const MeasuredRun& run, std::size_t count);
Trace merged(const Trace& trace, std::size_t count);

}  // namespace poise
