// SPDX-License-Identifier: BSD-3-Clause
// What a run would save if its work were distributed evenly over the ranks.
#pragma once

#include "poise/diagnosis/advice.h"
#include "poise/diagnosis/imbalance.h"
#include "poise/diagnosis/replayed_run.h"
#include "poise/trace/trace.h"

namespace poise {

/// Advice: distribute the work over the ranks according to its measured cost. If the size of the
/// work's memory is known, the time to move this memory during the run is subtracted from the
/// saving. `replay` is null if the trace has no machine.
Advice advice_on_objects(const MeasuredRun& run, const Trace& trace, const Imbalance& imbalance,
                         const ReplayedRun* replay);

/// Advice: lend tasks within a phase. The saving is simulated if that is possible; otherwise it is
/// the most that any runtime could save.
Advice advice_on_lending(const MeasuredRun& run, const Trace& trace, const Imbalance& imbalance,
                         const ReplayedRun* replay);

}  // namespace poise
